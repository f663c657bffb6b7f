"""Sliced average variance estimation, and directional regression."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import eigenpairs
from ddr_cli.reducers.discriminant import LinearDiscriminant
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@registered(
    "reducer",
    "save",
    "sliced average variance estimation, or directional regression (Cook, Li)",
    label="SAVE",
    look=("green", "s"),
)
class SAVE(LinearDiscriminant):
    r"""Find directions along which the classes differ in their means or variances.

    For the whitened samples :math:`z = \Sigma^{-1/2} (x - m)`, with :math:`\pi_k` the fraction of
    samples in class k, :math:`V_k` its covariance and :math:`\mu_k` its mean, the leading
    eigenvectors :math:`\eta` of

    .. math:: M_\mathrm{save} &= \sum_k \pi_k (I - V_k)^2 \\
        M_\mathrm{dr} &= 2 \sum_k \pi_k (V_k + \mu_k \mu_k^T - I)^2
        + 2 B^2 + 2 \, \mathrm{tr}(B) B, \qquad B = \sum_k \pi_k \mu_k \mu_k^T

    give the rows :math:`\Sigma^{-1/2} \eta` of `components_`, along which the samples have
    variance 1.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred data. Default: our choice.
    method : {"save", "dr"}, default="save"
        "save": sliced average variance estimation. "dr": directional regression, which finds
        differences of means with fewer samples. Default: our choice.
    reg : float, default=0
        Ridge: this fraction of the mean variance over the span of the data is added to the diagonal
        of :math:`\Sigma`; the I in the formulas above is then the covariance of z. Default: as in
        the papers.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, by decreasing eigenvalue.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of M, descending.
    classes_ : ndarray of shape (n_classes,)
        Class labels, the slices. Every label is a class here, -1 too.

    Notes
    -----
    Use it when classes have the same mean and differ in their variances, which methods based on
    means cannot detect.

    Avoid it with few samples relative to the number of features, since all directions are whitened.
    Avoid it when the class means suffice: it needs more samples for the same result.

    Whitening gives every direction the same variance: without a ridge, many features require many
    samples, or PCA first. If classes have about as many samples as the data have dimensions,
    leading eigenvalues of both methods are equal. If `n_components` separates equal ones, the
    directions along the leading principal components are taken, with a warning: use PCA first, or
    `reg`.

    The scale of each feature has no effect, so that whitening before it has none either.

    For n samples, d features, rank r and C classes: :math:`O(n d \min(n, d) + C r^3)`.

    References
    ----------
    .. [1] R. D. Cook, S. Weisberg, Comment on "Sliced Inverse Regression for Dimension Reduction",
       JASA 86, 1991, 328-332.
    .. [2] B. Li, S. Wang, "On Directional Regression for Dimension Reduction", JASA 102, 2007,
       997-1008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SAVE(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    method: Literal["save", "dr"] = "save"
    reg: Annotated[float, Ge(0)] = 0.0

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:  # noqa: ARG002
        # The columns of Z are orthogonal, so their covariance is diagonal.
        variance = np.einsum("ij,ij->j", Z, Z) / len(Z)
        per_unit = 1 / np.sqrt(variance + self.reg * variance.mean())
        white, total = Z * per_unit, np.diag(variance * per_unit**2)
        M, B = np.zeros_like(total), np.zeros_like(total)
        for k in range(len(self.classes_)):
            members = white[code == k]
            share, mean = len(members) / len(white), members.mean(axis=0)
            moment = members.T @ members / len(members)
            differs = moment - total
            if self.method == "save":
                differs = differs - np.outer(mean, mean)
            M += share * (differs @ differs)
            B += share * np.outer(mean, mean)
        if self.method == "dr":
            M = 2 * (M + B @ B + np.trace(B) * B)
        self.eigenvalues_, vectors = eigenpairs(M, self.n_components)
        return np.asarray(per_unit[:, None] * vectors)

    _traits = Traits(
        version=3,
        nested=True,
        grids={
            "n_components": tuple(range(1, 21)),
            "method": ("save", "dr"),
            "reg": (0.0, 1e-3, 1e-2, 1e-1, 1.0),
        },
        preprocess=("pca {n_components: 0.98}",),
        max_components=rank_of_centred,
    )
