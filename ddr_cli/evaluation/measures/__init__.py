"""Measures: what an embedding is like, judged without predicting anything.

A measure is an estimator-like object with parameters in its signature, a class attribute ``scale``
(an `ddr_cli.evaluation.metrics.Scale`), and the class method ``score_many(embedded, settings)``,
which returns one number per setting. Other packages add theirs as ``ddr.measures``.
"""
