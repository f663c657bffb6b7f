"""A chart on a page: its SVG with ids of its own, each style once, and colours for both schemes."""

from __future__ import annotations

import colorsys
import re
from dataclasses import dataclass
from xml.etree import ElementTree

_UNUSED = re.compile(r"<(metadata|style|title|desc)\b.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_ID = re.compile(r'( id="|href="#|url\(#)([^")]+)')
_STYLE = re.compile(r' style="([^"]*)"')
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
# Lightness on the dark page: of white, of black, and the smallest of a saturated colour.
_DARKEST, _LIGHTEST, _LEAST = 0.1, 0.92, 0.58
_WHITE, _ON_CELL = "#ffffff", "#111111"
_GREY, _PALE = 0.12, 0.9


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
    """Return a figure for the page, with ids and classes that are unique at its place."""
    root = ElementTree.fromstring(svg)
    *_, width, height = (float(each) for each in root.attrib["viewBox"].split())
    title, description = (root.findtext(f"{{*}}{tag}") or "" for tag in ("title", "desc"))
    ids: dict[str, str] = {}
    styles: dict[str, str] = {}

    def id_of(found: re.Match[str]) -> str:
        return found[1] + ids.setdefault(found[2], f"c{place}-{len(ids)}")

    def class_of(found: re.Match[str]) -> str:
        return f' class="{styles.setdefault(found[1], f"c{place}-s{len(styles)}")}"'

    def shortened(tag: re.Match[str]) -> str:
        text = _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.4g}", tag[0])
        return _STYLE.sub(class_of, _ID.sub(id_of, text))

    inside = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    body = _TAG.sub(shortened, _UNUSED.sub("", inside).replace("xlink:href", "href"))
    rules = "".join(f".{name}{{{_in_both(style)}}}" for style, name in styles.items())
    return Chart(f"c{place}", title, description, width, height, f"<style>{rules}</style>{body}")


def _in_both(style: str) -> str:
    return _COLOUR.sub(lambda found: f"light-dark({found[0]},{on_dark(found[0])})", style)


def on_dark(colour: str) -> str:
    """Return a colour that is as far from a dark page as the given one is from a white page."""
    if colour in (_WHITE, _ON_CELL):
        return "var(--paper)" if colour == _WHITE else colour
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, light, strong = colorsys.rgb_to_hls(red, green, blue)
    if strong < _GREY or light > _PALE:
        light = _DARKEST + (_LIGHTEST - _DARKEST) * (1 - light)
    else:
        light = max(light, _LEAST)
    return "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(hue, light, strong))
