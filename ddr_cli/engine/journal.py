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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

FILE_NAME = "trials.csv"
IDENTITY_COLUMNS = ("trial_id", "dataset", "split", "split_hash", "reducer", "classifier")
OUTCOME_COLUMNS = ("status", "reason", "fit_seconds", "eval_seconds")
OK, FAILED, TIMEOUT, KILLED = "ok", "failed", "timeout", "killed"

Row = Mapping[str, object]

_REASON_LENGTH = 500


def journal_columns(parameters: Iterable[str], metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the header of a journal.

    Parameters
    ----------
    parameters : iterable of str
        The dotted names of all parameters, such as ``"reducer.beta"``.
    metrics : sequence of str
        The names of the metrics, in the order of the spec.
    """
    return (*IDENTITY_COLUMNS, *sorted(set(parameters)), *metrics, *OUTCOME_COLUMNS)


def metrics_of(header: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the metrics in a header."""
    fixed = {*IDENTITY_COLUMNS, *OUTCOME_COLUMNS}
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
    """An open journal. Only one process may have it open: its owner holds the folder's lock.

    Parameters
    ----------
    path : Path
        The file; it is created with its header when it is not there or empty.
    columns : sequence of str
        The header that the run needs. A file with other columns is rewritten: its rows keep what
        they have in columns of the same name.

    Attributes
    ----------
    status : dict of str to str
        The status of each trial that has a row, by trial id; the last row of a trial counts.

    Raises
    ------
    InputError
        If the file is damaged in its middle or can't be written.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path = path
        self.columns = tuple(columns)
        self.status: dict[str, str] = {}
        with clear_messages(path):
            header, rows, end = _read(path)
            for row in rows:
                self.status[row[0]] = row[-len(OUTCOME_COLUMNS)]
            if header != self.columns:
                self._rewrite([dict(zip(header, row, strict=True)) for row in rows])
            self._file = os.open(path, os.O_RDWR | os.O_APPEND)
            if header == self.columns:
                os.ftruncate(self._file, end)

    def append(self, rows: Sequence[Row]) -> None:
        """Append rows and wait until they are on disk.

        Parameters
        ----------
        rows : sequence of mapping
            A value per column; a column that is left out stays empty.

        Raises
        ------
        InputError
            If they can't be written; the journal is then as it was before.
        """
        if not rows:
            return
        lines = [_line([_cell(row.get(column)) for column in self.columns]) for row in rows]
        with clear_messages(self.path):
            self._write("".join(lines))
        for row in rows:
            self.status[str(row["trial_id"])] = str(row["status"])

    def settle(self, order: Iterable[str]) -> None:
        """Rewrite the file with one row per trial, in the given order of trial ids.

        Rows of trials that are not in `order` follow in the order they have. The file is written
        aside and renamed, so a crash leaves either the old or the new one.
        """
        with clear_messages(self.path):
            _, rows, _ = _read(self.path)
            last = {row[0]: row for row in rows}
            wanted = [last[trial] for trial in dict.fromkeys([*order, *last]) if trial in last]
            if wanted == rows:
                return
            self._rewrite([dict(zip(self.columns, row, strict=True)) for row in wanted])
            os.close(self._file)
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _rewrite(self, rows: Sequence[Row]) -> None:
        lines = [_line([_cell(row.get(column)) for column in self.columns]) for row in rows]
        atomic_write(self.path, "".join([_line(self.columns), *lines]))

    def _write(self, text: str) -> None:
        before = os.fstat(self._file).st_size
        left = memoryview(text.encode())
        try:
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, before)
            raise


def read_rows(folder: Path) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Return the header and the rows of a folder's journal as text, the last row of each trial.

    A torn last line is left out; the file is not touched.

    Raises
    ------
    InputError
        If there is no journal or it is damaged.
    """
    path = Path(folder) / FILE_NAME
    if not path.is_file():
        raise InputError(f"There is no {FILE_NAME} in {folder}; run a spec first.")
    with clear_messages(path):
        header, rows, _ = _read(path)
    last = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    return header, list(last.values())


def is_settled(folder: Path, columns: Sequence[str], order: Sequence[str]) -> bool:
    """Return whether a folder's journal is as `Journal.settle` would leave it.

    Parameters
    ----------
    folder : Path
        A result folder with a journal.
    columns : sequence of str
        The header that the run needs.
    order : sequence of str
        The ids of its trials.
    """
    path = folder / FILE_NAME
    header, rows, end = _read(path)
    whole = end == path.stat().st_size
    return whole and header == tuple(columns) and [row[0] for row in rows] == list(order)


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
        where a piece has no such parameter or the value is None; all else is text.

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

    header, rows = read_rows(Path(folder))
    table = pd.DataFrame(rows, columns=list(header), dtype=object)
    text = {*IDENTITY_COLUMNS, "status", "reason"}
    for column in header:
        if column in text:
            continue
        cells = table[column]
        if "." in column:
            table[column] = _typed(cells)
        else:
            table[column] = _numbers(cells, Path(folder) / FILE_NAME)
    return table


def _numbers(cells: pd.Series[Any], path: Path) -> pd.Series[float]:
    import pandas as pd

    numbers = pd.to_numeric(cells.replace("", None), errors="coerce").astype("float64")
    # What can't be read comes back missing, as empty cells and a written "nan" do rightly.
    missing = cells[numbers.isna() & (cells != "")]
    wrong = missing[missing.str.lower() != "nan"]
    if wrong.empty:
        return numbers
    header, rows, _ = _read(path)
    place = header.index(str(cells.name))
    line = next(i for i, row in enumerate(rows, start=2) if row[place] == wrong.iloc[0])
    raise InputError(
        f"{path}, line {line}: {cells.name} is {wrong.iloc[0]!r}, which is not a number; restore "
        "the file or start anew with --fresh."
    )


def _typed(cells: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    values = cells.where(~cells.isin(["", "None"]), None)
    present = values.dropna()
    if present.empty:
        return values
    if present.isin(["True", "False"]).all():
        return values.map({"True": True, "False": False}).astype("boolean")
    try:
        numbers = pd.to_numeric(present)
    except (ValueError, TypeError):
        return values
    if pd.api.types.is_integer_dtype(numbers):
        return numbers.astype("Int64").reindex(values.index)
    return numbers.astype("float64").reindex(values.index)


def _read(path: Path) -> tuple[tuple[str, ...], list[list[str]], int]:
    """Return the header (empty if there is none yet), the rows and where the whole lines end."""
    content = path.read_bytes() if path.exists() else b""
    # A power cut can leave a tail of zero bytes where the last rows should be.
    whole = content.split(b"\0", 1)[0]
    end = whole.rfind(b"\n") + 1
    try:
        lines = list(csv.reader(io.StringIO(whole[:end].decode(), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is damaged ({error}); --fresh starts anew.") from None
    if not lines:
        return (), [], 0
    header = tuple(lines[0])
    if header[: len(IDENTITY_COLUMNS)] != IDENTITY_COLUMNS:
        raise InputError(f"{path} is not a journal of ddr: its first line is another header.")
    for number, row in enumerate(lines[1:], start=2):
        if len(row) != len(header):
            raise InputError(
                f"{path}, line {number}: {len(row)} cells where the header has {len(header)}; "
                "restore the file or start anew with --fresh."
            )
    return header, lines[1:], end


def _line(cells: Sequence[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return "".join(c if c.isprintable() else " " for c in value)
    return repr(value)
