"""`tracebacks.jsonl`: the tracebacks of failed trials, in the code of components.

Each reason has one line, from the first trial that failed with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ddr_cli.core.atomic import as_input_errors, require_file
from ddr_cli.rows.log import TrialResult

TRACEBACK_FILE = "tracebacks.jsonl"

_MOST_REASONS = 200


class Tracebacks:
    """Keeps the tracebacks of a session's failures in a result folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / TRACEBACK_FILE
        self._known = set(read_tracebacks(folder))

    def keep(self, results: Iterable[TrialResult]) -> None:
        """Write the tracebacks of new reasons."""
        new = {one.reason: one.traceback for one in results if one.traceback}
        new = {reason: text for reason, text in new.items() if reason not in self._known}
        if new and len(self._known) < _MOST_REASONS:
            self._known |= new.keys()
            with as_input_errors(self._path), self._path.open("a", encoding="utf-8") as file:
                for reason, text in new.items():
                    file.write(json.dumps({"reason": reason, "traceback": text}) + "\n")


def read_tracebacks(folder: Path) -> dict[str, str]:
    """Return the tracebacks of a result folder by reason, except unreadable ones."""
    found = {}
    require_file(folder / TRACEBACK_FILE)
    try:
        lines = (folder / TRACEBACK_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
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
