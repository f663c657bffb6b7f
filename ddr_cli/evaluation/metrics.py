"""Scores of a prediction, by the names that specs use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Scale:
    """What the numbers of a metric or of a measure are.

    Parameters
    ----------
    name : str
        The name used in specs and the column of the journal.
    title : str
        The name on an axis or in a table's head.
    better : {"lower", "higher"} or None
        In which direction it improves; None where neither end is better.
    rate : bool
        Whether it is a share in 0..1, shown in percent.
    of_points : bool
        Whether it is the share of the test points for which something holds, point by point.
    """

    name: str
    title: str
    better: Literal["lower", "higher"] | None
    rate: bool = True
    of_points: bool = False


@dataclass(frozen=True)
class Metric:
    """A score of predicted labels against true ones; call it as ``metric(y_true, y_pred)``."""

    scale: Scale
    compute: Callable[[ArrayLike, ArrayLike], float]

    @property
    def name(self) -> str:
        """The name used in specs."""
        return self.scale.name

    def __call__(self, y_true: ArrayLike, y_pred: ArrayLike) -> float:
        """Return the score; a ValueError if the labels differ in shape or are none."""
        if np.shape(y_true) != np.shape(y_pred) or np.size(y_true) == 0:
            raise ValueError(
                f"{self.name} needs as many predictions as labels, at least one of each; "
                f"the shapes are {np.shape(y_true)} and {np.shape(y_pred)}."
            )
        return self.compute(y_true, y_pred)


@dataclass(frozen=True)
class Ranking:
    """A score of the order in which a classifier's decision values put points of two classes.

    The second class is to come first. ``compute(relevant, values, groups)``: see
    `mean_average_precision`. Classifiers without decision values have none.
    """

    scale: Scale
    compute: Callable[[ArrayLike, ArrayLike, ArrayLike | None], float]


@dataclass(frozen=True)
class Valued:
    """A score of a number that a classifier gives each class for each point.

    The number is a probability or, unless the score `needs_probabilities`, a decision value.
    ``compute(y_true, values)`` takes the classes' indices and values of shape (n_samples,
    n_classes). Some can't be had unless the points are of `every_class`, or of fewer classes than
    `fewest_classes`.
    """

    scale: Scale
    compute: Callable[[ArrayLike, ArrayLike], float]
    needs_probabilities: bool = False
    every_class: bool = False
    fewest_classes: int = 2

    @property
    def needs(self) -> tuple[str, ...]:
        """The methods of a classifier one of which is needed, the one that is used first."""
        if self.needs_probabilities:
            return ("predict_proba",)
        return ("decision_function", "predict_proba")

    def __call__(self, y_true: ArrayLike, values: ArrayLike) -> float:
        """Return the score; a ValueError if it is not defined."""
        n_classes = np.shape(values)[1]
        if n_classes < self.fewest_classes:
            raise ValueError(self.too_few(n_classes))
        if self.every_class and len(np.unique(np.asarray(y_true))) < n_classes:
            raise ValueError(
                f"{self.scale.name} is undefined: not every class has a point in the test part."
            )
        return self.compute(y_true, values)

    def too_few(self, n_classes: int) -> str:
        """Say that there are too few classes."""
        needed = self.fewest_classes
        return f"{self.scale.name} needs {needed} classes or more, and there are {n_classes}."


def error(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the share of wrong predictions, in 0..1."""
    return float(np.mean(np.asarray(y_true) != np.asarray(y_pred)))


def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the share of right predictions, in 0..1."""
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))


def balanced_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the mean over the classes of `y_true` of the share of their points that are right."""
    _, codes = np.unique(np.asarray(y_true), return_inverse=True)
    right = np.asarray(y_true) == np.asarray(y_pred)
    return float(np.mean(np.bincount(codes, weights=right) / np.bincount(codes)))


def mean_average_precision(
    relevant: ArrayLike, values: ArrayLike, groups: ArrayLike | None = None
) -> float:
    """Return the mean over the groups of the average precision inside each.

    Parameters
    ----------
    relevant : array-like of bool, shape (n_samples,)
        Which points are to come first.
    values : array-like of shape (n_samples,)
        Decision values; the larger, the earlier.
    groups : array-like of shape (n_samples,), optional
        What is ranked together, such as the documents of a query; all points if not given. A
        group without a relevant point has no average precision and doesn't count.

    Raises
    ------
    ValueError
        If no point is relevant.
    """
    # What is heavy is imported where it is used: names of metrics are needed by completion.
    from sklearn.metrics import average_precision_score

    hits, order = np.asarray(relevant, dtype=bool), np.asarray(values)
    group = np.zeros(len(hits), dtype=int) if groups is None else np.asarray(groups)
    if not hits.any():
        raise ValueError("mean_average_precision needs a relevant point, and there is none.")
    each = [
        average_precision_score(hits[rows], order[rows])
        for rows in (group == name for name in np.unique(group[hits]))
    ]
    return float(np.mean(each))


def _by_sklearn(function: str, **options: object) -> Callable[[ArrayLike, ArrayLike], float]:
    """Return a metric of scikit-learn's of predicted labels; a class without any counts 0."""

    def compute(y_true: ArrayLike, y_pred: ArrayLike) -> float:
        from sklearn import metrics

        return float(getattr(metrics, function)(y_true, y_pred, **options))

    return compute


def _averaged(name: str, function: str, averages: tuple[str, ...]) -> dict[str, Metric]:
    words = {"macro": "mean over classes", "weighted": "by class size", "micro": "all points"}
    return {
        f"{name}_{average}": Metric(
            Scale(f"{name}_{average}", f"{name.capitalize()} ({words[average]})", "higher"),
            _by_sklearn(function, average=average, zero_division=0),
        )
        for average in averages
    }


METRICS = MappingProxyType(
    {
        "error": Metric(Scale("error", "error rate", "lower", of_points=True), error),
        "accuracy": Metric(Scale("accuracy", "accuracy", "higher", of_points=True), accuracy),
        "balanced_accuracy": Metric(
            Scale("balanced_accuracy", "balanced accuracy", "higher"), balanced_accuracy
        ),
        **_averaged("f1", "f1_score", ("macro", "weighted", "micro")),
        **_averaged("precision", "precision_score", ("macro", "weighted")),
        **_averaged("recall", "recall_score", ("macro", "weighted")),
        **_averaged("jaccard", "jaccard_score", ("macro", "weighted")),
        "matthews_corrcoef": Metric(
            Scale("matthews_corrcoef", "Matthews correlation", "higher", rate=False),
            _by_sklearn("matthews_corrcoef"),
        ),
        "cohen_kappa": Metric(
            Scale("cohen_kappa", "Cohen's kappa", "higher", rate=False),
            _by_sklearn("cohen_kappa_score"),
        ),
    }
)
"""Scores of predicted labels: ours, then scikit-learn's by the names of its scorers."""

TRAINING = MappingProxyType(
    {
        "training_error": Metric(
            Scale("training_error", "error on the training points", "lower"), error
        )
    }
)
"""Scores of what a classifier says of the points it was trained on, as `METRICS` of test points.

The nearest neighbours of a training point don't count itself.
"""

RANKINGS = MappingProxyType(
    {
        "mean_average_precision": Ranking(
            Scale("mean_average_precision", "mean average precision", "higher"),
            mean_average_precision,
        )
    }
)


def _one_against_rest(function: str) -> Callable[[ArrayLike, ArrayLike], float]:
    """Return scikit-learn's score of two classes, of more the mean of each against the rest."""

    def compute(y_true: ArrayLike, values: ArrayLike) -> float:
        from sklearn import metrics

        codes, columns = np.asarray(y_true), np.asarray(values)
        score = getattr(metrics, function)
        if columns.shape[1] == 2:
            return float(score(codes == 1, columns[:, 1]))
        return float(score(np.eye(columns.shape[1])[codes], columns, average="macro"))

    return compute


def log_loss(y_true: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the mean over the points of minus the logarithm of the right class's probability."""
    from sklearn import metrics

    labels = np.arange(np.shape(probabilities)[1])
    return float(metrics.log_loss(y_true, probabilities, labels=labels))


def _among_the_first(k: int) -> Callable[[ArrayLike, ArrayLike], float]:
    def compute(y_true: ArrayLike, values: ArrayLike) -> float:
        from sklearn import metrics

        labels = np.arange(np.shape(values)[1])
        return float(metrics.top_k_accuracy_score(y_true, values, k=k, labels=labels))

    return compute


VALUED = MappingProxyType(
    {
        "roc_auc": Valued(
            Scale("roc_auc", "area under the ROC curve", "higher"),
            _one_against_rest("roc_auc_score"),
            every_class=True,
        ),
        "average_precision": Valued(
            Scale("average_precision", "average precision", "higher"),
            _one_against_rest("average_precision_score"),
            every_class=True,
        ),
        "log_loss": Valued(
            Scale("log_loss", "log loss", "lower", rate=False),
            log_loss,
            needs_probabilities=True,
        ),
        **{
            f"top_{k}_accuracy": Valued(
                Scale(
                    f"top_{k}_accuracy",
                    f"right class among the first {k}",
                    "higher",
                    of_points=True,
                ),
                _among_the_first(k),
                fewest_classes=k + 1,
            )
            for k in (2, 3, 5)
        },
    }
)
"""Scores of decision values or probabilities: scikit-learn's, by the names of its scorers."""

MEASURED = MappingProxyType(
    {
        scale.name: scale
        for scale in (
            Scale("same_class", "share of points with a neighbour of their class", "higher"),
            Scale("topology", "share of points that keep their nearest neighbour", "higher"),
            Scale("separability", "accuracy kept", "higher"),
            Scale("silhouette", "silhouette of the sub-classes", "higher", rate=False),
            Scale("subclass_accuracy", "accuracy on the sub-classes", "higher"),
            Scale("dimension", "intrinsic dimension", None, rate=False),
            Scale("class_distance", "distance of classes", "lower", rate=False),
            Scale("class_gap", "gap between classes", "higher", rate=False),
            Scale("class_order", "classes in the order of their labels", "higher"),
        )
    }
)
"""What our own measures give; see `ddr_cli.evaluation.measures`."""


def metric_names() -> list[str]:
    """Return the names of all metrics that score classifiers."""
    return [*METRICS, *TRAINING, *RANKINGS, *VALUED]


def get_scale(name: str) -> Scale:
    """Return what the numbers in a journal's column are.

    A third party's measure may give numbers of a name of its own: they are shown as they are, and
    higher is better.
    """
    known = METRICS.get(name) or TRAINING.get(name) or RANKINGS.get(name) or VALUED.get(name)
    if known is not None:
        return known.scale
    return MEASURED.get(name) or Scale(name, name.replace("_", " "), "higher", rate=False)
