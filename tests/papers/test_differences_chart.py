from dataclasses import replace
from pathlib import Path

import pytest

from ddr_cli.comparison.summary import summary_of
from ddr_cli.papers.assess import ArtefactRuns
from ddr_cli.papers.differences_chart import draw_differences
from ddr_cli.papers.figure_notes import notes_on
from ddr_cli.papers.numbers import judge_numbers
from ddr_cli.papers.schema import load_paper

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def summaries():
    return {name: summary_of(RESULTS / name) for name in ("nmmp_iris", "nmmp_balance")}


def test_printed_numbers_and_ours_have_a_panel_per_method(summaries):
    table = load_paper("nmmp").artefact("table4")
    results = judge_numbers(table, summaries)
    item = ArtefactRuns(table, tuple(summaries.values()), results)
    figure = draw_differences(table.title, item.compared)
    # A table of two rows has one panel, with a line per number.
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[:2] == ["Iris, baseline", "Iris, LDA"]
    (iris,) = [each for each in results if each.entry.id == "iris-nmmp"]
    drawn = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "v"]
    assert drawn[0] == pytest.approx(100 * (iris.resplits.row["mean"] - 0.965))
    # The width of the bar is twice the printed standard deviation, which is above one point.
    band = axes.patches[names.index("Iris, NMMP")]
    assert band.get_width() == pytest.approx(2 * 1.6)
    assert figure.get_suptitle().replace("\n", " ").strip().endswith("ours minus printed")
    assert "median" in figure.artists[0].get_text()
    assert replace(item, numbers=item.numbers[:5]).compared == []


def test_the_numbers_that_papers_print_are_quoted(summaries):
    said = notes_on(summaries["nmmp_iris"])
    assert {number.text for number in said.quoted} >= {"paper: 95.4 %", "paper: 96.5 %"}
