"""A made-up paper with an accuracy, from its trial log to the files that `ddr report` writes."""

import csv
import json
import math

import pytest
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.papers.schema import load_paper
from tests.conftest import SIZES, build_results, build_spec

CCDR = {"name": "ccdr", "mode": "transductive", "params": {"n_neighbors": 4, "beta": 1.0}}
# Two of the values differ by 5 %.
OWN = {0.1: 0.8, 1.0: 0.9, 1.05: 0.85, 10.0: 0.87}
NONE = 0.88
REPEATS = 20

ONE = {
    "id": "one",
    "select": {"reducer": "ccdr", "classifier": "knn", "params": {"reducer.beta": 1.0}},
    "metric": "accuracy",
    "value": "91 %",
    "where": "Table 1",
}
CHOSEN = {"calibration": {"why": "To choose beta."}}
ANY = {"reducer": "ccdr", "classifier": "knn"}
NUMBERS = [
    ONE,
    {**ONE, "id": "best", "value": "90 %", "select": {**ANY, "pick": "best"}},
    {**ONE, "id": "chosen", "value": "90 %", **CHOSEN},
    {**ONE, "id": "again", "value": "90 %", "same_as": "table.chosen", **CHOSEN},
]
AHEAD = {
    "what": "CCDR",
    "select": ONE["select"],
    "than": {"reducer": "none", "classifier": "knn"},
    "predicate": "ahead",
}
LOWEST = {
    "what": "the curve",
    "select": ANY,
    "predicate": {"term": "minimum_at", "low": 0.1, "high": 0.1},
}
PARTS = {"better": AHEAD, "lowest": LOWEST, "chosen": AHEAD}
PAPER = {
    "name": "mine",
    "short": "Mine",
    "method": "ccdr",
    "reference": {"authors": ["A. Author"], "title": "A title", "year": 2020, "venue": "Here"},
    "asked": "What?",
    "reading": "So.",
    "artefacts": [
        {
            "id": "table",
            "title": "A table",
            "where": "Table 1",
            "kind": "table",
            "specs": ["run"],
            "asked": "What?",
            "printed": NUMBERS,
        }
    ],
    "claims": [
        {
            "id": name,
            "artefact": "table",
            "sentence": "It is so.",
            "where": "Section 1",
            "written": "2026-11-21T02:39:49Z",
            "metric": "accuracy",
            "along": "reducer.beta",
            "parts": [{"id": f"{name}-part", **part}],
            **(CHOSEN if name == "chosen" else {}),
        }
        for name, part in PARTS.items()
    ],
}


def accuracy(trial):
    """Return CCDR's accuracy over re-splits, 1 point above the other by chance with p = 0.02."""
    if trial.index is None:
        return NONE if trial.reducer == "none" else OWN[trial.params["reducer.beta"]]
    sign = 1 if trial.index % 2 else -1
    if trial.reducer == "none":
        return 0.88
    if trial.params["reducer.beta"] == 1.0:
        # The corrected t-test: t of p = 0.02 with 19 degrees of freedom is 2.54.
        spread = 0.01 / 2.54 / math.sqrt(1 / REPEATS + 2000 / 4435)
        return 0.89 + sign * spread * math.sqrt(1 - 1 / REPEATS)
    # The lowest place of the curve is not certain.
    return {0.1: 0.8, 1.05: 0.85, 10.0: 0.802}[trial.params["reducer.beta"]] + 0.05 * sign * (
        trial.params["reducer.beta"] == 0.1
    )


def report_paper(folder, *formats):
    """Write the paper, a run that also has rows on shuffled labels, and the report on them."""
    (folder / "mine.yaml").write_text(json.dumps(PAPER))
    results = folder / "results"
    if not results.exists():
        reducers, sweep = [CCDR, {"name": "none"}], {"reducer.beta": [*OWN]}
        spec = build_spec("run", reducers=reducers, sweep=sweep, repeats=REPEATS, metric="accuracy")
        run = build_results(results, spec, accuracy, on_shuffled=0.2)
        manifest = json.loads((run / "manifest.json").read_text())
        manifest["sizes"]["predefined"] = SIZES
        (run / "manifest.json").write_text(json.dumps(manifest))
    load_paper.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ddr_cli.papers.schema.paper_files", lambda: {"mine": folder / "mine.yaml"})
        for form in formats:
            words = ["report", str(results), "--format", form]
            done = CliRunner().invoke(app, words, prog_name="ddr", catch_exceptions=False)
            assert done.exit_code == 0, done.output
    load_paper.cache_clear()
    return results


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    return report_paper(tmp_path_factory.mktemp("paper"), "csv", "markdown")


@pytest.fixture(scope="module")
def verdicts(reported):
    return json.loads((reported / "verdicts.json").read_text())["mine"]


@pytest.fixture(scope="module")
def numbers(reported):
    with (reported / "report" / "tables" / "mine_table.csv").open() as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_the_best_setting_is_the_one_with_the_highest_accuracy(numbers):
    assert float(numbers["best"]["own_mean"]) == 0.9
    assert float(numbers["best"]["resplits_mean"]) == pytest.approx(0.89)
    assert numbers["best"]["own_verdict"] == "reproduced"


def test_a_number_is_answered_by_the_row_of_exactly_its_setting_on_true_labels(numbers):
    assert float(numbers["one"]["own_mean"]) == 0.9
    assert (numbers["one"]["own_verdict"], numbers["one"]["own_counted"]) == ("close", "True")


def test_the_difference_on_one_split_has_a_binomial_error(reported):
    text = (reported / "report" / "tables" / "mine_table.md").read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if "| 91 % |" in line)
    assert f"(binomial error {100 * math.sqrt(0.9 * 0.1 / 2000):.2f})" in line


def test_numbers_and_claims_that_chose_a_setting_count_as_calibration_once(reported):
    text = (reported / "report" / "verdict_counts.md").read_text(encoding="utf-8")
    tables = [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()]
        for part in text.split("\n\n")
        if part.startswith("|")
    ]
    counts = [dict(zip(head, row, strict=True)) for head, _, row in tables]
    assert [each["calibration"] for each in counts] == ["1 / 1", "1 / 1"]


def test_holms_correction_is_over_the_decided_claims_that_count(verdicts):
    # Each p-value is 0.02. Two claims count, so 0.04 holds; with three it would be 0.06.
    found = {name: each["resplits"] for name, each in verdicts["claims"].items()}
    assert found == {"better": "holds", "lowest": "undecided", "chosen": "holds"}


def test_a_minimum_that_another_value_may_have_is_undecided(verdicts):
    assert verdicts["parts"]["lowest-part"] == {"own": "holds", "resplits": "undecided"}
