"""Whether a spec's classifiers can be scored by a scorer of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ddr_cli.evaluation.metrics import metric_names, scorer_needs, scorer_score
from ddr_cli.spec.estimators import make
from ddr_cli.spec.pieces import ClassifierSpec, Context


def lacking(name: str, classifiers: Sequence[ClassifierSpec], context: Context | None) -> str:
    """Say what a metric needs that a classifier, or the data set, does not have, if so."""
    if name in metric_names():
        return ""
    needed = scorer_needs(name)
    for item in classifiers:
        classifier = make(item.factory, item.params)
        if not any(hasattr(classifier, method) for method in needed):
            return (
                f"{name} needs {' or '.join(needed)}, which the classifier {item.name} does not "
                "have. Remove the metric, or take classifiers that have it, such as knn."
            )
    classes = context.expect.classes if context and context.expect else None
    if classes:
        from sklearn.dummy import DummyClassifier

        y = np.arange(len(classes))
        X = np.zeros((len(y), 1))
        try:
            scorer_score(name, DummyClassifier(strategy="prior").fit(X, y), X, y)
        except ValueError as error:
            return f"{name} can't score the data set's {len(y)} classes: {error}"
    return ""
