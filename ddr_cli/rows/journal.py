"""`trials.csv` and `controls.csv`: one row per finished trial, the only source of a run's numbers.

The rows of controls are in a separate file, so that every row of `trials.csv` belongs to a method.
Rows are appended and forced to disk one after another; no row is ever changed in place. A line
break ends a row and occurs nowhere else, so that a crash leaves at most one torn last line. This
line is not read, and it is cut off when the journal is next opened. In the file, a text that starts
like a spreadsheet formula is preceded by an apostrophe.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self

from ddr_cli.core.atomic import as_input_errors, atomic_write, require_file
from ddr_cli.core.errors import InputError, printable
from ddr_cli.core.spreadsheet import as_cell, from_cell

if TYPE_CHECKING:
    import pandas as pd

TRIAL_FILE = "trials.csv"
CONTROLS = "controls.csv"
TRIAL_FILES = (TRIAL_FILE, CONTROLS)
IDENTITY_COLUMNS = ("trial_id", "dataset", "split", "split_hash", "reducer", "classifier")
# The spec can change these without changing a trial.
NAMING_COLUMNS = ("reducer_label", "classifier_label", "control")
# A journal has only those of these columns that its spec uses.
OPTIONAL_COLUMNS = ("split.train", "labels", "tuned", "inner_score", "tune_seconds")
OUTCOME_COLUMNS = ("status", "reason", "fit_seconds", "eval_seconds")
OK, FAILED, TIMEOUT = "ok", "failed", "timeout"

TrialRow = Mapping[str, object]
Coordinates = tuple[tuple[float, ...], ...]

_REASON_LENGTH = 500
_FIRST = ",".join(IDENTITY_COLUMNS).encode()


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial; seconds are CPU time, see `read_trials`.

    If the trial is tuned, `candidate` is the number of its setting. `traceback` belongs to the
    failure.
    """

    trial_id: str
    status: str
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float | None = None
    eval_seconds: float | None = None
    candidate: int | None = None
    inner_score: float | None = None
    tune_seconds: float | None = None
    traceback: str = ""


class UnreadableJournalError(InputError):
    """The file is not a journal, so none of it can be used."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} is not a trial log: {reason}. Restore the file. Otherwise, 'ddr run' moves "
            "the file to previous/ and starts over."
        )
        self.path, self.reason = path, reason


def journal_columns(
    parameters: Iterable[str], metrics: Sequence[str], optional: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the header of a journal with these dotted names and, in this order, metrics."""
    used = [column for column in OPTIONAL_COLUMNS if column in optional]
    names = sorted(set(parameters))
    return (*IDENTITY_COLUMNS, *NAMING_COLUMNS, *names, *used, *metrics, *OUTCOME_COLUMNS)


def metrics_of(header: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the metrics in a header."""
    fixed = {*IDENTITY_COLUMNS, *NAMING_COLUMNS, *OPTIONAL_COLUMNS, *OUTCOME_COLUMNS}
    return tuple(column for column in header if column not in fixed and "." not in column)


def parameter_text(value: object) -> str:
    """Return a parameter's value as in a cell: in Python's notation, lists as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, sort_keys=True)
    return repr(value)


def one_line(text: str, length: int = _REASON_LENGTH) -> str:
    """Return `text` on one line without control characters, cut to `length` characters."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= length else words[: length - 3] + "..."


def trial_of(line: str) -> str:
    """Return the id of a row's trial."""
    return line.partition(",")[0]


class Journal:
    """A file of rows: it is read when the object is created, and opened for more rows by ``with``.

    Only one process may open it: the one that holds the folder's lock. `columns` is the header that
    the run needs. A file with other columns is then rewritten: its rows keep the cells of columns
    with the same name; in a new one they get the value that `added` gives for their trial. Labels
    are updated if they have changed in the spec. `unstated` are the parameters that have their
    default in every trial, each with the names of the components that have it: a file with rows of
    these components, but without the column, does not get the column. An `InputError` reports a
    file that is damaged in its middle or can't be read or written, an `UnreadableJournalError` one
    that is not a journal at all.
    """

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        *,
        unstated: Mapping[str, Collection[str]] = MappingProxyType({}),
        added: Callable[[str, str], Collection[object]] = lambda *_: (),
    ) -> None:
        self.path = path
        self._wanted, self._unstated, self._added = tuple(columns), unstated, added
        self._file = -1
        self._status: dict[str, str] | None = None
        self._read()

    @property
    def lines(self) -> list[str]:
        """The line of the last row of each trial."""
        return list({trial_of(line): line for line in self._lines}.values())

    @property
    def rows(self) -> list[list[str]]:
        """The last row of each trial, as text."""
        return [_cells_of(line) for line in self.lines]

    @property
    def status(self) -> dict[str, str]:
        """The status of each trial that has a row, by the trial's id."""
        if self._status is None:
            n = len(OUTCOME_COLUMNS)
            # Only cells that are quoted can contain commas.
            self._status = {
                trial_of(line): (_cells_of(line) if '"' in line else line.rsplit(",", n))[-n]
                for line in self._lines
            }
        return self._status

    def refresh(self) -> None:
        """Read the file again if another process has changed it since."""
        if _stamp(self.path) != self._stamp:
            self._read()

    def is_settled(self, order: Iterable[str]) -> bool:
        """Return whether `settle` would leave the file unchanged."""
        whole = self._stamp is not None and self._end == self._stamp[0]
        as_needed = whole and self.header == self.columns and self._is_named
        return as_needed and [trial_of(line) for line in self._lines] == list(order)

    def append(self, rows: Sequence[TrialRow]) -> None:
        """Append rows, given by column, and wait until they are on disk.

        If they cannot be written, the journal stays unchanged. But if another program has removed
        or changed the file, they stay in memory for `write_again`.
        """
        if not rows:
            return
        lines = [_line([_cell(row.get(column)) for column in self.columns]) for row in rows]
        if not self.is_in_place(quickly=True):
            self._lines += lines
            self._status = None
            raise InputError(f"Another program removed or changed {self.path}.")
        with as_input_errors(self.path):
            self._write(_text(lines))
        self._lines += lines
        self._status = None

    def is_in_place(self, *, quickly: bool = False) -> bool:
        """Return whether the open file is still at its path, and no other program wrote to it.

        The file is compared with the rows or, `quickly`, only if its size, time or inode differ.
        """
        try:
            if quickly and _stamp(self.path) == self._stamp:
                return True
            there = self.path.stat()
            same = os.path.samestat(there, os.fstat(self._file)) and there.st_size == self._end
            return same and _read(self.path)[1] == self._lines
        except (OSError, InputError):
            return False

    def write_again(self) -> None:
        """Write all rows, read or appended, to a new file."""
        self._replace(self._lines)

    def settle(self, order: Iterable[str]) -> None:
        """Rewrite the file with one row per trial, in the given order of trial ids.

        Rows of trials that are not in `order` follow in their present order. The new file replaces
        the old one in one step, so that a crash leaves one of the two.
        """
        if not self.is_in_place():
            raise InputError(f"Another program removed or changed {self.path}.")
        last = {trial_of(line): line for line in self._lines}
        settled = [last[trial] for trial in dict.fromkeys([*order, *last]) if trial in last]
        if settled != self._lines:
            self._replace(settled)

    def drop(self, trials: Collection[str]) -> None:
        """Rewrite the file without the rows of these trials, if it has any."""
        kept = [line for line in self._lines if trial_of(line) not in trials]
        if len(kept) < len(self._lines):
            self._replace(kept)

    def take(self, lines: Sequence[str]) -> None:
        """Rewrite the file with additional lines from a file with the same columns."""
        if lines:
            self._replace([*self._lines, *lines])

    def __enter__(self) -> Self:
        with as_input_errors(self.path):
            self.refresh()
            if self.header != self.columns or not self._is_named:
                self._rewrite([_line([*self._in_columns(line)]) for line in self._lines])
            self._open()
            os.ftruncate(self._file, self._end)
        return self

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        self._stamp = _stamp(self._file)

    def _in_columns(self, line: str) -> Iterator[str]:
        """Yield the cells of a row in the columns that the run needs."""
        row = dict(zip(self.header, _cells_of(line), strict=True))
        for column in self.columns:
            if column in row and column not in NAMING_COLUMNS:
                yield row[column]
            else:
                added = self._added(trial_of(line), column)
                texts = {_cell(parameter_text(value)) for value in added}
                yield texts.pop() if len(texts) == 1 else row.get(column, "")

    @property
    def _is_named(self) -> bool:
        """Return whether all rows have the labels of the current run."""
        places = [(i, name) for i, name in enumerate(self.header) if name in NAMING_COLUMNS]
        rows = ((trial_of(line), _cells_of(line)) for line in self._lines)
        return all(
            cells[place] == _cell(parameter_text(label))
            for trial, cells in rows
            for place, column in places
            for label in self._added(trial, column)
        )

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
        self._file = -1
        self._stamp = _stamp(self.path)

    def _read(self) -> None:
        with as_input_errors(self.path):
            self._stamp = _stamp(self.path)
            self.header, self._lines, self._end = _read(self.path)
            self._status = None
        new = self._unstated.keys() - set(self.header) if self._lines else ()
        rows = [_cells_of(line) for line in self._lines] if new else []
        there = {name: {row[place] for row in rows} for place, name in enumerate(IDENTITY_COLUMNS)}
        # If all components with this parameter have rows, it is newer than the rows and gets no
        # column.
        newer = {c for c in new if there[c.partition(".")[0]] >= set(self._unstated[c])}
        self.columns = tuple(column for column in self._wanted if column not in newer)

    def _replace(self, lines: list[str]) -> None:
        with as_input_errors(self.path):
            self._rewrite(lines)
            os.close(self._file)
            self._open()

    def _rewrite(self, lines: list[str]) -> None:
        content = _text([_line(self.columns), *lines]).encode()
        atomic_write(self.path, content)
        self.header, self._lines, self._end = self.columns, lines, len(content)
        self._status = None

    def _write(self, text: str) -> None:
        content = text.encode()
        left = memoryview(content)
        try:
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._end)
            raise
        self._end += len(content)
        self._stamp = _stamp(self._file)


def _stamp(file: Path | int) -> tuple[int, int, int] | None:
    """Return values that differ if a file was changed: its size, its time and its inode."""
    try:
        facts = os.fstat(file) if isinstance(file, int) else file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return facts.st_size, facts.st_mtime_ns, facts.st_ino


def read_rows(folder: Path) -> pd.DataFrame:
    """Return the last row of each trial of a folder, of methods and of controls, as text."""
    import pandas as pd

    columns = _columns_of(Path(folder))
    return pd.DataFrame({name: _text_column(cells) for name, cells in columns.items()})


def _columns_of(folder: Path) -> dict[str, list[str]]:
    """Return the cells of `read_rows` by column."""
    if not (folder / TRIAL_FILE).is_file():
        raise InputError(f"There is no {TRIAL_FILE} in {folder}; run a spec first.")
    columns, controls = (_columns_in(folder / name) for name in TRIAL_FILES)
    if more := len(controls["trial_id"]):
        n = len(columns["trial_id"])
        columns = {
            name: columns.get(name, [""] * n) + controls.get(name, [""] * more)
            for name in columns | controls
        }
    # A trial that was run again has several rows, and a run that was killed while it moved rows
    # leaves them in both files.
    last = {trial: row for row, trial in enumerate(columns["trial_id"])}
    if len(last) < len(columns["trial_id"]):
        columns = {name: [cells[row] for row in last.values()] for name, cells in columns.items()}
    return columns


def _columns_in(path: Path) -> dict[str, list[str]]:
    """Return the cells of one file by column."""
    with as_input_errors(path):
        header, lines, _ = _read(path)
    header = header or journal_columns((), ())
    text = ",".join(lines)
    # Splitting the joined lines takes half the time of splitting each line.
    quoted = '"' in text or "'" in text or not lines
    cells = [cell for line in lines for cell in _cells_of(line)] if quoted else text.split(",")
    columns = {name: cells[place :: len(header)] for place, name in enumerate(header)}
    # The file may come from anyone, and its cells are also printed on the terminal.
    if not text.isprintable():
        columns = {name: list(map(printable, column)) for name, column in columns.items()}
    return columns


def read_trials(
    folder: str | Path,
    *,
    which: Literal["methods", "controls", "all"] = "methods",
    columns: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return the trial log of a result folder as a table.

    Parameters
    ----------
    folder : str or Path
        A folder that holds ``trials.csv``.
    which : {"methods", "controls", "all"}
        Rows of methods (``trials.csv``), of controls (``controls.csv``), or both.
    columns : collection of str, optional
        Only these columns, where the trial log has them. Default: all.

    Returns
    -------
    DataFrame
        One row per trial. Metrics and seconds are ``float64``; a parameter column is ``Int64``,
        ``float64``, ``boolean`` or ``object`` (text), whichever holds all its values, and missing
        where a component has no such parameter or the value is None; all else is text. The column
        ``control`` is empty for a method. Of the columns that only some runs have, ``labels``
        (missing where all are) and ``tuned`` are typed as parameters are, ``inner_score`` and
        ``tune_seconds`` are ``float64``.

    Raises
    ------
    InputError
        If there is no trial log or it is damaged; a wrong cell is named by file, line and column.

    Notes
    -----
    `fit_seconds` is the CPU time of the fit of the row's embedding. Rows that share a fit have the
    same, so do not add it up over rows. `eval_seconds` is the CPU time of the row's own classifier;
    rows that share a search have equal fractions of its time.
    """
    import pandas as pd

    read = _columns_of(Path(folder))
    if which != "all":
        kept = [(control != "") == (which == "controls") for control in read["control"]]
        read = {name: list(compress(cells, kept)) for name, cells in read.items()}
    text = {*IDENTITY_COLUMNS, *NAMING_COLUMNS, "status", "reason"}
    return pd.DataFrame(
        {
            name: _text_column(cells) if name in text else _typed(name, cells, folder)
            for name, cells in read.items()
            if columns is None or name in columns
        }
    )


def _text_column(cells: Sequence[str]) -> pd.Series[Any]:
    import pandas as pd

    # Equal cells share one string, which saves memory.
    one: dict[str, str] = {}
    return pd.Series(list(map(one.setdefault, cells, cells)), dtype=object)


def _typed(name: str, cells: Sequence[str], folder: str | Path) -> Any:
    """Return the values of a column of parameters or of numbers as an array."""
    import numpy as np
    import pandas as pd

    if name == "labels":
        cells = ["" if cell == "all" else cell for cell in cells]
    elif name != "tuned" and "." not in name:
        return _numbers(name, cells, Path(folder))
    # Many cells have few distinct values, so each value is converted once.
    place = {text: i for i, text in enumerate(dict.fromkeys(cells))}
    there = [text for text in place if text not in ("", "None")]
    values: dict[str, Any] = {text: text for text in there}
    dtype: Any = object
    if there and {"True", "False"}.issuperset(there):
        values, dtype = {"True": True, "False": False}, "boolean"
    elif there:
        with suppress(ValueError, TypeError):
            numbers = pd.to_numeric(np.array(there, dtype=object))
            dtype = "Int64" if numbers.dtype.kind in "iu" else "float64"
            values = dict(zip(there, numbers.tolist(), strict=True))
    if dtype is object:
        return pd.Series([values.get(text) for text in cells], dtype=object)
    distinct = pd.array([values.get(text) for text in place], dtype=dtype)
    return distinct.take(list(map(place.__getitem__, cells)))


def _numbers(name: str, cells: Sequence[str], folder: Path) -> Any:
    import numpy as np
    import pandas as pd

    texts = np.array(cells, dtype=object)
    numbers = pd.to_numeric(texts, errors="coerce").astype("float64")
    # pd.to_numeric also returns NaN for text that is not a number.
    wrong = [text for text in texts[np.isnan(numbers)] if text.lower() not in ("", "nan")]
    if not wrong:
        return numbers
    place = next(
        f"{path}, line {number}"
        for path in (folder / file for file in TRIAL_FILES)
        for header, lines, _ in [_read(path)]
        for number, line in enumerate(lines, start=2)
        if printable(_cells_of(line)[header.index(name)]) == wrong[0]
    )
    raise InputError(f"{place}: {name} is {wrong[0]!r}, not a number; restore the file.")


def _read(path: Path) -> tuple[tuple[str, ...], list[str], int]:
    """Return the header (empty in a new file), the rows' lines, and the end of the last one."""
    require_file(path)
    content = path.read_bytes() if path.exists() else b""
    first, ended, _ = content.partition(b"\n")
    if not ended:
        begun = first.rstrip(b"\0")
        if _FIRST.startswith(begun[: len(_FIRST)]) and b"\r" not in begun:
            return (), [], 0
        raise UnreadableJournalError(path, "the file has no complete line")
    header = _header(path, first)
    end = content.rfind(b"\n") + 1
    # A power cut can leave a tail of zero bytes where the last rows should be.
    while b"\0" in content[(start := content.rfind(b"\n", 0, end - 1) + 1) : end]:
        end = start
    content = content[len(first) + 1 : end]
    try:
        text = content.decode()
        odd = "\r" in text or "\0" in text
    except UnicodeDecodeError:
        text, odd = content.decode(errors="surrogateescape"), True
    # Rows are kept as lines: splitting all of them would take most of the time and memory, and the
    # cells of few are used.
    lines = text.split("\n")[:-1]
    commas = len(header) - 1
    unusual = [i for i, line in enumerate(lines) if odd or '"' in line or line.count(",") != commas]
    for i in unusual:
        if wrong := _wrong(lines[i], len(header)):
            raise InputError(f"{path}, line {i + 2}: {wrong}; restore the file or delete the line.")
        lines[i] = _line(_parsed(lines[i])[0])
    return header, lines, end


def _parsed(text: str) -> list[list[str]]:
    """Return the cells of lines; empty if they are not text."""
    try:
        text.encode()  # fails on bytes that are not UTF-8
        return list(csv.reader(io.StringIO(text, newline="")))
    except (UnicodeEncodeError, csv.Error):
        return []


def _wrong(line: str, columns: int) -> str:
    """Return why a line is not a row of that many cells, or an empty string."""
    rows = _parsed(line)
    if line.startswith(("<<<<<<<", "|||||||", "=======", ">>>>>>>")):
        return f"the line is a conflict marker of an unfinished merge ({one_line(line, 40)})"
    if not line.strip():
        return "the line is empty"
    if "\0" in line or not rows:
        return "the line is not text"
    if line.count('"') % 2:
        return "a quotation mark is missing"
    if len(rows) > 1:
        return "the line contains a carriage return"
    cells = len(rows[0])
    return f"the line has {cells} cells, but the header has {columns}" if cells != columns else ""


def _header(path: Path, line: bytes) -> tuple[str, ...]:
    """Return the names of the columns, if this is the first line of a journal."""
    header = tuple(next(iter(_parsed(line.decode(errors="surrogateescape"))), ()))
    if b"\0" in line or not header:
        raise UnreadableJournalError(path, "the first line of the file is not text")
    has_all = {"control", *OUTCOME_COLUMNS} <= set(header)
    if has_all and header[: len(IDENTITY_COLUMNS)] == IDENTITY_COLUMNS:
        if len(set(header)) < len(header):
            raise UnreadableJournalError(path, "two columns in the first line have the same name")
        return header
    if header[0].startswith(("\ufeff", "trial_id;")):
        raise InputError(
            f"A spreadsheet program wrote {path} and may have changed ids; restore the file."
        )
    raise InputError(
        f"{path} is not a trial log of ddr. Choose another folder with --out, or use --redo all, "
        "which moves the existing file to previous/."
    )


def _text(lines: Sequence[str]) -> str:
    return "\n".join([*lines, ""])


def _line(cells: Sequence[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(map(as_cell, cells))
    return buffer.getvalue()


def _cells_of(line: str) -> list[str]:
    cells = next(csv.reader([line])) if '"' in line else line.split(",")
    return [from_cell(cell) for cell in cells] if "'" in line else cells


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return "".join(c if c.isprintable() else " " for c in value)
    return repr(value)
