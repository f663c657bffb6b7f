"""`tracebacks.jsonl`: the tracebacks of failed trials, in the code of components.

Each reason has one line, from the first trial that failed with it.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable
from pathlib import Path

from ddr_cli.core.atomic import clear_messages, require_file
from ddr_cli.engine.rows.journal import TrialResult

FILE_NAME = "tracebacks.jsonl"

_HERE = str(Path(__file__).parents[1])
_MOST_FRAMES = 20
_MOST_CHARACTERS = 8_000
_MOST_REASONS = 200


def traceback_of(error: BaseException) -> str:
    """Return an error's traceback without the frames of the engine."""
    if remote := getattr(error, "traceback", ""):
        return str(remote)
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(_HERE):
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error, frames, limit=-_MOST_FRAMES)
    return "".join(lines)[-_MOST_CHARACTERS:]


class Tracebacks:
    """Keeps the tracebacks of a session's failures in a result folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._known = set(read_tracebacks(folder))

    def keep(self, results: Iterable[TrialResult]) -> None:
        """Write the tracebacks of new reasons."""
        new = {one.reason: one.traceback for one in results if one.traceback}
        new = {reason: text for reason, text in new.items() if reason not in self._known}
        if new and len(self._known) < _MOST_REASONS:
            self._known |= new.keys()
            with clear_messages(self._path), self._path.open("a", encoding="utf-8") as file:
                for reason, text in new.items():
                    file.write(json.dumps({"reason": reason, "traceback": text}) + "\n")


def read_tracebacks(folder: Path) -> dict[str, str]:
    """Return the tracebacks of a result folder by reason, except unreadable ones."""
    found = {}
    require_file(folder / FILE_NAME)
    try:
        lines = (folder / FILE_NAME).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        try:
            record = json.loads(line)
            reason, text = str(record["reason"]), str(record["traceback"])
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        found[reason] = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    return found
