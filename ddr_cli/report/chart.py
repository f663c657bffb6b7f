"""A run's figure for the page: the same drawing, shorter, with its own ids and variable colours.

Matplotlib repeats a style at every point and writes six decimals. Here styles become attributes,
which the page's style sheet overrides in a dark scheme.
"""

from __future__ import annotations

import colorsys
import io
import itertools
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from xml.etree import ElementTree

from PIL import Image

_STYLE = re.compile(r"([\w-]+):\s*([^;]+)")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_COORDINATES = ("d", "x", "y", "width", "height", "transform", "points")
_DROPPED = ("metadata", "style", "title", "desc")
# Attributes that the page's style sheet sets, or that are SVG's defaults.
_SAID = {("stroke-dashoffset", "0"), ("text-anchor", "start"), ("font-weight", "400")}
_UNUSED = (
    *("font-family", "style", "id", "clip-path", "href", "preserveAspectRatio", "image-rendering"),
    *("stroke-linecap", "stroke-linejoin"),
)
_FEW = 3
_PALETTE = 48
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
# Lightness on the dark page: of white, of black, and the smallest of a saturated colour.
_DARKEST, _LIGHTEST, _LEAST = 0.1, 0.92, 0.58
_WHITE = "#ffffff"
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
    """Return a figure for the page, with ids that are unique at its place."""
    root = ElementTree.fromstring(svg)
    *_, width, height = (float(each) for each in root.attrib["viewBox"].split())
    writer = _Writer(f"c{place}", root, svg)
    body = "".join(writer.written(root))
    title, description = (root.findtext(f"{{*}}{tag}") or "" for tag in ("title", "desc"))
    return Chart(f"c{place}", title, description, width, height, body)


def colour_rules(charts: Iterable[Chart]) -> list[tuple[str, str]]:
    """Return the colours of drawings with their replacements on a dark page."""
    found = {colour for chart in charts for colour in _COLOUR.findall(chart.body)}
    return [
        (colour, "var(--paper)" if colour == _WHITE else on_dark(colour))
        for colour in sorted(found)
    ]


def on_dark(colour: str) -> str:
    """Return a colour that is as far from a dark page as the given one is from a white page."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, light, strong = colorsys.rgb_to_hls(red, green, blue)
    if strong < _GREY or light > _PALE:
        light = _DARKEST + (_LIGHTEST - _DARKEST) * (1 - light)
    else:
        light = max(light, _LEAST)
    return "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(hue, light, strong))


class _Writer:
    """Writes a drawing's elements."""

    def __init__(self, name: str, root: ElementTree.Element, svg: str) -> None:
        used = dict.fromkeys(re.findall(r'(?:url\(|href=")#([^")]+)', svg))
        self.name = name
        self.ids = {each: f"{name}-{place}" for place, each in enumerate(used)}
        self.shapes = {
            each.attrib["id"]: each for each in root.iter() if each.get("id") in self.ids
        }
        self.markers: dict[tuple[str, str], str] = {}

    def written(self, parent: ElementTree.Element) -> Iterator[str]:
        """Yield the content of an element."""
        for each in parent:
            if _tag(each) not in _DROPPED:
                yield from self._element(each, self._attributes(each))

    def _element(self, element: ElementTree.Element, attributes: dict[str, str]) -> Iterator[str]:
        tag = _tag(element)
        title = element.findtext("{*}title")
        parts = [*self.written(element)] or [escape((element.text or "").strip())]
        if tag == "g":
            if len(element) > _FEW and all(_is_untold_point(each) for each in element):
                parts = [*self._points(element)]
            if title and "data-series" in attributes:
                attributes["data-series"] = title
            if not attributes:
                yield from parts
            if not attributes or not any(parts):
                return
        inside = "".join(parts)
        if title and tag != "g":
            inside += f"<title>{escape(title)}</title>"
        if tag in ("defs", "clipPath") and not inside:
            return
        text = _written(attributes)
        yield f"<{tag}{text}>{inside}</{tag}>" if inside else f"<{tag}{text}/>"

    def _points(self, uses: Iterable[ElementTree.Element]) -> Iterator[str]:
        """Yield points without a title, with equal markers merged into one line."""
        for look, same in itertools.groupby(uses, key=_look):
            at = " ".join(
                f"{_rounded(use.attrib['x'], 1)},{_rounded(use.attrib['y'], 1)}" for use in same
            )
            if look not in self.markers:
                self.markers[look] = f"{self.name}-m{len(self.markers)}"
                link, style = look
                shape = self.shapes[link]
                attributes = self._attributes(shape)
                attributes.pop("id")
                attributes |= {k: v for k, v in _STYLE.findall(style) if k not in _UNUSED}
                name = f'id="{self.markers[look]}" markerUnits="userSpaceOnUse"'
                yield f"<marker {name}><path{_written(attributes)}/></marker>"
            yield f'<polyline points="{at}" style="marker:url(#{self.markers[look]})"/>'

    def _attributes(self, element: ElementTree.Element) -> dict[str, str]:
        given = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
        style = dict(_STYLE.findall(given.get("style", "")))
        found = {}
        name = given.get("id", "")
        if name in self.ids:
            found["id"] = self.ids[name]
        elif name.startswith("series-"):
            found["data-series"] = ""
        if "clip-path" in given:
            found["clip-path"] = f"url(#{self.ids[given['clip-path'][5:-1]]})"
        if "href" in given:
            link = given["href"]
            if link[0] == "#":
                found["href"] = f"#{self.ids[link[1:]]}"
                shape = dict(_STYLE.findall(self.shapes[link[1:]].get("style", "")))
                style = {key: value for key, value in style.items() if shape.get(key) != value}
            else:
                found["href"], is_clear = _image(link)
                if is_clear:
                    found["class"] = "points"
        # Markers are only a few points wide, so rounding to a tenth of a point would be visible.
        digits = 2 if name.startswith("m") and _tag(element) == "path" else 1
        for key, value in (given | style).items():
            if key in _UNUSED or (key, value) in _SAID or value.startswith("rotate(-0 "):
                continue
            short = _rounded(value, digits) if key in _COORDINATES else value.strip()
            if _tag(element) not in ("svg", "g") or key in style or key == "transform":
                found[key] = short
        return found


def _is_untold_point(element: ElementTree.Element) -> bool:
    return _tag(element) == "use" and not len(element)


def _look(use: ElementTree.Element) -> tuple[str, str]:
    """Return the shape of a marker and its style."""
    link = next(value for name, value in use.attrib.items() if name.endswith("href"))
    return link[1:], use.get("style", "")


def _written(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _rounded(text: str, digits: int) -> str:
    short = _NUMBER.sub(lambda found: f"{round(float(found[0]), digits):g}", text)
    return re.sub(r"\s*([MLCQz])\s*", r"\1", " ".join(short.split()))


def _image(link: str) -> tuple[str, bool]:
    """Return a picture with its own palette, if that is smaller, and if parts are transparent."""
    with Image.open(io.BytesIO(b64decode(link.partition(",")[2]))) as picture:
        is_clear = picture.mode == "RGBA" and picture.getchannel("A").getextrema()[0] == 0
        buffer = io.BytesIO()
        reduced = picture.convert("RGBA").quantize(_PALETTE, method=Image.Quantize.FASTOCTREE)
        reduced.save(buffer, format="PNG", optimize=True)
    short = f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}"
    return min(link, short, key=len), is_clear
