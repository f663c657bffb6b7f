"""Standard streams that are closed, or whose reader ends early, such as `head` or a terminal.

The output is then lost, but the command continues.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_READER_GONE = (errno.EPIPE, errno.EIO)


class _Stream:
    """A text stream that writes nothing more after a write has failed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        # The terminal's encoding, such as PYTHONIOENCODING=ascii, may lack some characters.
        encoding = self._stream.encoding or "utf-8"
        shown = text.encode(encoding, "replace").decode(encoding)
        self._try(lambda: self._stream.write(shown))
        return len(text)

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, do: Any) -> None:
        try:
            do()
        except OSError as error:
            self.error = self.error or error
            # Python writes buffered text again, at the latest at exit; the null device accepts it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def lasting_streams() -> Iterator[None]:
    """Ensure that output that can no longer be written changes nothing in the block.

    Exits with 1 if the output was lost for any reason other than a closed pipe.
    """
    before = sys.stdout, sys.stderr
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Otherwise the next opened file, such as a journal, would get this stream's descriptor.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    sys.stdout, sys.stderr = out, _ = _Stream(sys.stdout), _Stream(sys.stderr)
    try:
        yield
    finally:
        out.flush()
        sys.stdout, sys.stderr = before
        if out.error is not None and out.error.errno not in _READER_GONE:
            reason = out.error.strerror
            sys.stderr.write(f"Error: the output can't be written: {reason}.\n")
            raise SystemExit(1)
