import dataclasses

import pytest

from ddr_cli.comparison.summary import summarize, summary_of
from ddr_cli.papers.marks import judge_marks
from ddr_cli.papers.schema import Artefact
from ddr_cli.papers.tables import mark_data, own_form
from ddr_cli.papers.verdicts import mark_rows, table_of

MEASURES = {
    "separability": "separability",
    "subclass_silhouette": "silhouette",
    "subclass_accuracy": "subclass_accuracy",
}
THRESHOLDS = {"separability": 0.94, "silhouette": 0.2, "subclass_accuracy": 0.8}


@pytest.fixture
def judged(tmp_path, write_results, make_spec):
    """Return a function that makes a run with the given measures and rates it."""

    def build(values, printed, repeats=1):
        spec = make_spec(
            "grid",
            reducers=[{"name": "lfda", "label": "mine"}],
            measures=MEASURES,
            kind="whole",
            predefined=False,
            repeats=repeats,
        )

        def error(trial):
            value = values[trial.classifier]
            return value[trial.index] if isinstance(value, list) else value

        folder = write_results(tmp_path, spec, error, metric_of=MEASURES)
        artefact = Artefact.model_validate(
            {
                "id": "marks",
                "title": "Marks",
                "where": "Table 1",
                "kind": "marks",
                "specs": ["grid"],
                "asked": "?",
                "thresholds": THRESHOLDS,
                "marks": [
                    {
                        "row": "LFDA",
                        "column": "Letter",
                        "printed": printed,
                        "select": {"reducer": "lfda", "label": "mine"},
                    }
                ],
            }
        )
        summaries = {"grid": summary_of(folder)}
        return artefact, summaries["grid"], judge_marks(artefact, summaries)

    return build


def _values(separability, silhouette, accuracy):
    return {
        "separability": separability,
        "subclass_silhouette": silhouette,
        "subclass_accuracy": accuracy,
    }


@pytest.mark.parametrize(
    ("values", "sign"),
    [
        (_values(0.94, 0.2, 0.1), "both"),
        (_values(0.94, 0.19, 0.8), "both"),
        (_values(0.94, 0.19, 0.79), "separable"),
        (_values(0.939, 0.3, 0.1), "multimodal"),
        (_values(0.5, 0.1, 0.5), "neither"),
    ],
)
def test_thresholds_give_the_mark(judged, values, sign):
    _, _, (result,) = judged(values, "both")
    assert result.own.kept == sign
    assert result.resplits.verdict == "not applicable"


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        ("separable", "reproduced"),
        ("neither", "differs"),
        ("both", "differs"),
        (None, "not testable"),
    ],
)
def test_a_mark_is_judged_by_what_it_keeps(judged, printed, verdict):
    _, _, (result,) = judged(_values(0.95, 0.0, 0.5), printed)
    assert result.own.verdict == verdict


def test_the_median_over_the_repeats_decides(judged):
    # The mean of the silhouettes is above the threshold, but their median is not.
    _, _, (result,) = judged(_values(0.99, [0.1, 0.15, 0.9], 0.5), "separable", repeats=3)
    assert (result.own.kept, result.own.n) == ("separable", 3)
    assert result.own.medians["silhouette"] == 0.15
    assert result.own.detail == "accuracy kept 99.00 %, silhouette 0.15, sub-class accuracy 50.00 %"


def test_the_matrix_shows_printed_ours_verdict_and_medians(judged):
    artefact, _, marks = judged(_values(0.99, 0.5, 0.9), "separable")
    table = table_of(mark_rows(artefact, marks))
    frame = own_form(table, artefact)
    assert list(frame.columns) == ["", " ", "Letter"]
    assert frame.map(str).to_numpy().tolist() == [
        ["LFDA", "printed", "△"],
        ["", "ours, all samples", "○"],
        ["", "verdict", "differs"],
        ["", "accuracy kept", "99.00 %"],
        ["", "silhouette", "0.5"],
        ["", "sub-class accuracy", "90.00 %"],
        ["", "note", "Letter, reason: unknown"],
    ]
    (row,) = mark_data(table).to_dict("records")
    assert (row["own_mark"], row["own_silhouette"], row["own_verdict"]) == ("both", 0.5, "differs")


def test_a_missing_measure_is_not_run(judged):
    artefact, summary, _ = judged(_values(0.99, 0.5, 0.9), "both")
    trials = summary.run.trials
    rest = trials[trials["classifier"] != "subclass_silhouette"]
    run = dataclasses.replace(
        summary.run, trials=rest, manifest=summary.run.manifest.model_copy(update={"planned": 2})
    )
    (mark,) = judge_marks(artefact, {"grid": summarize(run)})
    assert mark.own.verdict == "not run"
