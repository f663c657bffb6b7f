"""The trial log of a run: `trials.csv` and `controls.csv`, the only source of its numbers.

A row is its line of the plan and an outcome. The rows of controls are in a separate file, so that
every row of `trials.csv` belongs to a method. While the run goes on, rows are appended and forced
to disk one after another. A line break ends a row and occurs nowhere else, so a crash leaves at
most one torn last line; it is not read, and it is cut off when the log is next opened. In the file,
a text that starts like a spreadsheet formula is preceded by an apostrophe.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from ddr_cli.core.atomic import as_input_errors, atomic_write, require_file
from ddr_cli.core.errors import InputError, printable
from ddr_cli.core.spreadsheet import as_cell, from_cell
from ddr_cli.rows.folder import previous_folder
from ddr_cli.rows.schema import DESCRIBING, IDENTITY, OPTIONAL, OUTCOME

if TYPE_CHECKING:
    import pandas as pd

TRIAL_FILE = "trials.csv"
CONTROLS = "controls.csv"
TRIAL_FILES = (TRIAL_FILE, CONTROLS)
OK, FAILED, TIMEOUT = "ok", "failed", "timeout"

Coordinates = tuple[tuple[float, ...], ...]
Line = Mapping[str, str]

_REASON_LENGTH = 500
_FIRST = ",".join(IDENTITY).encode()


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


class UnreadableLogError(InputError):
    """The file is not a trial log, so none of it can be used."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} is not a trial log: {reason}. Restore the file. Otherwise, 'ddr run' moves "
            "the file to previous/ and starts over."
        )
        self.path, self.reason = path, reason


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


def metrics_in(header: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the metrics in a header."""
    fixed = {*DESCRIBING, *OPTIONAL, *OUTCOME}
    return tuple(column for column in header if column not in fixed and "." not in column)


class Rows:
    """The rows of a run; ``with`` opens the two files for more.

    Only the process that holds the folder's lock may open them. `planned` returns the plan: the
    cells of each trial that describe it, by trial id. When the files are opened, rows that the
    plan describes in another way (labels, new parameters, the file that they belong to) are
    restated. An `InputError` reports a file that is damaged in its middle or can't be read or
    written, an `UnreadableLogError` one that is not a trial log at all.
    """

    def __init__(
        self, folder: Path, planned: Callable[[], Mapping[str, Line]], metrics: Sequence[str]
    ) -> None:
        self.folder = folder
        self._plan, self._metrics = planned, tuple(metrics)
        self._files: dict[str, int] = {}
        self._stamps: dict[str, _Stamp] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the files again if another process has changed one of them since."""
        stamps = {name: _stamp(self.folder / name) for name in TRIAL_FILES}
        if stamps == self._stamps:
            return
        read = {name: _read(self.folder / name) for name in TRIAL_FILES}
        self._stamps = stamps
        self._controls = {*read[CONTROLS].lines}
        self._rows: dict[str, Line] = read[TRIAL_FILE].lines | read[CONTROLS].lines
        self.metrics = {metrics_in(each.header) for each in read.values() if each.rows}

    @property
    def rows(self) -> Collection[Line]:
        """The last row of each trial, as text."""
        return self._rows.values()

    @property
    def status(self) -> dict[str, str]:
        """The status of each trial that has a row, by the trial's id."""
        return {trial: row["status"] for trial, row in self._rows.items()}

    @cached_property
    def _planned(self) -> Mapping[str, Line]:
        return self._plan()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The header that the plan needs."""
        stated = {name for line in self._planned.values() for name in line}
        used = stated | ({"inner_score", "tune_seconds"} if "tuned" in stated else set())
        optional = [name for name in OPTIONAL if name in used]
        parameters = sorted(name for name in stated if "." in name and name not in OPTIONAL)
        return (*DESCRIBING, *parameters, *optional, *self._metrics, *OUTCOME)

    def is_settled(self, order: Iterable[str]) -> bool:
        """Return whether `settle` would leave both files unchanged."""
        own = self._by_file(self._restated(order))
        return all(_bytes(self.folder / name) == self._content(own[name]) for name in own)

    def append(self, outcomes: Mapping[str, Mapping[str, object]]) -> None:
        """Append the outcomes of trials, given by column, and wait until they are on disk.

        Those that can't be written are not kept. But if another program has removed or changed a
        file, they stay in memory for `rescue`.
        """
        errors, new = [], {}
        for trial, outcome in outcomes.items():
            cells = {column: _text(value) for column, value in outcome.items()}
            new[trial] = self._row(trial, cells)
        for name, rows in self._by_file(new).items():
            path = self.folder / name
            if not rows:
                continue
            if _stamp(path) == self._stamps[name] or self._is_in_place(name):
                try:
                    with as_input_errors(path):
                        self._write(name, _lines(rows.values()))
                except InputError as error:
                    errors.append(error)
                    continue
            else:
                errors.append(InputError(f"Another program removed or changed {path}."))
            self._rows |= rows
        if errors:
            raise errors[0]

    def drop(self, trials: Collection[str]) -> None:
        """Rewrite the files without the rows of these trials."""
        self._replace({id_: row for id_, row in self._rows.items() if id_ not in trials})

    def settle(self, order: Iterable[str]) -> None:
        """Rewrite the files with one row per trial, in the given order of trial ids.

        Rows of trials that are not in `order` follow in their present order.
        """
        if changed := self._changed:
            raise InputError(f"Another program removed or changed {self.folder / changed[0]}.")
        self._replace(self._restated(order))

    def rescue(self) -> str:
        """Write files again that another program removed or changed; return what was done.

        The message is empty if all files are as they were written.
        """
        own = self._by_file(self._rows)
        changed = {self.folder / name: own[name] for name in self._changed}
        told, aside = [], ""
        with as_input_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if there := [path for path in changed if path.exists()]:
                target = previous_folder(self.folder)
                aside = f" The previous content was moved to {target}."
                for path in there:
                    path.rename(target / path.name)
        for path, rows in changed.items():
            atomic_write(path, self._content(rows))
            told.append(
                f"Another program removed or changed {path} during the run. ddr wrote all "
                f"{len(rows)} rows again."
            )
        rest = f"{aside} The same command resumes the run from these rows."
        return f"{' '.join(told)}{rest}" if told else ""

    def __enter__(self) -> Self:
        self.refresh()
        self._replace(self._restated(()))
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            os.close(file)
        self._files = {}

    def _by_file(self, rows: Mapping[str, Line]) -> dict[str, dict[str, Line]]:
        """Return the rows of each file; a row that is not in the plan stays where it is."""
        own: dict[str, dict[str, Line]] = {name: {} for name in TRIAL_FILES}
        for trial, row in rows.items():
            line = self._planned.get(trial)
            is_control = trial in self._controls if line is None else line["control"]
            own[CONTROLS if is_control else TRIAL_FILE][trial] = row
        return own

    def _restated(self, order: Iterable[str] = ()) -> dict[str, Line]:
        """Return the rows as the plan describes them now, in an order of trial ids."""
        known = dict.fromkeys([*(trial for trial in order if trial in self._rows), *self._rows])
        return {trial: self._row(trial, self._rows[trial]) for trial in known}

    def _row(self, trial: str, outcome: Mapping[str, str]) -> Line:
        row = {**outcome, **self._planned.get(trial, {})}
        return {column: row.get(column, "") for column in self.columns}

    @property
    def _changed(self) -> list[str]:
        return [name for name in TRIAL_FILES if not self._is_in_place(name)]

    def _is_in_place(self, name: str) -> bool:
        """Return whether the open file is still at its path, and no other program wrote to it."""
        path = self.folder / name
        try:
            if _stamp(path) == self._stamps[name]:
                return True
            is_same = os.path.samestat(path.stat(), os.fstat(self._files[name]))
            there = _read(path).lines
        except (OSError, InputError):
            return False
        return is_same and there == self._by_file(self._rows)[name]

    def _content(self, rows: Mapping[str, Line]) -> bytes:
        """Return a file's content with these rows."""
        header = dict(zip(self.columns, self.columns, strict=True))
        return _lines([header, *rows.values()])

    def _replace(self, rows: dict[str, Line]) -> None:
        """Make these the rows of the files, and open the files."""
        own = self._by_file(rows)
        leaving = {trial: rows[trial] for trial in own[TRIAL_FILE] if trial in self._controls}
        self.__exit__()
        # A row is in its new file before it leaves the old one, so that a crash loses none.
        for name, kept in ((CONTROLS, own[CONTROLS] | leaving), *own.items()):
            if _bytes(self.folder / name) != (content := self._content(kept)):
                atomic_write(self.folder / name, content)
        self._rows, self._controls, self.metrics = rows, {*own[CONTROLS]}, {self._metrics}
        for name in TRIAL_FILES:
            with as_input_errors(self.folder / name):
                self._files[name] = os.open(self.folder / name, os.O_RDWR | os.O_APPEND)
            self._stamps[name] = _stamp(self._files[name])

    def _write(self, name: str, content: bytes) -> None:
        """Append to a file, all or nothing."""
        file = self._files[name]
        end = os.fstat(file).st_size
        left = memoryview(content)
        try:
            while left:
                left = left[os.write(file, left) :]
            os.fsync(file)
        except OSError:
            os.ftruncate(file, end)
            raise
        finally:
            self._stamps[name] = _stamp(file)


_Stamp = tuple[int, int, int] | None


def _stamp(file: Path | int) -> _Stamp:
    """Return values that differ if a file was changed: its size, its time and its inode."""
    try:
        facts = os.fstat(file) if isinstance(file, int) else file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return facts.st_size, facts.st_mtime_ns, facts.st_ino


def _bytes(path: Path) -> bytes | None:
    require_file(path)
    with as_input_errors(path):
        return path.read_bytes() if path.exists() else None


def _lines(rows: Iterable[Line]) -> bytes:
    buffer = io.StringIO()
    write = csv.writer(buffer, lineterminator="\n").writerow
    for row in rows:
        write(map(as_cell, row.values()))
    return buffer.getvalue().encode()


def _text(value: object) -> str:
    """Return the text of a cell, which has no line break."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else repr(value)
    return "".join(c if c.isprintable() else " " for c in text)


def read_rows(folder: Path) -> pd.DataFrame:
    """Return the last row of each trial of a folder, of methods and of controls, as text."""
    import pandas as pd

    columns = _columns_of(Path(folder))
    return pd.DataFrame({name: _text_column(cells) for name, cells in columns.items()})


def _columns_of(folder: Path) -> dict[str, list[str]]:
    """Return the cells of `read_rows` by column."""
    if not (folder / TRIAL_FILE).is_file():
        raise InputError(f"There is no {TRIAL_FILE} in {folder}; run a spec first.")
    files = [_read(folder / name) for name in TRIAL_FILES]
    found = dict.fromkeys(name for file in files for name in file.header)
    columns: dict[str, list[str]] = {name: [] for name in [*found] or [*DESCRIBING, *OUTCOME]}
    for header, rows in files:
        own = dict(zip(header, zip(*rows, strict=True), strict=False))
        for name, cells in columns.items():
            cells += own.get(name, [""] * len(rows))
    # A trial that was run again has several rows, and a run that was killed while it moved rows
    # leaves them in both files.
    last = {trial: row for row, trial in enumerate(columns["trial_id"])}
    if len(last) < len(columns["trial_id"]):
        columns = {name: [cells[row] for row in last.values()] for name, cells in columns.items()}
    # The file may come from anyone, and its cells are also printed on the terminal.
    return {
        name: cells if "".join(cells).isprintable() else list(map(printable, cells))
        for name, cells in columns.items()
    }


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
    text = {*DESCRIBING, "status", "reason"}
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
        for header, rows in [_read(path)]
        for number, row in enumerate(rows, start=2)
        if name in header and printable(row[header.index(name)]) == wrong[0]
    )
    raise InputError(f"{place}: {name} is {wrong[0]!r}, not a number; restore the file.")


class _File(NamedTuple):
    header: tuple[str, ...]
    rows: list[list[str]]

    @property
    def lines(self) -> dict[str, Line]:
        """The last row of each trial."""
        return {row[0]: dict(zip(self.header, row, strict=True)) for row in self.rows}


def _read(path: Path) -> _File:
    """Return the header (empty in a new file) and the complete rows of a file."""
    content = _bytes(path) or b""
    first, ended, _ = content.partition(b"\n")
    if not ended:
        begun = first.rstrip(b"\0")
        if _FIRST.startswith(begun[: len(_FIRST)]) and b"\r" not in begun:
            return _File((), [])
        raise UnreadableLogError(path, "the file has no complete line")
    header = _header(path, first)
    end = content.rfind(b"\n") + 1
    # A power cut can leave a tail of zero bytes where the last rows should be.
    while b"\0" in content[(start := content.rfind(b"\n", 0, end - 1) + 1) : end]:
        end = start
    lines = content[len(first) + 1 : end].decode(errors="surrogateescape").split("\n")[:-1]
    for number, line in enumerate(lines, start=2):
        # Only a line with unusual characters, or with other commas, needs a closer look.
        if wrong := _wrong(line, len(header)):
            raise InputError(
                f"{path}, line {number}: {wrong}; restore the file or delete the line."
            )
    rows = list(csv.reader(lines))
    if any("'" in line for line in lines):
        rows = [[from_cell(cell) for cell in row] for row in rows]
    return _File(header, rows)


def _parsed(text: str) -> list[list[str]]:
    """Return the cells of lines; empty if they are not text."""
    try:
        text.encode()  # fails on bytes that are not UTF-8
        return list(csv.reader(io.StringIO(text, newline="")))
    except (UnicodeEncodeError, csv.Error):
        return []


def _wrong(line: str, columns: int) -> str:
    """Return why a line is not a row of that many cells, or an empty string."""
    # Splitting every line into cells would take most of the time.
    if line.isprintable() and '"' not in line and line.count(",") == columns - 1:
        return ""
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
        raise UnreadableLogError(path, "the first line of the file is not text")
    has_all = {"control", *OUTCOME} <= set(header)
    if has_all and header[: len(IDENTITY)] == IDENTITY:
        if len(set(header)) < len(header):
            raise UnreadableLogError(path, "two columns in the first line have the same name")
        return header
    if header[0].startswith(("\ufeff", "trial_id;")):
        raise InputError(
            f"A spreadsheet program wrote {path} and may have changed ids; restore the file."
        )
    raise InputError(
        f"{path} is not a trial log of ddr. Choose another folder with --out, or use --redo all, "
        "which moves the existing file to previous/."
    )
