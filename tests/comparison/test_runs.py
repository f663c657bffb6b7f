import json

import numpy as np
import pandas as pd
import pytest

from ddr_cli.comparison.runs import find_runs, load_run, split_family
from ddr_cli.comparison.summary import Row, summarize, summary_of
from ddr_cli.core.errors import InputError
from ddr_cli.show.csv import csv
from ddr_cli.show.page import Grid

CCDR = {"name": "ccdr", "mode": "transductive", "params": {"beta": 0.5, "n_neighbors": 4}}
NONE = {"name": "none"}
BETAS = [0.01, 0.1, 1.0, 10.0]


def _error(trial):
    """Return an error of 10 % on the predefined split, and 1 % to 10 % over re-splits."""
    if trial.index is None:
        return 0.10
    return (trial.index + 1) / 100 + (0.5 if trial.reducer == "none" else 0.0)


def test_a_row_per_method_setting_and_family(results, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR, NONE], sweep={"reducer.beta": BETAS}, repeats=10)
    rows = summary_of(write_results(results, spec, _error)).rows
    # CCDR has four values of beta and no reduction has none, each on the predefined split and over
    # re-splits.
    assert len(rows) == (4 + 1) * 2
    assert list(rows["reducer_label"].unique()) == ["CCDR", "no reduction"]
    assert rows["reducer.beta"].isna().sum() == 2
    assert list(rows["split"][:2]) == ["predefined", "resample"]


def test_statistics_of_a_known_sample(results, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], repeats=10)
    rows = summary_of(write_results(results, spec, _error)).rows.set_index("split")
    own, over = rows.loc["predefined"], rows.loc["resample"]
    values = np.arange(1, 11) / 100
    assert (own["n"], over["n"]) == (1, 10)
    assert own["mean"] == 0.10
    assert own[["sd", "low", "high", "level", "mean_low"]].isna().all()
    assert over["mean"] == pytest.approx(0.055)
    assert over["sd"] == pytest.approx(np.std(values, ddof=1))
    assert (over["low"], over["high"]) == pytest.approx(tuple(np.quantile(values, [0.1, 0.9])))
    assert over["interval"] == "80 % of 10 re-splits"
    # t(9) at 97.5 % is 2.2622; the correction adds n_test / n_train = 2000 / 4435.
    half = 2.262157 * np.std(values, ddof=1) * np.sqrt(1 / 10 + 2000 / 4435)
    assert over["mean_high"] - over["mean"] == pytest.approx(half, rel=1e-5)
    assert over["mean_level"] == 0.95


def test_the_order_of_the_journal_changes_no_byte(tmp_path, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR, NONE], sweep={"reducer.beta": BETAS}, repeats=7)
    noise = np.random.default_rng(0).random(1000)

    def error(trial):
        return noise[hash((trial.reducer, str(trial.params), trial.split)) % 1000]

    one = write_results(tmp_path / "one", spec, error)
    two = write_results(tmp_path / "two", spec, error, shuffled=True)
    assert (one / "trials.csv").read_bytes() != (two / "trials.csv").read_bytes()
    assert csv(Grid(summary_of(one).rows)) == csv(Grid(summary_of(two).rows))


def test_failed_trials_are_no_results(results, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], repeats=10)
    failed = ["resample-9", "resample-3"]
    run = load_run(write_results(results, spec, _error, failed_splits=failed))
    row = summarize(run).rows.set_index("split").loc["resample"]
    assert (row["n"], row["planned"]) == (8, 10)
    assert row["mean"] == pytest.approx((55 - 10 - 4) / 800)
    assert run.is_complete
    assert run.progress == "9 of 11 trials done, 2 failed"


def test_a_partial_run_knows_what_is_missing(results, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], repeats=10)
    run = load_run(write_results(results, spec, _error, keep=4))
    assert not run.is_complete
    assert run.progress == "4 of 11 trials done"
    assert list(summarize(run).rows["n"]) == [1, 3]


def test_a_run_without_a_finished_trial_has_an_empty_summary(results, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], repeats=3)
    summary = summary_of(write_results(results, spec, _error, keep=0))
    assert summary.rows.empty
    assert {"reducer", "mean", "interval"} <= set(summary.rows.columns)


def test_equal_reducers_are_told_apart_by_their_labels(results, write_results, make_spec):
    heat = {**CCDR, "params": {"beta": 2.0, "n_neighbors": 4}, "label": "ccdr (beta=2)"}
    spec = make_spec("run", reducers=[CCDR, heat], repeats=2)
    rows = summary_of(write_results(results, spec, _error)).rows
    assert list(rows["reducer_label"].unique()) == ["CCDR", "CCDR (beta=2)"]


def test_values_come_back_in_order_of_split(results, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], repeats=12, predefined=False)
    summary = summary_of(write_results(results, spec, _error, shuffled=True))
    row = Row(summary, 0)
    assert list(row.trials["split"]) == [f"resample-{index}" for index in range(12)]
    assert list(row.values) == pytest.approx([(index + 1) / 100 for index in range(12)])


def test_a_journal_of_another_run_is_refused(results, write_results, make_spec):
    spec = make_spec("run", reducers=[CCDR], repeats=2)
    folder = write_results(results, spec, _error)
    text = (folder / "trials.csv").read_text(encoding="utf-8")
    (folder / "trials.csv").write_text(text.replace(",4,", ",5,"), encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest\.json has no parameters of the"):
        summary_of(folder)


@pytest.mark.parametrize(
    ("split", "family"),
    [("predefined", "predefined"), ("resample-7", "resample"), ("per_class-0", "per_class")],
)
def test_family_of_a_split(split, family):
    assert split_family(split) == family


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "damaged"),
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"sessions": [], "environments": []}', "spec: Field required"),
        ('{"sessions": [], "environments": [], "spec": {}, "planned": 1}', "name"),
    ],
)
def test_a_damaged_manifest_is_one_clear_message(
    results, write_results, make_spec, content, message
):
    folder = write_results(results, make_spec("run", reducers=[CCDR], repeats=2), _error)
    (folder / "manifest.json").write_text(content, encoding="utf-8")
    assert find_runs(results) == [folder]
    with pytest.raises(InputError, match=message) as error:
        load_run(folder)
    assert "manifest.json" in str(error.value)


def test_an_empty_journal_says_that_no_trial_is_done(results, write_results, make_spec):
    folder = write_results(results, make_spec("run", reducers=[CCDR], repeats=2), _error)
    (folder / "trials.csv").write_bytes(b"")
    with pytest.raises(InputError, match=r"no finished trial.*run 'ddr run run.yaml'"):
        load_run(folder)


def test_folders_without_runs_are_one_clear_message(tmp_path, write_results, make_spec):
    with pytest.raises(InputError, match="no folder"):
        find_runs(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no results"):
        find_runs(tmp_path)
    folder = write_results(tmp_path, make_spec("run", reducers=[CCDR], repeats=2), _error)
    with pytest.raises(InputError, match="a run's folder"):
        find_runs(folder)
    with pytest.raises(InputError, match=r"contains no manifest\.json"):
        load_run(tmp_path)


def test_without_recorded_sizes_of_splits_there_is_no_interval_of_the_mean(
    results, write_results, make_spec
):
    folder = write_results(results, make_spec("run", reducers=[CCDR], repeats=2), _error)
    assert summary_of(folder).rows["mean_low"].notna().any()
    manifest = json.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"sizes": {}}), encoding="utf-8")
    assert summary_of(folder).rows["mean_low"].isna().all()


def test_csv_reads_back(results, write_results, make_spec, tmp_path):
    spec = make_spec("run", reducers=[CCDR], sweep={"reducer.beta": BETAS}, repeats=3)
    rows = summary_of(write_results(results, spec, _error)).rows
    (tmp_path / "summary.csv").write_text(csv(Grid(rows)), encoding="utf-8")
    back = pd.read_csv(tmp_path / "summary.csv")
    assert list(back.columns) == list(rows.columns)
    assert back["mean"].to_numpy() == pytest.approx(rows["mean"].to_numpy())


def test_a_parameter_that_some_methods_lack_stays_a_number(results, write_results, make_spec):
    raw = {"name": "none", "params": {}}
    spec = make_spec("run", reducers=[raw, CCDR], repeats=2)
    rows = summary_of(write_results(results, spec, _error)).rows
    assert rows["reducer.n_neighbors"].isna().any()
    assert pd.api.types.is_integer_dtype(rows["reducer.n_neighbors"])
