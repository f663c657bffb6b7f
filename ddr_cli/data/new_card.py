"""`ddr new data`: detects the properties of a user's file, and writes the card."""

from __future__ import annotations

import csv
import math
import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.core.atomic import require_file
from ddr_cli.core.errors import InputError
from ddr_cli.core.yaml_loader import flow, read_document
from ddr_cli.data.dataset import Dataset
from ddr_cli.data.files import decoded_text, is_archive, read_bytes
from ddr_cli.data.formats import FORMATS, tables
from ddr_cli.data.formats.numeric_arrays import is_idx, load_mat, load_npz
from ddr_cli.data.formats.table_columns import MISSING_VALUES, Cells, Column, Table
from ddr_cli.data.load import write_card
from ddr_cli.data.store.sources import Sources

OTHER_UNITS = 10
"""The ratio of standard deviations from which features probably have different units."""

_ROLES = ("ignore", "categorical", "feature", "parts")
_LISTS = (*_ROLES, "missing_values")
_PAIRS = re.compile(r"\S+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_MOST_CLASSES = 50
_MOST_CATEGORIES = 50
_FEW_ROWS = 20
_MOSTLY = 0.8
_MOST_ABOVE = 20  # lines above a table
_FEWEST_GROUPS = 5
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


@dataclass
class Seen:
    """The detected options of a format, facts by topic, and open questions about a file.

    `said` holds the user's options. With `yes`, the proposals are accepted.
    """

    said: Mapping[str, Any]
    yes: bool = False
    facts: dict[str, list[str]] = field(default_factory=dict)
    questions: list[tuple[str, str, bool]] = field(default_factory=list)
    """The flags that answer each question, its text, and whether they are proposed."""

    def __post_init__(self) -> None:
        lists = {key: [x] for key, x in self.said.items() if key in _LISTS and _is_one(x)}
        self.said = {**self.said, **lists}
        self.options = dict(self.said)
        self.unlabelled = bool(self.options.pop("unlabelled", False))
        self.options.pop("feature", None)

    def note(self, topic: str, fact: str) -> None:
        """Add a fact for the user."""
        self.facts.setdefault(topic, []).append(fact)

    def add(self, option: str, value: object, topic: str, fact: str) -> None:
        """Add a value to a list among the options, and a fact."""
        self.options[option] = [*self.options.get(option, ()), value]
        self.note(topic, fact)

    def ask(self, flags: str, text: str, *, proposed: bool = True) -> bool:
        """Return whether the answer of these flags is accepted; otherwise ask the user."""
        if self.yes and proposed:
            self.note("accepted", flags if flags != "--yes" else text)
            return True
        self.questions.append((flags, text, proposed))
        return False


def look_at(path: Path, name: str, said: Mapping[str, Any], *, yes: bool = False) -> Seen:
    """Detect the properties of a file for the format `name`; `said` are the user's options."""
    seen = Seen(said, yes)
    if name in ("csv", "table"):
        _look_at_table(path, name, seen)
    elif name in ("npz", "mat"):
        _look_at_arrays(path, name, seen)
    if seen.questions:
        lines = [f"  {flags}    ({text})" for flags, text, _ in seen.questions]
        what = "one setting" if len(lines) == 1 else f"{len(lines)} settings"
        accept = " or accept all with --yes" if all(each[-1] for each in seen.questions) else ""
        raise InputError(
            f"ddr can't determine {what} from {path}. Set these options{accept}:\n"
            + "\n".join(lines)
        )
    return seen


def format_of(path: Path) -> str:
    """Return the name of the format of a file or folder, by its ending or its content."""
    by_ending = {end: entry.name for entry in FORMATS.ours.values() for end in entry.endings}
    if path.is_dir():
        endings = {child.suffix.lower() for child in path.rglob("*") if child.is_file()}
        return "images" if "images" in map(by_ending.get, endings) else "text"
    require_file(path)
    if path.suffix.lower() in by_ending:
        return by_ending[path.suffix.lower()]
    if is_archive(path):
        raise InputError(f"{path} is an archive; add --format images or --format text.")
    if is_idx(read_bytes(path)):
        return "idx"
    text = decoded_text(path, "latin-1")  # only the shape of the lines counts here
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    if lines and all(_PAIRS.fullmatch(line.strip()) for line in lines):
        return "letor" if all("qid:" in line for line in lines) else "libsvm"
    return "csv"


def write_new_card(
    called: str,
    format_name: str,
    seen: Seen,
    paths: Sequence[Path],
    test_paths: Sequence[Path],
    *,
    force: bool,
    sources: Sources,
) -> tuple[Path, Dataset]:
    """Write the card ``NAME.yaml`` of files here; return its path and the data set.

    If there are `test_paths`, `paths` are the training set. An existing card is only replaced with
    `force`.
    """
    target = Path(f"{legal_name(called)}.yaml")
    if target.exists() and not force:
        raise InputError(f"{target} already exists; use --force to replace this card.")
    roles = [*((path, "train") for path in paths), *((path, "test") for path in test_paths)]
    content: dict[str, Any] = {
        "name": target.stem,
        "title": called,
        "version": 1,
        "files": [
            {"path": Path(os.path.relpath(path)).as_posix()}
            | ({"role": role} if test_paths else {})
            for path, role in roles
        ],
        "format": {"name": format_name, **seen.options},
    }
    content |= {"split": "by_file"} if test_paths else {}
    content |= {"unlabelled": "keep"} if seen.unlabelled else {}
    return target, write_card(content, target, sources)


def renew_card(target: Path, *, force: bool, sources: Sources) -> Dataset:
    """Update a user's card to its current files; return the data set."""
    if not force:
        raise InputError(f"{target} already exists; to update this card, use --force.")
    return write_card(dict(read_document(target).data), target, sources)


def ratio_of_spreads(X: Any) -> float:
    """Return the largest standard deviation of a feature, divided by the smallest positive one."""
    spreads = np.nanstd(X, axis=0) if isinstance(X, np.ndarray) else np.ones(1)
    spreads = spreads[spreads > 0]
    return float(spreads.max() / spreads.min()) if len(spreads) else 1.0


def legal_name(text: str) -> str:
    """Return a valid name of a data set, made from any text.

    >>> legal_name("My data (2024)"), legal_name("iris")
    ('My_data_2024', 'iris')
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("_.-") or "data"


def _is_one(value: object) -> bool:
    return isinstance(value, str | int) and value != "all"


def _flag(option: str, value: object) -> str:
    """Return the flag that sets a value."""
    return f"--{option} {shlex.quote(str(value))}"


def _set(key: str, value: object) -> str:
    """Return the flag that sets an option of the format."""
    return _flag("set", f"{key}={flow(value)}")


# -- arrays --------------------------------------------------------------------------------------


def _look_at_arrays(path: Path, name: str, seen: Seen) -> None:
    """Detect which arrays of a file are the features and the classes."""
    arrays = load_npz(path) if name == "npz" else load_mat(path)
    shapes: dict[str, tuple[int, ...]] = {
        key: getattr(value, "shape", ()) for key, value in arrays.items()
    }
    usual = {"npz": ("X", "y"), "mat": ("fea", "gnd")}[name]
    matrices = [key for key, shape in shapes.items() if len(shape) > 1 and min(shape[:2]) > 1]
    if name == "npz" and "indptr" in shapes:
        matrices = ["X"]
    data = _choose_array("data", "features", {key: shapes[key] for key in matrices}, usual, seen)
    if data is None:
        return
    lengths = shapes.get(data, ())
    rows = {
        key: shape
        for key, shape in shapes.items()
        if key not in (data, seen.said.get("groups"))
        and shape
        and max(shape) == math.prod(shape)
        and max(shape) in lengths[:2]
    }
    often = (usual[1], "y", "label", "labels", "target", "class")
    label = _choose_array("label", "classes", rows, often, seen)
    if name == "mat" and label and lengths[0] not in shapes[label]:
        seen.options["samples_in_columns"] = True
        seen.note("features", "a column per sample")


def _choose_array(
    option: str,
    what: str,
    shapes: Mapping[str, tuple[int, ...]],
    often: Sequence[str],
    seen: Seen,
) -> str | None:
    """Return the array that the user named, that has a usual name, or that is the only one."""
    likely = [*(each for each in often if each in shapes), *(shapes if len(shapes) == 1 else ())]
    if option in seen.said or likely:
        chosen: str = seen.said.get(option) or likely[0]
        seen.options[option] = chosen
        seen.note(what, chosen)
        return chosen
    if shapes:
        listed = ", ".join(f"{key} ({' x '.join(map(str, n))})" for key, n in shapes.items())
        flags = " or ".join(_flag(option, key) for key in shapes)
        seen.ask(flags, f"which arrays of the file are the {what}: {listed}?", proposed=False)
    return None


# -- tables --------------------------------------------------------------------------------------


class _Column:
    """The cells of a column as text, and their detected properties."""

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

    def could_be_groups_of(self, label: _Column) -> bool:
        """Whether each of many repeated values occurs in one class only, like a subject's rows."""
        n = len(self.values)
        fewest = max(_FEWEST_GROUPS, 2 * len(label.values))
        whole = not self.is_numeric or bool((self.numbers % 1 == 0).all())
        if self.n_missing or not whole or not fewest <= n <= len(self.present) / 2:
            return False
        classes = label.present.reindex(self.present.index).groupby(self.present)
        return bool(classes.size().min() > 1 and classes.nunique().max() == 1)

    @property
    def can_be_label(self) -> bool:
        whole = not self.is_numeric or bool((self.numbers % 1 == 0).all())
        return 2 <= len(self.values) <= _MOST_CLASSES and whole and self.repeats


def _look_at_table(path: Path, name: str, seen: Seen) -> None:
    said = seen.said
    table = _table(path, name, seen)
    if len(table.cells) < 2:
        raise InputError(
            f"{path} has fewer than two rows of data; use a file with at least two classes."
        )
    markers = list(dict.fromkeys([*MISSING_VALUES, *said.get("missing_values", ())]))
    if "missing_values" in said:
        seen.options["missing_values"] = markers
    titles = table.titles or [""] * table.cells.shape[1]
    columns = [
        _Column(title if table.titles else i, title or f"column {i} (from 0)", cells, markers)
        for i, (title, (_, cells)) in enumerate(zip(titles, table.cells.items(), strict=True))
    ]

    def named(options: Mapping[str, Any], *roles: str) -> list[_Column]:
        keys: list[Column] = []
        for value in (options[role] for role in roles if role in options):
            keys += value if isinstance(value, list | tuple) else [value]
        places = {table.index_of(key) for key in keys if key != "all"}
        return [column for i, column in enumerate(columns) if i in places]

    taken = named(said, "groups", *_ROLES)
    rest = [column for column in columns if column not in taken]
    if "label" in said:
        label = next(iter(named(said, "label")), None)
        seen.note("classes", label.title if label else "")
    else:
        label = _find_label(rest, seen)
    rest = [column for column in rest if column is not label]
    if "groups" in said:
        seen.note("groups", _titles(named(said, "groups")))
    else:
        rest = _find_groups(rest, label, seen)
    for column in rest:
        _look_at_column(column, seen, len(columns))
    if label is not None:
        _look_at_labels(label, seen)
    others = [*named(seen.options, "groups", "ignore", "parts"), label]
    _look_at_gaps([column for column in columns if column not in others], seen)
    if seen.options.get("categorical"):
        seen.options.setdefault("categories", "codes")


def _look_at_gaps(columns: Sequence[_Column], seen: Seen) -> None:
    gaps = [column for column in columns if column.n_missing]
    if gaps and "missing" not in seen.said:
        seen.options["missing"] = "keep"
        seen.note("missing", f"{sum(c.n_missing for c in gaps)} values in {_titles(gaps)}")


def _table(path: Path, name: str, seen: Seen) -> Table:
    """Return the cells of a table, with the names of its columns if it has names."""
    names, header = seen.said.get("names", ()), seen.said.get("header")
    file = _sheet(path, seen) if name == "table" else Cells(path, _text_cells(path, seen))
    if not file.frame.empty:
        if header is None and not (names or file.titles):
            header = seen.options["header"] = _has_header(file.frame)
            first = file.frame.index[0]
            what = "row" if name == "table" else "line"
            seen.note(
                "names",
                f"in {what} {first}"
                if header
                else "no column names, so columns are numbered from 0",
            )
        blank = int(file.frame.index[-1] - file.frame.index[0] + 1 - len(file.frame))
        if blank:
            seen.note("rows", f"{blank} blank {'row is' if blank == 1 else 'rows are'} ignored")
    return Table([file], names, bool(header))


def _sheet(path: Path, seen: Seen) -> Cells:
    """Return the cells of the sheet that holds a table, starting at its first complete row."""
    said, names = seen.said, tables.sheet_names(path)
    sheet: int | str = said.get("sheet", 0)
    if len(names) > 1 and "sheet" not in said:
        filled = [each for each in names if _is_table(tables.read_file_cells(path, each).frame)]
        if len(filled) > 1:
            flags = " or ".join(_set("sheet", each) for each in filled[:5])
            seen.ask(flags, f"which of the {len(names)} sheets has the data?", proposed=False)
        elif filled:
            sheet = seen.options["sheet"] = filled[0]
            seen.note(
                "file",
                f"sheet {sheet}, the only one of {len(names)} sheets that contains a table",
            )
    file = tables.read_file_cells(path, sheet, said.get("skip_rows", 0))
    if not names or "skip_rows" in said or file.frame.empty:
        return file
    # A row with a title or merged headings has empty cells, so the table starts at the fullest row.
    complete = (file.frame != "").sum(axis=1).to_numpy()
    above = int(complete.argmax())
    if not (above and _has_header(file.frame.iloc[above:])):
        return file
    seen.options["skip_rows"] = int(file.frame.index[above]) - 1
    words = [cell for cell in file.frame.iloc[:above].to_numpy().ravel() if cell]
    seen.note("file", f"skipped these rows above the column names: {', '.join(words[:5])}")
    return tables.read_file_cells(path, sheet, seen.options["skip_rows"])


def _is_table(frame: pd.DataFrame) -> bool:
    """Return whether at least three rows have two or more cells."""
    return bool(((frame != "").sum(axis=1) > 1).sum() > 2)


def _text_cells(path: Path, seen: Seen) -> pd.DataFrame:
    """Return the cells of a text table, with the detected encoding, separator and decimals."""
    said = seen.said
    encoding = said.get("encoding") or _encoding(path)
    lines = decoded_text(path, encoding).splitlines()
    skipped = said.get("skip_lines", 0)
    separator = said.get("separator") or _separator(lines[skipped:])
    if "skip_lines" not in said and separator is None:
        skipped = _preamble(lines)
        if skipped and seen.ask(
            _set("skip_lines", skipped),
            f"skip the first {skipped} lines, which do not look like part of the table?",
        ):
            seen.options["skip_lines"] = skipped
        separator = _separator(lines[skipped:])
    separator = separator or "comma"
    if separator != "comma":
        seen.options["separator"] = separator
    if encoding != "utf-8-sig":
        seen.options["encoding"] = encoding
        seen.note("file", f"text in {encoding}")
    how = (separator, said.get("comment"), skipped, encoding)
    frame = tables.read_text_cells(path, *how, said.get("decimal", "."))
    if "decimal" in said or separator == "comma":
        return frame
    columns = (frame.iloc[1:, i] for i in range(frame.shape[1]))
    if not any(c.str.fullmatch(tables.DECIMAL_COMMA).mean() >= _MOSTLY for c in columns):
        return frame
    seen.options["decimal"] = ","
    seen.note("file", "numbers with decimal commas")
    return tables.read_text_cells(path, *how, ",")


def _encoding(path: Path) -> str:
    """Return the encoding of a text: UTF-8, or Windows-1252."""
    content = read_bytes(path)
    for name in ("utf-8-sig", "cp1252"):
        try:
            content.decode(name)
        except UnicodeDecodeError:
            continue
        return name
    return "latin-1"


def _preamble(lines: Sequence[str]) -> int:
    """Return the number of lines before a table, 0 if no table starts near the beginning."""
    return next((n for n in range(1, _MOST_ABOVE) if _separator(lines[n:])), 0)


def _separator(lines: Sequence[str]) -> str | None:
    """Return the separator that gives every line the same number of cells, and the largest number.

    None if no separator gives more than one.
    """
    lines = [line for line in lines if line.strip()][:50]
    best, most = None, 1
    for name in ("comma", "tab", "semicolon", "whitespace"):
        if name == "whitespace":
            widths = {len(line.split()) for line in lines}
        else:
            rows = csv.reader(lines, delimiter=tables.SEPARATORS[name])
            widths = {len(row) for row in rows}
        if len(widths) == 1 and max(widths) > most:
            best, most = name, max(widths)
    return best


def _has_header(frame: pd.DataFrame) -> bool:
    """Return whether the first row holds names: none is a number or a value of its column."""
    first = frame.iloc[0]
    if pd.to_numeric(first, errors="coerce").notna().any():
        return False
    return not any((frame.iloc[1:, i] == first.iloc[i]).any() for i in range(len(first)))


def _find_label(columns: Sequence[_Column], seen: Seen) -> _Column | None:
    """Return the column of the class or, with a question, the proposed one."""
    likely = [column for column in columns if column.can_be_label]
    called = [column for column in columns if _LABEL.fullmatch(column.title)]
    called = [column for column in called if column in likely] or called
    words = [column for column in likely if not column.is_numeric]
    for sure in (called, likely, words if words == [columns[-1]] else []):
        if len(sure) == 1:
            found: _Column | None = sure[0]
            break
    else:
        found = _propose_label(columns, likely, called, seen)
    if found is not None:
        seen.options["label"] = found.key
        seen.note("classes", found.title)
    return found


def _propose_label(
    columns: Sequence[_Column], likely: Sequence[_Column], called: Sequence[_Column], seen: Seen
) -> _Column | None:
    """Ask which column is the class; return the proposed one."""
    ends = [column for column in (*columns[-1:], *columns[:1]) if column in likely]
    found = next(iter([*(called if likely else ()), *ends]), None)
    text = "which column is the class?" + ("" if likely else " No column looks like a class.")
    several = [found] if found else (likely or columns)[:5]
    flags = " or ".join(_flag("label", column.key) for column in several)
    seen.ask(flags, text, proposed=found is not None)
    return found


def _find_groups(columns: list[_Column], label: _Column | None, seen: Seen) -> list[_Column]:
    """Find the column of the groups; return the columns that may be features."""
    found = [
        c for c in columns if _GROUP.fullmatch(c.title) and 2 <= len(c.values) < len(c.present)
    ]
    if not found and label is not None:
        likely = [column for column in columns if column.could_be_groups_of(label)]
        if not likely:
            return columns
        first = likely[0]
        flags = f"{_flag('groups', first.key)} or {_set('feature', first.key)}"
        text = f"is each of the {len(first.values)} values of {first.title} one group (a subject)?"
        found = [first] if seen.ask(flags, text) else []
    if not found:
        return columns
    if len(found) > 1:
        text = (
            f"which column of {_titles(found)} has the groups? The other columns become features."
        )
        seen.ask(_flag("groups", found[0].key), text)
    seen.options["groups"] = found[0].key
    seen.note("groups", f"{found[0].title} (not used as a feature)")
    return [column for column in columns if column is not found[0]]


def _look_at_column(column: _Column, seen: Seen, width: int) -> None:
    """Detect the role of a column for which the user stated none."""
    key, title, n = column.key, column.title, len(column.values)
    if n < 2:
        seen.add("ignore", key, "ignored", f"{title} ({'constant' if n else 'empty'})")
    elif {"train", "test"} == {*column.values}:
        seen.add(
            "parts",
            key,
            "given split",
            f"{title} (in a spec, write split: {{kind: given, column: {title}}})",
        )
    elif column.all_differ and _ID.fullmatch(str(key)) and width > 2:
        seen.add("ignore", key, "ignored", f"{title} (an id)")
    elif column.counts_rows:
        seen.add("ignore", key, "ignored", f"{title} (numbers the rows)")
    elif column.is_numeric:
        return
    elif column.is_mostly_numeric:
        words = ", ".join(column.words)
        text = f"{title} has numbers and {words}: does {words} mean a missing value?"
        if seen.ask(_set("missing_values", column.words), text):
            column.n_missing += int(column.present.isin(column.words).sum())
            markers = seen.options.get("missing_values", MISSING_VALUES)
            seen.options["missing_values"] = list(dict.fromkeys([*markers, *column.words]))
    elif all(map(_THOUSANDS.fullmatch, column.words)):
        fact = f"{title} (numbers with thousands separators, such as {column.words[0]}: remove the"
        seen.add("ignore", key, "ignored", f"{fact} separators from the file to use the column)")
    elif n <= _MOST_CATEGORIES and column.repeats:
        seen.add("categorical", key, "categorical", f"{title} ({n} values)")
    else:
        seen.add("ignore", key, "ignored", f"{title} (text with {n} different values)")


def _look_at_labels(column: _Column, seen: Seen) -> None:
    """Ask about labels that may not be classes: missing ones, -1, hundreds of numbers."""
    n, title = len(column.values), column.title
    if column.is_numeric and n > _MOST_CLASSES:
        text = f"{title} has {n} different numbers: are these the classes? If not, set --label."
        seen.ask("--yes", text)
    if "unlabelled" in seen.said:
        return
    seen.unlabelled = bool(column.n_missing)
    # If there are only two values, -1 is one of the two classes.
    if column.is_numeric and n > 2 and column.numbers.min() == -1:
        seen.unlabelled = seen.ask(
            "--set unlabelled=true", f"does -1 in {title} mark a row without a label?"
        )
    elif column.n_missing:
        seen.note("missing", f"{column.n_missing} samples have no label, and are kept")


def _titles(columns: Sequence[_Column]) -> str:
    names = [column.title for column in columns[:5]]
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    return ", ".join(names) + more
