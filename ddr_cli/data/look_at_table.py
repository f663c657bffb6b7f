"""What the columns of a table seem to be: the class, a group, an id, text, with gaps."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.data.formats import decoded_text, read_bytes
from ddr_cli.data.formats.frames import read_cells as read_frame
from ddr_cli.data.formats.tables import MISSING_VALUES, Column
from ddr_cli.data.formats.text_tables import DECIMAL_COMMA, SEPARATORS, read_text
from ddr_cli.data.look import Given, Look, Question

_MOST_CLASSES = 50
_MOST_CATEGORIES = 50
_FEW_ROWS = 20
_ALMOST = 0.8
_ROLES = ("ignore", "categorical", "feature", "parts")
_SENTINELS = ("-99", "-999", "-9999", "-99.0", "-999.0", "-9999.0")
_LABEL = re.compile(
    r"class|classes|label|labels|target|y|outcome|diagnosis|species|category|kind|state|status",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r".*(subject|patient|person|participant|individual|user|speaker|animal|donor|family|group"
    r"|session|recording|batch|plot).*",
    re.IGNORECASE,
)
_ID = re.compile(
    r"|.*\bid|id\b.*|.*_id|index|row|row.?(nr|no|number|names?)|nr|no|number|uuid|key|unnamed.*",
    re.IGNORECASE,
)


def look_at_table(path: Path, name: str, given: Given, settled: Collection[str]) -> Look:
    """Return what is seen of a table, and what is to be asked."""
    look = Look(dict(given))
    columns = _columns(path, name, given, look)
    raw, markers = given.get("raw", ()), given.get("missing_values", MISSING_VALUES)
    if "missing_values" in given and "missing_values" not in raw:
        markers = list(dict.fromkeys([*MISSING_VALUES, *markers]))
        look.options["missing_values"] = markers
    seen = [_Column(key, title, cells, markers) for key, title, cells in columns]
    by_key = {column.key: column for column in seen}
    decided = {given.get("groups"), *_named(given, *_ROLES)}
    open_ones = [column for column in seen if not column.is_one_of(decided, by_key)]
    label = _label(open_ones, given, look, by_key)
    rest = [column for column in open_ones if column is not label]
    if "groups" not in given:
        rest = _groups(rest, look, settled)
    for column in rest:
        _look_at_column(column, look, len(seen))
    if label is not None:
        _look_at_labels(label, given, settled, look)
    left_out = {*_named(look.options, "ignore", "parts"), look.options.get("groups")}
    features = [c for c in seen if c is not label and not c.is_one_of(left_out, by_key)]
    gaps = [column for column in features if column.gaps]
    if gaps and "missing" not in given:
        look.options["missing"] = "keep"
        count = sum(column.gaps for column in gaps)
        look.seen.append(f"{count} missing values ({_names(gaps)})")
    if look.options.get("categorical") and "categorical" not in raw:
        look.options.setdefault("categories", "codes")
    return look


class _Column:
    """A column's cells as text, and what they are like."""

    def __init__(
        self, key: Column, title: str, cells: pd.Series[str], markers: Sequence[str]
    ) -> None:
        self.key, self.title = key, title
        self._cells = cells
        self.there = cells[~cells.isin(markers)]
        self.gaps = len(cells) - len(self.there)

    @cached_property
    def values(self) -> list[str]:
        return list(pd.unique(self.there))

    @cached_property
    def numbers(self) -> pd.Series[Any]:
        """The values as numbers, NaN for text."""
        return pd.to_numeric(pd.Series(self.values, dtype=object), errors="coerce")

    @property
    def is_numeric(self) -> bool:
        return bool(len(self.values)) and bool(np.isfinite(self.numbers).all())

    @property
    def words(self) -> list[str]:
        return [v for v, n in zip(self.values, self.numbers, strict=True) if not np.isfinite(n)]

    @property
    def all_differ(self) -> bool:
        return len(self.values) == len(self._cells)

    @property
    def counts_rows(self) -> bool:
        """Whether its numbers are those of the rows."""
        if not (self.all_differ and self.is_numeric):
            return False
        first = self.numbers.iloc[0]
        return bool(np.array_equal(self.numbers, first + np.arange(len(self.values))))

    @property
    def can_be_label(self) -> bool:
        n = len(self.values)
        whole = not self.is_numeric or bool((self.numbers % 1 == 0).all())
        few = len(self._cells) < _FEW_ROWS or n <= len(self._cells) / 2
        return 2 <= n <= _MOST_CLASSES and whole and few

    def is_one_of(self, keys: Collection[object], columns: Collection[Column]) -> bool:
        """Return whether it is named among keys, as an index from the end too."""
        place = list(columns).index(self.key)
        return self.key in keys or place in keys or place - len(columns) in keys


def _columns(
    path: Path, name: str, given: Given, look: Look
) -> list[tuple[Column, str, pd.Series[str]]]:
    """Return key, name and cells of every column; note how the file is to be read for that."""
    if name == "table":
        file = read_frame(path, given.get("sheet", 0))
        frame, titles = file.frame, list(file.titles)
    else:
        encoding = given.get("encoding") or _encoding(path, look)
        separator = given.get("separator") or _separator(path, encoding)
        if separator != "comma":
            look.options["separator"] = separator
        skip, comment = given.get("skip_lines", 0), given.get("comment")
        decimal = given.get("decimal", ".")
        frame = read_text(path, separator, comment, skip, encoding, decimal).frame
        if "decimal" not in given and separator != "comma" and _has_decimal_commas(frame):
            look.options["decimal"] = ","
            look.seen.append("decimal commas")
            frame = read_text(path, separator, comment, skip, encoding, ",").frame
        titles = list(given.get("names", ()))
    if frame.empty:
        raise InputError(f"{path}: the file holds no rows of data.")
    if not titles:
        header = given.get("header")
        if header is None:
            header = _has_header(frame)
            look.options["header"] = header
        if header:
            titles = frame.iloc[0].tolist()
            frame = frame.iloc[1:]
    if frame.empty:
        raise InputError(f"{path}: the file holds no rows of data.")
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise InputError(f"{path}: the column name '{twice}' is there twice.")
    keys: list[Column] = list(titles) if titles else list(range(frame.shape[1]))
    for key in (given.get("label"), given.get("groups"), *_named(given, *_ROLES)):
        if isinstance(key, str) and key not in keys:
            hint = did_you_mean(key, titles) if titles else " The columns have no names."
            raise InputError(f"{path}: there is no column called '{key}'.{hint}")
    named = [title or f"column {i} (from 0)" for i, title in enumerate(titles or [""] * len(keys))]
    return [(key, named[i], frame.iloc[:, i]) for i, key in enumerate(keys)]


def _encoding(path: Path, look: Look) -> str:
    """Return the encoding of a text: UTF-8 if it is, or what Windows writes in the West."""
    content = read_bytes(path)
    for name in ("utf-8-sig", "cp1252", "latin-1"):
        with suppress(UnicodeDecodeError):
            content.decode(name)
            if name != "utf-8-sig":
                look.options["encoding"] = name
                look.seen.append(f"text in {name}")
            return name
    raise AssertionError


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    return any(
        frame.iloc[1:, i].str.fullmatch(DECIMAL_COMMA).mean() >= _ALMOST
        for i in range(frame.shape[1])
    )


def _separator(path: Path, encoding: str) -> str:
    """Return the separator that gives every line the same number of cells, and the most."""
    lines = [line for line in decoded_text(path, encoding).splitlines() if line.strip()][:50]
    best, most = "comma", 1
    for name in ("comma", "tab", "semicolon", "whitespace"):
        if name == "whitespace":
            widths = {len(line.split()) for line in lines}
        else:
            widths = {len(row) for row in csv.reader(lines, delimiter=SEPARATORS[name])}
        if len(widths) == 1 and max(widths) > most:
            best, most = name, max(widths)
    return best


def _has_header(frame: pd.DataFrame) -> bool:
    """Return whether the first row is like no other: names, none of them a number or a value."""
    first = frame.iloc[0]
    if pd.to_numeric(first, errors="coerce").notna().any():
        return False
    return not any((frame.iloc[1:, i] == first.iloc[i]).any() for i in range(len(first)))


def _label(
    columns: Sequence[_Column],
    given: Given,
    look: Look,
    by_key: dict[Column, _Column],
) -> _Column | None:
    if "label" in given:
        return next((c for c in by_key.values() if c.is_one_of({given["label"]}, by_key)), None)
    likely = [column for column in columns if column.can_be_label]
    called = [column for column in columns if _LABEL.fullmatch(column.title)]
    called = [column for column in called if column in likely] or called
    words = [column for column in likely if not column.is_numeric]
    last = columns[-1] if columns else None
    sure = called if len(called) == 1 else likely if len(likely) == 1 else []
    if not sure and last in words and words == [last]:
        sure = [last]
    if sure:
        look.options["label"] = sure[0].key
        look.seen.append(f"classes in {sure[0].title}")
        return sure[0]
    ends = [column for column in (last, columns[0] if columns else None) if column in likely]
    found = next(iter([*(called if likely else ()), *ends]), None)
    text = "which column is the class?" + ("" if likely else " None looks like one.")
    answers = {str(c.title): {"label": c.key} for c in likely or columns}
    proposal = None if found is None else found.title
    look.questions.append(Question("label", text, answers, proposal))
    if found is not None:
        look.options["label"] = found.key
    return found


def _groups(columns: list[_Column], look: Look, settled: Collection[str]) -> list[_Column]:
    """Note what says which rows belong together; return the other columns."""
    found = [c for c in columns if _GROUP.fullmatch(c.title) and 2 <= len(c.values) < len(c.there)]
    if len(found) == 1:
        look.options["groups"] = found[0].key
        look.seen.append(f"groups in {found[0].title}, which is no feature")
        return [column for column in columns if column is not found[0]]
    if found and "groups" not in settled:
        text = f"which of {_names(found)} says what belongs together? The others become features."
        answers = {column.title: {"groups": column.key} for column in found}
        look.questions.append(Question("groups", text, answers, found[0].title))
        return [column for column in columns if column not in found]
    return columns


def _look_at_column(column: _Column, look: Look, width: int) -> None:
    """Note what a column that nothing was said of is, or what is to be asked of it."""
    title, n = column.title, len(column.values)
    ignore: Given = {"ignore": [column.key]}

    def ask(text: str, proposal: str, answers: dict[str, Given]) -> None:
        look.questions.append(Question(title, f"{title}: {text}", answers, proposal))

    def add(option: str, value: object, text: str) -> None:
        look.options[option] = [*look.options.get(option, ()), value]
        look.seen.append(text)

    if n < 2:
        add("ignore", column.key, f"{title} ignored ({'constant' if n else 'empty'})")
    elif {"train", "test"} <= {*column.values} <= {"train", "test"}:
        add("parts", column.key, f"{title} is a split (kind: given, column: {title})")
    elif column.all_differ and _ID.fullmatch(str(column.key)) and width > 2:
        add("ignore", column.key, f"{title} ignored (an id)")
    elif column.is_numeric:
        strange = [value for value in column.values if value in _SENTINELS]
        if strange and (column.numbers[column.numbers > -99] >= 0).all():
            answers: dict[str, Given] = {"missing": {"missing_values": strange}}
            answers["number"] = {"feature": [column.key]}
            ask(f"does {strange[0]} mean that the value is missing?", "missing", answers)
        elif column.counts_rows and n >= _FEW_ROWS:
            answers = {"ignore": ignore, "feature": {"feature": [column.key]}}
            ask("it numbers the rows; is it a feature?", "ignore", answers)
    elif len(column.words) <= 3 and len(column.words) < n - 1 and _mostly_numbers(column):
        answers = {"missing": {"missing_values": column.words}}
        answers["categorical"] = {"categorical": [column.key]}
        ask(f"numbers, and {', '.join(column.words)}: are these missing?", "missing", answers)
    elif n <= _MOST_CATEGORIES and (len(column.there) < _FEW_ROWS or n <= len(column.there) / 2):
        add("categorical", column.key, f"{title} categorical ({n} values)")
    else:
        answers = {"ignore": ignore, "categorical": {"categorical": [column.key]}}
        ask(f"text with {n} different values", "ignore", answers)


def _mostly_numbers(column: _Column) -> bool:
    return bool((~column.there.isin(column.words)).mean() >= _ALMOST)


def _look_at_labels(column: _Column, given: Given, settled: Collection[str], look: Look) -> None:
    """Ask about classes that may be none: gaps, -1, hundreds of numbers."""
    n, title = len(column.values), column.title
    if column.is_numeric and n > _MOST_CLASSES and "classes" not in settled:
        text = f"{title} has {n} different numbers: are these classes? Else name another --label."
        look.questions.append(Question("classes", text, {"yes": {}}, "yes"))
    look.unlabelled = bool(given.get("unlabelled", column.gaps))
    if "unlabelled" in given:
        return
    minus = [v for v, x in zip(column.values, column.numbers, strict=True) if x == -1]
    if minus and column.is_numeric and (n > 2 and (column.numbers >= -1).all()):
        text = f"does -1 in {title} mean that a row has no label?"
        answers = {"unlabelled": {"unlabelled": True}, "class": {"unlabelled": False}}
        look.questions.append(Question("unlabelled", text, answers, "unlabelled"))
    elif column.gaps:
        look.seen.append(f"{column.gaps} rows without a label, kept as unlabelled")


def _named(options: Given, *names: str) -> list[object]:
    found = (options.get(name, ()) for name in names)
    return [column for columns in found if not isinstance(columns, str) for column in columns]


def _names(columns: Sequence[_Column]) -> str:
    names = [column.title for column in columns[:5]]
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    return ", ".join(names) + more
