"""Synthetic classes made of Gaussians and rings: CCDR's PCA example, NMMP's rings, LFDA's toys.

The papers print pictures, not parameters; the defaults are ours, chosen so that each set has the
property that its picture shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from ddr_cli.data.raw import RawData

_Seed = Annotated[int, Ge(0)]
_Positive = Annotated[float, Gt(0)]
_NotNegative = Annotated[float, Ge(0)]

# One Gaussian cluster: its class, its centre and its standard deviations along the axes.
_Cluster = tuple[str, tuple[float, float], tuple[float, float]]


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

    The first principal component is the axis along which the classes coincide, so a projection on
    it loses them; their difference lies in the second.

    Parameters
    ----------
    n_samples : int
        Rows in all, half of each class (the first has one more if odd).
    major_sd, minor_sd : float
        Standard deviations of each class along the two axes.
    distance : float
        Distance of the class means, along the minor axis.
    angle : float
        Direction of the major axis in degrees.
    random_state : int
        Seed.
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


def rings(
    *,
    n_samples: Annotated[int, Ge(3)] = 300,
    noise_features: Annotated[int, Ge(0)] = 8,
    noise_sd: _Positive = 5.0,
    ring_sd: _NotNegative = 0.1,
    random_state: _Seed = 0,
) -> RawData:
    """Generate three classes on concentric rings in two dimensions, Gaussian noise in the others.

    NMMP, Fig. 2. The radii are 1, 2 and 3, so that the noise has a far larger variance than the
    plane of the rings, and all three class means coincide: neither PCA nor LDA can find the plane.

    Parameters
    ----------
    n_samples : int
        Rows in all, a third of each class (the first ones have one more if it doesn't divide).
    noise_features : int
        Dimensions of noise.
    noise_sd : float
        Standard deviation of the noise in each of them.
    ring_sd : float
        Standard deviation of the distance from the centre.
    random_state : int
        Seed.
    """
    rng = np.random.default_rng(random_state)
    ring = np.repeat(np.arange(3), shares(n_samples, 3))
    radius = 1.0 + ring + rng.normal(0.0, ring_sd, n_samples)
    angle = rng.uniform(0.0, 2 * np.pi, n_samples)
    plane = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    noise = rng.normal(0.0, noise_sd, (n_samples, noise_features))
    names = ("ring-x", "ring-y", *(f"noise-{index + 1}" for index in range(noise_features)))
    labels = np.array(["inner", "middle", "outer"])[ring]
    return RawData(np.hstack([plane, noise]), labels, feature_names=names)


def lfda_simple(*, n_samples: Annotated[int, Ge(2)] = 300, random_state: _Seed = 0) -> RawData:
    """Generate two elongated classes side by side, easy for every method (LFDA, first toy).

    Parameters
    ----------
    n_samples : int
        Rows in all, half of each class.
    random_state : int
        Seed.
    """
    spread = (1.0, 2.0)
    return _clusters(
        n_samples, [("A", (-4.0, 0.0), spread), ("B", (4.0, 0.0), spread)], random_state
    )


def lfda_mixed(*, n_samples: Annotated[int, Ge(4)] = 300, random_state: _Seed = 0) -> RawData:
    """Generate two clusters, each with both classes (LFDA, second toy: label-mixed cluster).

    The clusters lie left and right, the classes above and below in each: a method that keeps
    clusters and knows no labels shows the clusters and mixes the classes.

    Parameters
    ----------
    n_samples : int
        Rows in all, a quarter for each class and cluster.
    random_state : int
        Seed.
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


def lfda_multimodal(*, n_samples: Annotated[int, Ge(3)] = 300, random_state: _Seed = 0) -> RawData:
    """Generate a class on both sides of another (LFDA, third toy: multimodal).

    The class means coincide, so FDA finds no direction; `subclasses` says which cluster a row is
    of.

    Parameters
    ----------
    n_samples : int
        Rows in all, a third in each cluster.
    random_state : int
        Seed.
    """
    spread = (1.0, 2.0)
    return _clusters(
        n_samples,
        [("A", (-6.0, 0.0), spread), ("A", (6.0, 0.0), spread), ("B", (0.0, 0.0), spread)],
        random_state,
    )


def shares(n_samples: int, parts: int) -> list[int]:
    """Return how many of `n_samples` rows each part gets; the first ones take the remainder."""
    return [n_samples // parts + (part < n_samples % parts) for part in range(parts)]


def _clusters(n_samples: int, clusters: Sequence[_Cluster], random_state: int) -> RawData:
    rng = np.random.default_rng(random_state)
    sizes = shares(n_samples, len(clusters))
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
