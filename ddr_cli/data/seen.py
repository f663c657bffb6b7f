"""What is seen of a user's file before its card is written, and what has to be asked."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.core.atomic import require_file
from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.data.files import decoded_text, is_archive, read_bytes
from ddr_cli.data.formats import FORMATS, binary_tables, delimited
from ddr_cli.data.formats.idx import is_idx
from ddr_cli.data.formats.table_columns import MISSING_VALUES, Column

Options = Mapping[str, Any]
LISTS = ("ignore", "categorical", "missing_values", "feature", "parts")
"""The options that list several columns or values."""

_NOT_OF_FORMATS = ("feature", "unlabelled", "raw")
_ROLES = ("ignore", "categorical", "feature", "parts")
_PAIRS = re.compile(r"\S+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")
_MOST_CLASSES = 50
_MOST_CATEGORIES = 50
_FEW_ROWS = 20
_MOSTLY = 0.8
_LABEL = re.compile(
    r"class|classes|label|labels|target|y|outcome|diagnosis|species|category|kind|state|status",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r".*(subject|patient|person|participant|individual|user|speaker|animal|donor|family|group"
    r"|session|recording|batch|plot).*",
    re.IGNORECASE,
)
_ID = re.compile(r"|.*\bid|id\b.*|.*_id|index|row.*|no|number|uuid|key|unnamed.*", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """What the file does not determine: the options of each answer, and the proposed answer."""

    about: str
    text: str
    answers: Mapping[str, Options]
    proposal: str | None = None

    @property
    def flags(self) -> str:
        """The flags for the proposal or, if there is none, for each of the answers."""
        chosen = list(self.answers) if self.proposal is None else [self.proposal]
        return " or ".join(_as_flags(self.answers[one]) or "--yes" for one in chosen[:5])


@dataclass
class Seen:
    """What was seen of a file: options for its format, facts by topic, and open questions."""

    options: dict[str, Any]
    unlabelled: bool = False
    facts: dict[str, list[str]] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)

    def note(self, topic: str, fact: str) -> None:
        """Add a fact for the user."""
        self.facts.setdefault(topic, []).append(fact)

    def add(self, option: str, value: object, topic: str, fact: str) -> None:
        """Add a value to a list among the options, and a fact."""
        self.options[option] = [*self.options.get(option, ()), value]
        self.note(topic, fact)


def settle(
    path: Path, name: str, said: Options, answer: Callable[[Sequence[Question]], str]
) -> Seen:
    """Look at a file until no question is open.

    `said` are the user's options; `answer` returns the answer to the first of some questions, or
    raises an InputError that lists them all.
    """
    settled: set[str] = set()
    while (seen := look_at(path, name, said, settled)).questions:
        first = seen.questions[0]
        more = first.answers[answer(seen.questions)]
        lists = {key: [*said.get(key, ()), *more[key]] for key in LISTS if key in more}
        said = {**said, **more, **lists}
        settled.add(first.about)
    seen.options = {k: value for k, value in seen.options.items() if k not in _NOT_OF_FORMATS}
    return seen


def look_at(path: Path, name: str, said: Options, settled: Collection[str] = ()) -> Seen:
    """Look at a file as the format `name` reads it.

    What the user `said` holds; of it, the `raw` options are not extended. What is `settled` is not
    asked again.
    """
    seen = Seen(dict(said), unlabelled=bool(said.get("unlabelled")))
    if name in ("csv", "table"):
        _look_at_table(path, name, said, settled, seen)
    elif name in ("npz", "mat"):
        _look_at_arrays(path, name, said, seen)
    return seen


def format_of(path: Path) -> str:
    """Return the name of the format of a file or folder, by its ending or its content."""
    by_ending = {end: entry.name for entry in FORMATS.ours.values() for end in entry.endings}
    if path.is_dir():
        children = (child for child in path.rglob("*") if child.is_file())
        endings = {by_ending.get(child.suffix.lower()) for child in children}
        return "images" if "images" in endings else "text"
    require_file(path)
    if path.suffix.lower() in by_ending:
        return by_ending[path.suffix.lower()]
    if is_archive(path):
        raise InputError(f"{path}: an archive; say with --format what is in it: images or text.")
    if is_idx(read_bytes(path)):
        return "idx"
    text = decoded_text(path, "latin-1")  # only the shape of the lines counts here
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    if lines and all(_PAIRS.fullmatch(line.strip()) for line in lines):
        return "letor" if all("qid:" in line for line in lines) else "libsvm"
    return "csv"


def legal_name(text: str) -> str:
    """Return a data set's name made of any text.

    >>> legal_name("My data (2024)"), legal_name("iris")
    ('My_data_2024', 'iris')
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("_.-") or "data"


def _as_flags(options: Options) -> str:
    """Return options as flags of the command line."""
    words = []
    for key, value in options.items():
        flag = {"missing_values": "--missing-value"}.get(key, f"--{key}")
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{key}")
        else:
            words += [f"{flag} {_quoted(one)}" for one in (value if key in LISTS else [value])]
    return " ".join(words)


def _quoted(value: object) -> str:
    text = str(value)
    return text if re.fullmatch(r"[A-Za-z0-9_.:-]+", text) else f"'{text}'"


def _look_at_arrays(path: Path, name: str, said: Options, seen: Seen) -> None:
    """Find out which arrays of a file are the features and the classes."""
    from ddr_cli.data.formats.mat import load_mat
    from ddr_cli.data.formats.npz import load_npz

    arrays = load_npz(path) if name == "npz" else load_mat(path)
    shapes: dict[str, tuple[int, ...]] = {
        key: getattr(value, "shape", ()) for key, value in arrays.items()
    }
    usual = {"npz": ("X", "y"), "mat": ("fea", "gnd")}[name]
    matrices = [key for key, shape in shapes.items() if len(shape) > 1 and min(shape[:2]) > 1]
    if name == "npz" and "indptr" in shapes:
        matrices = ["X"]

    def choose(option: str, what: str, names: Sequence[str], *often: str) -> str | None:
        likely = [*(each for each in often if each in names), *(names if len(names) == 1 else ())]
        if option in said or likely:
            return said.get(option) or likely[0]
        if names:
            listed = ", ".join(f"{key} ({' x '.join(map(str, shapes[key]))})" for key in names)
            text = f"which of its arrays are the {what}: {listed}?"
            seen.questions.append(Question(option, text, {key: {option: key} for key in names}))
        return None

    data = choose("data", "features", matrices, usual[0])
    if data is None:
        return
    lengths = shapes.get(data, ())
    rows = [
        key
        for key, shape in shapes.items()
        if key not in (data, said.get("groups"))
        and shape
        and max(shape) == math.prod(shape)
        and max(shape) in lengths[:2]
    ]
    label = choose("label", "classes", rows, usual[1], "y", "label", "labels", "target", "class")
    seen.options |= {"data": data} | ({} if label is None else {"label": label})
    seen.note("features", data)
    seen.note("classes", str(label))
    if name == "mat" and label and lengths[0] not in shapes[label]:
        seen.options["samples_in_columns"] = True
        seen.note("features", "a column per sample")


class _Column:
    """The cells of a column as text, and what they look like."""

    def __init__(
        self, key: Column, title: str, cells: pd.Series[str], markers: Collection[str]
    ) -> None:
        self.key, self.title, self.n_rows = key, title, len(cells)
        self.present = cells[~cells.isin(list(markers))]
        self.n_missing = len(cells) - len(self.present)

    @cached_property
    def values(self) -> list[str]:
        return list(pd.unique(self.present))

    @cached_property
    def numbers(self) -> pd.Series[Any]:
        """The values as numbers, NaN for text."""
        return pd.to_numeric(pd.Series(self.values, dtype=object), errors="coerce")

    @property
    def words(self) -> list[str]:
        return [v for v, n in zip(self.values, self.numbers, strict=True) if not np.isfinite(n)]

    @property
    def is_numeric(self) -> bool:
        return bool(self.values) and not self.words

    @property
    def is_mostly_numeric(self) -> bool:
        few = len(self.words) <= 3 and len(self.words) < len(self.values) - 1
        return few and bool((~self.present.isin(self.words)).mean() >= _MOSTLY)

    @property
    def all_differ(self) -> bool:
        return len(self.values) == self.n_rows

    @property
    def counts_rows(self) -> bool:
        if not (self.all_differ and self.is_numeric and self.n_rows >= _FEW_ROWS):
            return False
        return bool(np.array_equal(self.numbers, self.numbers.iloc[0] + np.arange(self.n_rows)))

    @property
    def repeats(self) -> bool:
        return self.n_rows < _FEW_ROWS or len(self.values) <= len(self.present) / 2

    @property
    def can_be_label(self) -> bool:
        whole = not self.is_numeric or bool((self.numbers % 1 == 0).all())
        return 2 <= len(self.values) <= _MOST_CLASSES and whole and self.repeats


def _look_at_table(
    path: Path, name: str, said: Options, settled: Collection[str], seen: Seen
) -> None:
    titles, frame = _cells(path, name, said, seen)
    raw, markers = said.get("raw", ()), said.get("missing_values", MISSING_VALUES)
    if "missing_values" in said and "missing_values" not in raw:
        markers = seen.options["missing_values"] = list(dict.fromkeys([*MISSING_VALUES, *markers]))
    columns = []
    for i in range(frame.shape[1]):
        title = titles[i] if titles and titles[i] else f"column {i} (from 0)"
        columns.append(_Column(titles[i] if titles else i, title, frame.iloc[:, i], markers))

    def named(*keys: object) -> list[_Column]:
        """Return the columns named by these keys: names or indices, negative ones from the end."""
        n = len(columns)
        return [c for i, c in enumerate(columns) if c.key in keys or i in keys or i - n in keys]

    def listed(options: Options, *roles: str) -> list[object]:
        found = (options.get(role, ()) for role in roles)
        return [key for keys in found if not isinstance(keys, str) for key in keys]

    for key in (said.get("label"), said.get("groups"), *listed(said, *_ROLES)):
        if isinstance(key, str) and not named(key):
            hint = did_you_mean(key, titles) if titles else " The columns have no names."
            raise InputError(f"{path}: there is no column called '{key}'.{hint}")
    taken = named(said.get("groups"), *listed(said, *_ROLES))
    rest = [column for column in columns if column not in taken]
    for topic, option in (("classes", "label"), ("groups", "groups")):
        if option in said:
            seen.note(topic, _titles(named(said[option])))
    chosen = next(iter(named(said["label"])), None) if "label" in said else None
    label = chosen if "label" in said else _find_label(rest, seen)
    rest = [column for column in rest if column is not label]
    if "groups" not in said:
        rest = _find_groups(rest, seen, settled)
    for column in rest:
        _look_at_column(column, seen, len(columns))
    if label is not None:
        _look_at_labels(label, said, settled, seen)
    others = named(seen.options.get("groups"), *listed(seen.options, "ignore", "parts"))
    gaps = [c for c in columns if c.n_missing and c is not label and c not in others]
    if gaps and "missing" not in said:
        seen.options["missing"] = "keep"
        seen.note("missing", f"{sum(c.n_missing for c in gaps)} values ({_titles(gaps)})")
    if seen.options.get("categorical") and "categorical" not in raw:
        seen.options.setdefault("categories", "codes")


def _cells(path: Path, name: str, said: Options, seen: Seen) -> tuple[list[str], pd.DataFrame]:
    """Return the names (if it has some) and the cells of the columns of a table, as text."""
    titles = list(said.get("names", ()))
    if name == "table":
        file = binary_tables.read_cells(path, said.get("sheet", 0))
        frame, titles = file.frame, list(file.titles)
    else:
        encoding = said.get("encoding") or _encoding(path)
        separator = said.get("separator") or _separator(path, encoding)
        if separator != "comma":
            seen.options["separator"] = separator
        if encoding != "utf-8-sig":
            seen.options["encoding"] = encoding
            seen.note("file", f"text in {encoding}")
        how = (separator, said.get("comment"), said.get("skip_lines", 0), encoding)
        frame = delimited.read_cells(path, *how, said.get("decimal", "."))
        if "decimal" not in said and separator != "comma" and _has_decimal_commas(frame):
            seen.options["decimal"] = ","
            seen.note("file", "decimal commas")
            frame = delimited.read_cells(path, *how, ",")
    if not titles and not frame.empty:
        header = said.get("header")
        if header is None:
            header = seen.options["header"] = _has_header(frame)
        if header:
            titles, frame = frame.iloc[0].tolist(), frame.iloc[1:]
    if frame.empty:
        raise InputError(f"{path}: the file holds no rows of data.")
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise InputError(f"{path}: the column name '{twice}' is there twice.")
    return titles, frame


def _encoding(path: Path) -> str:
    """Return the encoding of a text: UTF-8, or that of Windows in the West."""
    content = read_bytes(path)
    for name in ("utf-8-sig", "cp1252"):
        try:
            content.decode(name)
        except UnicodeDecodeError:
            continue
        return name
    return "latin-1"


def _separator(path: Path, encoding: str) -> str:
    """Return the separator that gives every line the same number of cells, and the most."""
    lines = [line for line in decoded_text(path, encoding).splitlines() if line.strip()][:50]
    best, most = "comma", 1
    for name in ("comma", "tab", "semicolon", "whitespace"):
        if name == "whitespace":
            widths = {len(line.split()) for line in lines}
        else:
            rows = csv.reader(lines, delimiter=delimited.SEPARATORS[name])
            widths = {len(row) for row in rows}
        if len(widths) == 1 and max(widths) > most:
            best, most = name, max(widths)
    return best


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    columns = (frame.iloc[1:, i] for i in range(frame.shape[1]))
    return any(c.str.fullmatch(delimited.DECIMAL_COMMA).mean() >= _MOSTLY for c in columns)


def _has_header(frame: pd.DataFrame) -> bool:
    """Return whether the first row holds names: none is a number or a value of its column."""
    first = frame.iloc[0]
    if pd.to_numeric(first, errors="coerce").notna().any():
        return False
    return not any((frame.iloc[1:, i] == first.iloc[i]).any() for i in range(len(first)))


def _find_label(columns: Sequence[_Column], seen: Seen) -> _Column | None:
    """Return the column of the class, or the proposed one with a question."""
    likely = [column for column in columns if column.can_be_label]
    called = [column for column in columns if _LABEL.fullmatch(column.title)]
    called = [column for column in called if column in likely] or called
    words = [column for column in likely if not column.is_numeric]
    sure = called if len(called) == 1 else likely if len(likely) == 1 else []
    if not sure and words == [columns[-1]]:
        sure = words
    if sure:
        seen.options["label"] = sure[0].key
        seen.note("classes", sure[0].title)
        return sure[0]
    ends = [column for column in (*columns[-1:], *columns[:1]) if column in likely]
    found = next(iter([*(called if likely else ()), *ends]), None)
    text = "which column is the class?" + ("" if likely else " None looks like one.")
    answers = {column.title: {"label": column.key} for column in likely or columns}
    seen.questions.append(Question("label", text, answers, found.title if found else None))
    if found is not None:
        seen.options["label"] = found.key
    return found


def _find_groups(columns: list[_Column], seen: Seen, settled: Collection[str]) -> list[_Column]:
    """Find the column of the groups; return the columns that may be features."""
    found = [
        c for c in columns if _GROUP.fullmatch(c.title) and 2 <= len(c.values) < len(c.present)
    ]
    if len(found) == 1:
        seen.options["groups"] = found[0].key
        seen.note("groups", f"{found[0].title} (no feature)")
    elif found and "groups" not in settled:
        text = f"which of {_titles(found)} is the group? The others become features."
        answers = {column.title: {"groups": column.key} for column in found}
        seen.questions.append(Question("groups", text, answers, found[0].title))
    else:
        return columns
    return [column for column in columns if column not in found]


def _look_at_column(column: _Column, seen: Seen, width: int) -> None:
    """Find the role of a column of which the user said nothing."""
    key, title, n = column.key, column.title, len(column.values)
    if n < 2:
        seen.add("ignore", key, "ignored", f"{title} ({'constant' if n else 'empty'})")
    elif {"train", "test"} == {*column.values}:
        seen.add("parts", key, "given split", f"{title} (split: {{kind: given, column: {title}}})")
    elif column.all_differ and _ID.fullmatch(str(key)) and width > 2:
        seen.add("ignore", key, "ignored", f"{title} (an id)")
    elif column.counts_rows:
        seen.add("ignore", key, "ignored", f"{title} (numbers the rows)")
    elif column.is_numeric:
        pass
    elif column.is_mostly_numeric:
        text = f"{title}: numbers, and {', '.join(column.words)}: are these missing values?"
        answers: dict[str, Options] = {"missing": {"missing_values": column.words}}
        answers["categorical"] = {"categorical": [key]}
        seen.questions.append(Question(title, text, answers, "missing"))
    elif n <= _MOST_CATEGORIES and column.repeats:
        seen.add("categorical", key, "categorical", f"{title} ({n} values)")
    else:
        seen.add("ignore", key, "ignored", f"{title} (text with {n} different values)")


def _look_at_labels(column: _Column, said: Options, settled: Collection[str], seen: Seen) -> None:
    """Ask about labels that may not be classes: missing ones, -1, hundreds of numbers."""
    n, title = len(column.values), column.title
    if column.is_numeric and n > _MOST_CLASSES and "classes" not in settled:
        text = f"{title} has {n} different numbers: are these classes? Else name another --label."
        seen.questions.append(Question("classes", text, {"yes": {}}, "yes"))
    seen.unlabelled = bool(said.get("unlabelled", column.n_missing))
    if "unlabelled" in said:
        return
    # Without a third class, -1 and 1 are the two classes.
    if column.is_numeric and n > 2 and column.numbers.min() == -1:
        text = f"does -1 in {title} mean that a row has no label?"
        answers = {"unlabelled": {"unlabelled": True}, "class": {"unlabelled": False}}
        seen.questions.append(Question("unlabelled", text, answers, "unlabelled"))
    elif column.n_missing:
        seen.note("missing", f"{column.n_missing} labels (these rows are kept as unlabelled)")


def _titles(columns: Sequence[_Column]) -> str:
    names = [column.title for column in columns[:5]]
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    return ", ".join(names) + more
