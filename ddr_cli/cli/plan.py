"""`ddr plan`: what runs would do, without doing it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ddr_cli.cli.options import (
    AsJson,
    DataDir,
    Offline,
    Out,
    Overrides,
    Repeats,
    SpecNames,
    Trust,
    console,
    load,
    sources,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from ddr_cli.engine import PlanFacts


def plan(
    specs: SpecNames,
    overrides: Overrides = None,
    repeats: Repeats = None,
    out: Out = Path("results"),
    data_dir: DataDir = None,
    offline: Offline = False,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Show what a run would do: trials, distinct fits, what is shared, what is done already.

    Several specs have a row each; as JSON they are a list, where one is an object.
    """
    import json

    from ddr_cli.engine import Datasets, describe_plan

    loaded = [load(name, trust, overrides, repeats) for name in specs]
    datasets = Datasets(sources(data_dir, offline))
    facts = [describe_plan(spec, out=out, datasets=datasets) for spec in loaded]
    if as_json:
        described = [each.as_dict() for each in facts]
        typer.echo(json.dumps(described if len(facts) > 1 else described[0], indent=2))
    elif len(facts) == 1:
        typer.echo(str(facts[0]))
    else:
        console().print(_table(facts, out))
        for each in facts:
            for line in each.left_out:
                typer.echo(f"{each.name}: {line}")
        for dataset, what in {each.dataset: each.what_is_missing for each in facts}.items():
            if what:
                typer.echo(f"{dataset} is {what}")


def _table(facts: Sequence[PlanFacts], out: Path) -> Table:
    from rich import box
    from rich.table import Table

    from ddr_cli.engine.progress import duration

    counted = {"trials": "trials", "fits": "fits", "done": "done", "failed": "failed"}
    counted["remaining"] = "to do"
    if not any(each.failed for each in facts):
        del counted["failed"]
    left = [each.seconds_left for each in facts if each.remaining]
    known = sum(seconds for seconds in left if seconds is not None)
    parts = [duration(known)] * bool(known) + ["unknown"] * (None in left)
    table = Table(title=f"Results in {out}", box=box.SIMPLE, show_footer=True, padding=0)
    table.add_column("spec", f"{len(facts)} specs", overflow="fold")
    table.add_column("data set", overflow="fold")
    for name, title in counted.items():
        total = sum(getattr(each, name) for each in facts)
        table.add_column(title, str(total), justify="right")
    table.add_column("time left", " + ".join(parts), justify="right", no_wrap=True)
    for each in facts:
        cells = {name: str(getattr(each, name)) for name in counted}
        seconds = each.seconds_left
        time = "" if not each.remaining else "unknown" if seconds is None else duration(seconds)
        if each.conflict:
            # What the folder holds is of another version of the spec.
            cells |= dict.fromkeys(cells.keys() - {"trials", "fits"}, "?")
            time = "needs --fresh"
        table.add_row(each.name, each.dataset, *cells.values(), time)
    return table
