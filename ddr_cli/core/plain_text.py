"""Docstrings as a terminal shows them: without the marks of reStructuredText and of LaTeX."""

from __future__ import annotations

import re
import textwrap
import unicodedata

_SIGNS = {
    "sum": "∑",
    "prod": "∏",
    "|": "‖",
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "to": "→",
    "in": "∈",
    "cdot": "·",
    "times": "×",
    "ldots": "...",
    "dots": "...",
    "succeq": "⪰",
    "propto": "∝",
    "infty": "∞",
    "partial": "∂",
    "pm": "±",
    "approx": "≈",
    "subset": "⊂",
    "ell": "ℓ",
    "left": "",
    "right": "",
    "quad": " ",
    "qquad": "  ",
    ",": " ",
    ";": " ",
    "\\": ";",
    "lambda": "λ",
    "Lambda": "Λ",
}
_ACCENTS = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304"}
_FONTS = ("mathrm", "mathbf", "mathcal", "mathbb", "operatorname", "text")
_RAISED = str.maketrans("0123456789+-T", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ")
_COMMAND = re.compile(r"\\([A-Za-z]+|.)")


def plain_text(docstring: str) -> str:
    """Return a docstring whose formulas are text and whose names stand without marks."""
    text = re.sub(r" \\\n +", " ", docstring)
    text = re.sub(r"^( *)\.\. math::((?:.*\n?)(?:\1 +\S.*\n?)*)", _block, text, flags=re.M)
    text = re.sub(r"^( *)\.\. (\[\d+\])", r"\1\2", text, flags=re.M)
    text = re.sub(r"^( *)\.\. (\w+)::", r"\1\2:", text, flags=re.M)
    text = re.sub(r":math:`([^`]*)`", lambda found: plain_math(found[1]), text)
    text = re.sub(r":[\w:]+:`~?([^`<]*?) *(?:<[^`>]*>)?`", r"\1", text)
    return re.sub(r"(`{1,2})([^`]+)\1", r"\2", text)


def plain_math(tex: str) -> str:
    r"""Return a formula in LaTeX as one line of text.

    >>> plain_math(r"\sum_{ij} w_{ij} \|y_i - y_j\|^2 / \tilde\lambda")
    '∑_ij w_ij ‖y_i - y_j‖² / λ̃'
    >>> plain_math(r"\frac\beta2 + \frac{a + b}{\sqrt{n}}")
    'β/2 + (a + b)/√n'
    """
    return unicodedata.normalize("NFC", re.sub(r" {3,}", "  ", _formula(tex))).strip()


def _block(found: re.Match[str]) -> str:
    formula = plain_math(" ".join(found[2].split()))
    wrapped = textwrap.indent(textwrap.fill(formula, 90, break_on_hyphens=False), f"{found[1]}    ")
    return f"{wrapped}\n" if found[2].endswith("\n") else wrapped


def _formula(tex: str) -> str:
    parts, at = [], 0
    while at < len(tex):
        if tex[at] in "^_":
            script, end = _argument(tex, at + 1)
            raised = script.translate(_RAISED)
            both = raised if tex[at] == "^" and not set(script) & set(raised) else None
            parts.append(both or f"{tex[at]}{_one(script, ' +-')}")
        elif (command := _COMMAND.match(tex, at)) and command[1] == "frac":
            above, middle = _argument(tex, command.end())
            below, end = _argument(tex, middle)
            parts.append(f"{_one(above)}/{_one(below)}")
        elif command and command[1] in (*_ACCENTS, *_FONTS, "sqrt"):
            inner, end = _argument(tex, command.end())
            accent = _ACCENTS.get(command[1], "")
            parts.append(f"√{_one(inner)}" if command[1] == "sqrt" else inner + accent)
        elif command:
            parts.append(_sign(command[1]))
            end = command.end()
        elif tex[at] == "{":
            inner, end = _argument(tex, at)
            parts.append(inner)
        else:
            parts.append("" if tex[at] in "}&" else tex[at])
            end = at + 1
        at = end
    return "".join(parts)


def _argument(tex: str, at: int) -> tuple[str, int]:
    """Return what a command or a script applies to: a group in braces, a command or a sign."""
    while at < len(tex) and tex[at] == " ":
        at += 1
    if command := _COMMAND.match(tex, at):
        if command[1] in (*_ACCENTS, *_FONTS, "sqrt"):
            _, end = _argument(tex, command.end())
            return _formula(tex[at:end]), end
        return _sign(command[1]), command.end()
    if tex[at : at + 1] != "{":
        return tex[at : at + 1], at + 1
    depth, end = 1, at + 1
    while end < len(tex) and depth:
        depth += {"{": 1, "}": -1}.get(tex[end], 0) if tex[end - 1] != "\\" else 0
        end += 1
    return _formula(tex[at + 1 : end - (depth == 0)]), end


def _sign(name: str) -> str:
    """Return the sign of a command; a command without one, such as ``min``, is its own name."""
    if name in _SIGNS:
        return _SIGNS[name]
    size = "CAPITAL" if name[:1].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name}")
    except KeyError:
        return name


def _one(text: str, signs: str = " +-/") -> str:
    """Return a text in brackets unless it is one term."""
    return f"({text})" if any(sign in text.strip() for sign in signs) else text
