"""Print how many samples of data sets occur more than once, exactly or nearly.

    python benchmarks/count_duplicates.py NAME...

A card states these counts in `expect.duplicates`.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ddr_cli.data import load_dataset
from ddr_cli.data.card import Duplicates
from ddr_cli.data.dataset import Dataset
from ddr_cli.numerics.rounding import EQUAL

NEAR = 0.1
"""The largest distance of near duplicates, in median nearest-neighbour distances."""

_QUERIES = 1000
_PROJECTED = 20


def count_duplicates(dataset: Dataset) -> Duplicates:
    """Return how many samples have an exact or a near duplicate, and how many in another class.

    Exact: all features are equal. Near: the Euclidean distance of the standardised features is not
    0, and at most `NEAR` times the median distance from a distinct sample to the nearest other one;
    the median is over at most 1000 samples. Near duplicates are not counted if X is sparse or has
    missing values. A sample without a label has no class.
    """
    samples = pd.DataFrame({"row": distinct_rows(dataset), "label": dataset.y})
    labelled = samples[samples["label"] >= 0]
    classes = labelled.drop_duplicates().rename(columns={"row": "other"})

    def in_another_class(pairs: NDArray[np.intp]) -> int:
        links = pd.DataFrame(pairs, columns=["row", "other"])
        met = labelled.reset_index().merge(links).merge(classes, on="other")
        return int(met.loc[met["label_x"] != met["label_y"], "index"].nunique())

    every = np.arange(samples["row"].max() + 1)
    counts = {
        "exact": int(samples["row"].duplicated(keep=False).sum()),
        "exact_across": in_another_class(np.column_stack([every, every])),
    }
    X = dataset.X
    if isinstance(X, np.ndarray) and not np.isnan(X).any():
        pairs = near_pairs(X[~samples["row"].duplicated().to_numpy()])
        pairs = np.vstack([pairs, pairs[:, ::-1]])
        counts["near"] = int(samples["row"].isin(pairs[:, 0]).sum())
        counts["near_across"] = in_another_class(pairs)
    return Duplicates(**counts)


def distinct_rows(dataset: Dataset) -> NDArray[np.intp]:
    """Return the number of each sample's row among the distinct rows of X."""
    X: Any = dataset.X
    if isinstance(X, np.ndarray):
        contents = (row.tobytes() for row in X)
    else:
        ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        contents = (X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in ends)
    digests = np.array([sha256(content).hexdigest() for content in contents], dtype=object)
    return np.asarray(pd.factorize(digests)[0], dtype=np.intp)


def near_pairs(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the pairs of near duplicates among distinct rows."""
    from scipy.spatial import KDTree
    from sklearn.decomposition import PCA
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import StandardScaler

    if len(X) < 2:
        return np.empty((0, 2), dtype=np.intp)
    Z = StandardScaler().fit_transform(X)
    some = Z[np.random.default_rng(0).permutation(len(Z))[:_QUERIES]]
    nearest, _ = NearestNeighbors(n_neighbors=2).fit(Z).kneighbors(some)
    radius = NEAR * np.median(nearest[:, 1])
    # A projection never increases a distance, so the tree misses no pair.
    projected = PCA(min(_PROJECTED, *Z.shape), random_state=0).fit_transform(Z)
    radius *= 1 + EQUAL  # so that rounding decides no pair
    pairs = KDTree(projected).query_pairs(radius, output_type="ndarray")
    near = np.linalg.norm(Z[pairs[:, 0]] - Z[pairs[:, 1]], axis=1) <= radius
    return np.asarray(pairs[near], dtype=np.intp)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        dataset = load_dataset(name)
        print(f"{name}: {count_duplicates(dataset).shown(dataset.n_samples)}")
