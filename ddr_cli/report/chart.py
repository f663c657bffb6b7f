"""A chart on a page: its SVG with ids of its own and shorter numbers.

The page's style sheet inverts its lightness, not its hues, in a dark scheme.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

_TAG = re.compile(r"<[^>]*>")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_UNUSED = re.compile(r"<(metadata|style|title|desc)\b.*?</\1>", re.DOTALL)
_ID = re.compile(r'( id="|href="#|url\(#)')


@dataclass(frozen=True)
class Chart:
    """A figure's drawing as the content of an ``svg``, its size in points, and its description."""

    name: str
    title: str
    description: str
    width: float
    height: float
    body: str


def page_chart(place: int, svg: str) -> Chart:
    """Return a figure for the page, with ids that are unique at its place."""
    root = ElementTree.fromstring(svg)
    *_, width, height = (float(each) for each in root.attrib["viewBox"].split())
    title, description = (root.findtext(f"{{*}}{tag}") or "" for tag in ("title", "desc"))
    name = f"c{place}"
    inside = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    inside = _UNUSED.sub("", inside)
    body = _TAG.sub(lambda tag: _ID.sub(rf"\g<1>{name}-", _shortened(tag[0])), inside)
    return Chart(name, title, description, width, height, body)


def _shortened(tag: str) -> str:
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", tag)
