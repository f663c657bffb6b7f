"""Discriminative Projections (Wang and Mahadevan)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray

from ddr_cli.core.parameters import check_parameters
from ddr_cli.core.registry import registered
from ddr_cli.numerics.approximate import Search
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.generalized_eigen import smallest_generalized_eigenpairs
from ddr_cli.numerics.neighbors import CsrArray, Neighbors
from ddr_cli.numerics.rounding import EQUAL
from ddr_cli.numerics.scatter import laplacian_form, leading_span, symmetric
from ddr_cli.reducers.partial_labels import UNLABELLED, Unlabelled, encode_labels, points_and_values
from ddr_cli.reducers.reducer import Floats, GraphReducer, LinearReducer
from ddr_cli.reducers.registry import Traits, rank_of_centred

_LARGE = 1000  # up to this many samples or features, rank="auto" searches f in the whole span
_LEADING = 300  # number of leading directions that it uses for larger data


@registered(
    "reducer",
    "discriminative_projections",
    "discriminative projections of samples and labels (Wang, Mahadevan)",
    label="DP",
    look=("blue", "h"),
)
class DiscriminativeProjections(GraphReducer, LinearReducer):
    r"""Map samples and labels into one space: each sample near its label, far from other labels.

    Maps f of samples and g of labels (as unit vectors :math:`s_k`, :math:`y_i = s_k` for a sample
    of class k) minimise

    .. math:: C(f, g) = \frac
        {\sum_{i \le l} \|f^T x_i - g^T y_i\|^2 + \mu \sum_{i<j} w_{ij} \|f^T x_i - f^T x_j\|^2}
        {\sum_{i \le l} \sum_{s_k \ne y_i} \|f^T x_i - g^T s_k\|^2}

    over the l labelled samples and, in the second sum, the neighbour graph of all samples: the
    smallest solutions (f; g) of :math:`(A + C) \gamma = \lambda (B + C) \gamma`. With continuous
    labels g is a number times the label, the denominator :math:`f^T X D X^T f + g^T Y Y^T g`, and
    the equation :math:`Z \hat L Z^T \gamma = \lambda Z \hat D Z^T \gamma`.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, not bounded by the number of classes. Default: our choice.
    mu : "auto" or float, default="auto"
        Weight :math:`\mu` of the geometry. "auto" balances the geometry with the labels: the weight
        is l divided by the sum of all :math:`w_{ij}` (which counts each pair twice). For continuous
        labels, it is a tenth of this value. Default: as in the paper.
    n_neighbors : int, default=10
        Two samples are connected if one is among the `n_neighbors` nearest neighbours of the other.
        Default: our choice.
    labels : {"discrete", "continuous"}, default="discrete"
        "discrete": classes. "continuous": numbers; samples with similar numbers are embedded near
        each other. Default: as in the paper.
    weights : {"heat", "binary"}, default="heat"
        "heat": :math:`w_{ij} = \exp(-\|x_i - x_j\|^2 / \epsilon)`. "binary": :math:`w_{ij} = 1`.
        Default: our choice.
    epsilon : "mean" or float, default="mean"
        Bandwidth of the heat kernel in squared units of the data; "mean" is the mean squared
        distance to the `n_neighbors` nearest neighbours. The paper gives no bandwidth; its figure
        of USPS looks like a bandwidth of 1. Default: our choice.
    rank : "auto", "full" or int, default="auto"
        Number of leading singular directions of the data in which f is searched for. "auto": all
        directions, or 300 if there are more than 1000 samples and features. Default: our choice.
    normalize : {"constraint", "unit_length"}, default="constraint"
        Length of each column (f; g). "constraint": :math:`\gamma^T (B + C) \gamma = l` (for
        continuous labels, :math:`\gamma^T Z \hat D Z^T \gamma = l`), so the scale of the embedding
        does not depend on the number of samples. "unit_length": 1, as many eigensolvers return it.
        Default: our choice.
    unlabelled : -1 or "nan", default=-1
        The value that marks an unlabelled sample among continuous labels. Among discrete labels,
        this value is always -1. Default: as in scikit-learn.
    label_values : list of float, optional
        The numbers that continuous labels stand for, in the order of the labels, such as [1, 2, 3,
        4] for labels 0 to 3. None: the labels themselves are the numbers.
    neighbors : {"exact", "approximate", "auto"}, default="exact"
        How the neighbours of the training samples are searched. "approximate" uses faiss (extra
        `approximate`). "auto" is exact up to 50,000 samples. The search for the neighbours of new
        samples is always exact. Default: our choice.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The columns of f, by increasing :math:`\lambda`.
    label_components_ : ndarray of shape (n_classes, n_components)
        g: in row k the image of label k, the prototype of its class in the embedding; one row
        for continuous labels, the image of label 1.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, ascending.
    classes_ : ndarray of shape (n_classes,)
        The class labels without -1 (discrete labels only).
    mu_ : float
        The weight used; 0 if no two samples are connected.
    rank_ : int
        Dimension of the space in which f was searched for.
    mean_ : ndarray of shape (n_features,)
        Zeros: the method is defined on the data as they are.
    neighbor_recall_ : float
        Fraction of the true nearest neighbours that the search found, estimated on a random subset;
        1 if exact.

    Notes
    -----
    Use it when few samples have a label and the embedding should keep the geometry of all samples
    as well as separate the classes; when labels have an order (`labels="continuous"`); or when
    labels and samples should be embedded in one space.

    Avoid it when neighbours often belong to different classes. How well it keeps the geometry
    depends on the weights of the graph: try `weights` and `epsilon`.

    The paper's sums count each pair of neighbours twice and its matrices count it once; this
    implementation follows the matrices.

    **The degenerate direction.** Where features add up to the same in every sample (one-hot codes,
    histograms), a map f with :math:`f^T x = 1` for all samples exists, and with :math:`g^T s_k = 1`
    for all labels it maps everything to a single point: both sides of the equation vanish, the
    quotient is 0/0, and a plain eigen-solver returns this uninformative direction at any position,
    often first. (This is our interpretation of the 52.8 % that the paper prints for mushrooms in
    one dimension: the majority-class baseline has 51.8 %.) Such null directions are dropped;
    collinear features and the indicators of graph components without a labelled sample are null
    directions too. Adding one to a solution does not change the cost; the solution with the
    smallest :math:`|f|^2 + |g|^2` is taken, the limit of an ever smaller ridge on both sides.

    A direction that is independent of the labels has :math:`\lambda \ge 1 / L` for L classes, so
    the roughly L - 1 directions below this value separate the classes, and those above, smoothest
    first, keep the geometry. A repeated eigenvalue (:math:`1/L` if the graph is disconnected) has
    no preferred basis.

    For n samples, d features and rank r: :math:`O(n^2 d)` for the neighbours,
    :math:`O(n r (k + r) + r^3)` for the rest; sparse data stay sparse.

    References
    ----------
    .. [1] C. Wang, S. Mahadevan, "Learning Locality-Preserving Discriminative Features",
       University of Massachusetts Amherst, undated, about 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> DiscriminativeProjections(n_components=3).fit_transform(X, y).shape
    (150, 3)
    """

    n_components: Annotated[int, Ge(1)] = 2
    mu: Literal["auto"] | Annotated[float, Ge(0)] = "auto"
    n_neighbors: Annotated[int, Ge(1)] = 10
    labels: Literal["discrete", "continuous"] = "discrete"
    weights: Literal["binary", "heat"] = "heat"
    epsilon: Literal["mean"] | Annotated[float, Gt(0)] = "mean"
    rank: Literal["auto", "full"] | Annotated[int, Ge(1)] = "auto"
    normalize: Literal["constraint", "unit_length"] = "constraint"
    unlabelled: Unlabelled = -1
    label_values: list[float] | None = None
    neighbors: Search = "exact"

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, neighbors: Neighbors | None = None
    ) -> DiscriminativeProjections:
        points, target = self._read(X, y)
        span = leading_span(points, self._most(points))
        W, _ = self._affinity(points, neighbors)
        if (
            not span.rank
            or np.ptp(span.coordinates, axis=0).max() <= EQUAL * abs(span.coordinates).max()
        ):
            raise ValueError("All features are constant, so there is no direction to find.")
        U, length = _standard(span.coordinates)
        self.rank_ = span.rank
        self.mu_ = self._weight(int(target.labelled.sum()), float(W.sum()))
        forms = self._discrete if self.labels == "discrete" else self._continuous
        left, right = forms(U, target, W)
        # From here on, vectors are in the units of X and of the labels.
        units = np.concatenate([1 / length, 1 / target.length])
        self.eigenvalues_, vectors = smallest_generalized_eigenpairs(
            left, right, self.n_components, units=units
        )
        gamma = units[:, None] * vectors
        if self.normalize == "unit_length":
            gamma /= np.linalg.norm(gamma, axis=0)
        else:
            gamma *= np.sqrt(target.labelled.sum())
        f, g = span.basis @ gamma[: span.rank], gamma[span.rank :]
        # A direction may concern the labels only; what it has of the samples is then rounding.
        spread = np.linalg.norm(span.coordinates @ gamma[: span.rank], axis=0)
        f *= spread > EQUAL * spread.max()
        signed = deterministic_signs(f)
        # The signs depend only on f, so that the order of the classes does not affect them.
        g *= np.where(np.einsum("ij,ij->j", f, signed) < 0, -1.0, 1.0)
        self.components_ = signed.T.astype(points.dtype)
        self.label_components_ = g.astype(points.dtype)
        self.mean_ = np.zeros(points.shape[1], dtype=points.dtype)
        return self

    def _read(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, _Target]:
        """Return checked samples and labels."""
        if self.labels == "discrete":
            points, names = self._points_and_labels(X, y)
            self.classes_, code = encode_labels(names)
            labelled = code != UNLABELLED
            Y, n_labels = np.eye(len(self.classes_))[code[labelled]], len(self.classes_)
        else:
            check_parameters(self)
            points, values, labelled = points_and_values(
                self, X, y, self.unlabelled, ensure_min_samples=2, **self._accepted
            )
            numbers, code = np.unique(values[labelled], return_inverse=True)
            n_labels = len(numbers)
            if self.label_values is not None:
                numbers = self._values_for(numbers)
            Y = numbers[code][:, None]
        if n_labels < 2:
            raise ValueError(f"{type(self).__name__} needs at least two different labels in y.")
        length = np.ones(Y.shape[1])
        if self.labels == "continuous":
            Y, length = _standard(Y)
        return points, _Target(labelled, Y, length)

    def _values_for(self, numbers: Floats) -> Floats:
        values = np.asarray(self.label_values, dtype=np.float64)
        if len(values) != len(numbers) or len(np.unique(values)) != len(values):
            raise ValueError(
                f"label_values={self.label_values} must hold {len(numbers)} different numbers, one "
                "for each label in y."
            )
        return values

    def _most(self, points: Any) -> int | None:
        if self.rank == "full":
            return None
        if self.rank == "auto":
            return _LEADING if min(points.shape) > _LARGE else None
        return int(self.rank)

    def _weight(self, n_labelled: int, s: float) -> float:
        if s == 0:
            return 0.0
        if self.mu != "auto":
            return float(self.mu)
        return (1.0 if self.labels == "discrete" else 0.1) * n_labelled / s

    def _discrete(self, X: Floats, target: _Target, W: CsrArray) -> tuple[Floats, Floats]:
        """Return A + C and B + C."""
        x, Y = X[target.labelled], target.Y
        n_labelled, L = Y.shape
        C = self.mu_ * laplacian_form(X, W)
        A_plus_C = _blocks(x.T @ x + C, x.T @ Y, Y.T @ Y)
        # sum_k S_k S_k' = l I, since each label k appears once for every labelled point.
        B_plus_C = _blocks(
            L * (x.T @ x) + C, np.outer(x.sum(axis=0), np.ones(L)), n_labelled * np.eye(L)
        )
        return A_plus_C, B_plus_C

    def _continuous(self, X: Floats, target: _Target, W: CsrArray) -> tuple[Floats, Floats]:
        """Return Z L^ Z' and Z D^ Z'."""
        x, Y = X[target.labelled], target.Y
        degree = np.asarray(W.sum(axis=1)).reshape(-1, 1)
        squares = Y.T @ Y
        left = _blocks(x.T @ x + self.mu_ * laplacian_form(X, W), x.T @ Y, squares)
        right = _blocks(symmetric(X.T @ (degree * X)), np.zeros((X.shape[1], 1)), squares)
        return left, right

    _traits = Traits(
        version=3,
        nested=True,
        transductive=True,
        neighbors=True,
        grids={
            "n_components": (1, 2, 3, 5, 9, 20, 30, 50, 100),
            "mu": ("auto", 0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
            "n_neighbors": (3, 5, 7, 10, 15, 20),
            "weights": ("heat", "binary"),
        },
    )

    def __ddr_traits__(self) -> Traits:
        return replace(super().__ddr_traits__(), max_components=self._most_components)

    def _most_components(self, n_train: int, n_features: int, n_classes: int) -> int:
        if self.labels == "continuous":
            return min(n_train, n_features) + 1
        return rank_of_centred(n_train, n_features, n_classes) + n_classes


@dataclass(frozen=True, eq=False)
class _Target:
    """Which samples are labelled, their labels as rows of Y, and the unit of Y's columns."""

    labelled: NDArray[np.bool_]
    Y: Floats
    length: Floats


def _standard(Z: Floats) -> tuple[Floats, Floats]:
    """Return the columns in units of their root mean square, and these units.

    The equations don't change, but the unit of a coordinate then does not affect what counts as
    singular.
    """
    length = np.sqrt(np.mean(Z**2, axis=0))
    return Z / length, length


def _blocks(own: Floats, cross: Floats, labels: Floats) -> Floats:
    return np.block([[own, -cross], [-cross.T, labels]])
