"""Graphs of approximate neighbours, with the extra `approximate`."""

from importlib.metadata import PackageNotFoundError

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.comparison.summary import summary_of
from ddr_cli.core.extras import missing_library
from ddr_cli.engine.plan.plan import make_plan
from ddr_cli.numerics import approximate
from ddr_cli.numerics.approximate import LIBRARY, approximate_neighbors
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import CCDR, LPP, DiscriminativeProjections, LaplacianEigenmaps, LaplacianRLS
from ddr_cli.reducers.registry import get_traits
from ddr_cli.spec import load_spec

INSTALLED = pytest.mark.skipif(bool(missing_library(LIBRARY)), reason=f"needs {LIBRARY}")
RNG = np.random.default_rng(0)
# Many equal distances, and exact duplicates.
X = RNG.integers(0, 9, (700, 3)).astype(float)
Y = (X.sum(axis=1) > 12).astype(int)
MODELS = [CCDR(), LaplacianEigenmaps(), LPP(), DiscriminativeProjections(), LaplacianRLS()]


@pytest.fixture
def set_effort(monkeypatch):
    """Return a function that sets the search effort and enables the search at any size."""

    def set_to(*efforts, links=24):
        monkeypatch.setattr(approximate, "_PAYS", 0)
        monkeypatch.setattr(approximate, "_EFFORTS", efforts)
        monkeypatch.setattr(approximate, "_LINKS", links)

    return set_to


ALL = 10**4


@INSTALLED
@pytest.mark.parametrize("points", [RNG.standard_normal((900, 5)), 1e150 * RNG.random((300, 2))])
def test_what_is_all_found_is_what_the_exact_search_finds(points, set_effort):
    set_effort(ALL)
    exact, (found, recall) = kneighbors(points, 6), approximate_neighbors(points, 6)
    assert recall == 1.0
    assert_array_equal(found.indices, exact.indices)
    assert_array_equal(found.distances, exact.distances)


@INSTALLED
def test_a_recall_below_one_is_told_and_equal_fits_are_equal_to_the_last_bit(
    monkeypatch, set_effort
):
    points = np.random.default_rng(0).standard_normal((1500, 30))
    set_effort(1, links=4)
    monkeypatch.setattr(approximate, "_SAMPLE", 1500)
    found, recall = approximate_neighbors(points, 10)
    exact = kneighbors(points, 10)
    same = [len(np.intersect1d(*pair)) for pair in zip(found.indices, exact.indices, strict=True)]
    assert 0.1 < recall < 0.9
    assert recall == pytest.approx(np.mean(same) / 10)
    assert not np.any(found.indices == np.arange(1500)[:, None])
    model = CCDR(n_neighbors=10, neighbors="approximate")
    with pytest.warns(UserWarning, match=f"found only {recall:.0%} of the 10 nearest"):
        first = clone(model).fit(points, np.arange(1500) % 3)
    with pytest.warns(UserWarning, match="approximate search"):
        second = clone(model).fit(points, np.arange(1500) % 3)
    assert first.neighbor_recall_ == recall
    assert get_traits(first).version > get_traits(CCDR()).version
    assert_array_equal(first.embedding_, second.embedding_)


@INSTALLED
def test_samples_from_which_no_link_leads_are_searched_exactly(set_effort, monkeypatch):
    set_effort(16)
    found_by_links = approximate._search_from_itself

    def lose(index, points, positions, k):
        found = found_by_links(index, points, positions, k)
        found[positions < 3, 2:] = -1
        return found

    monkeypatch.setattr(approximate, "_search_from_itself", lose)
    points = np.random.default_rng(0).standard_normal((1000, 4))
    lost = approximate._linked(points)[2][:3]
    found, _ = approximate_neighbors(points, 6)
    exact = kneighbors(points, 6)
    assert_array_equal(found.indices[lost], exact.indices[lost])
    assert_array_equal(found.distances[lost], exact.distances[lost])


@INSTALLED
def test_copies_are_neighbours_of_one_another_and_never_of_themselves(set_effort):
    set_effort(16)
    # There are fewer distinct samples than faiss has cells.
    points = np.repeat(np.random.default_rng(0).standard_normal((5, 4)), 200, axis=0)
    found, recall = approximate_neighbors(points, 4)
    assert recall == 1.0
    assert (found.distances == 0).all()
    assert not np.any(found.indices == np.arange(1000)[:, None])


@INSTALLED
def test_the_effort_is_as_high_as_it_takes_and_few_samples_are_searched_exactly(
    set_effort, monkeypatch
):
    points = np.random.default_rng(0).standard_normal((1500, 16))
    set_effort(1, links=4)
    assert approximate_neighbors(points, 6)[1] < 0.95
    set_effort(1, 4, 16, 64, 256, links=4)
    assert 0.98 <= approximate_neighbors(points, 6)[1] < 1
    monkeypatch.setattr(approximate, "_PAYS", 1501)
    found, recall = approximate_neighbors(points, 6)
    assert recall == 1.0
    assert_array_equal(found.indices, kneighbors(points, 6).indices)


@INSTALLED
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_method_on_all_neighbours_found_is_the_exact_one(model, set_effort):
    set_effort(ALL)
    exact, found = (clone(model).set_params(neighbors=how) for how in ("exact", "approximate"))
    points = np.random.default_rng(0).standard_normal((400, 4))
    labels = (points[:, 0] > 0).astype(int)
    assert_array_equal(found.fit_transform(points, labels), exact.fit_transform(points, labels))
    assert found.neighbor_recall_ == exact.neighbor_recall_ == 1.0
    again = clone(found).fit(points, labels)
    assert_array_equal(again.transform(points[:9]), found.transform(points[:9]))


@INSTALLED
def test_auto_is_exact_up_to_a_number_of_points(monkeypatch):
    searched = []
    search = approximate.approximate_neighbors
    monkeypatch.setattr(
        approximate,
        "approximate_neighbors",
        lambda X, k: (searched.append(len(X)), search(X, k))[1],
    )
    monkeypatch.setattr(approximate, "MOST_EXACT", 300)
    model = CCDR(neighbors="auto")
    model.fit(X[:300], Y[:300])
    assert searched == []
    model.fit(X[:301], Y[:301])
    assert searched == [301]
    model.fit(csr_array(X), Y)  # sparse samples are searched exactly
    assert searched == [301]
    with pytest.raises(ValueError, match="use neighbors='exact'"):
        CCDR(neighbors="approximate").fit(csr_array(X), Y)


SPEC = """\
title: t
dataset: iris
reducers: [{{name: ccdr{}}}]
classifiers: [knn]
split: {{kind: fraction, train: 0.5, repeats: 1}}
{}"""


def planned(tmp_path, params="", sweep=""):
    path = tmp_path / "s.yaml"
    path.write_text(SPEC.format(params, sweep), encoding="utf-8")
    return load_spec(path)


@INSTALLED
def test_the_way_of_searching_is_part_of_a_trial_unless_it_is_exact(tmp_path):
    plain, exact, approximate, auto = (
        planned(tmp_path, given)
        for given in ("", *(f", neighbors: {how}" for how in ("exact", "approximate", "auto")))
    )
    assert plain.resolved() == exact.resolved()
    ids = [set(make_plan(spec).trials) for spec in (plain, exact, approximate, auto)]
    assert ids[0] == ids[1]
    assert not (ids[0] & ids[2]) | (ids[0] & ids[3]) | (ids[2] & ids[3])


@INSTALLED
def test_a_run_of_both_tells_them_apart(tmp_path):
    path = tmp_path / "s.yaml"
    both = "}, {name: ccdr, neighbors: approximate"
    path.write_text(SPEC.format(both, ""), encoding="utf-8")
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["run", str(path), "--out", str(out), "--quiet"])
    assert result.exit_code == 0, result.output
    rows = pd.read_csv(next(out.rglob("trials.csv"))).query("reducer == 'ccdr'")
    errors = rows.groupby("reducer.neighbors")["error"].apply(list)  # true and permuted labels
    assert set(errors.index) == {"exact", "approximate"}
    assert errors["exact"] == errors["approximate"]
    assert LIBRARY in next(out.rglob("manifest.json")).read_text(encoding="utf-8")
    told = summary_of(next(out.rglob("trials.csv")).parent).rows.query("reducer == 'ccdr'")
    assert sorted(told["reducer_label"].str.lower().unique()) == [
        "ccdr (approximate)",
        "ccdr (exact)",
    ]


@pytest.mark.parametrize(
    ("params", "sweep"),
    [
        (", neighbors: approximate", ""),
        (", neighbors: auto", ""),
        ("", "sweep: {reducer.neighbors: [exact, approximate]}\n"),
    ],
)
def test_without_the_extra_it_is_refused_before_anything_runs(tmp_path, monkeypatch, params, sweep):
    def not_there(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("ddr_cli.core.extras.version", not_there)
    path = tmp_path / "s.yaml"
    path.write_text(SPEC.format(params, sweep), encoding="utf-8")
    result = CliRunner().invoke(app, ["plan", str(path)])
    assert result.exit_code == 2
    assert "ccdr needs faiss-cpu" in result.output
    assert "[approximate]'." in " ".join(result.output.split())
