"""Methods against each other: paired in a run, ranked across runs."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
import typer
from scipy import stats
from typer.testing import CliRunner

from ddr_cli.cli.compare import compare as compare_command
from ddr_cli.comparison.methods import compare, difference_interval
from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import Row, summarize
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import NADEAU_BENGIO, SMALL_TRAINING
from ddr_cli.figures.rank_diagram import draw_ranks

REDUCERS = [{"name": "none"}, {"name": "pca"}, {"name": "lda"}]
# By run, the errors of the three methods.
LEVELS = {
    "one": {"none": 0.30, "pca": 0.20, "lda": 0.10},
    "two": {"none": 0.25, "pca": 0.26, "lda": 0.05},
    "three": {"none": 0.30, "pca": 0.20, "lda": 0.10},
    "four": {"none": 0.40, "pca": 0.20, "lda": 0.19},
}


@pytest.fixture
def folders(results, make_spec, write_results):
    def error_of(name):
        def error(trial):
            return LEVELS[name][trial.reducer] + 0.001 * ((trial.index or 0) % 3)

        return error

    return [
        write_results(
            results, make_spec(name, reducers=REDUCERS, repeats=6, predefined=False), error_of(name)
        )
        for name in LEVELS
    ]


def test_differences_are_paired_and_corrected(results, make_spec, write_results):
    rng = np.random.default_rng(0)
    noise = rng.normal(scale=0.01, size=(3, 20))
    place = {"none": 0, "pca": 1, "lda": 2}

    def error(trial):
        return 0.2 - 0.01 * place[trial.reducer] + noise[place[trial.reducer], trial.index]

    spec = make_spec("run", reducers=REDUCERS, repeats=20, predefined=False)
    found = compare([write_results(results, spec, error)], against="pca")
    assert found.against == "PCA"
    rows = found.rows.set_index("method")
    values = (noise[2] - 0.02) - (noise[1] - 0.01)
    half = stats.t.ppf(0.975, 19) * values.std(ddof=1) * np.sqrt(1 / 20 + 2000 / 4435)
    lda = rows.loc["LDA"]
    assert lda["difference"] == pytest.approx(values.mean())
    assert (lda["low"], lda["high"]) == pytest.approx((values.mean() - half, values.mean() + half))
    assert lda["p_value"] > stats.ttest_1samp(values, 0).pvalue
    assert pd.isna(rows.at["PCA", "difference"])


def test_means_that_differ_by_rounding_have_equal_ranks(results, make_spec, write_results):
    errors = {"none": 0.3, "pca": 0.1 + 0.2, "lda": 0.1}  # 0.1 + 0.2 is not quite 0.3
    folders = [
        write_results(
            results,
            make_spec(name, reducers=REDUCERS, repeats=2, predefined=False),
            lambda trial: errors[trial.reducer],
        )
        for name in LEVELS
    ]
    average = dict(compare(folders).ranks.average)
    assert average == {"LDA": 1.0, "PCA": 2.5, "no reduction": 2.5}


@pytest.mark.parametrize(
    ("metric", "correction"),
    [("error", SMALL_TRAINING), ("balanced_accuracy", NADEAU_BENGIO)],
)
def test_a_small_training_part_is_allowed_for(
    results, make_spec, write_results, metric, correction
):
    rng = np.random.default_rng(0)
    values = {name: 0.2 + rng.normal(scale=0.02, size=20) for name in ("none", "pca")}
    spec = make_spec("run", metric=metric, reducers=REDUCERS[:2], repeats=20, predefined=False)
    folder = write_results(results, spec, lambda trial: values[trial.reducer][trial.index])
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["sizes"]["resample"] |= {"train": 100, "test": 3900}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    pca = compare([folder]).rows.set_index("method").loc["PCA"]
    differences = values["pca"] - values["none"]
    shared = differences.var(ddof=1) * 39
    if correction == SMALL_TRAINING:
        first, second = values["pca"].mean(), values["none"].mean()
        point = first + second - (first - second) ** 2
        shared = differences.var(ddof=1) / 39 + (1 - 1 / 39) * point / 3900
    half = stats.t.ppf(0.975, 19) * np.sqrt(differences.var(ddof=1) / 20 + shared)
    assert pca["interval"] == correction
    assert pca["high"] == pytest.approx(differences.mean() + half)
    assert f"Interval and p: {correction}." in " ".join(_run(folder).output.split())
    summary = summarize(load_run(folder)).rows
    assert set(summary["mean_interval"]) == {correction}
    assert summary["mean_low"].min() >= 0


def test_a_mean_of_differences_has_one_interval(folders):
    summary = summarize(load_run(folders[0]))
    none, pca, lda = (Row(summary, index) for index in range(3))
    both = difference_interval((none, pca), (none, lda))
    assert both is not None
    assert both.mean == pytest.approx(0.15)


def test_ranks_are_friedmans(folders):
    ranks = compare(folders).ranks
    assert ranks is not None
    assert dict(ranks.average) == {"LDA": 1.0, "PCA": 2.25, "no reduction": 2.75}
    columns = [[LEVELS[run][name] for run in LEVELS] for name in ("none", "pca", "lda")]
    known = stats.friedmanchisquare(*columns)
    assert (ranks.statistic, ranks.p_value) == pytest.approx((known.statistic, known.pvalue))


def test_what_cannot_be_compared_is_said(folders, results, make_spec, write_results):
    with pytest.raises(InputError, match="Did you mean 'PCA'"):
        compare(folders, against="pcs")
    with pytest.raises(InputError, match="no metric 'accuracy'"):
        compare(folders, metric="accuracy")
    with pytest.raises(InputError, match="three runs"):
        draw_ranks(compare(folders[:2]))
    single = make_spec("single", reducers=REDUCERS, kind="predefined", predefined=False)
    with pytest.raises(InputError, match="can't be compared on one"):
        compare([write_results(results, single, lambda _: 0.1)])
    other = make_spec("other", reducers=[{"name": "lpp"}], repeats=6, predefined=False)
    with pytest.raises(InputError, match="fewer than two methods in common"):
        compare([folders[0], write_results(results, other, lambda _: 0.1)])


app = typer.Typer()
app.command()(compare_command)


def _run(*arguments):
    return CliRunner(env={"COLUMNS": "120"}).invoke(app, [str(each) for each in arguments])


def test_the_command_shows_differences_and_ranks_and_writes_them(folders, tmp_path):
    table = tmp_path / "ranks.csv"
    done = _run(*folders, "--metric", "error", "--against", "pca", "--csv", table)
    assert done.exit_code == 0, done.output
    assert "less PCA" in done.output
    assert "average rank" in done.output
    assert "Friedman" in done.output
    assert len(pd.read_csv(table)) == 12
    for arguments, message in (
        (("--against", "x"), "No method is called 'x'"),
        (("--metric", "accuracy"), "no metric 'accuracy'"),
        (("--picture", tmp_path / "ranks.pdf"), r"must end in \.png or \.svg"),
    ):
        wrong = _run(*folders, *arguments)
        assert isinstance(wrong.exception, InputError)
        assert re.search(message, str(wrong.exception))


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_diagram_is_the_same_bytes_each_time(folders, tmp_path, ending):
    pytest.importorskip("scikit_posthocs", reason="the extra 'stats' is not installed")
    one, two = (tmp_path / f"{name}.{ending}" for name in ("one", "two"))
    assert _run(*folders, "--picture", one).exit_code == 0
    assert _run(*folders, "--picture", two).exit_code == 0
    assert one.read_bytes() == two.read_bytes()
