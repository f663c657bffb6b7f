"""Random directions: the control that has learned nothing from the samples."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike
from sklearn import random_projection

from ddr_cli.core.registry import registered
from ddr_cli.reducers.reducer import LinearReducer
from ddr_cli.reducers.registry import Traits


@registered(
    "reducer", "random_projection", "orthonormal directions drawn at random", look=("green", "o")
)
class RandomProjection(LinearReducer):
    r"""Project on orthonormal directions drawn at random, the same for any samples.

    Parameters
    ----------
    n_components : int, default=2
        Number of directions, at most n_features. Default: our choice.
    random_state : int, RandomState or None, default=None
        Seed of the directions; in a run, each split has its own seed.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, drawn uniformly.
    mean_ : ndarray of shape (n_features,)
        Zeros: the samples are not centred.

    Notes
    -----
    Use it as a control: it shows how much a method gains over random directions. With many
    dimensions m of many more features d, all distances shrink by about the same factor,
    :math:`\sqrt{m / d}`, because the directions are orthonormal.

    Do not use it to separate classes: it uses neither labels nor data.

    The directions are those of scikit-learn's Gaussian projection, made orthonormal by a QR
    decomposition. With the same seed, projections with different `n_components` are nested.

    For n samples, d features and m dimensions: :math:`O(d m^2 + n d m)`.

    References
    ----------
    .. [1] E. Bingham, H. Mannila, "Random Projection in Dimensionality Reduction: Applications to
       Image and Text Data", KDD 2001, 245-250.

    Examples
    --------
    >>> frame = RandomProjection(2, random_state=0).fit([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
    >>> bool(np.allclose(frame.components_ @ frame.components_.T, np.eye(2)))
    True
    """

    n_components: Annotated[int, Ge(1)] = 2
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: Any = None) -> RandomProjection:
        points = self._points(X, y, reset=True)
        if self.n_components > points.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} must be at most n_features = {points.shape[1]}."
            )
        drawn = random_projection.GaussianRandomProjection(
            self.n_components, random_state=self.random_state
        )
        directions, turns = np.linalg.qr(drawn.fit(points).components_.T.astype(np.float64))
        # With these signs, the directions are uniformly distributed, whatever signs LAPACK chooses.
        self.components_ = (directions * np.sign(np.diagonal(turns))).T.astype(points.dtype)
        self.mean_ = np.zeros(points.shape[1], dtype=points.dtype)
        return self

    _traits = Traits(
        nested=True,
        supervised=False,
        grids={"n_components": tuple(range(1, 21))},
        max_components=lambda _, n_features, __: n_features,
    )
