"""Which classifiers and measures there are, and what each tells the engine about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ddr_cli.core.registry import Entry, Registry


@dataclass(frozen=True)
class ClassifierTraits:
    """What the engine may share between fits of a classifier, and what it needs to know of it.

    A classifier states its traits in a method ``__ddr_traits__(self) -> ClassifierTraits``; one
    without the method gets the defaults. So does a measure, which has ``score_many(embedded,
    settings)`` where a classifier has ``predict_many``.

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
    """Return the traits of a classifier's or measure's instance."""
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

MEASURES = Registry(
    "measure",
    [
        Entry(
            "same_class",
            "ddr_cli.evaluation.measures.neighborhoods:SameClass",
            "share of points with one of their class among the K nearest",
        ),
        Entry(
            "topology",
            "ddr_cli.evaluation.measures.neighborhoods:Topology",
            "share of points whose nearest neighbour stays among the K nearest",
        ),
        Entry(
            "separability",
            "ddr_cli.evaluation.measures.separation:Separability",
            "leave-one-out accuracy in the embedding over that in the original space",
        ),
        Entry(
            "subclass_silhouette",
            "ddr_cli.evaluation.measures.separation:SubclassSilhouette",
            "silhouette of the sub-classes of merged classes",
        ),
        Entry(
            "subclass_accuracy",
            "ddr_cli.evaluation.measures.separation:SubclassAccuracy",
            "leave-one-out accuracy on the sub-classes of merged classes",
        ),
        Entry(
            "intrinsic_dimension",
            "ddr_cli.evaluation.measures.intrinsic:IntrinsicDimension",
            "geodesic-entropic-graph estimate of the dimension of a class or of all points",
        ),
    ],
    "ddr.measures",
)


def evaluator_registry(name: str) -> Registry:
    """Return the registry in which a classifier or measure called `name` is to be looked up."""
    return MEASURES if name in MEASURES.names() else CLASSIFIERS
