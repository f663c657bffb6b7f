"""The tables of classifiers, measures and preprocessing steps, and what these say of themselves.

A classifier or a measure scores an embedding: each trial has one of either, its evaluator.
Importing this module loads none of them, nor NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ddr_cli.core.registry import Entry, Registry


@dataclass(frozen=True)
class EvaluatorTraits:
    """What the engine may share between fits of a classifier, and what it needs to know of it.

    A classifier states its traits in a method ``__ddr_traits__(self) -> EvaluatorTraits``; one
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


def get_evaluator_traits(evaluator: Any) -> EvaluatorTraits:
    """Return the traits of a classifier's or measure's instance."""
    declare = getattr(evaluator, "__ddr_traits__", None)
    return declare() if declare is not None else EvaluatorTraits()


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
        Entry(
            "gradient_boosting",
            "ddr_cli.evaluation.standard:GradientBoosting",
            "gradient boosting of trees on binned features; dense points only",
        ),
        Entry(
            "random_forest",
            "ddr_cli.evaluation.standard:RandomForest",
            "majority of randomised trees",
        ),
        Entry(
            "logistic_regression",
            "ddr_cli.evaluation.standard:Logistic",
            "multinomial logistic regression with a ridge",
        ),
        Entry(
            "svc",
            "ddr_cli.evaluation.standard:SupportVectors",
            "support vector machine with a radial kernel",
        ),
    ],
    "ddr.classifiers",
)

MEASURES = Registry(
    "measure",
    [
        Entry(
            "same_class",
            "ddr_cli.evaluation.measures:SameClass",
            "share of points with one of their class among the K nearest",
        ),
        Entry(
            "topology",
            "ddr_cli.evaluation.measures:Topology",
            "share of points whose nearest neighbour stays among the K nearest",
        ),
        Entry(
            "separability",
            "ddr_cli.evaluation.measures:Separability",
            "leave-one-out accuracy in the embedding over that in the original space",
        ),
        Entry(
            "subclass_silhouette",
            "ddr_cli.evaluation.measures:SubclassSilhouette",
            "silhouette of the sub-classes of merged classes",
        ),
        Entry(
            "subclass_accuracy",
            "ddr_cli.evaluation.measures:SubclassAccuracy",
            "leave-one-out accuracy on the sub-classes of merged classes",
        ),
        Entry(
            "intrinsic_dimension",
            "ddr_cli.evaluation.measures:IntrinsicDimension",
            "geodesic-entropic-graph estimate of the dimension of a class or of all points",
        ),
        Entry(
            "class_distance",
            "ddr_cli.evaluation.class_places:ClassDistance",
            "the farthest two of some classes, in median distances of two classes",
        ),
        Entry(
            "class_gap",
            "ddr_cli.evaluation.class_places:ClassGap",
            "the nearest two of all classes, in median distances of two classes",
        ),
        Entry(
            "class_order",
            "ddr_cli.evaluation.class_places:ClassOrder",
            "how often the nearer of two numbered labels is nearer in the embedding",
        ),
    ],
    "ddr.measures",
)


def evaluator_registry(name: str) -> Registry:
    """Return the registry in which a classifier or measure called `name` is to be looked up."""
    return MEASURES if name in MEASURES.names() else CLASSIFIERS


_STEPS = "ddr_cli.evaluation.preprocess"

PREPROCESSORS = Registry(
    "preprocessor",
    [
        Entry(
            "pca",
            f"{_STEPS}:PrincipalComponents",
            "principal components: a number, a share of variance, or all but the null space",
        ),
        Entry("svd", f"{_STEPS}:SingularVectors", "leading singular vectors, not centred; sparse"),
        Entry("impute", f"{_STEPS}:Impute", "missing values: mean, median or most frequent value"),
        Entry("one_hot", f"{_STEPS}:OneHot", "categorical columns as one 0/1 column per value"),
        Entry(
            "variance_threshold",
            f"{_STEPS}:LowVariance",
            "drop features that don't vary in the training part",
        ),
        Entry("log1p", f"{_STEPS}:Log1p", "ln(1 + x) of every value"),
        Entry("standardize", f"{_STEPS}:Standardize", "mean 0 and standard deviation 1"),
        Entry("rescale", f"{_STEPS}:Rescale", "the training part's range to [0, 1]"),
        Entry("unit_length", f"{_STEPS}:UnitLength", "every row to Euclidean length 1"),
        Entry("tfidf", f"{_STEPS}:Tfidf", "word counts times the words' rarity"),
    ],
    "ddr.preprocessors",
)
