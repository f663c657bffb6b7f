"""The `ddr` program: its commands, and the conversion of errors to messages and exit codes."""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ddr_cli import __version__
from ddr_cli.cli import (
    check,
    compare,
    data,
    describe,
    embed,
    listing,
    new,
    plan,
    report,
    run,
    status,
    suite,
    sweep,
)
from ddr_cli.cli.streams import lasting_streams
from ddr_cli.core.errors import EXIT_INTERRUPTED, DdrError, InputError, printable, shortage
from ddr_cli.core.lazy import load_when_used

# The former names of commands, for one release, and what to use instead.
MOVED = {
    "data new": "'ddr new data FILE' writes a card",
    "data import": "put the files into a folder as FOLDER/NAME/<file> and set DDR_DATA=FOLDER",
    "data verify": "files are compared with their card whenever a data set is loaded",
    "validate": "'ddr plan SPEC' checks specs",
    "suite status": "'ddr status SUITE' shows the progress of a suite",
    "suite export": "'ddr suite page SUITE --rows FILE' writes the table or the archive",
    "fit": "ddr_cli.Results(FOLDER).best_pipeline() returns the pipeline; see docs/models.md",
}


class _Group(TyperGroup):
    """A group whose commands report an error in one clear sentence."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = f"{ctx.info_name} {args[0]}" if ctx.parent else args[0]
        if name in MOVED and not ctx.resilient_parsing:
            raise InputError(f"'ddr {name}' no longer exists: {MOVED[name]}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            advice = str(error) if isinstance(error, DdrError) else shortage(error)
            if advice is None or os.environ.get("DDR_DEBUG"):
                raise
            typer.echo(f"Error: {printable(advice)}", err=True)
            raise typer.Exit(getattr(error, "exit_code", InputError.exit_code)) from None
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None


app = typer.Typer(
    name="ddr",
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(requested: bool) -> None:
    if requested:
        from sklearn import show_versions

        from ddr_cli.core.sealed.sandbox import sandbox_problem

        typer.echo(f"ddr {__version__}")
        typer.echo(f"--sandbox: {sandbox_problem() or 'bubblewrap is available'}")
        # Reports of wrong numbers need the versions of libraries and BLAS, and the threads.
        show_versions()
        raise typer.Exit


def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show versions and exit.",
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (or set DDR_DEBUG=1).")
    ] = False,
) -> None:
    """Reproduce and extend benchmarks of supervised dimensionality reduction.

    A YAML spec names a data set, reducers, classifiers and a sweep. `ddr run` runs the spec on
    repeated random splits and writes tables and figures. `ddr report` compares the results with
    the papers' numbers.

    Exit codes: 0: success; 1: some trials or a check failed; 2: wrong input; 3: data not
    available; 130: interrupted.
    """
    if debug:
        os.environ["DDR_DEBUG"] = "1"
    try:
        Path.cwd()
    except FileNotFoundError:
        raise InputError("The current folder no longer exists; cd to another folder.") from None


def _help(command: Any) -> str:
    """Return a command's docstring with each paragraph on one line, for the terminal to wrap."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


_COMMANDS: dict[str, Callable[..., None]] = {
    "run": run.run,
    "sweep": sweep.sweep,
    "embed": embed.embed,
    "report": report.report,
    "compare": compare.compare,
    "status": status.status,
    "plan": plan.plan,
    "check": check.check,
    "list": listing.list_names,
    "describe": describe.describe,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, help=_help(_command))(_command)
app.callback(help=_help(root))(root)
for _name, _group in {"data": data.app, "new": new.app, "suite": suite.app}.items():
    for _entry in _group.registered_commands:
        _entry.help = _help(_entry.callback)
    app.add_typer(_group, name=_name, cls=_Group)


_ALLOCATIONS = 50_000
_LATE = (
    *("numpy.f2py", "numpy.testing", "pandas", "scipy.optimize", "scipy.spatial", "scipy.stats"),
    *("sklearn.decomposition", "sklearn.discriminant_analysis", "sklearn.ensemble"),
    *("sklearn.kernel_approximation", "sklearn.linear_model", "sklearn.manifold"),
    *("sklearn.metrics", "sklearn.neural_network", "sklearn.preprocessing"),
    *("sklearn.random_projection", "sklearn.svm"),
)


def main() -> None:
    """Run the program (the console script `ddr`)."""
    # Loading all of them takes a second, and few commands use all of them.
    load_when_used(*_LATE)
    # A plan has many small objects, all of which stay; by default, a third of the time of planning
    # is spent on garbage collection.
    gc.set_threshold(_ALLOCATIONS)
    with lasting_streams():
        app()


if __name__ == "__main__":
    main()
