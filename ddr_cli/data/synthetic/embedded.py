"""Real data sets that need no download: scikit-learn's, and the Balance Scale design."""

from __future__ import annotations

from importlib import resources
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ddr_cli.core.registry import registered
from ddr_cli.data.formats import RawData

# The two flowers in which the UCI file differs from Fisher's article, as the UCI file has them:
# sepal length, sepal width, petal length, petal width in cm.
_UCI_IRIS_ROWS = {34: (4.9, 3.1, 1.5, 0.1), 37: (4.9, 3.1, 1.5, 0.1)}


@registered(
    "generator", "balance", "Balance Scale: the full 5^4 design, which side of the scale goes down"
)
def balance(*, random_state: int = 0) -> RawData:  # noqa: ARG001 (every generator takes it)
    """Generate the Balance Scale data: all 625 combinations of four values 1..5.

    The side with the larger weight times distance goes down: ``L``, ``R``, or ``B`` when they are
    equal. The rows are in the order of the UCI file, the last feature running fastest.
    """
    X = np.array(list(product(range(1, 6), repeat=4)), dtype=np.float64)
    difference = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    labels = np.array(["R", "B", "L"])[np.sign(difference).astype(int) + 1]
    names = ("left-weight", "left-distance", "right-weight", "right-distance")
    return RawData(X, labels, feature_names=names)


@registered("generator", "digits", "scikit-learn's 8x8 handwritten digits")
def digits(*, random_state: int = 0) -> RawData:  # noqa: ARG001 (every generator takes it)
    """Return scikit-learn's copy of the UCI optical digits test set: 1797 images of 8x8."""
    table = _shipped("digits.csv.gz")
    return RawData(
        np.ascontiguousarray(table[:, :-1]),
        table[:, -1].astype(int),
        feature_names=tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
        image_shape=(8, 8),
    )


@registered("generator", "breast_cancer", "scikit-learn's Wisconsin diagnostic breast cancer data")
def breast_cancer(*, random_state: int = 0) -> RawData:  # noqa: ARG001 (every generator takes it)
    """Return scikit-learn's copy of the diagnostic Wisconsin data: 569 samples, 30 features."""
    from sklearn.datasets import load_breast_cancer

    return _as_raw(load_breast_cancer())


@registered("generator", "wine", "scikit-learn's wines of three cultivars")
def wine(*, random_state: int = 0) -> RawData:  # noqa: ARG001 (every generator takes it)
    """Return scikit-learn's copy of the UCI wine data: 178 wines, 13 features, 3 cultivars."""
    from sklearn.datasets import load_wine

    return _as_raw(load_wine())


def _as_raw(bunch: Any) -> RawData:
    labels = np.asarray(bunch.target_names)[bunch.target]
    return RawData(bunch.data, labels, feature_names=tuple(map(str, bunch.feature_names)))


@registered("generator", "iris", "Fisher's iris, as UCI or as Fisher prints it")
def iris(
    *,
    source: Literal["uci", "fisher"] = "uci",
    random_state: int = 0,  # noqa: ARG001 (every generator takes it)
) -> RawData:
    """Return the iris data: 150 flowers, four measurements in cm, three species.

    With `source` ``"uci"`` rows 35 and 38 (counting from 1) are as in the file of the UCI
    repository, which most papers used; with ``"fisher"`` as in Fisher's article and scikit-learn.
    """
    table = _shipped("iris.csv", skiprows=1)
    X = np.ascontiguousarray(table[:, :-1])
    if source == "uci":
        for row, values in _UCI_IRIS_ROWS.items():
            X[row] = values
    species = np.array(["Iris-setosa", "Iris-versicolor", "Iris-virginica"])
    parts = [f"{part} {size} (cm)" for part in ("sepal", "petal") for size in ("length", "width")]
    return RawData(X, species[table[:, -1].astype(int)], feature_names=tuple(parts))


def _shipped(name: str, skiprows: int = 0) -> NDArray[np.float64]:
    """Return a file of scikit-learn's, whose own module for it loads half of all the others."""
    path = resources.files("sklearn") / "datasets" / "data" / name
    return np.loadtxt(str(path), delimiter=",", skiprows=skiprows)
