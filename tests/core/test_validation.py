"""Every problem of a document against a model is reported at once, each with its place."""

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


def problems(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        validated(parse(text.encode(), "x"), Box, "a box")
    return [str(problem) for problem in caught.value.problems]


def test_a_document_that_is_right_becomes_a_model() -> None:
    box = validated(parse(RIGHT.encode(), "x"), Box, "a box")
    assert box.items == (Item(name="pen", weight=Near(near=2)),)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("title", "titel", "x:1:1: titel: a box has no 'titel'. Did you mean 'title'?"),
        ("A box", "[a]", "x:1:8: title: title must be text, but is a list."),
        ("name: pen, ", "", "x:3:5: items.name: an item of items needs name."),
        ("pen", "''", "x:3:12: items.name: name must be text, and not empty, but is ''."),
        ("pen", "stone", "x:3:5: items: a stone is no item."),
        ("{near: 2}", "{near: x}", "x:3:32: items.weight.near: near must be a number, but is 'x'."),
        ("near: 2", "near: 2, a: 1", "x:3:35: items.weight.a: weight has no 'a'; it takes near."),
        ("items:", "size: [1]\nitems:", "x:2:7: size: size has too few values."),
        (
            "items:",
            "size: [1, 2, 3]\nitems:",
            "x:2:7: size: size has 3 values, but at most 2 are allowed.",
        ),
        (
            "items:",
            "size: [1, 2.5]\nitems:",
            "x:2:11: size: size must be a whole number, but is 2.5.",
        ),
        (
            "items:",
            "counts: {a: 0}\nitems:",
            "x:2:13: counts.a: a must be greater than or equal to 1, but is 0.",
        ),
        (
            "items:",
            "form: {shape: dis}\nitems:",
            "x:2:7: form: the shape of form must be one of 'disc', 'square', but is 'dis'. "
            "Did you mean 'disc'?",
        ),
        ("items:", "form: {side: 1}\nitems:", "x:2:7: form: form needs the key 'shape'."),
        (
            "items:",
            "form: {shape: disc, radius: -1}\nitems:",
            "x:2:29: form.radius: radius must be greater than or equal to 0, but is -1.",
        ),
        ("items:\n  - {name: pen, weight: {near: 2}}", "items: []", "x:2:8: items: items needs 1 "
         "or more values, but has 0."),
    ],
)  # fmt: skip
def test_a_mistake_has_its_place_and_a_sentence(old: str, new: str, line: str) -> None:
    assert RIGHT.count(old) == 1
    assert line in problems(RIGHT.replace(old, new))


def test_all_mistakes_are_reported_once_and_in_order() -> None:
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
def test_a_document_that_is_not_a_mapping_is_refused(text: str, what: str) -> None:
    (line,) = problems(text)
    assert line.endswith(f"expected a mapping with the keys title, items; the file {what}.")


def test_a_document_from_no_file_names_the_keys() -> None:
    document = Document("the box", {"title": "A box", "items": [{"name": 3}]})
    with pytest.raises(DocumentError) as caught:
        validated(document, Box, "a box")
    assert str(caught.value) == (
        "1 problem in the box:\n  items.name: name must be text, but is 3."
    )
