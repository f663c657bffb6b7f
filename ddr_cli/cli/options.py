"""Options that several commands share, each defined and explained once."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ddr_cli.cli import completion
from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from ddr_cli.data import Sources
    from ddr_cli.show.page import Grid
    from ddr_cli.spec import Spec
    from ddr_cli.suite.definition import Suite

Made = TypeVar("Made")

DEFAULT_CLASSIFIER = "knn"
_LONGEST = 1_000_000  # longer YAML files are refused

DatasetName = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        help="Name of a data set, or the path of a card.",
        autocompletion=completion.datasets,
    ),
]
ReducerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--reducer",
        help="A reducer: a name or ./mine.py:MyMethod. May be repeated.",
        autocompletion=completion.reducers,
    ),
]
ClassifierNames = Annotated[
    list[str] | None,
    typer.Option(
        "--classifier",
        help="A classifier: a name, or an import path such as sklearn.svm:SVC (default: "
        f"{DEFAULT_CLASSIFIER}). May be repeated.",
        autocompletion=completion.classifiers,
    ),
]
SpecNames = Annotated[
    list[str],
    typer.Argument(
        metavar="SPEC...",
        help="Paths of specs, or names of shipped specs.",
        autocompletion=completion.specs,
    ),
]
SuiteName = Annotated[
    str,
    typer.Argument(
        metavar="SUITE",
        help="Path of a suite, or the name of a shipped suite.",
        autocompletion=completion.suites,
    ),
]
Hours = Annotated[float | None, typer.Option("--hours", min=0.0, help="Budget of CPU hours.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a setting by its dotted name, such as reducer.beta=0.1. May be repeated.",
    ),
]
Repeats = Annotated[
    int | None, typer.Option("--repeats", min=1, help="Number of random splits (split.repeats).")
]
Out = Annotated[
    Path,
    typer.Option("--out", help="Write results to OUT/<spec name>/.", file_okay=False),
]
DataDir = Annotated[
    list[Path] | None,
    typer.Option(
        "--data-dir", help="Folder with data sets, searched before DDR_DATA. May be repeated."
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Run the code of files and modules that a spec names."),
]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", help="Number of worker processes, one core each; -1: all cores."),
]
Backend = Annotated[
    str,
    typer.Option(
        "--backend", help="local: processes on this machine; dask: the workers of a cluster."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of the dask scheduler, such as tcp://host:8786 (with --backend dask).",
    ),
]
RedoWords = Annotated[
    list[str] | None,
    typer.Option(
        "--redo",
        metavar="failed|changed|NAME|all",
        help="Repeat failed, changed or all trials, or the trials of the component NAME. "
        "A trial is changed if its rows come from another version of the spec, data or code. "
        "<folder>/previous/ keeps the replaced rows of successful trials. May be repeated.",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        min=0.001,
        help='Time limit per trial in seconds; a longer trial fails as "timeout".',
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only problems.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Accept all proposals.")]


_WIDTH_IN_A_PIPE = 160


def console() -> Console:
    """Return a console for tables; text in files of the user or of others is not read as markup.

    If the width of the terminal is unknown, lines are as long as the tables need.
    """
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH_IN_A_PIPE
    return Console(markup=False, emoji=False, highlight=False, width=width)


def print_table(screen: Console, table: Grid) -> None:
    """Print a table; its title and notes may use the full width of the screen."""
    from ddr_cli.show.terminal import show

    show([table], screen)


def print_json(content: Any) -> None:
    """Print JSON, a frame as its rows; missing values are null."""
    import json

    def rows(frame: Any) -> Any:
        return json.loads(frame.to_json(orient="records"))

    typer.echo(json.dumps(content, default=rows, indent=2, ensure_ascii=False))


def in_width(text: str, *, indent: int = 0) -> str:
    """Return text wrapped to the terminal with hanging indents; in a pipe, unchanged."""
    if not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, indent + 20)
    return "\n".join(
        textwrap.fill(
            line,
            width,
            subsequent_indent=" " * (indent or len(line) - len(line.lstrip())),
            break_long_words=False,
            break_on_hyphens=False,
        )
        if len(line) > width
        else line
        for line in text.split("\n")
    )


def assigned(option: str, text: str) -> tuple[str, Any]:
    """Return the key and the value of an option's ``KEY=VALUE``."""
    from ddr_cli.core.yaml_loader import parse_value

    key, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"{option} {text} must have the form KEY=VALUE.")
    try:
        return key, parse_value(value)
    except InputError as error:
        raise InputError(
            f"{option} {text}: {error} If the value is text, put it in quotes."
        ) from None


def sources(data_dirs: Sequence[Path] | None = None, *, offline: bool = False) -> Sources:
    """Return where to search for data sets: these folders, then those of the environment."""
    from ddr_cli.data import Sources

    return Sources.from_environment(data_dirs=data_dirs, offline=offline or None)


def _sandboxed(value: bool) -> bool:
    if value:
        from ddr_cli.core.sealed.sandbox import use_sandbox

        use_sandbox()
    return value


Sandbox = Annotated[
    bool,
    typer.Option(
        "--sandbox",
        callback=_sandboxed,
        help="Run your own code in bubblewrap, without access to the network, the data, the "
        "results or other processes.",
    ),
]


def allowed(trust: bool, make: Callable[[], Made]) -> Made:
    """Return what `make` returns; on a terminal, ask the user about code that a spec names."""
    from ddr_cli.core import own_code

    if trust:
        own_code.trust()
    while True:
        try:
            return make()
        except own_code.UntrustedCodeError as error:
            if not sys.stdin.isatty() or os.environ.get("CI"):
                raise
            typer.echo(str(error), err=True)
            if not typer.confirm("Run this code now and in the future?", err=True):
                raise
            own_code.trust(error.source, remember=True)


def load(
    name: str,
    trust: bool,
    overrides: Sequence[str] | None = None,
    repeats: int | None = None,
) -> Spec:
    """Return the spec of a path or shipped name, with the overrides of the command line."""
    from ddr_cli.spec import load_spec

    return allowed(trust, lambda: load_spec(name, overrides=overrides or (), repeats=repeats))


def is_suite(name: str) -> bool:
    """Return whether a path or name is a suite's; a path has priority."""
    from ddr_cli.core.registry import shipped_yaml

    with suppress(OSError, ValueError, RuntimeError):
        path = Path(name).expanduser()
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                return bool(re.search("^(datasets|tracks):", file.read(_LONGEST), re.MULTILINE))
    return name in shipped_yaml("suites")


def load_suite(name: str, trust: bool) -> Suite:
    """Return a suite; the libraries of its methods need not be installed."""
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.suite import definition

    with nothing_fitted():
        return allowed(trust, lambda: definition.load_suite(name))


def refuse_shared_folder(specs: Sequence[Spec]) -> None:
    """Raise an InputError if two files have the same name, which is the name of their folder."""
    paths: dict[str, Path | None] = {}
    for spec in specs:
        if (other := paths.setdefault(spec.name, spec.path)) != spec.path:
            raise InputError(
                f"{other} and {spec.path} have the same name, so both would use the result folder "
                f"'{spec.name}'; rename one file, or run them with different --out."
            )


def _bytes(text: str) -> int:
    """Return a size such as ``4GB`` or ``512MiB`` in bytes."""
    from pydantic import ByteSize, TypeAdapter, ValidationError

    try:
        size = int(TypeAdapter(ByteSize).validate_python(text))
    except ValidationError:
        size = 0
    if not 0 < size <= sys.maxsize:
        raise InputError(f"--memory-limit {text} is not a size; use, for example, 4GB or 512MiB.")
    return size


MemoryLimit = Annotated[
    int | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        parser=_bytes,
        help="Memory limit per worker, such as 4GB.",
    ),
]
