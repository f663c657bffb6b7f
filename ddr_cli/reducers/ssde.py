"""Supervised semidefinite embedding (Zhang et al., ICME 2005)."""

from __future__ import annotations

import warnings
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.mvu import Solver, Unfolding, unfold
from ddr_cli.numerics.neighbor_graphs import knn_graph
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_points
from ddr_cli.reducers.regression_map import MappedEmbedding


@registered(
    "reducer",
    "ssde",
    "supervised semidefinite embedding (Zhang et al.)",
    label="SSDE",
    look=("blue", "P"),
)
class SSDE(MappedEmbedding):
    r"""Unfold each class separately, and move the class centres as far apart as allowed.

    This is SDE's optimisation problem with neighbours from the same class only. As printed in the
    paper it is unbounded, since no constraint connects the classes. Here the distance between the
    centres :math:`\bar y_a` of any two classes is bounded by the distance between their means in
    the input,

    .. math:: \max \mathrm{tr} K \quad\text{s.t.}\quad K \succeq 0,\; \sum_{ij} K_{ij} = 0,\;
              \|y_i - y_j\|^2 = \|x_i - x_j\|^2 \text{ for neighbours of one class},\;
              \|\bar y_a - \bar y_b\|^2 \le s \|\bar x_a - \bar x_b\|^2.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Default: our choice.
    n_neighbors : int, default=4
        The distance between two samples of one class is kept if one is among the `n_neighbors`
        nearest neighbours of the other in the class. Default: as in `SDE`.
    centroid_scale : float, default=16.0
        The factor s of the bound. The paper has no such bound. Default: our choice.
    solver : {"auto", "interior", "low_rank", "cvxpy"}, default="auto"
        As in `ddr_cli.reducers.SDE`, for each class; "auto" is always "interior". Default: our
        choice.
    tol : float, default=1e-3
        Largest accepted duality gap of a class, and largest accepted relative error of a distance.
        Default: our choice.

    Attributes
    ----------
    embedding_, eigenvalues_, trace_, optimality_gap_, constraint_error_, rank_, map_
        As in `ddr_cli.reducers.SDE`.
    class_centers_ : ndarray of shape (n_classes, n_components)
        The centres of the classes, in the order of `classes_`.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it to unroll each class separately, with a bound that you choose on the distances between
    classes.

    Do not interpret the arrangement of the classes: the bound (`centroid_scale`) decides it, as
    well as the precision in few dimensions, and the paper states no bound. Avoid it on classes of
    many samples, because of the cost.

    The problem separates exactly. The trace is the sum of the classes' own inertia, each limited by
    the class's own constraints, and of the centres' inertia :math:`\sum_{a<b} n_a n_b \|\bar y_a -
    \bar y_b\|^2 / n`, in which every distance counts: the class means times :math:`\sqrt s` meet
    all bounds with equality. The problem does not determine how the parts are rotated relative to
    each other; among all solutions, K is the one in which they are orthogonal, the most symmetric
    one (an interior-point method tends to it). So the eigenvectors of K are those of the centres'
    part, equal within each class and at most one fewer than the classes, and those of each class,
    zero outside of it.

    A class whose graph has several components is connected as for `ddr_cli.reducers.SDE`. Columns
    beyond the rank of K are zero.

    For classes of :math:`n_c` samples and :math:`e_c` edges: :math:`O(\sum e_c^3 + n_c^3)` per
    iteration of the solver, and :math:`O(n^3)` for the regression.

    References
    ----------
    .. [1] B. Zhang et al., "Supervised Semi-Definite Embedding for Image Manifolds", ICME 2005,
       Table 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SSDE(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(1)] = 4
    centroid_scale: Annotated[float, Gt(0)] = 16.0
    solver: Solver = "auto"
    tol: Annotated[float, Gt(0)] = 1e-3

    @one_thread()
    def fit(self, X: ArrayLike, y: ArrayLike) -> SSDE:
        given, code = self._points_and_classes(X, y)
        points = np.asarray(given, dtype=np.float64)
        self._check_dimensions(len(points))
        classes = [np.flatnonzero(code == c) for c in range(len(self.classes_))]
        parts = [self._unfold_class(points[members]) for members in classes]
        broken = sum(len(part.bridges) > 0 for part in parts)
        if broken:
            warnings.warn(
                f"In {broken} of {len(parts)} classes, the graph is not connected; the shortest "
                "edges that connect the graph were added. Raise n_neighbors (now "
                f"{self.n_neighbors}).",
                stacklevel=2,
            )
        centers, inertia = _place_centers(points, code, self.centroid_scale)
        within = np.concatenate([part.eigenvalues for part in parts])
        owner = np.repeat(np.arange(len(parts)), [len(part.eigenvalues) for part in parts])
        column = np.concatenate([np.arange(len(part.eigenvalues)) for part in parts])
        eigenvalues = np.concatenate([inertia, within])
        # The sort is stable: of equal eigenvalues, those of the centres come first, then the first
        # class.
        order = np.argsort(-eigenvalues, kind="stable")[: self.n_components]

        embedding = np.zeros((len(points), len(order)))
        self.class_centers_ = np.zeros((len(classes), self.n_components))
        for place, source in enumerate(order):
            if source < len(inertia):
                self.class_centers_[:, place] = centers[:, source]
                embedding[:, place] = centers[code, source]
            else:
                c, a = owner[source - len(inertia)], column[source - len(inertia)]
                embedding[classes[c], place] = parts[c].embedding[:, a]
        self.eigenvalues_ = self._widened(eigenvalues[order])
        self.trace_ = float(eigenvalues.sum())
        self.rank_ = len(eigenvalues)
        gaps = sum(part.gap * part.bound for part in parts)
        self.optimality_gap_ = gaps / self.trace_ if self.trace_ else 0.0
        self.constraint_error_ = max(part.strain for part in parts)
        self._keep(self._widened(embedding), given)
        return self

    def _unfold_class(self, members: Floats) -> Unfolding:
        k = min(self.n_neighbors, len(members) - 1)
        graph = knn_graph(kneighbors(members, k), k) if k else np.zeros((1, 1))
        return unfold(members, graph, solver=self.solver, tol=self.tol, low_rank=False)

    _traits = Traits(
        version=4,
        nested=True,
        grids={
            "n_components": (2, 5, 10, 20, 35, 60),
            "n_neighbors": (3, 4, 5, 6, 8),
            "centroid_scale": (1.0, 4.0, 16.0, 64.0),
        },
        max_components=one_less_than_points,
    )


def _place_centers(points: Floats, code: Codes, scale: float) -> tuple[Floats, Floats]:
    """Return the centres on the axes of their inertia, and the inertia along each, descending."""
    counts = np.bincount(code).astype(np.float64)
    means = np.array([points[code == c].mean(axis=0) for c in range(len(counts))])
    means -= counts @ means / counts.sum()
    root = np.sqrt(counts)[:, None]
    left, sizes, _ = np.linalg.svd(np.sqrt(scale) * root * means, full_matrices=False)
    kept = sizes > 1e-10 * max(float(np.linalg.norm(points)), float(sizes[0]))
    return deterministic_signs(left[:, kept] / root) * sizes[kept], sizes[kept] ** 2
