"""A suite's leaderboard, computed again from the rows of its trial logs."""

import csv
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ddr_cli.core.errors import InputError
from ddr_cli.engine.run import RunSettings
from ddr_cli.suite.benchmark import benchmark_of
from ddr_cli.suite.definition import load_suite
from ddr_cli.suite.leaderboard import leaderboard
from ddr_cli.suite.remaining import parts_of, run_suite
from ddr_cli.suite.rows import folders_of, long_rows, suite_rows
from ddr_cli.suite.tables import own_method_lines

SUITE = """
title: A small suite
version: 1
repeats: 2
classifiers: [{name: knn, n_neighbors: 3}, {name: linear}]
preprocess: [standardize]
widths: [1, 2, 3]
methods:
  none:
  pca:
  fisher: {name: lda}
datasets:
  iris: {split: {kind: fraction, train: 0.3}}
  wine: {split: {kind: labelled, train: 40, test: 50}}
  balance: {split: {kind: per_class, train: 10, test: 60}}
tracks:
  inductive:
    tune: {folds: 2, budget: 3}
  dimension:
    datasets: [wine, iris]
    classifiers: [{name: knn, n_neighbors: 3}]
    dimensions: [1, 3, 8]
"""
# The class sizes of the whole data sets, as their sources state them.
SIZES = {"iris": [50, 50, 50], "wine": [59, 71, 48], "balance": [49, 288, 288]}
LABELS = {"none": "none", "pca": "pca", "lda": "fisher"}


@pytest.fixture(scope="module")
def run(tmp_path_factory, one_after_the_other):
    """Return the suite and the folder of its results."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "small.yaml").write_text(SUITE)
    suite = load_suite(folder / "small.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ddr_cli.engine.run.make_executor", lambda *_: one_after_the_other())
        run_suite(suite, parts_of(suite, folder), RunSettings(out=folder, quiet=True))
    return suite, folder


@pytest.fixture(scope="module")
def rows(run):
    suite, folder = run
    return suite_rows(suite, folders_of(suite, folder, tracks=["inductive"]))


def raw(folder, classifier, *, tuned):
    """Return the error by data set, method and split, from the trial logs."""
    found = {}
    for dataset in SIZES:
        with (folder / dataset / "trials.csv").open() as file:
            for row in csv.DictReader(file):
                if row["classifier"] == classifier and bool(row["tuned"]) == tuned:
                    key = dataset, LABELS[row["reducer"]]
                    found.setdefault(key, {})[row["split"]] = float(row["error"])
    return found


@pytest.mark.parametrize("tuned", [True, False])
@pytest.mark.parametrize("classifier", ["knn", "linear"])
def test_the_leaderboard_is_that_of_the_raw_rows(run, rows, classifier, tuned):
    errors = raw(run[1], classifier, tuned=tuned)
    means = {key: np.mean(list(splits.values())) for key, splits in errors.items()}
    floors = {name: 1 - max(sizes) / sum(sizes) for name, sizes in SIZES.items()}
    scores = {
        method: [1 - means[name, method] / floors[name] for name in SIZES]
        for method in LABELS.values()
    }
    board = leaderboard(rows, classifier=classifier, tuned=tuned)
    assert [line.split()[1] for line in repr(board).splitlines()[2:]] == [*board.table["method"]]
    table = board.table.set_index("method")
    assert board.splits == dict.fromkeys(SIZES, 2)
    for method, own in scores.items():
        row = table.loc[method]
        assert row["score"] == pytest.approx(np.mean(own), abs=1e-12)
        assert row["mean"] == pytest.approx(np.mean([means[name, method] for name in SIZES]))
        higher = sum(np.mean(other) > np.mean(own) + 1e-12 for other in scores.values())
        assert row["place"] == 1 + higher
        draws = np.random.default_rng(0).integers(3, size=(2, 20000, 3))[1]
        low, high = np.quantile(np.array(own)[draws].mean(axis=1), [0.025, 0.975])
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.02)
        if method != "none":
            gains = np.array([means[name, "none"] - means[name, method] for name in SIZES])
            gains = np.round(gains, 12)
            assert row["baseline_difference"] == pytest.approx(-np.median(gains))
            counts = (gains > 0.01).sum(), (abs(gains) <= 0.01).sum(), (gains < -0.01).sum()
            assert tuple(row[f"baseline_{n}"] for n in ("wins", "equal", "losses")) == counts
            distinct = gains[gains != 0]
            expected = stats.wilcoxon(distinct).pvalue if len(distinct) else 1.0
            assert row["baseline_p"] == pytest.approx(expected)
    assert np.isnan(table.loc["none", "baseline_p"])


def test_rows_have_the_sizes_of_their_training_sets(rows):
    sizes = rows.groupby("dataset")["n_train"].unique().map(list).to_dict()
    assert sizes == {"iris": [45], "wine": [40], "balance": [30]}


def test_a_subset_is_recomputed_and_the_order_of_rows_plays_no_part(rows):
    whole, one = leaderboard(rows), leaderboard(rows, datasets=["wine"])
    assert "compared with none (baseline)" in "".join(own_method_lines(one, rows, "fisher"))
    assert one.means.loc["wine"].to_dict() == whole.means.loc["wine"].to_dict()
    mixed = leaderboard(rows.sample(frac=1, random_state=0))
    left = whole.table.set_index("method").sort_index()
    right = mixed.table.set_index("method").sort_index()
    assert left["score"].to_dict() == pytest.approx(right["score"].to_dict(), abs=1e-12)
    assert left["place"].to_dict() == right["place"].to_dict()


def test_only_splits_that_all_methods_have_count(rows):
    lacking = rows[~((rows["method"] == "pca") & (rows["split"] == "fraction-1"))]
    lacking = lacking[~((lacking["method"] == "pca") & (lacking["dataset"] == "balance"))]
    board = leaderboard(lacking)
    assert board.splits == {"iris": 1, "wine": 2}
    assert board.left_out == ("balance",)
    apart = rows["split"].str.endswith("-0") == (rows["method"] == "pca")
    with pytest.raises(InputError, match="No split has results for all methods"):
        leaderboard(rows[apart])


def test_a_method_that_fails_says_where(rows):
    failed = rows.copy()
    bad = (failed["method"] == "fisher") & (failed["dataset"] == "wine")
    failed.loc[bad, ["status", "reason", "error"]] = ["failed", "it is singular", 0.6]
    board = leaderboard(failed)
    text = "\n".join(own_method_lines(board, failed, "fisher"))
    assert "fisher, tuned, knn: rank 3 of 3 (95 % interval 1 to 3) on 3 data sets" in text
    assert "worse than none on: wine (60.00 %" in text
    assert "fails on 2 splits of wine: it is singular" in text
    assert board.table.set_index("method").loc["fisher", "failed"] == pytest.approx(1 / 3)


def test_a_method_that_is_worse_on_many_data_sets_names_the_five_with_the_largest_difference(rows):
    own = rows[rows["dataset"] == "wine"]
    copies = [own.assign(dataset=f"wine_{i}") for i in range(7)]
    for i, copy in enumerate(copies):
        copy.loc[copy["method"] == "fisher", "error"] = 0.6 + 0.05 * i
    many = pd.concat(copies, ignore_index=True)
    (line,) = (
        each
        for each in own_method_lines(leaderboard(many), many, "fisher")
        if "is worse than none on: " in each
    )
    named = re.findall(r"wine_\d", line)
    assert named == ["wine_6", "wine_5", "wine_4", "wine_3", "wine_2"]
    assert line.endswith(" and 2 more")


def test_the_long_table_has_every_value_once(rows):
    table = long_rows(rows)
    keys = ["dataset", "method", "classifier", "tuned", "split", "metric"]
    assert len(table) == len(rows) == 3 * 2 * (3 * 2 * 2)
    assert not table.duplicated(keys).any()
    tuned = table[table["tuned"] & (table["method"] == "fisher")]
    assert set(tuned["setting"]) <= {"dim = 1", "dim = 2"}
    assert table["value"].sum() == pytest.approx(rows["error"].sum())


def test_each_method_stands_at_every_dimension_it_offers(run):
    suite, folder = run
    bench = benchmark_of(suite, folder)
    errors = {}
    for dataset in ("iris", "wine"):
        with (folder / f"{dataset}-dimension" / "trials.csv").open() as file:
            for row in csv.DictReader(file):
                key = LABELS[row["reducer"]], dataset, int(row["reducer.n_components"] or 0)
                errors.setdefault(key, []).append(float(row["error"]))
    # Iris has four features and three classes.
    offered = {"none": {0}, "fisher": {1, 2}, "pca": {1, 3, 4}}
    assert {key[2] for key in errors if key[:2] == ("pca", "wine")} == {1, 3, 8}
    for method, widths in offered.items():
        assert {key[2] for key in errors if key[:2] == (method, "iris")} == widths
        counts = {n: max((w for w in widths if w <= n), default=0) for n in (1, 3, 8)}
        expected = [np.mean(errors[method, "iris", width]) for width in counts.values()]
        found = bench.by_dimension.loc[(method, "iris")]
        assert found.to_dict() == pytest.approx(dict(zip(counts, expected, strict=True)))
    assert all(len(found) == suite.repeats for found in errors.values())
    assert "dimension" not in {key[0] for key in bench.boards}
    with pytest.raises(InputError, match=r"'dimension'.*'ddr suite page'"):
        leaderboard(bench.rows, track="dimension", tuned=False)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"classifier": "knm"}, "Did you mean 'knn'?"),
        ({"baseline": "mmc"}, "the method 'mmc'. Choose one of: none, pca, fisher"),
        ({"metric": "accuracy"}, "the metric 'accuracy'. Choose one of: error"),
        ({"track": "transductive"}, "no results for your options"),
    ],
)
def test_leaderboard_options_without_results_are_refused(rows, asked, message):
    with pytest.raises(InputError) as caught:
        leaderboard(rows, **asked)
    assert message in str(caught.value)


def test_edges_are_counted_in_the_trial_logs(run):
    suite, folder = run
    chosen = []
    for dataset in SIZES:
        with (folder / dataset / "trials.csv").open() as lines:
            chosen += [
                int(row["reducer.n_components"])
                for row in csv.DictReader(lines)
                if row["reducer"] == "pca" and row["tune_seconds"]
            ]
    table = benchmark_of(suite, folder).edges.set_index(["method", "parameter"])
    found = table.loc["pca", "n_components"]
    assert (found["rows"], found["values"]) == (len(chosen), 3)
    assert found["lowest"] == pytest.approx(chosen.count(1) / len(chosen))
    assert found["highest"] == pytest.approx(chosen.count(3) / len(chosen))
    # LDA has at most two dimensions here, and grids of fewer than three values are left out.
    assert "fisher" not in table.index.get_level_values("method")
