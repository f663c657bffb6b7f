"""Every command of the README and its page, run as printed in a folder of its own, or skipped.

What would take long is run with fewer splits; the committed results stand where a reader has them.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = "\n".join(
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/fair_comparison.md")
)

# By the command's beginning: what is appended to it, so that it takes seconds.
SMALLER = {"ddr sweep digits_ccdr_beta": ["--repeats", "1", "--set", "sweep.reducer.beta=[0.5]"]}
# By a word of the command: why it is not run.
NOT_RUN = {
    "make": "sets up an environment; continuous integration runs it",
    "landsat": "needs a data set that is downloaded",
    "usps": "needs a data set that is downloaded",
    "ddr sweep --param": "sweeps on Landsat, which is downloaded",
    "my_run": "stands for a run of the reader's; tests/cli/test_score.py scores one",
    "model.skops": "needs a run and rows of the reader's; tests/cli/test_fit.py has some",
    "ddr report": "takes a minute for all results; tests/report/test_report.py runs it on a few",
}
NEEDS_NO_DATA = ("ddr compare",)


def commands():
    blocks = re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    for line in dict.fromkeys(line for block in blocks for line in block.splitlines()):
        command = line.partition(" #")[0].strip()
        # `ddr list a | b` prints a choice.
        if command.startswith("ddr list"):
            yield from (f"ddr list {name.strip()}" for name in command[8:].split("|"))
        elif command:
            yield command


def why_not(command):
    if command.startswith(NEEDS_NO_DATA):
        return ""
    return next((why for word, why in NOT_RUN.items() if word in command), "")


def test_there_are_commands_to_run():
    assert sum(not why_not(command) for command in commands()) >= 12
    for word in (*NOT_RUN, *SMALLER):
        assert any(word in command for command in commands()), f"{word} is not in the README"


@pytest.mark.parametrize("command", list(commands()))
def test_a_command_of_the_readme_ends_well(command, tmp_path, monkeypatch, capsys):
    if reason := why_not(command):
        pytest.skip(reason)
    from ddr_cli.cli.app import main

    (tmp_path / "results").symlink_to(ROOT / "results", target_is_directory=True)
    (tmp_path / "configs").symlink_to(ROOT / "configs", target_is_directory=True)
    spec = next(each for each in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL))
    (tmp_path / "my_spec.yaml").write_text(spec, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("DDR_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DDR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DDR_OFFLINE", "1")
    words = [
        text
        for word in shlex.split(command)
        for text in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
    ]
    for start, more in SMALLER.items():
        if command.startswith(start):
            # Nothing is written among the committed results.
            words += [*more, "--out", str(tmp_path / "build")]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0, capsys.readouterr().err
    named = [word for word in words if word.endswith((".svg", ".json", ".md", ".png"))]
    assert all((tmp_path / name).stat().st_size for name in named)
