"""`ddr plan`: what a run would do, without doing it."""

from __future__ import annotations

from pathlib import Path

import typer

from ddr_cli.cli.options import AsJson, DataDir, Offline, Out, Overrides, Repeats, SpecName, sources


def plan(
    spec: SpecName,
    overrides: Overrides = None,
    repeats: Repeats = None,
    out: Out = Path("results"),
    data_dir: DataDir = None,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Show what a run would do: trials, distinct fits, what is shared, what is done already."""
    import json

    from ddr_cli.engine import describe_plan
    from ddr_cli.spec import load_spec

    loaded = load_spec(spec, overrides=overrides or (), repeats=repeats)
    facts = describe_plan(loaded, out=out, sources=sources(data_dir, offline))
    if as_json:
        typer.echo(json.dumps(facts.as_dict(), indent=2))
    else:
        typer.echo(str(facts))
