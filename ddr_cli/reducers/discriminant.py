"""What NMMP, LFDA, MFA and their kernel forms share: the checks, the span and the ridge."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ddr_cli.core.parameters import check_parameters
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.generalized_eigen import generalized_eigenpairs, well_conditioned_order
from ddr_cli.numerics.graph_embedding import Span, data_span
from ddr_cli.reducers.linear import LinearReducer

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class LinearDiscriminant(LinearReducer, BaseEstimator):
    """A linear reducer that needs labels; a subclass fits in the span of the data."""

    classes_: NDArray[Any]
    n_components: int

    def _labelled_span(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Codes, Span]:
        """Check everything that all methods ask of their input.

        Returns
        -------
        points : array or CSR of shape (n_samples, n_features)
        code : ndarray of shape (n_samples,)
            Index of each label in `classes_`.
        span : Span
            Of the centred points, of dimension `n_components` or more.
        """
        points, code, self.classes_ = labelled_points(self, X, y)
        span = data_span(points)
        check_width(self, span.rank, points)
        return points, code, span

    def _set_components(self, span: Span, W: Floats, dtype: Any) -> None:
        """Store the directions `W`, given in the span's coordinates."""
        self.components_ = deterministic_signs(span.basis @ W).T.astype(dtype)
        self.mean_ = span.mean.astype(dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def labelled_points(
    estimator: Any, X: ArrayLike, y: ArrayLike, *, accept_sparse: str | bool = "csr"
) -> tuple[Any, Codes, NDArray[Any]]:
    """Return checked points, the code of each one's class, and the classes.

    Every distinct label is a class, -1 too: these methods have no use for unlabelled points.

    Raises
    ------
    ValueError
        If a parameter or the data is not valid, or there is one class only.
    """
    check_parameters(estimator)
    points, labels = validate_data(
        estimator,
        X,
        y,
        accept_sparse=accept_sparse,
        dtype=[np.float64, np.float32],
        ensure_min_samples=2,
    )
    check_classification_targets(labels)
    classes, code = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least two classes, but y has one class."
        )
    return points, code, classes


def check_width(
    estimator: Any, rank: int, points: Any, *, reason: str = "all features are constant"
) -> None:
    """Raise a ValueError if the points span fewer dimensions than are asked for.

    Parameters
    ----------
    estimator : estimator
        Whose `n_components` is checked.
    rank : int
        The dimensions that the points span.
    points : array of shape (n_samples, n_features)
        The points, for the message.
    reason : str
        What a rank of 0 means.
    """
    if rank == 0:
        raise ValueError(f"{type(estimator).__name__}: {reason}, so there is no direction to find.")
    if estimator.n_components > rank:
        raise ValueError(
            f"n_components={estimator.n_components}, but the points differ in {rank} dimensions "
            f"only (n_samples = {points.shape[0]}, n_features = {points.shape[1]})."
        )


def above_rounding(within: Floats, between: Floats) -> Floats:
    """Return the within-class scatter, or zeros if it is no more than the rounding of the total."""
    total = abs(float(np.trace(within + between)))
    rounding = len(within) * np.finfo(np.float64).eps * total
    return within if float(np.trace(within)) > rounding else np.zeros_like(within)


def discriminant_directions(
    between: Floats, within: Floats, m: int, reg: float
) -> tuple[Floats, Floats]:
    r"""Solve :math:`S_b w = \lambda (S_w + \rho I) w` for the `m` largest ratios.

    Parameters
    ----------
    between, within : ndarray of shape (r, r)
        Scatter matrices, the coordinates ordered by decreasing variance of the data.
    m : int
        Number of directions.
    reg : float
        The ridge :math:`\rho` in units of the mean eigenvalue of `within`.

    Returns
    -------
    values : ndarray of shape (m,)
        The ratios, descending.
    directions : ndarray of shape (r, m)
        With :math:`w^T (S_w + \rho I) w = 1`.

    Raises
    ------
    ValueError
        If the within-class scatter is regular on fewer than `m` principal components.

    Warns
    -----
    UserWarning
        If the within-class scatter is singular and there is no ridge: the ratio has no maximum
        then. It is maximised on as many principal components as `largest_regular_block` finds
        usable, as for LDA.
    """
    r = len(within)
    if not above_rounding(within, between).any():
        raise ValueError("No two points of one class differ, so there is no ratio to maximise.")
    ridged = within + (reg * float(np.trace(within)) / r) * np.eye(r)
    block = well_conditioned_order(ridged)
    if block < m:
        raise ValueError(
            f"n_components={m}, but the within-class scatter is regular on {block} principal "
            f"components only; give reg a small positive value, such as 0.001."
        )
    if block < r:
        warnings.warn(
            f"The within-class scatter is singular: {block} of {r} principal components are used. "
            f"reg > 0 would keep all.",
            stacklevel=4,
        )
    values, inner = generalized_eigenpairs(
        between[:block, :block], ridged[:block, :block], m, rank_tol=0
    )
    directions = np.zeros((r, m))
    directions[:block] = inner
    return values, directions
