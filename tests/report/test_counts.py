import pytest

from ddr_cli.report import write_report
from ddr_cli.report.tables import count_text

CCDR = {
    "name": "ccdr",
    "mode": "transductive",
    "params": {"n_components": 14, "n_neighbors": 4, "beta": 0.5},
}


@pytest.fixture
def outcome(results, write_results, make_spec):
    spec = make_spec(
        "landsat_ccdr_beta",
        reducers=[CCDR],
        classifiers=[{"name": "knn", "params": {"n_neighbors": 3}}, {"name": "linear"}],
        sweep={"reducer.beta": [0.05, 0.5, 5.0]},
        repeats=3,
        paper={"name": "ccdr", "artefact": "fig2"},
    )
    write_results(results, spec, lambda trial: 0.086 if trial.index is None else 0.12)
    return write_report(results)


def test_the_counts_are_those_of_the_verdicts(outcome):
    numbers, claims = outcome.assessment.counts()
    (result,) = outcome.assessment.papers
    for counts, views in (
        (numbers, (result.counts("own"), result.counts("resplits"))),
        (claims, (result.claim_counts("own"), result.claim_counts("resplits"))),
    ):
        (row,) = counts.rows
        found = dict(zip(counts.verdicts, row[1], strict=True))
        assert {name: pair[0] for name, pair in found.items() if pair[0]} == dict(views[0])
        assert {name: pair[1] for name, pair in found.items() if pair[1]} == dict(views[1])
    found = dict(zip(numbers.verdicts, numbers.rows[0][1], strict=True))
    assert (found["reproduced"], found["worse"]) == ((1, 0), (0, 1))


def test_the_file_holds_a_table_for_numbers_and_one_for_claims(outcome, results):
    text = (results / "report" / "verdict_counts.md").read_text(encoding="utf-8")
    assert text == count_text(outcome.assessment)
    heads = [line for line in text.splitlines() if line.startswith("| printed") or "claims" in line]
    assert heads[0].startswith("| printed numbers and marks | reproduced | better | worse |")
    assert heads[1].startswith("| claims | holds | fails |")
    assert text.count("| CCDR | ") == 2


@pytest.mark.usefixtures("outcome")
def test_a_report_on_one_paper_leaves_the_counts_alone(results):
    path = results / "report" / "verdict_counts.md"
    path.unlink()
    write_report(results, paper="ccdr")
    assert not path.exists()
