"""`trials.csv`, the journal: one row per finished trial, the only source of truth of a run.

Rows are appended and forced to disk as they come; no row is ever changed in place. A line break
ends a row and occurs nowhere else, so what a crash can leave behind is at most one torn last line,
which is not read and is cut off when the journal is next opened.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from ddr_cli.core.atomic import atomic_write, clear_messages, require_file
from ddr_cli.core.errors import InputError, printable

if TYPE_CHECKING:
    import pandas as pd

FILE_NAME = "trials.csv"
IDENTITY_COLUMNS = ("trial_id", "dataset", "split", "split_hash", "reducer", "classifier")
# A journal has those of these that its spec uses.
OPTIONAL_COLUMNS = ("split.train", "labels", "control", "tuned", "inner_score", "tune_seconds")
OUTCOME_COLUMNS = ("status", "reason", "fit_seconds", "eval_seconds")
OK, FAILED, TIMEOUT = "ok", "failed", "timeout"

Row = Mapping[str, object]

_REASON_LENGTH = 500
_FIRST = ",".join(IDENTITY_COLUMNS).encode()


class UnreadableJournalError(InputError):
    """What stands in a journal's place is no text of ours, so that nothing of it can be kept."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} is not a journal: {reason}. Restore the file; 'ddr run' moves it to previous/ "
            "and starts over."
        )
        self.reason = reason


class ChangedJournalError(InputError):
    """A journal was removed or changed by another program while it was open."""


def journal_columns(
    parameters: Iterable[str], metrics: Sequence[str], optional: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the header of a journal with these dotted names and, in this order, metrics."""
    used = [column for column in OPTIONAL_COLUMNS if column in optional]
    return (*IDENTITY_COLUMNS, *sorted(set(parameters)), *used, *metrics, *OUTCOME_COLUMNS)


def metrics_of(header: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the metrics in a header."""
    fixed = {*IDENTITY_COLUMNS, *OPTIONAL_COLUMNS, *OUTCOME_COLUMNS}
    return tuple(column for column in header if column not in fixed and "." not in column)


def parameter_text(value: object) -> str:
    """Return a parameter's value as it stands in a cell: Python's spelling, lists as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, sort_keys=True)
    return repr(value)


def one_line(text: str, length: int = _REASON_LENGTH) -> str:
    """Return `text` on one line without control characters, cut to `length` characters."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= length else words[: length - 3] + "..."


class Journal:
    """The journal of a run: read when it is made, and open for more rows inside a ``with`` block.

    Only one process may have it open: its owner holds the folder's lock. `columns` is the header
    that the run needs. A file with other columns is then rewritten: its rows keep the cells of
    columns with the same name; in a new one they get the value that `added` gives for their trial.
    `unstated` are the parameters that every trial has at its default, each with the names of the
    components that have it: a file with rows of these components, but without the column, does not
    get the column. An `InputError` reports a file that is damaged in its middle or can't be read or
    written, an `UnreadableJournalError` one that is not a journal at all.
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
        return list({_trial_of(line): line for line in self._lines}.values())

    @property
    def rows(self) -> list[list[str]]:
        """The last row of each trial, as text."""
        return [_cells_of(line) for line in self.lines]

    @property
    def status(self) -> dict[str, str]:
        """The status of each trial that has a row, by the trial's id."""
        if self._status is None:
            self._status = {_trial_of(line): _status_of(line) for line in self._lines}
        return self._status

    def refresh(self) -> None:
        """Read the file again if another process has changed it since."""
        if _stamp(self.path) != self._stamp:
            self._read()

    def is_settled(self, order: Iterable[str]) -> bool:
        """Return whether the file is as `settle` would leave it."""
        whole = self._stamp is not None and self._end == self._stamp[0]
        as_needed = whole and self.header == self.columns
        return as_needed and [_trial_of(line) for line in self._lines] == list(order)

    def append(self, rows: Sequence[Row]) -> None:
        """Append rows, of a value per column or less, and wait until they are on disk.

        If they can't be written, the journal is as it was before; but if another program has
        removed or changed it, they are rows of its memory, for `write_again`.
        """
        if not rows:
            return
        lines = [_line([_cell(row.get(column)) for column in self.columns]) for row in rows]
        if not self.is_in_place():
            self._lines += lines
            self._status = None
            raise ChangedJournalError(f"{self.path} was removed or changed by another program.")
        with clear_messages(self.path):
            self._write(_text(lines))
        self._lines += lines
        self._status = None

    def is_in_place(self) -> bool:
        """Return whether its path leads to the file that is open and nobody else has written."""
        try:
            there = self.path.stat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._file)) and there.st_size == self._end

    def write_again(self) -> None:
        """Write all rows that were read or appended to a new file."""
        self._replace(self._lines)

    def settle(self, order: Iterable[str]) -> None:
        """Rewrite the file with one row per trial, in the given order of trial ids.

        Rows of trials that are not in `order` follow in the order they have. The file is written
        aside and renamed, so a crash leaves either the old or the new one.
        """
        if not self.is_in_place():
            raise ChangedJournalError(f"{self.path} was removed or changed by another program.")
        last = {_trial_of(line): line for line in self._lines}
        settled = [last[trial] for trial in dict.fromkeys([*order, *last]) if trial in last]
        if settled != self._lines:
            self._replace(settled)

    def drop(self, trials: Collection[str]) -> None:
        """Rewrite the file without the rows of these trials."""
        self._replace([line for line in self._lines if _trial_of(line) not in trials])

    def __enter__(self) -> Self:
        with clear_messages(self.path):
            self.refresh()
            if self.header != self.columns:
                rows = [dict(zip(self.header, _cells_of(x), strict=True)) for x in self._lines]
                self._rewrite([_line([*map(partial(self._in, row), self.columns)]) for row in rows])
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)
            os.ftruncate(self._file, self._end)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
        self._file = -1
        self._stamp = _stamp(self.path)

    def _read(self) -> None:
        with clear_messages(self.path):
            self._stamp = _stamp(self.path)
            self.header, self._lines, self._end = _read(self.path)
            self._status = None
        self.columns = tuple(c for c in self._wanted if c in self.header or not self._is_newer(c))

    def _is_newer(self, column: str) -> bool:
        """Return whether rows of all that has a parameter were made before it was there."""
        if column not in self._unstated or not self._lines:
            return False
        place = IDENTITY_COLUMNS.index(column.partition(".")[0])
        return {_cells_of(line)[place] for line in self._lines} >= set(self._unstated[column])

    def _in(self, row: Mapping[str, str], column: str) -> str:
        if column in row:
            return row[column]
        texts = set(map(parameter_text, self._added(row["trial_id"], column)))
        return texts.pop() if len(texts) == 1 else ""

    def _replace(self, lines: list[str]) -> None:
        with clear_messages(self.path):
            self._rewrite(lines)
            os.close(self._file)
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)

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


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Return what tells a changed file: its size, its time and which file it is."""
    try:
        facts = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return facts.st_size, facts.st_mtime_ns, facts.st_ino


def read_rows(folder: Path) -> pd.DataFrame:
    """Return the last row of each trial of a folder's journal, all as text."""
    import pandas as pd

    path = Path(folder) / FILE_NAME
    if not path.is_file():
        raise InputError(f"There is no {FILE_NAME} in {folder}; run a spec first.")
    journal = Journal(path, ())
    header = journal.header or journal_columns((), ())
    lines = journal.lines
    text = io.BytesIO(_text([_line(header), *lines]).encode())
    # In one chunk, so that equal cells are one string.
    table = pd.read_csv(
        text, names=list(header), header=0, dtype=object, na_filter=False, low_memory=False
    )
    # A stranger's cells go to the terminal too.
    for column in () if "".join(lines).isprintable() else table.columns:
        if odd := [text for text in table[column].unique() if not text.isprintable()]:
            table[column] = table[column].replace({text: printable(text) for text in odd})
    return table


def read_trials(folder: str | Path) -> pd.DataFrame:
    """Return the journal of a result folder as a table.

    Parameters
    ----------
    folder : str or Path
        A folder that holds ``trials.csv``.

    Returns
    -------
    DataFrame
        One row per trial. Metrics and seconds are ``float64``; a parameter column is ``Int64``,
        ``float64``, ``boolean`` or ``object`` (text), whichever holds all its values, and missing
        where a component has no such parameter or the value is None; all else is text. Of the
        columns that only some runs have, ``labels`` (missing where all are) and ``tuned`` are typed
        as parameters are, ``inner_score`` and ``tune_seconds`` are ``float64``, ``control`` is
        text.

    Raises
    ------
    InputError
        If there is no journal or it is damaged; a cell that should be a number and is not is named
        by its file, line and column.

    Notes
    -----
    `fit_seconds` is the CPU time of the fit that the row's embedding comes from, also where other
    rows share it (so don't add it up over rows); `eval_seconds` that of the row's own classifier,
    where one search served several rows its equal share.
    """
    import pandas as pd

    table = read_rows(Path(folder))
    text = {*IDENTITY_COLUMNS, "control", "status", "reason"}
    for column in table.columns:
        if column in text:
            continue
        cells = table[column].replace("all", "") if column == "labels" else table[column]
        if "." in column or column in ("labels", "tuned"):
            # Few values in many cells.
            codes, distinct = pd.factorize(cells)
            typed = _typed(pd.Series(distinct, dtype=object))
            table[column] = typed.take(codes).set_axis(table.index)
        else:
            table[column] = _numbers(cells, Path(folder) / FILE_NAME)
    return table


def _numbers(cells: pd.Series[Any], path: Path) -> pd.Series[float]:
    import pandas as pd

    numbers = pd.to_numeric(cells, errors="coerce").astype("float64")
    # What can't be read comes back missing, as empty cells and a written "nan" do rightly.
    missing = cells[numbers.isna() & (cells != "")]
    wrong = missing[missing.str.lower() != "nan"]
    if wrong.empty:
        return numbers
    header, lines, _ = _read(path)
    place = header.index(str(cells.name))
    line = next(i for i, x in enumerate(lines, start=2) if _cells_of(x)[place] == wrong.iloc[0])
    raise InputError(
        f"{path}, line {line}: {cells.name} is {wrong.iloc[0]!r}, which is not a number; restore "
        "the file, or move it away to start over."
    )


def _typed(cells: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    values = pd.Series([None if x in ("", "None") else x for x in cells], dtype=object)
    present = values.dropna()
    if present.empty:
        return values
    if set(present) <= {"True", "False"}:
        return values.map({"True": True, "False": False}).astype("boolean")
    try:
        numbers = pd.to_numeric(present)
    except (ValueError, TypeError):
        return values
    whole = pd.api.types.is_integer_dtype(numbers)
    return numbers.astype("Int64" if whole else "float64").reindex(values.index)


def _read(path: Path) -> tuple[tuple[str, ...], list[str], int]:
    """Return the header (empty if there is none yet), the rows' lines and where the last ends."""
    require_file(path)
    content = path.read_bytes() if path.exists() else b""
    first, ended, _ = content.partition(b"\n")
    if not ended:
        begun = first.rstrip(b"\0")
        if _FIRST.startswith(begun[: len(_FIRST)]) and b"\r" not in begun:
            return (), [], 0
        raise UnreadableJournalError(path, "it has no line that ends")
    header = _header(path, first)
    end = content.rfind(b"\n") + 1
    # A power cut can leave a tail of zero bytes where the last rows should be.
    while b"\0" in content[(start := content.rfind(b"\n", 0, end - 1) + 1) : end]:
        end = start
    lines = _rows_of(content[len(first) + 1 : end], len(header))
    if "" in lines:
        raise _damage(path, content[:end].split(b"\n")[:-1], len(header))
    return header, lines, end


def _rows_of(content: bytes, columns: int) -> list[str]:
    """Return lines as they are written here, an empty one for what is no row of so many cells.

    Rows stay lines: cells are asked for of few, and take more time and memory than all else.
    """
    try:
        lines = content.decode().split("\n")[:-1]
    except UnicodeDecodeError:
        return [""]
    if b"\r" in content or b"\0" in content:
        return [_as_written(line, columns) for line in lines]
    return [
        line if '"' not in line and line.count(",") == columns - 1 else _as_written(line, columns)
        for line in lines
    ]


def _as_written(line: str, columns: int) -> str:
    return "" if _wrong(line.encode(), columns) else _line(_parsed(line.encode())[0])


def _parsed(content: bytes) -> list[list[str]]:
    """Return the cells of lines, none if some are not text."""
    try:
        return list(csv.reader(io.StringIO(content.decode(), newline="")))
    except (UnicodeDecodeError, csv.Error):
        return []


def _damage(path: Path, lines: Sequence[bytes], columns: int) -> InputError:
    """Name the first line that is no row of so many cells."""
    wrongs = (_wrong(line, columns) for line in lines)
    number, wrong = next((i, wrong) for i, wrong in enumerate(wrongs, start=1) if wrong)
    return InputError(
        f"{path}, line {number}: {wrong}; restore the file, or move it away to start over."
    )


def _wrong(line: bytes, columns: int) -> str:
    rows = _parsed(line)
    if line.startswith((b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")):
        return f"it is a mark of an unfinished merge ({one_line(line.decode(), 40)})"
    if not line.strip():
        return "it is empty"
    if b"\0" in line or not rows:
        return "it is not text"
    if line.count(b'"') % 2:
        return "a quotation mark is missing"
    if len(rows) > 1:
        return "it holds other line ends"
    cells = len(rows[0])
    return f"{cells} cells where the header has {columns}" if cells != columns else ""


def _header(path: Path, line: bytes) -> tuple[str, ...]:
    """Return the names of the columns, if this is a journal's first line."""
    header = tuple(next(iter(_parsed(line)), ()))
    if b"\0" in line or not header:
        raise UnreadableJournalError(path, "its first line is not text")
    if header[: len(IDENTITY_COLUMNS)] == IDENTITY_COLUMNS:
        return header
    if header[0].startswith(("\ufeff", "trial_id;")):
        raise InputError(
            f"{path} was written by a spreadsheet, which may have changed ids and digits: restore "
            "the file, or move it away to start over."
        )
    raise InputError(f"{path} is not a journal of ddr: its first line is another header.")


def _text(lines: Sequence[str]) -> str:
    return "\n".join([*lines, ""])


def _line(cells: Sequence[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(cells)
    return buffer.getvalue()


def _cells_of(line: str) -> list[str]:
    return next(csv.reader([line])) if '"' in line else line.split(",")


def _trial_of(line: str) -> str:
    return line.partition(",")[0]


def _status_of(line: str) -> str:
    cells = _cells_of(line) if '"' in line else line.rsplit(",", len(OUTCOME_COLUMNS))
    return cells[-len(OUTCOME_COLUMNS)]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return "".join(c if c.isprintable() else " " for c in value)
    return repr(value)
