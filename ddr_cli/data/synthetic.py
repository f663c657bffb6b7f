"""The data sets that need no file: generated, shipped with scikit-learn, or enumerated.

The papers of the generated data sets (Gaussians: CCDR, LFDA; rings: NMMP; rolled sheets: SSDE)
print pictures, not parameters; the defaults are ours, chosen so that each set has the property that
its picture shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from ddr_cli.core.registry import registered
from ddr_cli.data.formats import RawData

_Seed = Annotated[int, Ge(0)]
_Positive = Annotated[float, Gt(0)]
_NotNegative = Annotated[float, Ge(0)]

# The angle of the spiral runs from 1.5 pi to 4.5 pi, as in the usual pictures.
_FIRST_ANGLE, _LAST_ANGLE = 1.5 * np.pi, 4.5 * np.pi

# One Gaussian cluster: its class, its centre and its standard deviations along the axes.
_Cluster = tuple[str, tuple[float, float], tuple[float, float]]


@registered(
    "generator", "pca_example", "two Gaussian classes that differ only along the minor axis"
)
def pca_example(
    *,
    n_samples: Annotated[int, Ge(2)] = 400,
    major_sd: _Positive = 4.0,
    minor_sd: _Positive = 0.5,
    distance: _NotNegative = 3.0,
    angle: float = 30.0,
    random_state: _Seed = 0,
) -> RawData:
    """Generate two Gaussian classes that differ along the minor axis only (CCDR, Fig. 1).

    The classes coincide along the first principal component, so a projection on it loses them; they
    differ along the second.
    """
    spread = (major_sd, minor_sd)
    raw = _clusters(
        n_samples,
        [("A", (0.0, distance / 2), spread), ("B", (0.0, -distance / 2), spread)],
        random_state,
    )
    turn = np.deg2rad(angle)
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return RawData(np.asarray(raw.X) @ rotation, raw.labels, feature_names=raw.feature_names)


@registered(
    "generator",
    "rings",
    "three concentric rings in two dimensions, wide noise in the other dimensions",
)
def rings(
    *,
    n_samples: Annotated[int, Ge(3)] = 300,
    noise_features: Annotated[int, Ge(0)] = 8,
    noise_sd: _Positive = 5.0,
    ring_sd: _NotNegative = 0.1,
    random_state: _Seed = 0,
) -> RawData:
    """Generate three classes on rings in two dimensions, and Gaussian noise in the others.

    NMMP, Fig. 2. The radii are 1, 2 and 3, so that the noise has a far larger variance than the
    plane of the rings, and all three class means coincide: neither PCA nor LDA can find the plane.
    """
    rng = np.random.default_rng(random_state)
    ring = np.repeat(np.arange(3), _shares(n_samples, 3))
    radius = 1.0 + ring + rng.normal(0.0, ring_sd, n_samples)
    angle = rng.uniform(0.0, 2 * np.pi, n_samples)
    plane = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    noise = rng.normal(0.0, noise_sd, (n_samples, noise_features))
    names = ("ring-x", "ring-y", *(f"noise-{index + 1}" for index in range(noise_features)))
    labels = np.array(["inner", "middle", "outer"])[ring]
    return RawData(np.hstack([plane, noise]), labels, feature_names=names)


@registered("generator", "lfda_simple", "two elongated classes side by side")
def lfda_simple(*, n_samples: Annotated[int, Ge(2)] = 300, random_state: _Seed = 0) -> RawData:
    """Generate two elongated classes side by side, easy for every method (LFDA, first toy)."""
    spread = (1.0, 2.0)
    return _clusters(
        n_samples, [("A", (-4.0, 0.0), spread), ("B", (4.0, 0.0), spread)], random_state
    )


@registered("generator", "lfda_mixed", "two clusters, each with samples of both classes")
def lfda_mixed(*, n_samples: Annotated[int, Ge(4)] = 300, random_state: _Seed = 0) -> RawData:
    """Generate two clusters, each with both classes (LFDA, second toy: label-mixed cluster).

    The clusters lie left and right, the classes above and below in each: an unsupervised method
    that keeps the clusters mixes the classes.
    """
    spread = (1.5, 0.5)
    return _clusters(
        n_samples,
        [
            ("A", (-4.0, 3.0), spread),
            ("A", (4.0, 3.0), spread),
            ("B", (-4.0, -3.0), spread),
            ("B", (4.0, -3.0), spread),
        ],
        random_state,
    )


@registered(
    "generator", "lfda_multimodal", "one class in two clusters on both sides of the other class"
)
def lfda_multimodal(*, n_samples: Annotated[int, Ge(3)] = 300, random_state: _Seed = 0) -> RawData:
    """Generate a class on both sides of another (LFDA, third toy: multimodal).

    The class means coincide, so FDA finds no direction; `subclasses` has the cluster of each row.
    """
    spread = (1.0, 2.0)
    return _clusters(
        n_samples,
        [("A", (-6.0, 0.0), spread), ("A", (6.0, 0.0), spread), ("B", (0.0, 0.0), spread)],
        random_state,
    )


@registered("generator", "swiss_roll", "a rolled sheet in 3-D, classes by arc")
def swiss_roll(
    *,
    n_samples: Annotated[int, Ge(1)] = 800,
    n_classes: Annotated[int, Ge(1)] = 4,
    height: Annotated[float, Gt(0)] = 21.0,
    noise: _NotNegative = 0.0,
    random_state: _Seed = 0,
) -> RawData:
    """Generate a sheet rolled along the spiral r = t, its classes strips of equal arc length.

    Samples are uniform on the sheet, not in the angle t.
    """
    rng = np.random.default_rng(random_state)
    strip = np.repeat(np.arange(n_classes), _shares(n_samples, n_classes))
    along = (strip + rng.uniform(size=n_samples)) / n_classes
    X = _roll(along, height * rng.uniform(size=n_samples))
    return RawData(X + noise * rng.normal(size=X.shape), strip + 1, feature_names=("x", "y", "z"))


@registered("generator", "four_class_manifold", "a rolled sheet in 3-D cut into four patches")
def four_class_manifold(
    *,
    n_samples: Annotated[int, Ge(4)] = 400,
    height: Annotated[float, Gt(0)] = 21.0,
    noise: _NotNegative = 0.0,
    random_state: _Seed = 0,
) -> RawData:
    """Generate a rolled sheet cut into four patches, inner or outer, lower or upper (SSDE, Fig. 1).

    The paper names neither the surface nor the classes, only that it is the usual synthetic set;
    here each class has two neighbours along the sheet, and inner and outer turns are close in
    space.
    """
    rng = np.random.default_rng(random_state)
    patch = np.repeat(np.arange(4), _shares(n_samples, 4))
    along = (patch // 2 + rng.uniform(size=n_samples)) / 2
    across = height * (patch % 2 + rng.uniform(size=n_samples)) / 2
    X = _roll(along, across)
    names = np.array(["inner-lower", "inner-upper", "outer-lower", "outer-upper"])
    return RawData(
        X + noise * rng.normal(size=X.shape), names[patch], feature_names=("x", "y", "z")
    )


def _shares(n_samples: int, parts: int) -> list[int]:
    """Return how many of `n_samples` rows each part gets; the first parts get the remainder."""
    return [n_samples // parts + (part < n_samples % parts) for part in range(parts)]


def _clusters(n_samples: int, clusters: Sequence[_Cluster], random_state: int) -> RawData:
    rng = np.random.default_rng(random_state)
    sizes = _shares(n_samples, len(clusters))
    X = np.vstack(
        [
            rng.normal(centre, spread, (size, 2))
            for (_, centre, spread), size in zip(clusters, sizes, strict=True)
        ]
    )
    classes = [label for label, _, _ in clusters]
    names = [
        label if classes.count(label) == 1 else f"{label}{classes[:place].count(label) + 1}"
        for place, label in enumerate(classes)
    ]
    of_row: NDArray[np.int64] = np.repeat(np.arange(len(clusters)), sizes)
    return RawData(
        X,
        np.array(classes)[of_row],
        feature_names=("x", "y"),
        subclasses=np.array(names)[of_row] if len(set(classes)) < len(classes) else None,
    )


def _roll(along: NDArray[np.float64], across: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return positions of samples of the sheet; `along` is the fraction of the arc length."""
    angles = np.linspace(_FIRST_ANGLE, _LAST_ANGLE, 10_001)
    # Arc length of r = t from 0 to t: the integral of sqrt(1 + t^2).
    arc = 0.5 * (angles * np.sqrt(1 + angles**2) + np.arcsinh(angles))
    t = np.interp(arc[0] + along * (arc[-1] - arc[0]), arc, angles)
    return np.column_stack([t * np.cos(t), across, t * np.sin(t)])


# The two flowers in which the UCI file differs from Fisher's article, as the UCI file has them:
# sepal length, sepal width, petal length, petal width in cm.
_UCI_IRIS_ROWS = {34: (4.9, 3.1, 1.5, 0.1), 37: (4.9, 3.1, 1.5, 0.1)}


@registered(
    "generator", "balance", "Balance Scale: the full 5^4 design, which side of the scale goes down"
)
def balance(*, random_state: int = 0) -> RawData:  # noqa: ARG001 (every generator takes it)
    """Generate the Balance Scale data: all 625 combinations of four values 1..5.

    The side with the larger weight times distance goes down: ``L``, ``R``, or ``B`` when they are
    equal. The rows are in the order of the UCI file; the last feature varies fastest.
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
    """Return a data file of scikit-learn without importing its module, which loads many others."""
    path = resources.files("sklearn") / "datasets" / "data" / name
    return np.loadtxt(str(path), delimiter=",", skiprows=skiprows)
