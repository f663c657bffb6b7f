"""A suite's pages from made-up rows: numbers in a browser, sentences, and single pages."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from ddr_cli.core.errors import InputError
from ddr_cli.engine import make_plan
from ddr_cli.engine.plan.growth import Growth
from ddr_cli.engine.work.session import manifest_of
from ddr_cli.suite import benchmark
from ddr_cli.suite.benchmark import LEAVING_OUT, Benchmark
from ddr_cli.suite.charts import (
    draw_dimensions,
    draw_faithfulness,
    draw_memory,
    draw_order,
    draw_sizes,
    draw_years,
)
from ddr_cli.suite.definition import load_suite
from ddr_cli.suite.findings import CHOSEN_SENTENCE, findings
from ddr_cli.suite.leaderboard import leaderboard
from ddr_cli.suite.page_data import dimension_rows, page_data
from ddr_cli.suite.pages import write_benchmark
from ddr_cli.suite.tables import board_cells

SUITE = """
title: A <b>small</b> suite
version: 3
repeats: 3
classifiers: [{name: knn, n_neighbors: 3}, {name: linear}]
metrics: [error, balanced_accuracy]
preprocess: [standardize]
widths: [1, 2]
methods:
  none:
  pca:
  fisher: {name: lda}
  lfda: {reg: {grid: [0.0, 0.01]}}
  nmmp:
datasets:
  iris: {split: {kind: fraction, train: 0.5}}
  wine: {split: {kind: labelled, train: 60, test: 50}}
  breast_cancer: {split: {kind: fraction, train: 0.5}}
  balance: {split: {kind: fraction, train: 0.5}}
  glass: {split: {kind: fraction, train: 0.5}}
  sonar: {split: {kind: fraction, train: 0.5}}
  thyroid: {split: {kind: fraction, train: 0.5}}
  ionosphere: {split: {kind: fraction, train: 0.5}}
  segment: {split: {kind: resample}}
  vehicle: {split: {kind: labelled, train: 300, test: 500}}
  vowel: {split: {kind: grouped, train: 0.34}}
groups: {small: [iris, wine, balance], rest: [breast_cancer, glass, sonar]}
tracks:
  inductive: {tune: {folds: 2, budget: 4}, controls: [full_features]}
  few_labels: {methods: [none, fisher], datasets: [iris, wine], labels: [2, 5]}
  dimension: {methods: [none, pca, fisher], datasets: [iris, wine, glass], dimensions: [1, 2, 4]}
  permuted: {datasets: [iris], controls: [shuffled_labels]}
  transductive: {mode: transductive, methods: [pca, lfda], tune: {folds: 2, budget: 4}}
  size: {datasets: [segment, vowel], sizes: [100, 3000]}
  faithfulness:
    {datasets: [iris, wine], dimensions: [2], measures: [{name: trustworthiness, part: test}]}
"""
# All methods succeeded on these data sets; on the remaining one, only one method did.
ENDED = (
    *("iris", "wine", "breast_cancer", "balance", "glass", "sonar"),
    *("thyroid", "ionosphere", "segment", "vehicle"),
)
AHEAD = {"none": 0.2, "pca": 0.22, "fisher": 0.15, "lfda": 0.1, "nmmp": 0.14}


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    path = tmp_path_factory.mktemp("suite") / "small.yaml"
    path.write_text(SUITE)
    return load_suite(path)


@pytest.fixture(scope="module")
def folders(suite):
    """Return the manifest of each folder of the suite, which need not exist."""
    plans = {Path(spec.name): make_plan(spec) for spec in suite.specs(tracks=["inductive"])}
    return {folder: manifest_of(folder, plan) for folder, plan in plans.items()}


def made_rows(suite, folders):
    """Return rows in the form of `suite_rows`, with errors drawn around each method's own."""
    rng = np.random.default_rng(0)
    records: list[dict[str, Any]] = []

    def add(track, dataset, split, method, error, **more):
        given = {"classifier": "knn", "tuned": False, "labels": "all", "control": "", "setting": ""}
        records.append(
            {
                "track": track,
                "dataset": dataset,
                "method": method,
                "split": f"fraction-{split}",
                "split_hash": f"{dataset}{split}",
                "status": "ok",
                "reason": "",
                "width": 2.0,
                "error": error,
                "balanced_accuracy": 1 - 1.1 * error,
                "fit_seconds": 0.01 * (1 + len(method)),
                "tune_seconds": np.nan,
                "training_error": np.nan,
                "n_train": 40.0 + 10 * len(dataset),
                "train": None,
                "trustworthiness": np.nan,
                **given,
                **more,
            }
        )

    manifests = {each.data.name: each for each in folders.values()}
    for place, dataset in enumerate(manifests):
        # Data sets have different numbers of splits.
        for split in range(1 + place % 3):
            for method in suite.methods if dataset in ENDED else ("none",):
                for classifier in ("knn", "linear"):
                    for tuned in (False, True):
                        error = AHEAD[method] + 0.03 * (not tuned) + 0.04 * rng.random()
                        error += 0.1 * (classifier == "linear") * (method == "lfda")
                        spent = {"tune_seconds": 0.3 + rng.random() if tuned else np.nan}
                        setting = {"setting": "dim = 2", "width": 1.0 + tuned}
                        failed = (dataset, method, tuned) == ("glass", "nmmp", True)
                        end = {"status": "killed", "reason": "no memory"} if failed else {}
                        of = {"classifier": classifier, "tuned": tuned}
                        add(
                            "inductive",
                            dataset,
                            split,
                            method,
                            error,
                            **of,
                            **spent,
                            **setting,
                            **end,
                        )
            strong = {"classifier": "random_forest", "control": "full_features"}
            add("inductive", dataset, split, "none", 0.05, **strong)
    for dataset in ("iris", "wine"):
        for method in ("none", "fisher"):
            for labels in (2, 5):
                add("few_labels", dataset, 0, method, AHEAD[method] / labels, labels=labels)
    # Iris and wine have three classes, glass six.
    for dataset, most in (("iris", 2), ("wine", 2), ("glass", 4)):
        add("dimension", dataset, 0, "none", 0.2, width=np.nan)
        for width in (1, 2, 4):
            add("dimension", dataset, 0, "pca", 0.2 + 0.1 * width, width=width)
            if width <= most:
                add("dimension", dataset, 0, "fisher", 0.3 / width, width=width)
    # On another split of glass, the fit with four components fails.
    for width in (1, 2, 4):
        failed = {"status": "failed"} if width == 4 else {}
        add(
            "dimension", "glass", 1, "fisher", 0.9 if failed else 0.3 / width, width=width, **failed
        )
        add("dimension", "glass", 1, "pca", 0.2 + 0.1 * width, width=width)
    add("dimension", "glass", 1, "none", 0.2, width=np.nan)
    for method in suite.methods:
        shuffled = {"control": "shuffled_labels", "training_error": 0.1}
        add("permuted", "iris", 0, method, 0.66, **shuffled)
        add("permuted", "iris", 0, method, 0.1)
    # PCA times out on the larger training sets.
    for dataset, size in (("segment", 100), ("segment", 3000), ("vowel", 100), ("vowel", 3000)):
        for method in ("none", "pca", "fisher"):
            end = {"status": "timeout"} if (method, size) == ("pca", 3000) else {}
            error = AHEAD[method] + 0.001 * (method == "fisher") * size**0.5
            add("size", dataset, 0, method, error, train=size, **end)
    for dataset in ("iris", "wine"):
        for method in suite.methods:
            # Without reduction there is no n_components.
            more = {"trustworthiness": 0.9 + rng.random() / 100}
            more |= {"width": np.nan} if method == "none" else {}
            add("faithfulness", dataset, 0, method, AHEAD[method], **more)
    rows = pd.DataFrame(records)
    loss = np.random.default_rng(1).random(len(rows))
    rows["inner_loss"] = np.where(rows["tuned"], loss, np.nan)
    for metric in suite.metrics:
        floors = {name: each.majority[metric] for name, each in manifests.items()}
        rows[f"floor_{metric}"] = rows["dataset"].map(floors)
    return rows


@pytest.fixture(scope="module")
def bench(suite, folders):
    return Benchmark(suite, made_rows(suite, folders), folders)


@pytest.fixture(scope="module")
def pages(bench, tmp_path_factory):
    """Return the folder of the pages; before, it has an old page and a user's file."""
    results = tmp_path_factory.mktemp("results")
    methods = results / "report" / "suite_small" / "methods"
    methods.mkdir(parents=True)
    (methods / "gone.html").write_text("<p>Made by <code>ddr suite page small</code>, ddr 0.1")
    (methods / "mine.html").write_text("<p>Notes of my own")
    return write_benchmark(bench, results)[0][0].parent


def test_pages_are_made_again_only_if_something_has_changed(bench, pages, tmp_path):
    results = tmp_path / "results"
    shutil.copytree(pages.parents[1], results)
    folder = results / "report" / pages.name
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    files, is_made = write_benchmark(bench, results)
    assert not is_made
    assert {*files, folder / "methods" / "mine.html"} == set(before)
    (folder / "datasets" / "iris.html").unlink()
    (folder / "leaderboard.md").write_text("edited")
    assert write_benchmark(bench, results)[1]
    assert {path: path.read_bytes() for path in before} == before
    worse = bench.rows.assign(error=bench.rows["error"] + 0.01)
    assert write_benchmark(Benchmark(bench.suite, worse, bench.folders), results)[1]
    assert (folder / "leaderboard.csv").read_bytes() != before[folder / "leaderboard.csv"]


# -- what can and can't be concluded ---------------------------------------------------------------


def told(bench, name):
    return next(each for each in findings() if each.name == name).told(bench)


def test_fifteen_sentences_each_state_their_test():
    assert len({each.name for each in findings()}) == 15
    assert all(e.sentence != e.otherwise and e.asked for e in findings())


def swapped(rows, *pairs):
    """Return rows in which pairs of methods swap their errors, except with all features."""
    names = {name: other for pair in pairs for name, other in (pair, pair[::-1])}
    other = rows["method"].replace(names)
    return rows.assign(method=rows["method"].where(is_strong(rows), other))


def is_strong(rows):
    return rows["classifier"] == "random_forest"


def is_pca_late(rows):
    """Return which rows are PCA's on 7 of 10 data sets."""
    return (rows["dataset"] > "i") & (rows["method"] == "pca")


def with_error(rows, where, error):
    return rows.assign(error=rows["error"].mask(where, error))


def renamed(rows, **names):
    return rows.assign(method=rows["method"].replace(names))


def with_inner_loss(rows, sign):
    """Make PCA the best on some data sets, and the inner loss follow the error times a sign."""
    rows = with_error(rows, is_pca_late(rows), 0.09)
    return rows.assign(inner_loss=sign * rows["error"])


def with_classifiers(rows, error):
    """Add rows of two classifiers on all features; the inner folds select the first."""
    own = rows[(rows["method"] == "none") & rows["tuned"] & (rows["classifier"] == "knn")]
    own = own.assign(track="classifiers")
    svc = own.assign(classifier="svc", error=error, inner_loss=0.1)
    forest = svc.assign(classifier="forest", error=0.6, inner_loss=0.2)
    return pd.concat([rows, svc, forest], ignore_index=True)


def with_transductive(rows, gain):
    """Add transductive rows with an error that is lower by a gain."""
    own = rows[(rows["track"] == "inductive") & rows["method"].isin(["pca", "lfda"])]
    return pd.concat(
        [rows, own.assign(track="transductive", error=own["error"] - gain)], ignore_index=True
    )


def with_trust(rows, sign):
    """Make trustworthiness follow the error over five methods, as if all used the labels."""
    faithful = rows["track"] == "faithfulness"
    rows = rows.assign(trustworthiness=sign * rows["error"])
    other = renamed(rows[faithful], none="other", pca="another")
    return pd.concat([rows[~faithful], other], ignore_index=True)


@pytest.mark.parametrize(
    ("name", "before", "after", "change"),
    [
        ("labels", 1, 0, lambda rows: swapped(rows, ("none", "lfda"), ("pca", "nmmp"))),
        ("first", 1, 0, lambda rows: swapped(rows, ("none", "lfda"))),
        ("tuning", 1, 0, lambda rows: with_error(rows, rows["tuned"], 0.3)),
        ("ceiling", 1, 0, lambda rows: with_error(rows, is_strong(rows), 0.4)),
        ("permuted", 1, 0, lambda rows: with_error(rows, rows["control"] != "", 0.3)),
        ("permuted", 1, None, lambda rows: rows[rows["track"] != "permuted"]),
        ("places", 0, 1, lambda rows: rows[rows["dataset"].isin(["iris", "wine"])]),
        ("everywhere", 0, 1, lambda rows: with_error(rows, is_pca_late(rows), 0.09)),
        ("classifier", 1, 0, lambda rows: with_error(rows, rows["method"] == "lfda", 0.01)),
        ("time", None, 1, lambda rows: rows.assign(fit_seconds=1 / rows["method"].map(AHEAD))),
        ("time", None, 0, lambda rows: rows.assign(fit_seconds=99 * rows["method"].map(AHEAD))),
        ("ceiling", 1, 1, lambda rows: with_classifiers(rows, 0.01)),
        ("ceiling", 1, 0, lambda rows: with_classifiers(rows, 0.5)),
        ("choice", 0, 1, lambda rows: with_inner_loss(rows, 1)),
        ("choice", 0, None, lambda rows: rows.assign(inner_loss=np.nan)),
        ("kernel", None, 1, lambda rows: renamed(rows, fisher="a", lfda="kernel_a")),
        ("kernel", None, 0, lambda rows: renamed(rows, lfda="a", fisher="kernel_a")),
        ("whitening", None, 1, lambda rows: renamed(rows, lfda="whitened_pca")),
        ("whitening", None, 0, lambda rows: renamed(rows, pca="whitened_pca", lfda="pca")),
        ("transductive", None, 1, lambda rows: with_transductive(rows, 0.02)),
        ("transductive", None, 0, lambda rows: with_transductive(rows, -0.02)),
        ("size", 1, 0, lambda rows: with_error(rows, rows["status"] == "timeout", 0.1)),
        ("size", 1, None, lambda rows: rows[rows["train"] != 3000]),
        ("faithfulness", None, 1, lambda rows: with_trust(rows, 1)),
        ("faithfulness", None, 0, lambda rows: with_trust(rows, -1)),
    ],
)  # fmt: skip
def test_a_sentence_follows_the_rows(bench, name, before, after, change):
    assert told(bench, name).holds == before
    changed = Benchmark(bench.suite, change(bench.rows), bench.folders)
    assert told(changed, name).holds == after


def test_the_page_states_what_holds_and_lists_what_is_not_supported(pages, bench):
    index = (pages / "index.html").read_text()
    supported, _, rest = index.partition("<h3>Not supported</h3>")
    for each in findings():
        holds = each.told(bench).holds
        assert (each.otherwise if holds is False else each.sentence) in index, each.name
        assert (f'id="said-{each.name}"' in rest) == (holds is None), each.name
    assert "1 with 100 samples, 0 with 3,000 samples" in supported
    assert index.count(CHOSEN_SENTENCE) == 1


def test_every_row_is_drawn_at_its_score_on_one_scale(pages, bench):
    board = bench.board()
    index = (pages / "index.html").read_text()
    low, high = (
        float(re.search(rf'data-head="{end}">([^<]+)', index)[1]) for end in ("from", "to")
    )
    styles = re.findall(r'<tr style="([^"]*)" data-level="([^"]*)">', index)
    assert len(styles) == len(board.table)
    for (style, level), row in zip(styles, board.table.to_dict("records"), strict=True):
        at = {name: float(value) for name, value in re.findall(r"--(\w+):([-.\d]+)", style)}
        drawn = {name: low + (high - low) * place for name, place in at.items()}
        assert drawn == pytest.approx(
            {name: row[name] for name in ("score", "low", "high")}
            | {"base": board.row(board.baseline)["score"]},
            abs=1e-4,
        )
        assert all(0 <= place <= 1 for place in at.values())
        assert ("best" in level) == (not row["best_p_holm"] < 0.05)
        assert ("baseline" in level) == (not row["baseline_p_holm"] < 0.05)


# -- files -----------------------------------------------------------------------------------------


def test_every_method_and_data_set_has_a_page_and_links_lead_somewhere(pages):
    files = {path.relative_to(pages).as_posix() for path in pages.rglob("*.html")}
    assert {"index.html", "methods/lfda.html", "datasets/vowel.html"} <= files
    # The page of a method that the suite no longer has is removed, but no other file.
    files.remove("methods/mine.html")
    assert len(files) == 1 + 5 + 11
    for path in pages.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<b>small" not in text
        for link in re.findall(r'href="([^"#][^"]*)"', text):
            assert link.startswith("http") or (path.parent / link.partition("#")[0]).exists(), link
    assert (pages / "index.html").stat().st_size < 3e6


def test_pages_say_what_is_missing_failed_and_where_a_method_stands(pages):
    def words(name):
        text = re.sub(
            r"<script.*?</script>|<style.*?</style>",
            "",
            (pages / name).read_text(),
            flags=re.DOTALL,
        )
        return " ".join(re.sub(r"<[^>]+>", " ", text).split())

    index = words("index.html")
    assert "10 of 11 data sets have scores" in index
    assert "1 to 3 of 3 splits per data set" in index
    assert "without scores: vowel" in index
    assert "no memory" in index
    lfda = words("methods/lfda.html")
    assert "inductive, k-NN, tuned 1 of 5" in lfda
    assert "inductive, linear, tuned" in lfda
    assert "No trial failed" in lfda
    nmmp = words("methods/nmmp.html")
    assert "killed no memory" in nmmp
    assert "glass" in nmmp
    assert "No split has results for all methods" in words("datasets/vowel.html")
    assert "licence CC BY 4.0" in words("datasets/iris.html")


def test_a_panel_has_a_method_s_mean_over_the_same_data_sets_at_every_width(bench):
    figure = draw_dimensions(bench)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["fisher", "no reduction", "PCA"]
    fisher, none, pca = ({tuple(each.get_xdata()): each for each in a.lines} for a in figure.axes)
    # A hollow marker means that a data set allows fewer components; its maximum is then used.
    assert fisher[1, 2, 4].get_ydata() == pytest.approx([30, 15, (15 + 15 + (7.5 + 15) / 2) / 3])
    hollow = {at for at, line in fisher.items() if line.get_markerfacecolor() == "white"}
    assert hollow == {(4,)}
    assert figure.axes[2].lines[2].get_ydata() == pytest.approx([30, 40, 60])
    assert {line.get_marker() for line in none.values()} <= {"None", ""}
    assert pca[1, 2, 4].get_markerfacecolor() != "white"
    assert " ".join(figure.get_suptitle().split()).endswith("mean over 3 data sets")
    finding = " ".join(figure.artists[0].get_text().split())
    assert finding.startswith("1 of 2 methods have their lowest value at 4 dimensions")
    assert finding.endswith("1 of 2 are within 1 percentage point of their lowest value")


@pytest.mark.parametrize(
    ("track", "reason"),
    [
        ("few_labels", "several numbers of labels"),
        ("dimension", "several numbers of dimensions"),
        ("size", "several sizes of training sets"),
        ("permuted", "permuted labels"),
        ("classifiers", "only one method"),
    ],
)
def test_a_track_that_compares_something_else_has_no_leaderboard(bench, track, reason):
    rows = with_classifiers(bench.rows, 0.1)
    with pytest.raises(InputError, match=rf"'{track}' has {reason}.* 'ddr suite page'"):
        leaderboard(rows, track=track, tuned=track == "classifiers")
    assert track not in {key[0] for key in bench.boards}


def test_permuted_labels_as_a_control_do_not_change_the_leaderboard(bench, suite, folders):
    inductive = suite.tracks["inductive"].model_copy(update={"controls": ["shuffled_labels"]})
    suite = suite.model_copy(update={"tracks": {"inductive": inductive}})
    own = bench.rows[bench.rows["track"] == "inductive"]
    control = own[own["control"] == ""].assign(control="shuffled_labels", error=0.6)
    found = Benchmark(suite, pd.concat([own, control], ignore_index=True), folders).board()
    pd.testing.assert_frame_equal(found.table, bench.board().table)


def test_a_curve_ends_where_a_method_runs_out_of_time(bench):
    figure = draw_sizes(bench)
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes}
    crosses = {
        name: [line.get_xdata() for line in axes.lines if line.get_marker() == "x"]
        for name, axes in panels.items()
    }
    assert crosses == {"PCA": [[100]], "no reduction": [], "fisher": []}
    (fisher,) = (line for line in panels["fisher"].lines if line.get_label() == "fisher")
    assert fisher.get_ydata() == pytest.approx([16, 15 + 0.1 * 3000**0.5])


def test_the_memory_of_a_fit_is_drawn_as_far_as_it_was_measured(bench, monkeypatch):
    whole = Growth({1000: 2.0, 4000: 9.0}, 1.0, 1.0, 1.0)
    short = Growth({1000: 50.0}, 1.0, 1.0, 1.0, "4,000 samples: more than 20 s")
    found = {"lda": whole, "nmmp": whole, "pca": short}
    monkeypatch.setattr(benchmark, "growths", lambda: found)
    panels = {axes.get_title(loc="left"): axes for axes in draw_memory(bench).axes if axes.lines}
    curves = {
        name: next(line.get_ydata() for line in axes.lines if line.get_label() == name)
        for name, axes in panels.items()
    }
    assert set(curves) == {"fisher", "NMMP", "PCA"}
    assert curves["fisher"] == pytest.approx([2, 9])
    assert curves["PCA"] == pytest.approx([50])
    ends = {
        name for name, axes in panels.items() for line in axes.lines if line.get_marker() == "x"
    }
    assert ends == {"PCA"}


def test_costs_are_those_of_the_reducer_whatever_the_label(bench, monkeypatch):
    names = ("lda", "pca", "laplacian_rls", "kernel_laplacian_rls")
    found = {name: Growth({1000: 1.0}, 1.0, place, 1.0) for place, name in enumerate(names)}
    monkeypatch.setattr(benchmark, "growths", lambda: found)
    labels = {"lda": {"name": "pca"}, "fisher": {"name": "lda"}, "pca": None}
    labels["kernel_laplacian_rls"] = {"name": "laplacian_rls", "kernel": "rbf"}
    renamed = bench.suite.model_copy(update={"methods": labels})
    costs = {name: Benchmark(renamed, bench.rows, bench.folders).growth_of(name) for name in labels}
    measured = {"lda": "pca", "fisher": "lda", "pca": "pca"}
    measured["kernel_laplacian_rls"] = "kernel_laplacian_rls"  # measured with its own kernel
    assert costs == {label: found[name] for label, name in measured.items()}


def test_cells_by_dimension_are_shaded_by_rank_among_the_methods(bench):
    rows = dimension_rows(bench, "none", "iris")
    methods = ["fisher", "none", "pca"]
    shades = np.array([[shade for _, shade in rows[name]] for name in methods])
    errors = bench.dimensions("iris")[0].loc[methods]
    assert shades == pytest.approx(50 * (rankdata(-errors, axis=0) - 1))
    largest_only = [[text.startswith("(") for text, _ in rows[name]] for name in methods]
    assert largest_only == [[False, False, True], [False] * 3, [False] * 3]


def test_each_method_is_a_named_marker_at_its_error_and_trustworthiness(bench):
    figure = draw_faithfulness(bench)
    (axes,) = figure.axes
    means = bench.faithfulness
    x, y = zip(*[(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines], strict=True)
    assert x == pytest.approx(tuple(means["trustworthiness"]))
    assert y == pytest.approx(tuple(100 * means["error"]))
    assert [text.get_text() for text in axes.texts] == ["PCA", "fisher", "LFDA", "NMMP"]
    hollow = [line.get_markerfacecolor() == "white" for line in axes.lines]
    assert hollow == [True, False, False, False]


def test_scores_are_at_the_years_of_the_papers(bench):
    assert bench.years == {"pca": 1901, "fisher": 1936, "lfda": 2006, "nmmp": 2007}
    figure = draw_years(bench.board(), bench.years)
    (axes,) = figure.axes
    words = {text.get_text(): text.xy for text in axes.texts}
    scores = bench.board().table.set_index("method")["score"]
    assert words["LFDA"] == pytest.approx((2006, scores["lfda"]))
    assert words["PCA (1901)"][0] == words["fisher (1936)"][0] < 1990


def test_orders_are_those_of_leaderboards_and_of_recomputed_ranks(bench):
    table = bench.orders
    board = bench.board()
    names = list(table.index)
    ranks = rankdata(-board.scores[names].round(12), axis=1).mean(axis=0)
    assert (table["", "mean rank"] == rankdata(ranks.round(12), "min")).all()
    medians = board.scores[names].median().round(12)
    assert (table["", "median score"] == rankdata(-medians, "min")).all()

    def places(**choice):
        found = leaderboard(bench.rows, **choice).table
        return found.set_index("method")["place"].loc[names].to_numpy()

    assert (table["", "mean score"] == places()).all()
    assert (table["", "balanced accuracy"] == places(metric="balanced_accuracy")).all()
    assert (table["classifier", "linear"] == places(classifier="linear")).all()
    assert (table["group", "small"] == places(datasets=["iris", "wine", "balance"])).all()
    kept = list(board.scores.index)
    without = [places(datasets=[name for name in kept if name != out]) for out in kept]
    assert (table[LEAVING_OUT, "best"] == np.min(without, axis=0)).all()
    assert (table[LEAVING_OUT, "worst"] == np.max(without, axis=0)).all()
    figure = draw_order(table)
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {f"{low}–{high}" for low, high in table[LEAVING_OUT].to_numpy()} <= texts


def test_the_page_has_the_choices_and_the_intervals_of_ranks(pages, bench):
    row = bench.board().row("lfda")
    index = (pages / "index.html").read_text()
    markdown = (pages / "leaderboard.md").read_text()
    ranks = f"{row['rank_low']:.0f} to {row['rank_high']:.0f}"
    first = f"first in {100 * row['first']:.0f} % of resamples"
    assert f"LFDA ranks first (95 % interval {ranks}; {first})" in index
    for text in (index, markdown):
        assert "best of all methods" in text
        assert "best of three methods" in text
    assert f"| 1 | {ranks} | {row['first']:.0%} | lfda |" in markdown
    assert f'<td class="number">{ranks}</td>' in (pages / "methods" / "lfda.html").read_text()


def test_only_pages_with_rows_of_a_track_have_its_figure(pages):
    there = {"index", "methods/pca", "methods/none", "datasets/iris", "datasets/glass"}
    for name in (*there, "methods/lfda", "datasets/sonar"):
        text = (pages / f"{name}.html").read_text()
        assert ("Error by number of dimensions" in text) == (name in there), name
    index = (pages / "index.html").read_text()
    assert ">(13.75)</td>" in index
    counts = "0 with n_components = 1, 1 with n_components = 2, 1 with n_components = 4"
    assert f"better than no reduction is {counts}." in index


def test_the_shares_of_selected_dimensions_of_a_method_add_up_to_one(pages, bench):
    index = (pages / "index.html").read_text()
    _, _, table = index.partition("Fraction of tuned trials (%) by chosen n_components")
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', table.partition("</table>")[0])
    shares = [list(map(int, re.findall(r'class="share"[^>]*>(\d+)<', row))) for row in rows]
    assert [sum(each) for each in shares] == [100] * len(bench.suite.methods)


def test_a_method_that_a_control_adds_is_in_the_table(bench):
    methods = {name: how for name, how in bench.suite.methods.items() if name != "none"}
    suite = bench.suite.model_copy(update={"methods": methods})
    data = page_data(Benchmark(suite, bench.rows, bench.folders))
    assert [each[1] for each in data["methods"]] == [*methods, "none"]


# -- in a browser ----------------------------------------------------------------------------------

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on the path")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def shown(page):
    """Return the leaderboard's cells."""
    return page.eval_on_selector_all(
        "#leaderboard tbody tr",
        "all => all.filter(r => !r.hidden).map(r => [...r.cells].map(c => c.textContent))",
    )


def expected(rows, methods=(), **choice):
    """Return the cells that `leaderboard` gives for these methods and rows."""
    names = {"none": "no reduction", "pca": "PCA", "lfda": "LFDA", "nmmp": "NMMP"}
    return [
        [names.get(name := row.pop("method"), name), *row.values()]
        for row in board_cells(leaderboard(rows, **choice))
        if not methods or row["method"] in methods
    ]


def test_the_browser_shows_the_leaderboards_that_were_computed(bench, pages, browser):
    said: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((pages / "index.html").as_uri())
    untouched = shown(page)
    labelled = ["fisher", "lfda", "nmmp"]
    chosen = {"small": ["iris", "wine", "balance"], "": []}
    for tuned, classifier, metric, group, kind in [
        ("", "knn", "error", "", ""),
        ("1", "linear", "error", "", ""),
        ("1", "knn", "balanced_accuracy", "", ""),
        ("", "linear", "error", "small", "users"),
        ("1", "knn", "error", "", "users"),
    ]:
        asked = {"tuned": tuned, "classifier": classifier, "metric": metric}
        for name, value in (asked | {"group": group, "kind": kind}).items():
            page.select_option(f"#show [name={name}]", value)
        choice = {"tuned": bool(tuned), "classifier": classifier, "metric": metric}
        wanted = expected(
            bench.rows, labelled if kind else (), datasets=chosen[group], baseline="none", **choice
        )
        assert shown(page) == wanted
    # The page's address contains the choices.
    other = browser.new_page()
    other.goto(page.url)
    assert shown(other) == shown(page)
    page.click("#show button[type=reset]")
    page.wait_for_function("!location.hash")
    assert shown(page) == untouched
    page.locator("#leaderboard thead button").nth(7).click()
    assert [row[7] for row in shown(page)] == sorted((row[7] for row in untouched), key=float)
    assert said == []


def test_the_page_has_a_leaderboard_for_each_group_of_data_sets(bench):
    data = page_data(bench)
    small = next(
        each
        for each in data["boards"]
        if (each["group"], each["classifier"], each["metric"]) == ("small", "knn", "error")
    )
    wanted = expected(bench.rows, datasets=["iris", "wine", "balance"], baseline="none")
    names = [method for method, *_ in data["methods"]]
    assert [[names[place], *cells] for place, *cells in small["rows"]] == wanted
    assert {each["group"] for each in data["boards"]} == {"", *bench.groups}


def test_without_a_script_the_leaderboard_stands_there(bench, pages, browser):
    page = browser.new_page(java_script_enabled=False)
    page.goto((pages / "index.html").as_uri())
    rows = expected(bench.rows, tuned=True)
    assert [row[1:] for row in shown(page)] == [row[1:] for row in rows]
    assert not page.locator("#show").is_visible()


def test_nothing_keeps_a_reader_out(pages, browser):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page(viewport={"width": 390, "height": 900})
    for name in ("index.html", "methods/lfda.html", "datasets/iris.html"):
        page.goto((pages / name).as_uri())
        assert axe.Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
