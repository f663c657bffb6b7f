"""A run's methods are compared with its controls: the scale, the table and the figure."""

import pytest

from ddr_cli.comparison.against_controls import against_controls, scaled
from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import Row, summary_of
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
