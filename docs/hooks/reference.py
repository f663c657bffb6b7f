"""The reference pages that are made from the code: spec keys, pieces, commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any

import typer
from docstrings import as_markdown
from pydantic import BaseModel
from typer.cli import get_docs_for_click

from ddr_cli.cli.app import app
from ddr_cli.core.yaml_loader import flow
from ddr_cli.data.card import Card, CardFile, Expect
from ddr_cli.data.formats import FORMATS, GENERATORS
from ddr_cli.evaluation.metrics import metric_names
from ddr_cli.evaluation.splits import SPLITS
from ddr_cli.report.descriptions import describe
from ddr_cli.spec.components import ClassifierSpec, ReducerSpec
from ddr_cli.spec.estimators import registry_of
from ddr_cli.spec.json_schema import field_texts, model_schema
from ddr_cli.spec.model import (
    KEYS,
    EmbeddingsSpec,
    PaperRef,
    PlotSpec,
    Spec,
    SplitSpec,
    TuneSpec,
)

INSIDE = {
    "split": SplitSpec,
    "reducers": ReducerSpec,
    "classifiers": ClassifierSpec,
    "tune": TuneSpec,
    "plot": PlotSpec,
    "embeddings": EmbeddingsSpec,
    "paper": PaperRef,
}

KINDS = {
    "array": "list",
    "boolean": "true or false",
    "integer": "whole number",
    "object": "mapping",
    "string": "text",
}


def pages() -> dict[str, str]:
    """Return the text of each page by its path."""
    return {
        "reference/spec.md": spec(),
        "reference/card.md": card(),
        "reference/pieces.md": pieces(),
        "reference/commands.md": commands(),
    }


def spec() -> str:
    """Return what each key of a spec is, from the models that check specs."""
    texts = field_texts(Spec)
    lines = [
        "# Keys of a spec",
        "This page is generated from the models that check specs. `ddr plan` reports mistakes "
        "with file, line and column.",
        "| key | what it is |\n| --- | --- |\n"
        + "\n".join(f"| {_linked(key)} | {texts[key]} |" for key in KEYS),
        "A spec requires `dataset`, `split`, `reducers`, and `classifiers` or `measures`.",
    ]
    for key, model in INSIDE.items():
        lines += [f"## {key}", as_markdown(inspect.cleandoc(model.__doc__ or "")), _fields(model)]
    return "\n\n".join(lines)


def card() -> str:
    """Return what each key of a card is."""
    lines = [
        "# Keys of a card",
        "A card is a YAML file that states where a data set is, how to read it, and what its "
        "arrays must be. `ddr new data FILE` writes one.",
        _fields(Card, every=True),
    ]
    for key, model in {"files": CardFile, "expect": Expect}.items():
        lines += [f"## {key}", as_markdown(inspect.cleandoc(model.__doc__ or ""))]
        lines.append(_fields(model, every=True))
    return "\n\n".join(lines)


def pieces() -> str:
    """Return the text of `ddr describe` for all components except reducers."""
    tables: dict[str, Iterable[str]] = {
        "Splits": SPLITS,
        "Preprocessing steps": registry_of("preprocess").names(),
        "Classifiers": registry_of("classifiers").names(),
        "Measures": registry_of("measures").names(),
        "Metrics": metric_names(),
        "Formats of data": FORMATS.names(),
        "Generators of data": GENERATORS.names(),
    }
    lines = [
        "# Components",
        "This page has the output of `ddr describe NAME` for everything that a spec or a card may "
        "name. The [methods](../methods.md) have their own pages.",
    ]
    for title, names in tables.items():
        lines.append(f"## {title}")
        for name in names:
            head, _, text = describe(name).partition("\n\n")
            lines += [f"### {head.split(' (')[0]}", f"```text\n{text.strip()}\n```"]
    return "\n\n".join(lines)


def commands() -> str:
    """Return what `ddr --help` and the help of each command say."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="ddr")
    # The list of commands is cut short, and each follows anyway.
    text = re.sub(r"\*\*Commands\*\*:\n\n(\* .*\n)+", "", text)
    parts = re.split(r"(^```.*?^```|`[^`\n]*`)", text, flags=re.M | re.S)
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts).replace("# `ddr`", "# Command line", 1)


def _linked(key: str) -> str:
    return f"[`{key}`](#{key})" if key in INSIDE else f"`{key}`"


def _fields(model: type[BaseModel], *, every: bool = False) -> str:
    lines = ["| key | value | default | what it is |", "| --- | --- | --- | --- |"]
    for name, form in model_schema(model)["properties"].items():
        text = " ".join(form.get("description", "").split())
        if text or every:
            default = model.model_fields[name].default
            is_shown = isinstance(default, int | float | str) and default != ""
            given = f"`{flow(default)}`" if is_shown else ""
            lines.append(f"| `{name}` | {' or '.join(_kinds(form))} | {given} | {text} |")
    return "\n".join(lines) if lines[2:] else ""


def _kinds(schema: dict[str, Any]) -> Iterator[str]:
    """Yield what a value may be, in words."""
    if forms := schema.get("anyOf"):
        for form in forms:
            if form.get("type") != "null":
                yield from _kinds(form)
    elif "enum" in schema:
        yield ", ".join(f"`{value}`" for value in schema["enum"])
    elif "const" in schema:
        yield f"`{schema['const']}`"
    else:
        kind = KINDS.get(schema.get("type", "object"), "number")
        ends = [
            f"{word} {schema[key]}"
            for key, word in {
                "minimum": "from",
                "exclusiveMinimum": "above",
                "maximum": "to",
                "exclusiveMaximum": "below",
            }.items()
            if key in schema
        ]
        yield " ".join([kind, *ends])
