"""Print what has grown since size.csv was recorded; fail if something grew that nobody decided.

    python benchmarks/size.py [--record]     compare with size.csv, or write the new figures into it

`size.csv` has a line for each capability: the files it consists of (a folder stands for the files
directly in it that no line names), a budget of code lines, which people change, and figures, which
`make size RECORD=1` writes. The line "all" has budgets of commands, options and record types, so
that a new one replaces an old one. `make lint` fails if a capability is above its budget and its
line is the same as where the branch began. `complex.txt` names the functions that may be more
complex than all others.
"""

from __future__ import annotations

import ast
import csv
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from radon.complexity import cc_visit

from ddr_cli.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
SIZES = ROOT / "size.csv"
EXCEPTIONS = Path(__file__).with_name("complex.txt")
MOST_COMPLEX = 15
"""The largest cyclomatic complexity that a function may have."""
MOST_SHOWN = 10
ALL = "all"
FIGURES = ("code", "files", "commands", "options", "records")
Row = dict[str, str]

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(source: str, tree: ast.AST) -> int:
    """Return the number of lines without docstrings, comments and blank lines."""
    texts: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            texts |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - texts)


def leaf_commands(command: Any) -> Iterator[Any]:
    """Yield the commands below a group that are not groups themselves."""
    commands = getattr(command, "commands", None)
    if commands is None:
        yield command
    else:
        for sub in commands.values():
            yield from leaf_commands(sub)


def records_in(trees: Mapping[str, ast.AST]) -> Counter[str]:
    """Return the number of dataclasses, pydantic models and named tuples in each file."""
    classes = [
        (path, node, {ast.unparse(base).partition("[")[0] for base in node.bases})
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    models = {"BaseModel", "NamedTuple"}
    while more := {node.name for _, node, bases in classes if bases & models} - models:
        models |= more
    return Counter(
        path
        for path, node, bases in classes
        if bases & models or any("dataclass" in ast.unparse(one) for one in node.decorator_list)
    )


def figures_by_file(sources: Mapping[str, str]) -> dict[str, Counter[str]]:
    """Return the figures of each file."""
    trees = {path: ast.parse(source) for path, source in sources.items()}
    records = records_in(trees)
    found = {
        path: Counter(code=code_lines(source, trees[path]), files=1, records=records[path])
        for path, source in sources.items()
    }
    for command in leaf_commands(typer.main.get_command(app)):
        own = found[command.callback.__module__.replace(".", "/") + ".py"]
        own["commands"] += 1
        own["options"] += sum(each.param_type_name == "option" for each in command.params)
    return found


def read(text: str) -> dict[str, Row]:
    """Return the lines of a table of sizes by capability."""
    return {row["capability"]: row for row in csv.DictReader(io.StringIO(text))}


def measured(
    rows: Mapping[str, Row], found: Mapping[str, Counter[str]]
) -> tuple[dict[str, Counter[str]], list[str]]:
    """Return the figures of each capability, and what is wrong with the names of files."""
    owners = {name: row["capability"] for row in rows.values() for name in row["where"].split()}
    totals: dict[str, Counter[str]] = {name: Counter() for name in rows}
    wrong = [
        f"{name} in size.csv does not exist; 'make size RECORD=1' removes it."
        for name in owners
        if not (ROOT / name).exists()
    ]
    for path, figures in found.items():
        owner = owners.get(path) or owners.get(path.rpartition("/")[0])
        if owner is None:
            wrong.append(f"{path}: name the file or its folder in a line of size.csv.")
            continue
        totals[owner] += figures
        totals[ALL] += figures
    return totals, wrong


def lines_before() -> dict[str, Row] | None:
    """Return the lines where this branch began, None without git."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout if done.returncode == 0 else ""

    head = git("rev-parse", "HEAD")
    bases = (git("merge-base", "HEAD", name) for name in ("main", "origin/main"))
    base = next((each for each in bases if each), head)
    before = git("show", f"{'HEAD~1' if base == head else base.strip()}:{SIZES.name}")
    return read(before) if before else None


def above_budget(
    rows: Mapping[str, Row], totals: Mapping[str, Counter[str]], before: Mapping[str, Row] | None
) -> Iterator[str]:
    """Yield the capabilities that grew above their budget without a change of their line."""
    for name, row in rows.items():
        if before is None or before.get(name) != row:
            continue
        budgets = FIGURES[2:] if name == ALL else ("code",)
        for what in budgets:
            most, now = int(row[what if name == ALL else "budget"]), totals[name][what]
            if now > most:
                yield (
                    f"{name}: {now:,} ({what}), but the budget is {most:,}. Remove something, or "
                    "change the line in size.csv and say why."
                )


def complexity(sources: Mapping[str, str]) -> Iterator[str]:
    """Yield the functions that are too complex, and the exceptions that no longer are."""
    blocks = {
        f"{Path(path).stem}.{block.fullname}": block.complexity
        for path, source in sources.items()
        for block in cc_visit(source)
        if block.letter != "C" and block.complexity > MOST_COMPLEX
    }
    allowed = EXCEPTIONS.read_text(encoding="utf-8").split()
    for name in sorted(blocks.keys() - set(allowed)):
        yield f"{name}: complexity {blocks[name]}, but at most {MOST_COMPLEX} is allowed; split it."
    for name in sorted(set(allowed) - blocks.keys()):
        yield f"{name}: no longer above {MOST_COMPLEX}; remove it from {EXCEPTIONS.name}."


def record(rows: Mapping[str, Row], totals: Mapping[str, Counter[str]]) -> None:
    """Write the figures into size.csv, without names of files that are gone; budgets stay."""
    with SIZES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, next(iter(rows.values())), lineterminator="\n")
        writer.writeheader()
        for name, row in rows.items():
            own = {} if name == ALL else {each: totals[name][each] for each in FIGURES}
            there = [each for each in row["where"].split() if (ROOT / each).exists()]
            writer.writerow(row | own | {"where": " ".join(there)})


def main() -> int:
    """Print the largest changes; return 1 if there is something to decide."""
    rows = read(SIZES.read_text(encoding="utf-8"))
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "ddr_cli").rglob("*.py"))
    }
    found = figures_by_file(sources)
    if sys.argv[1:] == ["--record"]:
        record(rows, measured(rows, found)[0])
        rows = read(SIZES.read_text(encoding="utf-8"))
    totals, wrong = measured(rows, found)
    whole = totals[ALL]
    print(
        f"{whole['code']:,} lines of code in {whole['files']} files; {whole['commands']} commands, "
        f"{whole['options']} options, {whole['records']} record types"
    )
    changes = {
        name: totals[name]["code"] - int(row["code"]) for name, row in rows.items() if name != ALL
    }
    for name in sorted(changes, key=lambda name: -abs(changes[name]))[:MOST_SHOWN]:
        if changes[name]:
            print(f"  {name}: {totals[name]['code']:,} ({changes[name]:+,})")
    wrong += [*above_budget(rows, totals, lines_before()), *complexity(sources)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
