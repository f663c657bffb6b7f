"""All problems of a document are reported at once, each with its position."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from annotated_types import Ge, MinLen
from pydantic import Field, model_validator

from ddr_cli.core.positions import Document, DocumentError
from ddr_cli.core.validation import Frozen, validated
from ddr_cli.core.yaml_loader import parse


class Near(Frozen):
    near: float


class Disc(Frozen):
    shape: Literal["disc"]
    radius: Annotated[float, Ge(0)]


class Square(Frozen):
    shape: Literal["square"]
    side: float


class Item(Frozen):
    name: Annotated[str, MinLen(1)]
    weight: Near | float = 1.0

    @model_validator(mode="after")
    def _is_no_stone(self) -> Item:
        if self.name == "stone":
            raise ValueError("a stone is no item")
        return self


class Box(Frozen):
    title: str
    items: Annotated[tuple[Item, ...], MinLen(1)]
    size: tuple[int, int] = (1, 1)
    form: Annotated[Disc | Square, Field(discriminator="shape")] | None = None
    counts: dict[str, Annotated[int, Ge(1)]] = Field(default_factory=dict)


RIGHT = "title: A box\nitems:\n  - {name: pen, weight: {near: 2}}\n"


def problems(text):
    with pytest.raises(DocumentError) as caught:
        validated(parse(text.encode(), "x"), Box, "a box")
    return [str(problem) for problem in caught.value.problems]


def test_a_document_that_is_right_becomes_a_model():
    box = validated(parse(RIGHT.encode(), "x"), Box, "a box")
    assert box.items == (Item(name="pen", weight=Near(near=2)),)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("title", "titel", "1:1: titel: ... mean 'title'"),
        ("A box", "[a]", "1:8: title: ... text ... a list"),
        ("name: pen, ", "", "3:5: items.name: ... needs name"),
        ("pen", "''", "3:12: items.name: ... non-empty text"),
        ("pen", "stone", "3:5: items: a stone is no item"),
        ("{near: 2}", "{near: x}", "3:32: items.weight.near: ... number ... 'x'"),
        ("near: 2", "near: 2, a: 1", "3:35: items.weight.a: ... takes near"),
        ("items:", "size: [1]\nitems:", "2:7: size: ... too few"),
        ("items:", "size: [1, 2, 3]\nitems:", "2:7: size: ... 3 values ... at most 2"),
        ("items:", "size: [1, 2.5]\nitems:", "2:11: size: ... whole number ... 2.5"),
        ("items:", "counts: {a: 0}\nitems:", "2:13: counts.a: ... equal to 1 ... 0"),
        ("items:", "form: {shape: dis}\nitems:", "2:7: form: ... 'square' ... mean 'disc'"),
        ("items:", "form: {side: 1}\nitems:", "2:7: form: ... key 'shape'"),
        ("items:", "form: {shape: disc, radius: -1}\nitems:", "2:29: form.radius: ... -1"),
        ("items:\n  - {name: pen, weight: {near: 2}}", "items: []", "2:8: items: ... 1 or more"),
    ],
)
def test_a_mistake_has_its_place_and_a_remedy(old, new, told):
    assert RIGHT.count(old) == 1
    lines = "\n".join(problems(RIGHT.replace(old, new)))
    assert [part for part in f"x:{told}".split(" ... ") if part not in lines] == []


def test_all_mistakes_are_reported_once_and_in_order():
    text = "title: 3\nitems: [{name: ''}, {name: a}, {nam: b}]\ntitle: 4\ncounts: {a: 0, a: 1}\n"
    assert [line.split(": ")[:2] for line in problems(text)] == [
        ["x:1:8", "title"],
        ["x:2:16", "items.name"],
        ["x:2:32", "items.name"],
        ["x:2:33", "items.nam"],
        ["x:3:1", "title"],
        ["x:4:13", "counts.a"],
        ["x:4:16", "counts.a"],
    ]


@pytest.mark.parametrize(
    ("text", "what"), [("", "is empty"), ("- a\n", "holds a list"), ("a\n", "holds 'a'")]
)
def test_a_document_that_is_not_a_mapping_is_refused(text, what):
    (line,) = problems(text)
    assert "title, items" in line
    assert what in line


def test_a_document_from_no_file_names_the_keys():
    document = Document("the box", {"title": "A box", "items": [{"name": 3}]})
    with pytest.raises(DocumentError) as caught:
        validated(document, Box, "a box")
    head, line = str(caught.value).splitlines()
    assert "the box" in head
    assert line.startswith("  items.name: ")
