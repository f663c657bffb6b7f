"""The objectives of LMNN, MCML and NCA equal their definitions; minima equal those of cvxpy."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine

from ddr_cli.numerics.large_margin import LargeMargin, Triples, large_margin_metric
from ddr_cli.numerics.mahalanobis import PairForms, stable_order
from ddr_cli.numerics.neighbor_graphs import within_class_graph
from ddr_cli.numerics.stochastic_neighbors import Collapse, collapsing_metric
from ddr_cli.reducers import NCA

PUSH = 0.3


def sample(load, per_class, d):
    """Return a few samples of each class, in units in which their variances add up to 1."""
    X, y = load(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == c)[:per_class] for c in np.unique(y)])
    # Iris has pairs of equal samples. Noise removes ties, so that the target neighbours are unique.
    X = X[rows, :d] / X[:, :d].std(axis=0)
    X = X + np.random.default_rng(0).normal(0, 1e-3, X.shape)
    X = X - X.mean(axis=0)
    return X / np.sqrt((X**2).sum() / len(X)), y[rows]


def targets_of(X, y, k=3):
    return within_class_graph(X, y, k).indices.astype(np.intp).reshape(len(X), k)


def metric_distances(X, M):
    difference = X[:, None] - X[None]
    return np.einsum("ijk,kl,ijl->ij", difference, M, difference)


def margin_objective(X, y, M, k=3, push=PUSH):
    """Return Weinberger and Saul's sum, sample by sample and triple by triple."""
    D, plain = metric_distances(X, M), metric_distances(X, np.eye(X.shape[1]))
    total = 0.0
    for i in range(len(X)):
        own = [j for j in range(len(X)) if j != i and y[j] == y[i]]
        for j in sorted(own, key=lambda j: plain[i, j])[:k]:
            total += (1 - push) * D[i, j]
            for other in range(len(X)):
                if y[other] != y[i]:
                    total += push * max(0.0, 1 + D[i, j] - D[i, other])
    return total


def collapse_objective(X, y, M):
    """Return Globerson and Roweis' sum of divergences, sample by sample."""
    D, total = metric_distances(X, M), 0.0
    for i in range(len(X)):
        others = [j for j in range(len(X)) if j != i]
        p = np.exp([-D[i, j] for j in others])
        p /= p.sum()
        own = [a for a, j in enumerate(others) if y[j] == y[i]]
        if own:
            total += sum(np.log(1 / len(own) / p[a]) / len(own) for a in own)
    return total


def error_objective(X, y, A):
    D, total = metric_distances(X @ A, np.eye(A.shape[1])), 0.0
    for i in range(len(X)):
        p = {j: np.exp(-D[i, j]) for j in range(len(X)) if j != i}
        total += sum(p[j] for j in p if y[j] != y[i]) / sum(p.values())
    return total


def numerical_gradient(function, at, step=1e-6):
    found = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        shift = np.zeros_like(at)
        shift[place] = step
        found[place] = (function(at + shift) - function(at - shift)) / (2 * step)
    return found


@pytest.fixture(params=[0, 1, 2])
def factor(request):
    return np.random.default_rng(request.param).normal(size=(3, 3))


def test_the_margin_objective_and_its_gradient_are_the_definition_s(factor):
    X, y = sample(load_wine, 8, 3)
    problem = LargeMargin(X, y, targets_of(X, y), PUSH)
    M = factor @ factor.T
    assert_allclose(problem.value(factor), margin_objective(X, y, M), rtol=1e-10)
    expected = numerical_gradient(lambda at: margin_objective(X, y, at), M)
    missed = Triples(problem, problem.impostors(factor))
    gradient = missed.slope(np.full(len(missed), PUSH))
    assert_allclose(gradient, expected, atol=1e-5 * np.abs(expected).max())


def test_the_margin_objective_in_blocks_is_the_same(monkeypatch):
    X, y = sample(load_iris, 10, 4)
    problem = LargeMargin(X, y, targets_of(X, y), PUSH)
    whole = problem.value(np.eye(4)), problem.impostors(np.eye(4))
    monkeypatch.setattr("ddr_cli.numerics.large_margin._BLOCK", 4 * 3 * 30)
    assert_allclose(problem.value(np.eye(4)), whole[0], rtol=1e-12)
    np.testing.assert_array_equal(problem.impostors(np.eye(4)), whole[1])
    assert len(whole[1]) > 0


def test_the_collapse_and_its_gradient_are_the_definition_s(factor):
    X, y = sample(load_wine, 8, 3)
    y = np.append(y[:-1], 3)  # the last sample is alone in its class
    problem, M = Collapse(X, y), factor @ factor.T
    found = problem.at(factor)
    assert_allclose(found.value, collapse_objective(X, y, M), rtol=1e-10)
    expected = numerical_gradient(lambda at: collapse_objective(X, y, at), M)
    assert_allclose(found.gradient, expected, atol=1e-6 * np.abs(expected).max())


def test_nca_states_its_objective_and_gradient_as_defined():
    X, y = sample(load_wine, 8, 3)
    fitted = NCA(2, max_iter=3, tol=1e-3).fit(X, y)
    A = fitted.components_.T
    assert_allclose(fitted.objective_, error_objective(X, y, A), rtol=1e-10)
    gradient = numerical_gradient(lambda at: error_objective(X, y, at), A)
    assert_allclose(fitted.gradient_norm_, np.linalg.norm(gradient), rtol=1e-5)


def squared(X, pairs):
    """Return the matrix that maps a metric's entries to the squared distances of pairs."""
    difference = np.array([X[i] - X[j] for i, j in pairs])
    return np.einsum("pk,pl->pkl", difference, difference).reshape(len(pairs), -1)


def lowest_margin_objective(X, y, targets):
    n, d = X.shape
    pairs = [(i, j) for i in range(n) for j in targets[i]]
    triples = [
        (t, other) for t, (i, _) in enumerate(pairs) for other in range(n) if y[other] != y[i]
    ]
    M = cp.Variable((d, d), PSD=True)
    entries = cp.vec(M, order="C")
    own = squared(X, pairs) @ entries
    away = squared(X, [(pairs[t][0], other) for t, other in triples]) @ entries
    missed = cp.pos(1 + own[[t for t, _ in triples]] - away)
    problem = cp.Problem(cp.Minimize((1 - PUSH) * cp.sum(own) + PUSH * cp.sum(missed)))
    return problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-6, tol_gap_abs=1e-6, tol_feas=1e-7)


def lowest_collapse(X, y):
    n, d = X.shape
    M = cp.Variable((d, d), PSD=True)
    entries = cp.vec(M, order="C")
    terms = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        distances = squared(X, [(i, j) for j in others]) @ entries
        own = [a for a, j in enumerate(others) if y[j] == y[i]]
        terms.append(
            cp.sum(distances[own]) / len(own) + cp.log_sum_exp(-distances) - np.log(len(own))
        )
    return cp.Problem(cp.Minimize(cp.sum(terms))).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize(
    ("load", "per_class", "d"), [(load_iris, 12, 4), (load_wine, 10, 5), (load_wine, 12, 7)]
)
def test_the_margin_s_minimum_is_the_semidefinite_programme_s(load, per_class, d):
    X, y = sample(load, per_class, d)
    targets = targets_of(X, y)
    lowest = lowest_margin_objective(X, y, targets)
    problem = LargeMargin(X, y, targets, PUSH)
    found = large_margin_metric(problem, tol=1e-5, max_iter=50)
    assert found.converged
    assert_allclose(margin_objective(X, y, found.metric), found.objective_path[-1], rtol=1e-6)
    excess = found.objective_path[-1] - lowest
    assert -1e-5 * lowest - 1e-5 <= excess <= 1e-3 * lowest + 1e-5 * found.objective_path[0]


@pytest.mark.parametrize(("load", "per_class", "d"), [(load_iris, 8, 4), (load_wine, 8, 3)])
def test_the_collapse_s_minimum_is_the_semidefinite_programme_s(load, per_class, d):
    X, y = sample(load, per_class, d)
    y = np.where(y == 2, 0, y)  # otherwise the classes would collapse without bound
    lowest = lowest_collapse(X, y)
    found = collapsing_metric(X, y, tol=1e-7)
    assert found.converged
    assert_allclose(found.objective_path[-1], lowest, rtol=1e-5)


def test_a_step_that_gains_nothing_is_not_repeated():
    # On a grid, many margins tie. A step that was solved to a fraction of the gap made no progress.
    rows = np.random.default_rng(64).choice(625, 60, replace=False)
    X = np.stack(np.unravel_index(rows, (5, 5, 5, 5)), axis=1) + 1.0
    y = np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]).astype(int) + 1
    X = X - X.mean(axis=0)
    X = X / np.sqrt((X**2).sum() / len(X))
    found = large_margin_metric(LargeMargin(X, y, targets_of(X, y)), tol=1e-4, max_iter=25)
    assert found.converged


UNITS = [np.ones(4), np.array([1e-4, 1.0, 1e4, 1.0])]


@pytest.mark.parametrize("units", UNITS, ids=["one unit", "units"])
@pytest.mark.parametrize("max_iter", [1, 3, 100])
def test_no_metric_has_an_objective_lower_by_more_than_the_margin_s_gap(units, max_iter):
    X, y = sample(load_wine, 10, 4)
    targets = targets_of(X, y)
    lowest = lowest_margin_objective(X, y, targets)
    problem = LargeMargin(X * units, y, targets, PUSH)
    found = large_margin_metric(problem, tol=1e-6, max_iter=max_iter)
    assert found.converged == (max_iter == 100)
    assert len(found.objective_path) == found.n_iter + 1 <= max_iter + 1
    assert found.objective_path[-1] - found.gap <= lowest * (1 + 1e-5)


@pytest.mark.parametrize("units", UNITS, ids=["one unit", "units"])
@pytest.mark.parametrize("max_iter", [1, 3, 300])
def test_no_metric_has_an_objective_lower_by_more_than_the_collapse_s_gap(units, max_iter):
    X, y = sample(load_wine, 8, 4)
    y = np.where(y == 2, 0, y)
    lowest = lowest_collapse(X, y)
    found = collapsing_metric(X * units, y, tol=1e-6, max_iter=max_iter)
    assert found.converged == (max_iter == 300)
    assert found.objective_path[-1] - found.gap <= lowest * (1 + 1e-5)


def test_few_points_in_many_dimensions_prove_that_no_objective_is_below_zero():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 30)) / 6, np.arange(12) % 2
    margin = large_margin_metric(LargeMargin(X, y, targets_of(X, y), PUSH), tol=1e-4, max_iter=50)
    assert margin.gap == margin.objective_path[-1] < 1e-3 * margin.objective_path[0]
    collapse = collapsing_metric(X, y, tol=1e-3)
    assert collapse.gap == collapse.objective_path[-1] < 1e-2 * collapse.objective_path[0]


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e8])
def test_metrics_do_not_depend_on_the_units_of_the_features(ratio):
    X, y = sample(load_wine, 40, 7)
    units = np.where(np.arange(7) % 2, 1.0, ratio)
    targets = targets_of(X, y)
    plain = large_margin_metric(LargeMargin(X, y, targets, PUSH), tol=1e-6, max_iter=50)
    scaled = large_margin_metric(LargeMargin(X * units, y, targets, PUSH), tol=1e-6, max_iter=50)
    assert_allclose(scaled.objective_path[-1], plain.objective_path[-1], rtol=1e-6)
    assert_allclose(scaled.metric * np.outer(units, units), plain.metric, rtol=1e-3, atol=1e-4)
    plain, scaled = collapsing_metric(X, y), collapsing_metric(X * units, y)
    assert_allclose(scaled.objective_path[-1], plain.objective_path[-1], rtol=1e-6)
    assert_allclose(scaled.metric * np.outer(units, units), plain.metric, rtol=1e-3, atol=1e-4)


def test_pairs_have_their_distances_and_scatter():
    rng = np.random.default_rng(0)
    X, F, w = rng.normal(size=(9, 4)), rng.normal(size=(4, 2)), rng.normal(size=3)
    starts, ends = np.array([0, 2, 5]), np.array([8, 3, 6])
    forms = PairForms(X, starts, ends)
    difference = X[starts] - X[ends]
    assert_allclose(forms.distances(F), np.sum((difference @ F) ** 2, axis=1))
    for weights in (w, 2 * w):
        assert_allclose(forms.scatter(weights), (difference.T * weights) @ difference, atol=1e-12)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_stable_order_is_the_points_own(convert):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(40, 6)).astype(float), rng.integers(0, 4, 40)
    y = y[np.unique(X, axis=0, return_inverse=True)[1]]  # equal samples have equal classes
    shuffled, renamed = rng.permutation(40), np.array([2, 0, 3, 1])
    order, code = stable_order(convert(X), y)
    other, other_code = stable_order(convert(X[shuffled]), renamed[y[shuffled]])
    np.testing.assert_array_equal(X[order], X[shuffled][other])
    np.testing.assert_array_equal(code, other_code)
    assert len(set(zip(code, y[order], strict=True))) == len(set(y))
