import re
import sys

import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.cli.options import in_width, print_table
from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import summarize
from ddr_cli.report.run_tables import run_table
from ddr_cli.show.page import Badge, Grid


@pytest.mark.parametrize("width", [80, 120])
def test_the_data_sets_fit_the_terminal_and_no_word_is_broken(width, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("DDR_CACHE", str(tmp_path))
    monkeypatch.delenv("DDR_DATA", raising=False)
    lines = (
        CliRunner().invoke(app, ["data", "status", "iris", "landsat", "coil20"]).stdout.splitlines()
    )
    table = lines[: next(i for i, line in enumerate(lines) if line.startswith("Missing files of"))]
    assert max(map(len, table)) <= width
    text = "\n".join(table)
    for word in ("embedded", "missing", "samples", "licence", "CC BY 4.0", "non-commercial"):
        assert word in text
    assert text.count("\n") < 10


def test_lines_are_broken_between_words_on_a_terminal_and_nowhere_in_a_pipe(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    line = "name      " + "some words " * 8
    assert in_width(line) == line
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    first, *others = in_width(line, indent=10).split("\n")
    assert first.startswith("name      some")
    assert all(other.startswith(" " * 10 + "some") or "words" in other for other in others)
    assert max(map(len, (first, *others))) <= 40


@pytest.mark.parametrize("kinds", [{}, {"NO_COLOR": "1"}])
def test_a_pipe_has_no_escapes_and_no_color_has_no_colours(kinds, monkeypatch, capsys):
    """NO_COLOR only disables colours, so bold text stays (https://no-color.org)."""
    for name, value in kinds.items():
        monkeypatch.setenv(name, value)
    table = Grid(pd.DataFrame({"run": ["one", Badge("[red]two", "bad")]}), "A title")
    print_table(Console(), table)
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("TERM", "xterm-256color")
    print_table(Console(force_terminal=True), table)
    codes = set(re.findall(r"\x1b\[([\d;]*)m", capsys.readouterr().out))
    assert ("1" in codes, "31" in codes) == (True, not kinds)


def test_list_says_what_can_be_listed():
    done = CliRunner().invoke(app, ["list", "reducer"])
    assert done.exit_code == 2
    assert "Did you mean 'reducers'? The kinds are datasets, " in done.output


def test_a_run_says_what_stands_after_plus_minus_and_what_failed(
    tmp_path, write_results, make_spec
):
    reducers = [{"name": "none"}, {"name": "lda", "label": "FDA"}]
    spec = make_spec(
        "run", reducers=reducers, classifiers=[], measures={"same_class": "same_class"}, repeats=3
    )
    folder = write_results(tmp_path, spec, lambda _: 0.9)
    trials = pd.read_csv(folder / "trials.csv")
    lost = trials["reducer"] == "lda"
    trials.loc[lost, "status"] = "failed"
    trials.loc[lost, "same_class"] = None
    trials.to_csv(folder / "trials.csv", index=False)
    screen = Console(width=80, record=True)
    print_table(screen, run_table(summarize(load_run(folder))))
    text = screen.export_text()
    assert "After ±: the standard deviation" in text
    (row,) = (line for line in text.splitlines() if "FDA" in line and "│" in line)
    assert "failed" in row
