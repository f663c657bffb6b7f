"""The commands and snippets of the README and of docs/ run in order, in one folder per page.

A yaml block whose first line is a comment with a file name is that file. A text block below
commands is their output ("..." matches anything); ``DDR_WRITE_DOCS=1`` writes it again. Long
commands run with fewer splits. The committed results are where a reader has them.
"""

import linecache
import os
import re
import shlex
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from types import ModuleType

import pytest

from ddr_cli.cli.app import main

ROOT = Path(__file__).parents[2]
PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)

# The files that the pages expect a reader to have.
FILES = {
    "patients.csv": "patient,age,smokes,pressure,diagnosis\n"
    + "".join(
        f"{n},{30 + n % 37},{['yes', 'no', 'rarely'][n % 3]},{100 + n * 7 % 50 + n % 2 * 20},"
        f"{['ill', 'well'][n % 2]}\n"
        for n in range(60)
    )
}
# Words that are appended to commands with this beginning, so that they take seconds and write
# nothing to the committed results.
SMALLER = {
    "ddr sweep digits_ccdr_beta": "--repeats 1 --set sweep.reducer.beta=[0.5] --out build",
    "ddr run my_spec": "--repeats 2 --set controls=[none]",
}
# Commands and snippets that contain this text are not run, for this reason.
NOT_RUN = {
    "pip install": "an environment's; continuous integration installs all of it",
    "pip uninstall": "an environment's",
    "source .venv": "changes the reader's shell",
    "ddr data fetch": "downloads",
    "ddr run landsat": "needs a data set that is downloaded",
    "ddr run configs/fair_landsat": "needs a data set that is downloaded",
    "ddr describe landsat --dimension": "needs a data set that is downloaded",
    "suite submit ./mine.py": "stands for a class of the reader's; tests/suite/test_submission.py",
    "suite verify": "needs a submission; tests/suite/test_submission.py verifies one",
    "suite fetch lite": "downloads; tests/suite/test_published.py fetches an archive",
    "suite run lite": "takes hours; tests/cli/test_suite.py runs one",
    "suite table lite": "rests on data sets that are downloaded",
    "suite page lite": "rests on data sets that are downloaded; tests/cli/test_suite.py makes one",
    "suite add ./mine.py": "stands for a class of the reader's; tests/cli/test_suite.py adds one",
    "ddr status lite": "rests on data sets that are downloaded",
    "ddr sweep --param": "sweeps on Landsat, which is downloaded",
    "ddr report": "takes a minute for all results; tests/report/test_report.py runs it on a few",
    "weights: Literal": "shows a line of a class",
}


def blocks(page):
    for found in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
        yield found[1], found[2]


def commands(block):
    for line in block.splitlines():
        command = line.partition(" #")[0].strip()
        # `ddr list a | b` on a page stands for several commands.
        if command.startswith("ddr list"):
            yield from (f"ddr list {name.strip()}" for name in command[8:].split("|"))
        elif command:
            yield command


def is_run(text):
    return not any(part in text for part in NOT_RUN)


def steps():
    """Return all commands and snippets."""
    found = [(kind, text) for page in PAGES for kind, text in blocks(page)]
    lines = [line for kind, text in found if kind == "console" for line in commands(text)]
    return [*lines, *(text for kind, text in found if kind == "python")]


def test_every_exception_occurs_on_a_page():
    for part in (*NOT_RUN, *SMALLER):
        assert any(part in step for step in steps()), f"{part!r} is on no page"


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(kind in ("console", "python") for kind, _ in blocks(page))],
)
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch, capsys):
    (tmp_path / "results").mkdir()
    for path in (ROOT / "configs", *(ROOT / "results").iterdir()):
        (tmp_path / path.relative_to(ROOT)).symlink_to(path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("DDR_")]:
        if name != "DDR_WRITE_DOCS":
            monkeypatch.delenv(name)
    monkeypatch.setenv("DDR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DDR_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "90")
    # Snippets run in `__main__`, as in a notebook: their source is known, but other processes
    # cannot import their classes.
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    printed = None
    for kind, text in blocks(page):
        if kind == "console":
            printed = "".join(run(line, monkeypatch, capsys) for line in commands(text))
            continue
        if kind == "python" and is_run(text):
            cell = f"<{page}, {text[:40]}>"
            linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
            exec(compile(text, cell, "exec"), vars(module))
        elif kind == "yaml" and (name := re.match(r"# (\S+\.yaml)\n", text)):
            Path(name[1]).write_text(text, encoding="utf-8")
        elif kind == "text" and printed is not None:
            compare(page, text, printed)
        printed = None


def run(command, monkeypatch, capsys):
    if not is_run(command):
        return ""
    words = [
        text
        for word in shlex.split(command)
        for text in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
    ]
    for start, more in SMALLER.items():
        words += more.split() if command.startswith(start) else []
    monkeypatch.setattr(sys, "argv", words)
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 0, f"{command}\n{err}"
    named = [word for word in words if word.endswith((".svg", ".json", ".md", ".png", ".tex"))]
    assert all(Path(name).stat().st_size for name in named), command
    return "\n".join(line.rstrip() for line in out.splitlines()) + "\n"


def compare(page, shown, printed):
    if OutputChecker().check_output(shown, printed, ELLIPSIS | NORMALIZE_WHITESPACE):
        return
    assert os.environ.get("DDR_WRITE_DOCS"), f"{page} shows\n{shown}and this is printed\n{printed}"
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f"```text\n{shown}```", f"```text\n{printed}```", 1), "utf-8")
