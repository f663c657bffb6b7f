"""Which classifiers there are, and what each tells the engine about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ddr_cli.core.registry import Entry, Registry


@dataclass(frozen=True)
class ClassifierTraits:
    """What the engine may share between fits of a classifier, and what it needs to know of it.

    A classifier states its traits in a method ``__ddr_traits__(self) -> ClassifierTraits``; one
    without the method gets the defaults.

    Parameters
    ----------
    version : int
        Raised by hand whenever the classifier's numbers change; part of a trial's identity.
    shared : str or None
        The parameter over which the class method ``predict_many(X_train, y_train, X_test,
        settings)`` shares its work: settings that differ in it cost about as much as one.
    grids : mapping of str to tuple
        The grid that ``ddr sweep --param`` uses when no values are given.
    paper : str or None
        The reference, as shown by ``ddr describe``.
    """

    version: int = 1
    shared: str | None = None
    grids: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    paper: str | None = None


def get_classifier_traits(classifier: Any) -> ClassifierTraits:
    """Return the traits of a classifier instance."""
    declare = getattr(classifier, "__ddr_traits__", None)
    return declare() if declare is not None else ClassifierTraits()


CLASSIFIERS = Registry(
    "classifier",
    [
        Entry(
            "knn",
            "ddr_cli.evaluation.knn:KNNClassifier",
            "k nearest neighbours, Euclidean; of tied classes the nearest neighbour's wins",
        ),
        Entry(
            "linear",
            "ddr_cli.evaluation.linear:LinearClassifier",
            "least squares on class indicators, the largest fitted value wins",
        ),
        Entry(
            "neural_net",
            "ddr_cli.evaluation.neural_net:NeuralNetClassifier",
            "one hidden layer of 2d units, trained by full-batch gradient steps",
        ),
    ],
    "ddr.classifiers",
)
