"""A run's methods are compared with its controls: the scale, the table and the figure."""

import pandas as pd
import pytest

from ddr_cli.comparison.against_controls import against_controls, scaled
from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import Row, summary_of
from ddr_cli.report.run_chart import draw_shuffled_labels
from ddr_cli.report.run_files import write_run
from ddr_cli.report.run_tables import control_table


def test_a_score_between_two_others():
    assert scaled(0.5, 0.5, 0.1) == 0.0
    assert scaled(0.1, 0.5, 0.1) == 1.0
    assert scaled(0.7, 0.5, 0.9) == pytest.approx(0.5)
    assert str(scaled(0.7, 0.5, 0.5)) == "nan"


def test_methods_are_held_against_the_controls_of_their_run(make_spec, run, tmp_path):
    controls = ["none", "pca", "full_features", "shuffled_labels"]
    spec = make_spec(reducers=[{"name": "lda", "n_components": 2}], controls=controls)
    run(spec)
    folder = tmp_path / spec.name
    summary = summary_of(folder)
    found = against_controls(summary)
    assert found is not None
    rows = found.rows.set_index(["reducer", "classifier"])
    strongest = rows.loc[("no reduction", "random forest")]
    # Iris has three classes of equal size, so the majority-class baseline errs on 2/3.
    assert (found.low, found.high) == (pytest.approx(2 / 3), strongest["mean"])
    assert strongest["scaled"] == 1.0
    lda = rows.loc[("LDA", "k-NN")]
    assert lda["scaled"] == pytest.approx((lda["mean"] - 2 / 3) / (strongest["mean"] - 2 / 3))
    trials = load_run(folder).trials
    own = trials[(trials["control"] == "shuffled_labels") & (trials["classifier"] == "knn")]
    assert lda["held_out"] == pytest.approx(1 - own["error"].mean())
    assert lda["seen"] == pytest.approx(1 - own["training_error"].mean())
    # PCA uses no labels, so it has no row with shuffled labels.
    assert rows.loc[("PCA", "k-NN"), ["seen", "held_out"]].isna().all()
    assert set(summary.methods["control"]) == {"", "full_features"}
    assert {Row(summary, index).settings for index in summary.shuffled.index} == {"shuffled labels"}
    assert {path.name for path in write_run(summary_of(folder))} >= {
        "shuffled_labels.svg",
        "shuffled_labels.png",
    }
    table = control_table(summary_of(folder))
    assert table is not None
    assert list(table.frame)[-3:] == ["scaled", "shuffled: seen", "held out"]
    assert len(table.frame) == len(rows)


def test_a_method_that_always_failed_has_no_numbers(make_spec, run, tmp_path):
    # Isomap's geodesic distances are not Euclidean, so it has fewer than 70 dimensions.
    methods = [
        {"name": "isomap", "n_components": 70},
        {"name": "nca", "n_components": 2},
        {"name": "lda", "n_components": 2},
    ]
    spec = make_spec(reducers=methods, controls=["full_features", "shuffled_labels"])
    run(spec)
    folder = tmp_path / spec.name
    path = folder / "trials.csv"
    trials = pd.read_csv(path, dtype=str, keep_default_na=False)
    one = trials.index[trials["reducer"] == "nca"][0]
    trials.loc[one, ["status", "reason"]] = ["failed", "ValueError: made up"]
    trials.to_csv(path, index=False, lineterminator="\n")
    controls = folder / "controls.csv"
    shuffled = pd.read_csv(controls, dtype=str, keep_default_na=False)
    of_lda = (shuffled["reducer"] == "lda") & (shuffled["control"] == "shuffled_labels")
    shuffled.loc[of_lda, ["status", "reason"]] = ["failed", "ValueError: made up"]
    shuffled.to_csv(controls, index=False, lineterminator="\n")
    summary = summary_of(folder)
    found = against_controls(summary)
    rows = found.rows[found.rows["classifier"] == "k-NN"].set_index("reducer")
    assert rows.loc["Isomap", ["scaled", "seen", "held_out"]].isna().all()
    assert rows.loc["LDA", "scaled"] > 0.5
    assert rows.loc["LDA", ["seen", "held_out"]].isna().all()
    table = control_table(summary)
    cells = table.frame.set_index("method")["error rate (%)"]
    assert cells["Isomap, k-NN"] == "failed"
    assert cells["NCA, k-NN"].endswith("†")
    assert any(note.startswith("† A failed split is scored as the major") for note in table.notes)
    figure = draw_shuffled_labels(summary.run, found)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert {name.partition(",")[0] for name in names} == {"NCA"}


def test_a_run_without_controls_has_no_such_table(make_spec, run, tmp_path):
    spec = make_spec(reducers=[{"name": "none"}])
    run(spec)
    folder = tmp_path / spec.name
    assert control_table(summary_of(folder)) is None
    assert "shuffled_labels.svg" not in {path.name for path in write_run(summary_of(folder))}


def test_shuffled_labels_without_a_metric_of_agreement_are_not_drawn(make_spec, run, tmp_path):
    spec = make_spec(
        reducers=[{"name": "lda", "n_components": 2}],
        controls=["shuffled_labels"],
        metrics=["f1_macro"],
    )
    run(spec)
    names = {path.name for path in write_run(summary_of(tmp_path / spec.name))}
    assert "figure.svg" in names
    assert "shuffled_labels.svg" not in names
