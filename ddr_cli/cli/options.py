"""Options that several commands share, so that each is spelled and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ddr_cli.data import Sources

SpecName = Annotated[
    str, typer.Argument(metavar="SPEC", help="A spec's path, or the name of a shipped one.")
]
SpecNames = Annotated[
    list[str],
    typer.Argument(metavar="SPEC...", help="Paths of specs, or names of shipped ones."),
]
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
    Path, typer.Option("--out", help="The folder in which <spec name>/ is made.", file_okay=False)
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=1, help="Number of worker processes, one core each.")
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        help="Address space that each worker process may use, such as 4GB; a trial that needs more "
        "fails with that reason.",
    ),
]
Backend = Annotated[
    str,
    typer.Option(
        "--backend", help="local: processes of this machine; dask: the workers of a cluster."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="With --backend dask, such as tcp://host:8786."
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.001, help="Seconds a trial may take; a longer one is ended."),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Start anew; the old run is moved to <folder>/previous/."),
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Run the trials again that failed.")
]
DataDir = Annotated[
    list[Path] | None,
    typer.Option(
        "--data-dir", help="A folder that holds data sets (before DDR_DATA). May be repeated."
    ),
]
Offline = Annotated[bool, typer.Option("--offline", help="Never download anything.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only problems.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def sources(data_dirs: list[Path] | None, offline: bool) -> Sources:
    """Return where data sets are looked for: the options, then the environment."""
    from ddr_cli.data import Sources

    return Sources.from_environment(data_dirs=data_dirs, offline=offline or None)


def memory_limit(text: str | None) -> int | None:
    """Return a size such as ``4GB`` or ``512MiB`` in bytes.

    Raises
    ------
    InputError
        If it is none.
    """
    if text is None:
        return None
    from pydantic import ByteSize, TypeAdapter, ValidationError

    from ddr_cli.core.errors import InputError

    try:
        size = int(TypeAdapter(ByteSize).validate_python(text))
    except ValidationError:
        size = 0
    if size <= 0:
        raise InputError(f"--memory-limit {text} is no size; write it as 4GB or 512MiB.")
    return size
