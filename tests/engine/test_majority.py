"""A failed trial is scored as the majority-class baseline of its training set."""

import numpy as np
import pandas as pd
import pytest

from ddr_cli.comparison.summary import summary_of
from ddr_cli.engine import read_trials
from ddr_cli.engine.work.scoring import majority_scores
from ddr_cli.papers.lookup import Lookup
from ddr_cli.papers.questions import Selector, UnansweredError
from ddr_cli.papers.report import write_report
from ddr_cli.report.run_tables import run_table

TRAIN = np.array([0, 1, 1, 1, 0, 2])
TEST = np.array([1, 0, 0, 2])


def test_the_constant_answer_is_the_largest_class_of_the_training_part():
    scores = majority_scores(TRAIN, TEST, ["error", "accuracy", "balanced_accuracy"])
    assert scores == {"error": 3 / 4, "accuracy": 1 / 4, "balanced_accuracy": pytest.approx(1 / 3)}
    assert majority_scores(TRAIN, TEST, ["training_error"]) == {"training_error": 1 / 2}


def test_with_one_label_of_each_class_it_is_the_first():
    assert majority_scores(TRAIN, TEST, ["error"], labels=1) == {"error": 1 / 2}


def test_a_ranking_of_equal_values_has_the_share_of_what_is_relevant():
    two, three = np.array([0, 1, 0, 1]), np.array([0, 1, 2, 1])
    assert majority_scores(two, two, ["mean_average_precision"]) == {"mean_average_precision": 0.5}
    assert majority_scores(three, three, ["mean_average_precision", "same_class"]) == {}


def test_failures_count_in_the_mean_and_are_counted(make_spec, run, tmp_path):
    # Isomap's geodesic distances are not Euclidean, so it has fewer than 70 dimensions.
    methods = [{"name": "isomap", "n_components": 70}, {"name": "none"}]
    spec = make_spec(reducers=methods, metrics=["error", "training_error"])
    outcome = run(spec)
    folder = tmp_path / spec.name
    trials = read_trials(folder)
    assert outcome.failed == (trials["reducer"] == "isomap").sum() == 6
    failed = trials[trials["status"] == "failed"]
    assert failed["reason"].str.contains("n_components=70").all()
    # The classes of iris are of equal size, also in both sets of a stratified split.
    np.testing.assert_allclose(failed[["error", "training_error"]], 2 / 3)

    summary = summary_of(folder)
    rows = summary.rows.set_index(["reducer", "classifier", "metric"])
    assert rows.loc[("isomap", "knn", "error"), ["n", "failed", "planned"]].tolist() == [3, 3, 3]
    assert rows.loc[("isomap", "knn", "error"), "mean"] == pytest.approx(2 / 3)
    assert rows.loc[("none", "knn", "error"), "failed"] == 0

    table = run_table(summary_of(folder))
    assert (table.frame == "failed").to_numpy().sum() == 2
    assert "† Isomap, k-NN failed on 3 of 3 splits" in table.notes
    page = write_report(tmp_path).page
    assert page is not None
    html = page.read_text(encoding="utf-8")
    assert '3, failed on 3</td><td class="number">failed</td>' in html


def test_a_papers_numbers_are_never_read_off_failures(make_spec, run, tmp_path):
    spec = make_spec(reducers=[{"name": "isomap", "n_components": 70}, {"name": "none"}])
    run(spec)
    lookup = Lookup({spec.name: summary_of(tmp_path / spec.name)}, spec.name, "resplits", "error")
    assert lookup.row(Selector(reducer="none", classifier="knn"))["n"] == 3
    with pytest.raises(UnansweredError, match="0 of 3 trials of this row succeeded"):
        lookup.row(Selector(reducer="isomap", classifier="knn"))


def test_a_run_without_failures_has_no_such_column(make_spec, run, tmp_path):
    spec = make_spec(reducers=[{"name": "none"}])
    run(spec)
    assert "failed" not in summary_of(tmp_path / spec.name).rows


def test_empty_cells_of_older_journals_count_as_failures_without_a_score(make_spec, run, tmp_path):
    spec = make_spec(reducers=[{"name": "none"}])
    run(spec)
    path = tmp_path / spec.name / "trials.csv"
    journal = pd.read_csv(path, dtype=str, keep_default_na=False)
    journal.loc[0, ["error", "status", "reason"]] = ["", "timeout", "more than 1 s"]
    journal.to_csv(path, index=False, lineterminator="\n")
    first = summary_of(tmp_path / spec.name).rows.iloc[0]
    assert (first["n"], first["failed"], first["planned"]) == (2, 1, 3)


def test_scores_of_values_are_those_of_the_classes_shares():
    scores = majority_scores(TRAIN, TEST, ["roc_auc_ovr", "neg_log_loss"])
    shares = np.bincount(TRAIN) / len(TRAIN)
    assert scores["neg_log_loss"] == pytest.approx(np.log(shares[TEST]).mean())
    assert scores["roc_auc_ovr"] == 0.5
