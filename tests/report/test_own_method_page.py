"""The commands of the page on a method of one's own, run as printed, one after the other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.core import own_code

PAGE = Path(__file__).parents[2] / "docs" / "own_method.md"
# So that the run takes seconds.
SMALLER = {"run": ["--repeats", "2", "--set", "controls=[none]", "--quiet"]}


def test_the_page_leads_from_an_empty_folder_to_a_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(own_code, "_trusted", set())
    (block,) = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    commands = [shlex.split(line.partition(" #")[0])[1:] for line in block.splitlines()]
    assert [words[0] for words in commands] == ["new", "check", "new", "run", "compare"]
    for words in commands:
        done = CliRunner().invoke(app, [*words, *SMALLER.get(words[0], [])])
        assert done.exit_code == 0, done.output
    assert "MyMethod" in done.output
    assert (tmp_path / "results" / "my_spec" / "figure.svg").stat().st_size
