"""Check results against their definitions, without ddr's code.

Each check takes the samples, the labels and the results of the methods, ddr's first. For each
method it returns the name of a quantity, its value, and whether the result is correct.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

Checked = dict[str, tuple[str, float, bool]]


def lfda(X: np.ndarray, y: np.ndarray, answers: Mapping[str, Any]) -> Checked:
    """Return the relative residual of the generalised eigenproblem of Sugiyama (ICML 2006).

    The local scale of a sample is its distance to the seventh nearest sample of its class.
    """
    n = len(X)
    within, between = np.zeros((n, n)), np.full((n, n), 1 / n)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        distance = cdist(X[rows], X[rows])
        scale = np.sort(distance, axis=1)[:, 7]
        affinity = np.exp(-(distance**2) / np.outer(scale, scale))
        within[np.ix_(rows, rows)] = affinity / len(rows)
        between[np.ix_(rows, rows)] = affinity * (1 / n - 1 / len(rows))
    S_w, S_b = (X.T @ (W.sum(axis=1)[:, None] * X) - X.T @ W @ X for W in (within, between))
    found: Checked = {}
    for method, (components,) in answers.items():
        T = components.T
        ratio = np.einsum("ij,ij->j", T, S_b @ T) / np.einsum("ij,ij->j", T, S_w @ T)
        residual = np.linalg.norm(S_b @ T - S_w @ T * ratio) / np.linalg.norm(S_b @ T)
        found[method] = ("eigen-residual", float(residual), bool(residual < 1e-6))
    return found


def lmnn(X: np.ndarray, y: np.ndarray, answers: Mapping[str, Any]) -> Checked:
    """Return the objective of Weinberger and Saul for 3 target neighbours and equal weights."""
    k, of_class = 3, y[:, None] == y
    distance = cdist(X, X)
    distance[~of_class] = np.inf
    np.fill_diagonal(distance, np.inf)
    targets = np.argsort(distance, axis=1)[:, :k]
    values = {}
    for method, (components,) in answers.items():
        mapped = X @ components.T
        squares = cdist(mapped, mapped, "sqeuclidean")
        own = np.take_along_axis(squares, targets, axis=1)
        missed = sum(np.maximum(1 + near[:, None] - squares, 0)[~of_class].sum() for near in own.T)
        values[method] = (own.sum() + missed) / 2
    return _objectives(values)


def nca(X: np.ndarray, y: np.ndarray, answers: Mapping[str, Any]) -> Checked:
    """Return the expected number of misclassified samples (Goldberger et al.)."""
    values = {}
    for method, (components,) in answers.items():
        squares = cdist(X @ components.T, X @ components.T, "sqeuclidean")
        np.fill_diagonal(squares, np.inf)
        weight = np.exp(squares.min(axis=1)[:, None] - squares)
        right = np.where(y[:, None] == y, weight, 0).sum(axis=1) / weight.sum(axis=1)
        values[method] = len(X) - right.sum()
    return _objectives(values)


def _objectives(values: Mapping[str, float]) -> Checked:
    """Return the objectives; a higher one is farther from the optimum, but not incorrect."""
    return {method: ("objective", float(value), True) for method, value in values.items()}


def neighbours(X: np.ndarray, y: np.ndarray, answers: Mapping[str, Any]) -> Checked:  # noqa: ARG001
    """Return which fraction of the exact neighbours the search found; ties count as found."""
    found: Checked = {}
    some = np.linspace(0, len(next(iter(answers.values()))) - 1, 200).astype(int)
    for method, indices in answers.items():
        k = indices.shape[1]
        distance = cdist(X[some], X)
        # If no sample is its own neighbour, the exact search must exclude it too.
        if not (indices[some] == some[:, None]).any():
            distance[np.arange(len(some)), some] = np.inf
        farthest = np.partition(distance, k - 1, axis=1)[:, k - 1]
        mine = np.take_along_axis(distance, indices[some], axis=1)
        recall = np.mean(mine <= farthest[:, None] * (1 + 1e-9))
        found[method] = ("recall", float(recall), bool(recall > 1 - 1e-9))
    return found


CHECKS: dict[str, Callable[..., Checked]] = {
    "lfda": lfda,
    "lmnn": lmnn,
    "nca": nca,
    "neighbours": neighbours,
}
