"""`ddr schema`: the JSON Schema by which an editor completes and checks specs, suites and cards."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    """What has a schema."""

    spec = "spec"
    suite = "suite"
    card = "card"


def schema(kind: Annotated[Kind, typer.Argument(help="What the schema is of.")]) -> None:
    """Print the JSON Schema of specs, suites or cards, made from the models that check them.

    An editor that knows YAML completes and checks a file whose first line names it, as that of each
    shipped spec does. It knows the methods of all installed packages.
    """
    from ddr_cli.spec.schema import schema_of, schema_text

    if kind is Kind.suite:
        from ddr_cli.suite.definition import suite_schema

        found = suite_schema()
    else:
        found = schema_of("card" if kind is Kind.card else "spec")
    typer.echo(schema_text(found), nl=False)
