"""Maximum variance unfolding: every solver reaches the optimum of the programme as printed."""

from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp

from ddr_cli.data import load_dataset
from ddr_cli.data.synthetic import swiss_roll
from ddr_cli.evaluation.splits import split_labelled
from ddr_cli.numerics.mvu import unfold
from ddr_cli.numerics.mvu.framework import Framework
from ddr_cli.numerics.mvu.low_rank import solve_low_rank
from ddr_cli.numerics.neighbor_graphs import knn_graph
from ddr_cli.numerics.neighbors import kneighbors

SOLVERS = ["interior", "low_rank", "cvxpy"]


def cloud(n, d=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def roll(n, seed=0):
    return np.asarray(swiss_roll(n_samples=n, random_state=seed).X)


def graph_of(X, k):
    return knn_graph(kneighbors(X, k), k)


def edges_of(graph):
    upper = sp.triu(graph).tocoo()
    return upper.row, upper.col


def largest_trace(X, graph):
    """Solve the primal as the paper prints it, edge by edge."""
    cp = import_module("cvxpy")
    n = len(X)
    K = cp.Variable((n, n), PSD=True)
    constraints = [cp.sum(K) == 0]
    for i, j in zip(*edges_of(graph), strict=True):
        kept = float(np.sum((X[i] - X[j]) ** 2))
        constraints.append(K[i, i] + K[j, j] - 2 * K[i, j] == kept)
    problem = cp.Problem(cp.Maximize(cp.trace(K)), constraints)
    problem.solve(solver="CLARABEL")
    return problem.value, K.value


def strain_of(Y, X, graph):
    i, j = edges_of(graph)
    kept = np.linalg.norm(X[i] - X[j], axis=1)
    return np.abs(np.linalg.norm(Y[i] - Y[j], axis=1) - kept) / np.where(kept > 0, kept, 1.0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solution_is_that_of_the_printed_programme(solver):
    X = cloud(14)
    graph = graph_of(X, 3)
    value, K = largest_trace(X, graph)
    found = unfold(X, graph, solver=solver, tol=1e-4)
    assert found.eigenvalues.sum() == pytest.approx(value, rel=1e-3)
    np.testing.assert_allclose(found.embedding @ found.embedding.T, K, atol=2e-3 * K.max())


@pytest.mark.parametrize(("n", "k"), [(60, 4), (60, 6), (300, 4)])
def test_exact_solution_of_a_swiss_roll_is_proven(n, k):
    X = roll(n)
    graph = graph_of(X, k)
    found = unfold(X, graph)
    assert found.solver == "interior"
    trace = found.eigenvalues.sum()
    assert abs(found.bound - trace) < 1e-3 * found.bound
    assert found.gap == pytest.approx(abs(found.bound - trace) / found.bound, abs=1e-4)
    assert strain_of(found.embedding, X, graph).max() < 1e-3
    np.testing.assert_allclose(found.embedding.sum(axis=0), 0, atol=1e-8 * np.sqrt(trace * n))


def test_reference_solver_agrees_on_a_swiss_roll():
    X = roll(36)
    exact, general = (unfold(X, graph_of(X, 4), solver=solver) for solver in ("interior", "cvxpy"))
    assert general.solver == "cvxpy"
    assert general.eigenvalues.sum() == pytest.approx(exact.eigenvalues.sum(), rel=1e-3)
    shares = [u.eigenvalues[:2] / u.eigenvalues.sum() for u in (exact, general)]
    np.testing.assert_allclose(shares[0], shares[1], atol=0.01)


@pytest.mark.parametrize(("n", "k", "seed"), [(50, 8, 5), (100, 12, 4), (50, 6, 0)])
def test_lengths_that_leave_next_to_no_room_are_no_obstacle(n, k, seed):
    X = roll(n, seed)
    graph = graph_of(X, k)
    found = unfold(X, graph)
    assert found.gap < 1e-3
    assert strain_of(found.embedding, X, graph).max() < 1e-3
    # The input is feasible, so its variance is at most the optimum.
    assert found.bound > (1 - 1e-3) * np.sum((X - X.mean(axis=0)) ** 2)


def test_a_chain_is_stretched_to_a_line():
    angle = np.linspace(0, 1.5 * np.pi, 25)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    links = sp.csr_array(sp.diags_array([np.ones(24), np.ones(24)], offsets=[1, -1]))
    found = unfold(X, links)
    step = np.linalg.norm(X[1] - X[0])
    assert found.eigenvalues[0] > (1 - 1e-5) * found.eigenvalues.sum()
    assert np.ptp(found.embedding[:, 0]) == pytest.approx(24 * step, rel=1e-3)


def test_fixed_distances_leave_the_configuration_unchanged():
    # If eight samples in a plane are all neighbours, no Gram matrix is strictly feasible.
    X = cloud(8, 2)
    found = unfold(X, graph_of(X, 7))
    centred = X - X.mean(axis=0)
    assert len(found.eigenvalues) == 2
    np.testing.assert_allclose(found.embedding @ found.embedding.T, centred @ centred.T, atol=1e-3)


def test_a_flat_sheet_of_rigid_cells_stays_as_it_is():
    across, along = np.meshgrid(np.arange(5.0), np.arange(6.0))
    X = np.column_stack([across.ravel(), along.ravel()])
    near = np.abs(X[:, None] - X[None]).max(axis=2) == 1
    found = unfold(X, sp.csr_array(near.astype(float)), tol=1e-5)
    assert found.gap < 1e-6
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(found.embedding @ found.embedding.T, centred @ centred.T, atol=1e-5)


def test_equal_points_are_placed_equally_and_count_as_often_as_they_occur():
    X = cloud(9)
    X = np.vstack([X, X[[2, 2, 5]]])
    graph = graph_of(X, 4)
    found = unfold(X, graph)
    value, _ = largest_trace(X, graph)
    assert found.eigenvalues.sum() == pytest.approx(value, rel=1e-3)
    np.testing.assert_array_equal(found.embedding[[9, 10, 11]], found.embedding[[2, 2, 5]])
    np.testing.assert_allclose(found.embedding.sum(axis=0), 0, atol=1e-9)


def test_all_points_equal_have_no_extent():
    found = unfold(np.ones((5, 3)), graph_of(np.ones((5, 3)), 2))
    assert found.embedding.shape == (5, 0)
    assert found.gap == 0


def test_order_and_scale_of_the_points_do_not_matter():
    X = cloud(40)
    order = np.random.default_rng(1).permutation(40)
    plain = unfold(X, graph_of(X, 4))
    moved = unfold(1e4 * X[order], graph_of(1e4 * X[order], 4))
    np.testing.assert_allclose(moved.eigenvalues, 1e8 * plain.eigenvalues, rtol=1e-4)
    np.testing.assert_allclose(
        np.abs(moved.embedding), 1e4 * np.abs(plain.embedding[order]), atol=9
    )


def test_a_miss_is_refused_and_not_passed_off():
    X = roll(60)
    with pytest.raises(np.linalg.LinAlgError, match=r"no solution within tol=1e-13.*duality gap"):
        unfold(X, graph_of(X, 4), solver="interior", tol=1e-13)


LOW_RANK_CASES = {
    "a sheet": (roll(100), 4),
    "a rigid one": (roll(100, 4), 12),
    "all as far from one another": (np.eye(8), 7),  # needs 7 columns, one more than at the start
    "in several parts": (np.vstack([cloud(15), 50 + cloud(15, seed=1)]), 4),
    "some equal": (np.vstack([cloud(9), cloud(9)[[2, 2, 5]]]), 4),
    "one feature": (np.sort(cloud(20, 1), axis=0), 2),
    "two points": (np.array([[0.0, 0.0], [1.0, 1.0]]), 1),
    "three": (cloud(3), 2),
}


@pytest.mark.parametrize("case", LOW_RANK_CASES)
def test_a_factor_of_few_columns_is_proven_against_the_exact_optimum(case):
    X, k = LOW_RANK_CASES[case]
    graph = graph_of(X, k)
    found = unfold(X, graph, solver="low_rank")
    exact = unfold(X, graph, solver="interior", tol=1e-5)
    assert found.solver == "low_rank"
    assert found.gap <= 1e-3
    assert found.strain <= 1e-3
    # The bound is at least the optimum. The trace differs, because the edges are slightly strained.
    assert found.bound >= (1 - 1e-5) * exact.eigenvalues.sum()
    assert found.eigenvalues.sum() == pytest.approx(exact.eigenvalues.sum(), rel=5e-3)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_a_factor_of_few_columns_is_the_same_in_every_unit(unit):
    X = cloud(40)
    plain = unfold(X, graph_of(X, 4), solver="low_rank")
    scaled = unfold(unit * X, graph_of(unit * X, 4), solver="low_rank")
    assert scaled.solver == plain.solver == "low_rank"
    np.testing.assert_allclose(scaled.embedding, unit * plain.embedding, atol=1e-6 * unit)


def test_weights_of_a_factor_bound_every_placement_that_keeps_the_lengths():
    X = roll(80)
    heads, tails = edges_of(graph_of(X, 4))
    lengths = np.linalg.norm(X[heads] - X[tails], axis=1)
    centre = np.full((80, 1), 1 / np.sqrt(80))
    framework = Framework(heads, tails, lengths, np.ones(80), centre)
    Z, bound, _ = solve_low_rank(framework, X, 1e-3)
    # The input keeps the lengths too, so its variance is at most the optimum.
    assert bound > np.sum((X - X.mean(axis=0)) ** 2)
    assert framework.strain(Z) < 1e-3
    assert np.sum(Z**2) == pytest.approx(bound, rel=1e-3)
    np.testing.assert_allclose(Z.sum(axis=0), 0, atol=1e-8 * np.abs(Z).max())


def test_the_interior_method_solves_what_low_rank_misses():
    X = roll(60)
    found = unfold(X, graph_of(X, 6), solver="low_rank")
    assert found.solver == "interior"
    assert found.gap < 1e-3


def test_large_sparse_graphs_are_solved_by_a_factor(monkeypatch):
    X = cloud(20)
    assert unfold(X, graph_of(X, 4)).solver == "interior"
    monkeypatch.setattr("ddr_cli.numerics.mvu.unfolding.MANY_BARS", 30)
    assert unfold(X, graph_of(X, 4)).solver == "interior"  # the graph is not sparse
    monkeypatch.setattr("ddr_cli.numerics.mvu.unfolding._SPARSE", 10.0)
    assert unfold(X, graph_of(X, 4)).solver == "low_rank"
    assert unfold(X, graph_of(X, 4), low_rank=False).solver == "interior"
    # The interior method solves a failed problem again, but not if that would take hours.
    monkeypatch.setattr("ddr_cli.numerics.mvu.unfolding.MOST_BARS", 30)
    with pytest.raises(np.linalg.LinAlgError, match="'low_rank' found no"):
        unfold(X, graph_of(X, 4), tol=1e-12)


def test_a_graph_that_would_take_an_hour_is_refused(monkeypatch):
    monkeypatch.setattr("ddr_cli.numerics.mvu.unfolding.MOST_BARS", 30)
    X = cloud(20)
    with pytest.raises(ValueError, match=r"more than 30 edges can take.*solver='interior'"):
        unfold(X, graph_of(X, 4))
    assert unfold(X, graph_of(X, 4), solver="interior").gap < 1e-3


def test_the_reference_solver_says_that_a_problem_is_too_large_for_it():
    X = cloud(120)
    with pytest.raises(ValueError, match=r"at most 100 distinct samples, not 120"):
        unfold(X, graph_of(X, 4), solver="cvxpy")


def test_what_the_reference_solver_misses_is_solved_again():
    X = cloud(14)
    found = unfold(X, graph_of(X, 3), solver="cvxpy", tol=1e-6)
    exact = unfold(X, graph_of(X, 3), solver="interior", tol=1e-6)
    assert max(found.gap, exact.gap) < 1e-6
    assert found.eigenvalues.sum() == pytest.approx(exact.eigenvalues.sum(), rel=1e-6)


def test_a_graph_on_which_one_way_of_centring_stalls_is_unfolded_by_the_other():
    data = load_dataset("four_class_manifold")
    split = split_labelled("fraction", data.y, seed=0, dataset=data.name, index=9, train=0.5)
    X = data.X[split.train][data.y[split.train] == 2]
    found = unfold(X, graph_of(X, 8), tol=1e-3)
    assert found.gap <= 1e-3
    assert found.strain <= 1e-3
