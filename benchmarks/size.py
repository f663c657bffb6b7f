"""Print the size of the program; fail if a function is too complex.

`make lint` runs this script, so that each change shows how much code and how many files, commands
or options it adds.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from radon.complexity import cc_visit

from ddr_cli.cli.app import app

PACKAGE = Path(__file__).resolve().parents[1] / "ddr_cli"
MOST_COMPLEX = 20
"""The largest cyclomatic complexity that a function may have."""

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


def main() -> int:
    """Print the counts; return 1 if a function is too complex."""
    lines = files = functions = classes = 0
    blocks: list[tuple[int, str]] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        nodes = list(ast.walk(tree))
        files += 1
        lines += code_lines(source, tree)
        functions += sum(
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in nodes
        )
        classes += sum(isinstance(node, ast.ClassDef) for node in nodes)
        where = path.relative_to(PACKAGE.parent)
        blocks += [
            (block.complexity, f"{where}:{block.lineno} {block.fullname}")
            for block in cc_visit(source)
            if block.letter != "C"
        ]
    commands = list(leaf_commands(typer.main.get_command(app)))
    options = sum(each.param_type_name == "option" for one in commands for each in one.params)
    worst = max(blocks)
    print(
        f"{lines:,} lines of code in {files} files; {functions:,} functions, {classes} classes; "
        f"{len(commands)} commands with {options} options; "
        f"{sum(size > 10 for size, _ in blocks)} functions of complexity above 10, "
        f"the most complex has {worst[0]} ({worst[1]})"
    )
    too_complex = sorted((block for block in blocks if block[0] > MOST_COMPLEX), reverse=True)
    for size, name in too_complex:
        print(f"{name}: complexity {size}, but at most {MOST_COMPLEX} is allowed; split it")
    return 1 if too_complex else 0


if __name__ == "__main__":
    sys.exit(main())
