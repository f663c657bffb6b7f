"""Recursive feature machine (Radhakrishnan, Beaglehole, Pandit, Belkin)."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import scipy.linalg
from annotated_types import Ge, Gt
from scipy import spatial

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import all_eigenpairs
from ddr_cli.numerics.neighbors import equal_below
from ddr_cli.numerics.rounding import EQUAL
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.discriminant import LinearDiscriminant
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@registered(
    "reducer",
    "rfm",
    "recursive feature machine (Radhakrishnan et al.)",
    label="RFM",
    look=("orange", "P"),
)
class RFM(LinearDiscriminant):
    r"""Learn a metric from a kernel machine's gradients, and project on the metric's directions.

    Starting from :math:`M = I`, each iteration fits a kernel ridge regression of the classes'
    indicators Y and replaces M by the average gradient outer product of its predictions,

    .. math:: f(x) = \sum_i \alpha_i k_M(x_i, x), \qquad \alpha = (K_M + \rho I)^{-1} Y, \qquad
        M \leftarrow \frac1n \sum_j \sum_k \nabla f_k(x_j) \nabla f_k(x_j)^T,

    with the Laplace kernel :math:`k_M(x, z) = \exp(-\|x - z\|_M / \sigma)` and
    :math:`\|x - z\|_M^2 = (x - z)^T M (x - z)`. With the eigenvectors of the last M,
    :math:`M = \sum_l \lambda_l v_l v_l^T`, the rows of `components_` are
    :math:`\sqrt{\lambda_l} v_l`: all of them together have the distances :math:`\|x - z\|_M`,
    which the next kernel would use.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred data. Default: our choice.
    n_iter : int, default=5
        Number of iterations. Default: as in the paper for tabular data.
    bandwidth : float, default=1.0
        The bandwidth :math:`\sigma`, in units of the root of the samples' total variance in the
        metric M. The authors' program has a bandwidth of 10, whatever the unit of the data.
        Default: our choice.
    reg : float, default=0.001
        The ridge :math:`\rho`; the kernel of a sample with itself is 1. Default: as in the authors'
        program.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, orthogonal, by decreasing eigenvalue; the longer, the more the predictions
        change along them. The embedding has no unit.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, descending, in units of 1 / the data's squared.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when the classes depend on some directions in a way that is not linear.

    Avoid it with more than some thousand samples: it solves a system with all of them.

    A kernel has no gradient where its arguments are equal, so a sample's own term and those of its
    copies are left out. The iterations take place in the span of the data, which contains all
    gradients.

    For n samples, d features, rank r, C classes and T iterations:
    :math:`O(n d \min(n, d) + T (n^3 + C n^2 r))`.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning
       in neural networks and backpropagation-free machine learning models", Science 383, 2024,
       1461-1467.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RFM(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    n_iter: Annotated[int, Ge(1)] = 5
    bandwidth: Annotated[float, Gt(0)] = 1.0
    reg: Annotated[float, Gt(0)] = 0.001

    @one_thread()
    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:  # noqa: ARG002
        unit = np.sqrt(np.mean(np.sum(Z**2, axis=1)))
        Z, Y = Z / unit, np.eye(len(self.classes_))[code]
        factor = np.eye(Z.shape[1])  # M = factor @ factor.T
        for _ in range(self.n_iter):
            M = _average_gradient_outer_product(Z, factor, Y, self.bandwidth, self.reg)
            values, vectors = all_eigenpairs(M)
            values = np.where(values > EQUAL * values[-1], values, 0.0)
            factor = vectors * np.sqrt(values)
        leading = slice(-1, -self.n_components - 1, -1)
        self.eigenvalues_ = values[leading] / unit**2
        return np.asarray(factor[:, leading] / unit)

    _traits = Traits(
        version=2,
        nested=True,
        grids={
            "n_components": tuple(range(1, 21)),
            "n_iter": (1, 2, 3, 5, 8),
            "bandwidth": (0.25, 0.5, 1.0, 2.0, 4.0),
            "reg": (0.001, 0.01, 0.1, 1.0, 10.0),
        },
        max_components=rank_of_centred,
    )


def _average_gradient_outer_product(
    Z: Floats, factor: Floats, Y: Floats, bandwidth: float, reg: float
) -> Floats:
    """Return the matrix of the kernel ridge regression of Y on centred samples, M being F F'."""
    mapped = Z @ factor
    distance = spatial.distance.cdist(mapped, mapped)
    sigma = bandwidth * np.sqrt(np.mean(np.sum(mapped**2, axis=1)))
    K = np.exp(-distance / sigma)
    # The gradient of k(x_i, x) is slope * M (x_i - x).
    distinct = distance > equal_below(mapped)
    slope = np.divide(K, sigma * distance, out=np.zeros_like(K), where=distinct)
    K.flat[:: len(K) + 1] += reg
    alpha = scipy.linalg.solve(K, Y, assume_a="pos", overwrite_a=True)
    total = np.zeros((mapped.shape[1],) * 2)
    for weights in alpha.T:
        gradients = slope @ (weights[:, None] * mapped) - (slope @ weights)[:, None] * mapped
        total += gradients.T @ gradients
    return np.asarray(factor @ total @ factor.T / len(Z))
