"""numpydoc as Markdown: formulas as MathML, references and roles without their marks."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe
from latex2mathml.converter import convert


class Formulas(griffe.Extension):
    """Rewrites each docstring before it is read, and says which classes are dataclasses."""

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:
        """Decorate a registered class as `registered` does when the class is imported."""
        called = [str(each.value).partition("(")[0] for each in cls.decorators]
        if "registered" in called:
            value = griffe.ExprName("dataclasses.dataclass")
            cls.decorators.append(griffe.Decorator(value, lineno=None, endlineno=None))

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a class, a function or a module."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """Return a numpydoc docstring whose formulas and references are Markdown."""
    text = re.sub(r" \\\n +", " ", docstring)
    text = re.sub(r"^( *)\.\. math::((?:.*\n?)(?:\1 +\S.*\n?)*)", _block, text, flags=re.M)
    text = re.sub(r"^( *)\.\. (\[\d+\]) ", r"\n\1\2 ", text, flags=re.M)
    text = re.sub(r"(\[\d+\])_", r"\1", text)
    text = re.sub(r":math:`([^`]*)`", _inline, text)
    text = re.sub(r":[\w:]+:`~?([^`<]*?) *(?:<[^`>]*>)?`", r"`\1`", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text)


def _inline(found: re.Match[str]) -> str:
    # Of itself <math> at the beginning of a line would begin a paragraph.
    return f"<span>{convert(' '.join(found[1].split()))}</span>"


def _block(found: re.Match[str]) -> str:
    # Its lines one below the other; what they are aligned by is left out.
    lines = " ".join(found[2].replace("&", "").split()).split(r"\\")
    formulas = [convert(line.strip(), display="block") for line in lines]
    return textwrap.indent("\n" + "\n\n".join(formulas) + "\n\n", found[1])
