"""`ddr plan`: a preview of runs, without running them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ddr_cli.cli.options import (
    AsJson,
    Out,
    Overrides,
    Repeats,
    SpecNames,
    Timeout,
    Trust,
    console,
    load,
    print_json,
    print_table,
    refuse_shared_folder,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddr_cli.engine import PlanFacts
    from ddr_cli.report.table import Table


def plan(
    specs: SpecNames,
    overrides: Overrides = None,
    repeats: Repeats = None,
    out: Out = Path("results"),
    timeout: Timeout = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Show the plan of a run: trials, distinct fits, shared work, and trials already done.

    Several specs have one row each. In JSON, one spec is an object and several are a list. A
    warning names each method whose fits are expected to take longer than --timeout (here one hour
    by default) or to need more memory than this machine has. The estimate extrapolates the measured
    growth (see ddr describe METHOD) to the spec's training set, and ignores settings other than
    n_components.
    """
    from ddr_cli.core.progress import progress_bar
    from ddr_cli.engine import Datasets, describe_plan

    loaded = [load(name, trust, overrides, repeats) for name in specs]
    refuse_shared_folder(loaded)
    datasets = Datasets()
    facts = [
        describe_plan(spec, out=out, datasets=datasets, timeout=timeout)
        for spec in progress_bar(loaded, "Specs")
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


def _table(facts: Sequence[PlanFacts], out: Path) -> Table:
    import pandas as pd

    from ddr_cli.engine.progress import duration
    from ddr_cli.report.table import Table

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
    return Table(
        pd.DataFrame(rows, columns=["spec", "data set", *headings, "time left"]),
        f"Results in {out}",
        left=("data set",),
        total=(f"{len(facts)} specs", "", *totals, " + ".join(parts)),
        narrow=True,
    )
