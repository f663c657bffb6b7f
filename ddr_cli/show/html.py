"""Blocks as HTML, and a page as a single file with its own style and script."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ddr_cli.show.page import Badge, Chart, Grid, Page, Section, Text

_CODE = re.compile(r"`([^`]+)`")


def page_environment(*packages: str) -> Environment:
    """Return the environment of these packages' templates and ours; it escapes all text."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "ddr_cli.show")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"code": code, "cell": cell, "groups": _groups, "slug": slug}
    for kind in (Text, Grid, Chart, Section, Markup):
        environment.tests[kind.__name__.lower()] = _is_a(kind)
    return environment


def html(page: Page) -> str:
    """Return a page as one file."""
    return _environment().get_template("page.html.j2").render(page=page)


def table(grid: Grid, kind: str = "") -> Markup:
    """Return the rows of a grid as a `<table>` of this class."""
    return Markup(_macro("table")(grid, kind))


def filter_form(fields: Mapping[str, str]) -> Text:
    """Return the form that filters a page by the values of its items; with a name per field."""
    return Text(Markup(_macro("filter_form")(fields)))


def bar(parts: Sequence[tuple[int, str, str]], label: str) -> Markup:
    """Return a bar of parts, each as wide as its count, with its class and its description."""
    return Markup(_macro("bar")(parts, label))


def code(text: str) -> Markup:
    """Return a text in which words between backticks are code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def cell(value: object) -> Markup:
    """Return a cell of a grid; its lines after the first are small."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, Badge):
        text = f"{value.sign} {value}".lstrip()
        link = Markup(' href="{}"').format(value.link) if value.link else ""
        shown = Markup('<{0} class="verdict {1}"{2}>{3}</{0}>')
        return shown.format("a" if link else "span", value.look, link, text)
    first, *rest = value if isinstance(value, tuple) else str(value).split("\n")
    small = [
        cell(each) if isinstance(each, Badge) else Markup("<small>{}</small>").format(each)
        for each in rest
        if each
    ]
    return Markup("<br>").join([cell(first) if isinstance(first, Badge) else first, *small])


def slug(text: str) -> str:
    """Return a text as part of a URL."""
    return re.sub(r"\W+", "-", text).strip("-")


@cache
def _environment() -> Environment:
    return page_environment()


def _macro(name: str) -> Any:
    return getattr(_environment().get_template("blocks.html.j2").module, name)


def _is_a(kind: type) -> Any:
    return lambda value: isinstance(value, kind)


def _groups(grid: Grid) -> list[list[tuple[Any, ...]]]:
    """Return the rows of a grid, those that belong together in one list."""
    groups: list[list[tuple[Any, ...]]] = []
    for row in grid.frame.itertuples(index=False, name=None):
        if groups and grid.grouped and not row[0]:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups
