"""A table in LaTeX, for pdflatex with only the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_CHARACTERS = str.maketrans(
    {
        **{each: f"\\{each}" for each in "%&_#${}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{each: f"${each}$" for each in "<>|"},
        "–": "--",
        "†": r"$\dagger$",
        "±": r"$\pm$",
        "≈": r"$\approx$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "→": r"$\to$",
        "○": r"$\circ$",
        "△": r"$\triangle$",
        "✕": r"$\times$",
        "\N{MULTIPLICATION SIGN}": r"$\times$",
        "β": r"$\beta$",
        "μ": r"$\mu$",
    }
)
_MINUS = re.compile(r"(?<![\w.)\]-])-(?=\d)")
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
# A score, an interval or a p-value; †N is the number of splits on which the method failed.
_SCORE = re.compile(rf"(?:< )?({_NUMBER})(?:( ± | to )({_NUMBER}))?(?: †\d+)?")

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
# Bold digits are wider; they get the width of normal digits, so that numbers stay aligned.
_BOLD = r"\\phantom{\g<0>}\\llap{\\textbf{\g<0>}}"

# The text width of the class article at 10 pt, minus a margin for the error of `_width`.
_TEXT_WIDTH = 335.0
# Font size, the relative width of its type, and the space on either side of a column in points.
_SIZES = (("", 1.0, 6), (r"\small", 0.925, 3), (r"\footnotesize", 0.85, 3))
_NARROWEST = 70.0


def tabular(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Sequence[bool],
    bold: Collection[int] = (),
    smallest: int = 0,
) -> str:
    """Return a tabular of these cells; in columns that are not `left`, decimal points are aligned.

    It has the largest font size at which it fits the text width of the class article, or that of
    `smallest` if it is smaller. If none fits, the names in the first column are broken into several
    lines. The first number in the second column is bold in these rows.
    """
    columns = list(zip(*rows, strict=True)) or [()] * len(head)
    chosen = max(smallest, text_size(head, rows))
    (size, _, separation), room = _SIZES[chosen], _rooms(head, rows)[chosen]
    shown = [
        [*map(escaped, cells)] if is_left else _aligned(cells)
        for cells, is_left in zip(columns, left, strict=True)
    ]
    if room > _NARROWEST:
        shown[0] = [_in_lines(cell, room) for cell in columns[0]]
    for place in bold:
        shown[1][place] = _DIGITS.sub(_BOLD, shown[1][place], count=1)
    form = "".join("l" if is_left else "r" for is_left in left)
    lines = [
        rf"\begin{{tabular}}{{@{{}}{form}@{{}}}}",
        r"\toprule",
        " & ".join(map(escaped, head)) + r" \\",
        r"\midrule",
        *(" & ".join(cells) + r" \\" for cells in zip(*shown, strict=True)),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if size:
        begin = rf"\begingroup{size}\setlength{{\tabcolsep}}{{{separation}pt}}"
        lines = [begin, *lines, r"\endgroup"]
    return "\n".join([*lines, ""])


def text_size(head: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the index in `_SIZES` of the largest font size at which a table fits."""
    widest = max((_width(row[0]) for row in (head, *rows)), default=0)
    rooms = _rooms(head, rows)
    return next((i for i, room in enumerate(rooms) if widest <= room), len(_SIZES) - 1)


def _rooms(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[float]:
    """Return the width that the other columns leave for the first, at each font size."""
    others = sum(max(map(_width, cells)) for cells in [*zip(head, *rows, strict=True)][1:])
    return [
        (_TEXT_WIDTH - 2 * separation * (len(head) - 1)) / scale - others
        for _, scale, separation in _SIZES
    ]


def floating(text: str, sentences: Sequence[str]) -> str:
    """Return a tabular in a floating table with a caption."""
    caption = " ".join(escaped(each.rstrip(".") + ".") for each in sentences)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", text, r"\end{table}", ""]
    return "\n".join(lines)


def _in_lines(text: str, room: float) -> str:
    """Return a cell, broken into several lines if it is wider than the available width."""
    lines = [""]
    for word in re.split(r"(?<!=) (?!=)", text):
        longer = f"{lines[-1]} {word}".strip()
        lines[-1:] = [longer] if _width(longer) <= room or not lines[-1] else [lines[-1], word]
    if len(lines) == 1:
        return escaped(text)
    return r"\begin{tabular}[t]{@{}l@{}}" + r" \\ ".join(map(escaped, lines)) + r"\end{tabular}"


def escaped(text: str) -> str:
    """Return a text in LaTeX, in one line."""
    words = " ".join(text.split()).translate(_CHARACTERS)
    return _MINUS.sub("$-$", words)


def _aligned(cells: Sequence[str]) -> list[str]:
    """Return the cells of a column, padded where others have more digits."""
    found = [_SCORE.fullmatch(cell) for cell in cells]
    if not all(match or cell in ("", "–") for match, cell in zip(found, cells, strict=True)):
        return [*map(escaped, cells)]
    matches = [match for match in found if match]
    texts = {group: [match[group] for match in matches if match[group]] for group in (1, 3)}
    whole = max((len(text.partition(".")[0]) for text in texts[3]), default=0)
    decimals = {
        group: max((len(text.partition(".")[2]) for text in own), default=0)
        for group, own in texts.items()
    }
    aligned = []
    for cell, match in zip(cells, found, strict=True):
        text = escaped(cell)
        if match:
            first, link, second, marks = match[1], match[2] or "", match[3] or "", ""
            if " †" in cell:
                cell, _, count = cell.partition(" †")
                marks = rf"\rlap{{\,$\dagger${count}}}"
            before = cell.partition(first)[0]
            text = escaped(before) + _padded(first, decimals[1])
            if second:
                room = _phantom("0" * (whole - len(second.partition(".")[0])))
                # `escaped` removes the spaces at both ends of the link, so they are added here.
                text += f" {escaped(link)} {room}{_padded(second, decimals[3])}"
            text += marks
        aligned.append(text)
    return aligned


def _padded(number: str, decimals: int) -> str:
    own = number.partition(".")[2]
    lacking = "0" * (decimals - len(own))
    return escaped(number) + _phantom(f".{lacking}" if lacking and not own else lacking)


def _phantom(text: str) -> str:
    return rf"\phantom{{{text}}}" if text else ""


def _width(text: str) -> float:
    """Return the approximate width of a text in points, in Computer Modern at 10 pt."""
    narrow, wide = "ijlfrtI.,:;'|!()[] ", "mwMW+-±<>="
    return sum(
        2.9 if c in narrow else 7.8 if c in wide else 6.9 if c.isupper() else 5.0 for c in text
    )
