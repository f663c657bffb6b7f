"""Whether a spec's classifiers can be scored by a metric."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ddr_cli.evaluation.metrics import VALUED, Valued
from ddr_cli.evaluation.registry import CLASSIFIERS
from ddr_cli.spec.estimators import make
from ddr_cli.spec.pieces import ClassifierSpec, Context


def lacking(name: str, classifiers: Sequence[ClassifierSpec], context: Context | None) -> str:
    """Say what a metric needs that a classifier, or the data set, does not have, if so."""
    metric = VALUED.get(name)
    if metric is None:
        return ""
    classes = context.expect.classes if context and context.expect else None
    if classes and len(classes) < metric.fewest_classes:
        return metric.too_few(len(classes))
    for item in classifiers:
        if not _gives(make(item.factory, item.params), metric):
            what = "probabilities" if metric.needs_probabilities else "decision values"
            return (
                f"{name} needs {what}, which the classifier {item.name} doesn't give; those of "
                f"{', '.join(_that_give(metric))} can be scored by it."
            )
    return ""


def _gives(classifier: object, metric: Valued) -> bool:
    return any(hasattr(classifier, method) for method in metric.needs)


def _that_give(metric: Valued) -> list[str]:
    found = []
    for entry in CLASSIFIERS.entries():
        # Another package's classifier may fail in any way, or can't be made without parameters.
        with suppress(Exception):
            if _gives(entry.load()(), metric):
                found.append(entry.name)
    return found
