"""Classification constrained dimensionality reduction (Raich et al., arXiv:0802.2906)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt, Lt
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import orthogonal_procrustes
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.utils import check_random_state

from ddr_cli.core.registry import registered
from ddr_cli.numerics.approximate import Search
from ddr_cli.numerics.neighbor_graphs import knn_kernel, known_neighbors
from ddr_cli.numerics.neighbors import CsrArray, Neighbors, kneighbors
from ddr_cli.reducers.partial_labels import UNLABELLED, codes_among, encode_labels
from ddr_cli.reducers.reducer import Codes, Embedding, Floats, GraphReducer
from ddr_cli.reducers.registry import Traits, equal_ratios


@registered(
    "reducer",
    "ccdr",
    "classification constrained dimensionality reduction (Raich et al.)",
    label="CCDR",
    look=("blue", "o"),
)
class CCDR(GraphReducer, Embedding):
    r"""Embed samples and class centres, with a trade-off between labels and local geometry.

    Samples :math:`y_i` and class centres :math:`z_k` in :math:`R^m` minimise (Eq. 13)

    .. math:: \sum_{ki} c_{ki} \|z_k - y_i\|^2 + \frac\beta2 \sum_{ij} w_{ij} \|y_i - y_j\|^2

    under :math:`Z D 1 = 0` and :math:`Z D Z^T = I`: the solutions of
    :math:`L u = \lambda D u` (Eq. 15) for the graph of samples and centres.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions m of the embedding. Default: our choice.
    beta : float, default=0.5
        Weight of the geometry relative to the labels. With 0, the geometry has no effect: there are
        at most L - 1 dimensions for L classes, and Eq. 20 embeds the unlabelled samples. Default:
        as in the paper.
    n_neighbors : int, default=4
        Two samples are connected if one is among the `n_neighbors` nearest neighbours of the other.
        Default: as in the paper.
    weights : {"binary", "heat"}, default="binary"
        "binary": :math:`w_{ij} = 1`. "heat": :math:`w_{ij} = \exp(-\|x_i - x_j\|^2 / \epsilon)`.
        Default: our choice; the paper uses "heat".
    epsilon : "mean" or float, default="mean"
        Bandwidth of the heat kernel in squared units of the data; "mean" is the mean squared
        distance to the `n_neighbors` nearest neighbours. The paper gives no bandwidth. Default: our
        choice.
    subsample : int, float or None, default=None
        For large n: fit on stratified subsamples of this many samples (or this fraction), embed the
        other samples by Eq. 20 with their labels, align the embeddings and average them. None: fit
        on all samples at once. Default: our choice.
    random_state : int, RandomState or None, default=None
        Seed of the subsamples; nothing else is random.
    n_subsamples : int, default=5
        Number of subsamples that are averaged. Default: our choice.
    neighbors : {"exact", "approximate", "auto"}, default="exact"
        How the neighbours of the training samples are searched. "approximate" uses faiss (extra
        `approximate`). "auto" is exact up to 50,000 samples. The search for the neighbours of new
        samples is always exact. Default: our choice.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding :math:`y_i` of the samples.
    class_centers_ : ndarray of shape (n_classes, n_components)
        The centres :math:`z_k`, in the order of `classes_`.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda_2 \le \dots \le \lambda_{m+1}`.
    classes_ : ndarray of shape (n_classes,)
        The class labels, without -1.
    affinity_ : csr_array of shape (n_samples, n_samples)
        The weights W (without `subsample`).
    connected_ : ndarray of shape (n_samples,)
        Whether a path in the graph leads from the sample to a labelled one (without `subsample`).
    epsilon_ : float
        Bandwidth of the heat kernel (without `subsample`).
    members_, rotations_ : list of CCDR, list of ndarray of shape (n_components, n_components)
        The fits on the subsamples, and the rotation that aligns each with the first (with
        `subsample`).
    neighbor_recall_ : float
        Fraction of the true nearest neighbours that the search found, estimated on a random subset;
        1 if exact.

    Notes
    -----
    Use it when few samples have a label and the fit can include the unlabelled samples, such as the
    test samples; and before a linear classifier, whose error it lowers when class borders are
    curved.

    Avoid it when neighbours often belong to different classes, since the graph then connects
    samples that the labels separate. Do not expect it to improve a nearest-neighbour classifier
    that already works well on the features: on re-splits of Landsat it does not.

    An unlabelled sample has ``y == -1``. Graph components without a labelled sample have eigenvalue
    0, and their indicators would fill the embedding. Their samples are left out of the eigenproblem
    and embedded afterwards, like new samples, by Eq. 20 from their nearest connected samples; a
    warning states their number.

    When the classes themselves fall into c separate components, the first c - 1 dimensions
    (:math:`\lambda = 0`) separate these components, the heaviest first.

    With the paper's constraint :math:`Z D Z^T = I` the embedding shrinks as the number of samples
    grows: standardise it before a classifier or regression with a penalty.

    For n samples, d features, k neighbours and m dimensions: :math:`O(n^2 d)` for the neighbours,
    and :math:`O(n (k + m) m)` for each Lanczos restart; a small spectral gap needs more restarts.

    References
    ----------
    .. [1] R. Raich, J. A. Costa, S. B. Damelin, A. O. Hero III, "Classification Constrained
       Dimensionality Reduction", arXiv:0802.2906, 2008, sections IV and V.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> CCDR(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    n_components: Annotated[int, Ge(1)] = 2
    beta: Annotated[float, Ge(0)] = 0.5
    n_neighbors: Annotated[int, Ge(1)] = 4
    weights: Literal["binary", "heat"] = "binary"
    epsilon: Literal["mean"] | Annotated[float, Gt(0)] = "mean"
    subsample: Annotated[int, Ge(2)] | Annotated[float, Gt(0), Lt(1)] | None = None
    random_state: int | np.random.RandomState | None = None
    n_subsamples: Annotated[int, Ge(1)] = 5
    neighbors: Search = "exact"

    def fit(self, X: ArrayLike, y: ArrayLike, *, neighbors: Neighbors | None = None) -> CCDR:
        points, labels = self._points_and_labels(X, y)
        self.classes_, code = encode_labels(labels)
        if self.subsample is None:
            self._fit_graph(points, code, neighbors)
            strays = int(np.sum(~self.connected_))
        else:
            self._fit_subsamples(points, labels, code)
            strays = max(int(np.sum(~member.connected_)) for member in self.members_)
        self.embedding_ = self.embedding_.astype(points.dtype)
        if strays:
            warnings.warn(
                f"{strays} unlabelled samples are not connected to a labelled sample; Eq. 20 of "
                f"the CCDR paper embeds them. Raise n_neighbors (now {self.n_neighbors}).",
                stacklevel=2,
            )
        return self

    def _fit_graph(self, X: Any, code: Codes, neighbors: Neighbors | None) -> None:
        n, L, m = X.shape[0], len(self.classes_), self.n_components
        W, self.epsilon_ = self._affinity(X, neighbors)

        # G = [[0, C], [C', beta W]]. C is the L x n class membership, 0 for unlabelled samples.
        (labelled,) = np.nonzero(code != UNLABELLED)
        C = sp.csr_array((np.ones(len(labelled)), (code[labelled], labelled)), shape=(L, n))
        blocks: Any = [[None, C], [C.T, self.beta * W]]
        G = sp.csr_array(sp.block_array(blocks))
        G.eliminate_zeros()

        _, part = connected_components(G, directed=False)
        kept = np.isin(part, part[:L])
        if not kept.all():
            G = G[kept][:, kept]
        # Eq. 20 divides by 1 - lambda. Without neighbour edges, G is one star per class: L
        # eigenvalues are 0, and the next ones are 1.
        self._check_extension(G.shape[0] - 1 if G.nnz > 2 * len(labelled) else L - 1)
        self.eigenvalues_, U = self._eigenpairs(G)  # Eq. 15: L u = lambda D u
        self._check_extension(int(np.sum(self.eigenvalues_ < 1 - 1e-9)))

        self.affinity_ = W
        self.connected_ = kept[L:]
        self.class_centers_ = U[:L]
        self.embedding_: Floats = np.zeros((n, m))
        self.embedding_[self.connected_] = U[L:]
        self._X = X
        if not self.connected_.all():
            self.embedding_[~self.connected_] = self.place(self._kernel(X[~self.connected_]))

    def _fit_subsamples(self, X: Any, y: NDArray[Any], code: Codes) -> None:
        """Embed stratified subsamples, extend each to all samples by Eq. 20, align and average.

        Two such embeddings of the same samples differ by a rotation, since eigenvectors of close
        eigenvalues mix. It is found by orthogonal Procrustes on the class centres and all n
        samples, which every subsample embeds; the class centres alone would not determine it if
        there are fewer of them than dimensions.
        """
        n, size = len(code), self.subsample
        share = size / n if isinstance(size, int) else size
        if share is None or share >= 1:
            raise ValueError(f"subsample={size} must be less than the number of samples, {n}.")
        rng = check_random_state(self.random_state)
        self.members_: list[CCDR] = []
        embeddings = []
        for _ in range(self.n_subsamples):
            chosen = _draw(code, share, rng)
            member = clone(self).set_params(subsample=None)
            member.n_features_in_, member.classes_ = self.n_features_in_, self.classes_
            try:
                member._fit_graph(X[chosen], code[chosen], None)
            except ValueError as error:
                raise ValueError(
                    f"subsample={size} draws {len(chosen)} of {n} samples: {error} Choose a larger "
                    "subsample."
                ) from error
            embedding = np.empty((n, self.n_components))
            embedding[chosen] = member.embedding_
            others = np.setdiff1d(np.arange(n), chosen)
            embedding[others] = member.extend(X[others], y[others])
            self.members_.append(member)
            embeddings.append(embedding)
        anchors = [
            np.vstack([member.class_centers_, embedding])
            for member, embedding in zip(self.members_, embeddings, strict=True)
        ]
        self.rotations_ = [orthogonal_procrustes(own, anchors[0])[0] for own in anchors]
        self.embedding_ = self._mean_rotated(embeddings)
        self.class_centers_ = self._mean_rotated(
            [member.class_centers_ for member in self.members_]
        )
        self.eigenvalues_ = np.mean([member.eigenvalues_ for member in self.members_], axis=0)
        self.neighbor_recall_ = min(member.neighbor_recall_ for member in self.members_)

    def _mean_rotated(self, parts: list[Floats]) -> Floats:
        """Return the mean of the subsamples' embeddings, each rotated to match the first."""
        turned = [part @ turn for part, turn in zip(parts, self.rotations_, strict=True)]
        return np.asarray(np.mean(turned, axis=0))

    def transform(self, X: ArrayLike, *, neighbors: Neighbors | None = None) -> NDArray[Any]:
        """Embed new samples without labels, by Eq. 20 with c = 0; see `extend`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            New samples, one per row.
        neighbors : Neighbors, optional
            At least `n_neighbors` neighbours of each new sample among the training samples, found
            before; the method then does not search for them.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            The embedding, as float32 if X is float32, else as float64.

        Raises
        ------
        NotFittedError
            If the reducer is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """
        return self._placed(X, None, neighbors)

    def extend(
        self, X: ArrayLike, y: ArrayLike, *, neighbors: Neighbors | None = None
    ) -> NDArray[Any]:
        """Embed new samples with their labels, by Eq. 20.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            New samples, one per row.
        y : array-like of shape (n_queries,)
            Class labels among `classes_`; -1 for a sample without a label.
        neighbors : Neighbors, optional
            At least `n_neighbors` neighbours of each new sample among the training samples, found
            before; the method then does not search for them.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            The embedding, as float32 if X is float32, else as float64.

        Raises
        ------
        NotFittedError
            If the reducer is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set,
            or y has a label that is not among `classes_`.
        """
        return self._placed(X, y, neighbors)

    def _placed(
        self, X: ArrayLike, y: ArrayLike | None, neighbors: Neighbors | None
    ) -> NDArray[Any]:
        points = self._points(X)
        if self.subsample is None:
            placed = self.place(self._kernel(points, neighbors), y)
        else:
            placed = self._mean_rotated(
                [member._placed(points, y, None) for member in self.members_]
            )
        return placed.astype(points.dtype)

    def place(self, K: Any, y: ArrayLike | None = None) -> Floats:
        r"""Evaluate Eq. 20 for given rows of the kernel.

        .. math:: f_l(x, c) = \frac{1}{1 - \lambda_l}
            \frac{I(c \ne 0) z_c(l) + \beta \sum_j K(x, x_j) y_j(l)}
                 {I(c \ne 0) + \beta \sum_j K(x, x_j)}

        Parameters
        ----------
        K : array or sparse of shape (n_queries, n_samples)
            Kernel between the new and the training samples. A training sample's own row of
            `affinity_`, with its own label, gives its own embedding (Eq. 18).
        y : array of shape (n_queries,), optional
            Labels among `classes_`, or -1 if unknown (default: all unknown).

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            The embedding.
        """
        unknown = np.full(K.shape[0], UNLABELLED)
        code = unknown if y is None else codes_among(self.classes_, y)
        labelled = code != UNLABELLED
        beta = np.where(labelled, self.beta, 1.0)[:, None]  # where c = 0, beta cancels
        numerator = beta * (K @ self.embedding_)
        numerator[labelled] += self.class_centers_[code[labelled]]
        denominator = labelled[:, None] + beta * np.asarray(K.sum(axis=1)).reshape(-1, 1)
        return np.asarray(numerator / denominator / (1 - self.eigenvalues_))

    def _kernel(self, X: Any, neighbors: Neighbors | None = None) -> CsrArray:
        """Return K(x, x_j): x_j among the nearest connected samples of x, the weights as in W."""
        (known,) = np.nonzero(self.connected_)
        n, k = len(self.connected_), min(self.n_neighbors, len(known))
        if len(known) < n:
            nearest = kneighbors(self._X[known], k, queries=X)
            neighbors = Neighbors(known[nearest.indices], nearest.distances)
        neighbors = known_neighbors(self._X, k, neighbors, queries=X)
        return knn_kernel(neighbors, k, n, weights=self.weights, epsilon=self.epsilon_)

    _traits = Traits(
        version=2,
        nested=True,
        transductive=True,
        neighbors=True,
        grids={
            "beta": equal_ratios(0.01, 10, 13),
            "n_neighbors": tuple(range(2, 13)),
            "n_components": tuple(range(1, 21)),
            "weights": ("binary", "heat"),
        },
        grid_source="our choice, around the paper's beta, n_neighbors and n_components",
    )

    def __ddr_traits__(self) -> Traits:
        traits = replace(super().__ddr_traits__(), max_components=self._most_components)
        return traits if self.subsample is None else replace(traits, nested=False, neighbors=False)

    def _most_components(self, n_train: int, n_features: int, n_classes: int) -> int:  # noqa: ARG002
        # Of the n + L eigenvalues, that of the constant vector gives no dimension. The extension
        # needs eigenvalues below 1, and their mean is 1, so at least one other eigenvalue gives
        # none either.
        return n_train + n_classes - 2 if self.beta > 0 else n_classes - 1


def _draw(code: Codes, share: float, rng: np.random.RandomState) -> Codes:
    """Return a random fraction of every class, at least one sample each, in ascending order."""
    chosen = []
    for label in np.unique(code):
        (members,) = np.nonzero(code == label)
        count = max(1, round(share * len(members)))
        chosen.append(rng.choice(members, count, replace=False))
    return np.sort(np.concatenate(chosen))
