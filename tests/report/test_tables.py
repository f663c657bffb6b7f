import re

import pytest

from ddr_cli.comparison.summary import summary_of
from ddr_cli.papers.numbers import judge_numbers, time_ratios
from ddr_cli.papers.schema import Artefact
from ddr_cli.papers.tables import has_own_form, number_data, own_form, ratio_text
from ddr_cli.papers.verdicts import number_rows, table_of
from ddr_cli.report.run_tables import run_table
from ddr_cli.show.latex import latex
from ddr_cli.show.markdown import markdown
from ddr_cli.show.page import Grid

SECONDS = {"lmnn": 50.0, "nmmp": 0.5, "none": 0.0}
ACCURACY = {"none": 0.90, "lmnn": 0.95, "nmmp": 0.97}


def _entry(reducer, column, value, **more):
    select = {"reducer": reducer, "classifier": "knn"}
    return {
        "id": f"iris-{reducer}",
        "row": "Iris",
        "column": column,
        "select": select,
        "metric": "accuracy",
        "where": "Table 4",
        **({} if value is None else {"value": value, "sd": "1 %"}),
        **more,
    }


PRINTED = [
    _entry("none", "baseline", None),
    _entry("lmnn", "LMNN", "96.2 %", seconds=4.91, seconds_than="iris-nmmp"),
    _entry("nmmp", "NMMP", "96.5 %", seconds=0.02, remark="So it is."),
]


@pytest.fixture
def result(tmp_path, write_results, make_spec):
    spec = make_spec(
        "iris",
        reducers=[{"name": name} for name in SECONDS],
        kind="per_class",
        predefined=False,
        repeats=4,
        metric="accuracy",
    )
    folder = write_results(tmp_path, spec, lambda trial: ACCURACY[trial.reducer], seconds=SECONDS)
    artefact = Artefact.model_validate(
        {
            "id": "table4",
            "title": "Accuracy",
            "where": "Table 4",
            "kind": "table",
            "specs": ["iris"],
            "asked": "?",
            "printed": PRINTED,
        }
    )
    return artefact, judge_numbers(artefact, {"iris": summary_of(folder)}, "nmmp")


@pytest.fixture
def frame(result):
    artefact, numbers = result
    table = table_of(number_rows(artefact, numbers))
    assert has_own_form(table, artefact)
    return own_form(table, artefact)


def test_the_papers_table_has_ours_under_each_number(frame):
    assert list(frame.columns) == ["", " ", "baseline", "LMNN", "NMMP"]
    assert frame.map(str).to_numpy().tolist() == [
        ["Iris", "printed", "–", "96.2 % ± 1 %", "96.5 % ± 1 %"],
        ["", "ours, random splits, n = 4", "90.00 ± 0.00 %", "95.00 ± 0.00 %", "97.00 ± 0.00 %"],
        ["", "verdict", "not testable", "differs (lower)", "reproduced"],
        ["", "difference, random splits", "", "−1.20 ± 1.00", "+0.50 ± 1.00"],
        ["", "training time relative to NMMP, printed", "", "250 \N{MULTIPLICATION SIGN}", "1"],
        ["", "training time relative to NMMP, ours", "", "100 \N{MULTIPLICATION SIGN}", "1"],
        ["", "note", "So it is.", "", ""],
        ["", "note", "LMNN: 1.20 percentage points against a competing method", "", ""],
        ["", "note", "LMNN, reason: unknown", "", ""],
    ]


def test_the_matrix_as_text(frame):
    table = Grid(frame)
    assert "| Iris | printed | – | 96.2 % ± 1 % |" in markdown([table])
    assert r"100 $\times$" in latex(table)
    assert r"96.2 \% $\pm$ 1 \%" in latex(table)


def test_times_stand_in_the_data_as_ratios(result):
    found = time_ratios(result[1])
    assert set(found) == {"iris-lmnn"}
    assert found["iris-lmnn"].ours == 100.0
    assert found["iris-lmnn"].printed == pytest.approx(245.5)
    rows = number_data(table_of(number_rows(*result))).set_index("id")
    assert rows.at["iris-lmnn", "fit_seconds_ratio"] == 100.0
    assert rows.at["iris-lmnn", "fit_seconds_than"] == "NMMP"


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(245.5, "250"), (12.4, "12"), (1.234, "1.2"), (0.034, "0.034"), (0.0, "0"), (9.99, "10")],
)
def test_a_ratio_has_two_digits(ratio, text):
    assert ratio_text(ratio) == f"{text} \N{MULTIPLICATION SIGN}"


def test_no_ratio_is_a_dash():
    assert ratio_text(float("nan")) == "–"


@pytest.mark.parametrize("swept", ["reducer.n_neighbors", "classifier.n_neighbors"])
@pytest.mark.parametrize(("metric", "at"), [("error", "7"), ("accuracy", "41")])
def test_the_best_of_many_settings_is_shown(tmp_path, write_results, make_spec, metric, at, swept):
    spec = make_spec(
        "many",
        reducers=[{"name": "ccdr", "params": {"n_neighbors": 1}}],
        sweep={swept: range(1, 51)},
        predefined=False,
        repeats=2,
        metric=metric,
    )

    def value(trial):
        k = trial.params[swept]
        return {7: 0.1, 41: 0.9}.get(k, 0.5)

    table = run_table(summary_of(write_results(tmp_path, spec, value)))
    assert len(table.frame) == 1
    assert re.findall("[0-9]+", table.frame.at[0, "best setting"])[-1] == at
    assert table.frame.at[0, "settings"] == "50"
