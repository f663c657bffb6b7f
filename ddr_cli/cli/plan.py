"""`ddr plan`: checks specs and suites, and previews their runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import (
    AsJson,
    Out,
    Overrides,
    Repeats,
    Trust,
    console,
    is_suite,
    load,
    load_suite,
    print_json,
    print_table,
    refuse_shared_folder,
)
from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddr_cli.engine import PlanFacts
    from ddr_cli.show.page import Grid
    from ddr_cli.spec import Spec


def plan(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC...",
            help="Paths or shipped names of specs or suites.",
            autocompletion=completion.specs_and_suites,
        ),
    ],
    overrides: Overrides = None,
    repeats: Repeats = None,
    out: Out = Path("results"),
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Check specs and suites, and show what a run would do: trials, fits, and what is done.

    All mistakes are reported, each with its file, line and column. Several specs, and the data sets
    of a suite, have one row each; in JSON, they are a list. A warning names each method whose fits
    are expected to take more than an hour, or more memory than this machine has. The estimate
    extrapolates the measured growth (see ddr describe METHOD) to the spec's training set, and
    ignores settings other than n_components.
    """
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.core.progress import progress_bar
    from ddr_cli.engine import Datasets, describe_plan

    planned: list[tuple[Spec, Path]] = []
    problems = []
    for name in names:
        try:
            if not is_suite(name):
                planned.append((load(name, trust, overrides, repeats), out))
            elif overrides or repeats:
                raise InputError(f"{name} is a suite: --set and --repeats only change specs.")
            else:
                planned += _specs_of_suite(name, out, trust)
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise InputError("\n".join(problems))
    refuse_shared_folder([spec for spec, folder in planned if folder == out])
    datasets = Datasets()
    with nothing_fitted():
        facts = [
            describe_plan(spec, out=folder, datasets=datasets)
            for spec, folder in progress_bar(planned, "Specs")
        ]
    if as_json:
        described = [each.as_dict() for each in facts]
        print_json(described if len(facts) > 1 else described[0])
    elif len(facts) == 1:
        typer.echo(str(facts[0]))
    else:
        print_table(console(), _table(facts, out))
        for each in facts:
            for line in (*each.left_out, *each.too_large):
                typer.echo(f"{each.name}: {line}")
        for dataset, what in {each.dataset: each.what_is_missing for each in facts}.items():
            if what:
                typer.echo(f"{dataset} is {what}")


def _specs_of_suite(name: str, out: Path, trust: bool) -> list[tuple[Spec, Path]]:
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.suite.remaining import folder_of

    suite = load_suite(name, trust)
    with nothing_fitted():
        return [(spec, folder_of(suite, out)) for spec in suite.specs()]


def _table(facts: Sequence[PlanFacts], out: Path) -> Grid:
    import pandas as pd

    from ddr_cli.engine.progress import duration
    from ddr_cli.show.page import Grid

    counted = ["trials", "fits", "done", "failed", "remaining"]
    if not any(each.failed for each in facts):
        counted.remove("failed")
    rows = []
    for each in facts:
        cells = [str(getattr(each, name)) for name in counted]
        left = "unknown" if each.seconds_left is None else duration(each.seconds_left)
        time = "needs --redo" if each.conflict else left if each.remaining else ""
        rows.append((each.name, each.dataset, *cells, time))
    totals = [str(sum(getattr(each, name) for each in facts)) for name in counted]
    known = sum(each.seconds_left or 0 for each in facts if each.remaining)
    unknown = any(each.remaining and each.seconds_left is None for each in facts)
    parts = [duration(known)] * bool(known) + ["unknown"] * unknown
    headings = ["to do" if name == "remaining" else name for name in counted]
    return Grid(
        pd.DataFrame(rows, columns=["spec", "data set", *headings, "time left"]),
        f"Results in {out}",
        left=("data set",),
        total=(f"{len(facts)} specs", "", *totals, " + ".join(parts)),
        narrow=True,
    )
