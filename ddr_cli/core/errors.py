"""Errors that reach the user as one clear sentence and an exit code."""

from __future__ import annotations

import difflib
import errno
import re
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

EXIT_FAILED, EXIT_INTERRUPTED = 1, 130

_SHORT, _NEAR = 5, 0.7
_MOST_FRAMES, _MOST_CHARACTERS = 20, 8_000  # limits of a traceback
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return a text without characters that control a terminal or reverse the text direction."""
    return _UNSEEN.sub("\ufffd", text)


def message_of(error: BaseException) -> str:
    """Return an error's message, which code of others may compute."""
    try:
        return str(error)
    except BaseException:
        return "the message of the error cannot be read"


def traceback_of(error: BaseException, ours: str) -> str:
    """Return an error's traceback without the outer frames, of files whose paths start so."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(ours):
        frames = frames.tb_next
    try:
        lines = traceback.format_exception(type(error), error, frames, limit=-_MOST_FRAMES)
    except BaseException:
        lines = []
    return "".join(lines)[-_MOST_CHARACTERS:]


class DdrError(Exception):
    """An error whose message is written for the user.

    The command line prints the message without a traceback and exits with `exit_code`; a message
    states the problem and the next step.
    """

    exit_code = EXIT_FAILED


class InputError(DdrError):
    """The user's input (a spec, an option, a card, a path) is wrong."""

    exit_code = 2


def unreadable(path: Path, error: OSError) -> InputError:
    """Return the error for a file that the system can't read."""
    reason = error.strerror or error
    return InputError(f"{path} can't be read ({reason}); check the path and its permissions.")


class DataUnavailableError(DdrError):
    """A data set is in no mirror and not in the cache, and can't be downloaded.

    `short` is a one-line version, for a list of several data sets whose advice is printed once.
    """

    exit_code = 3

    def __init__(self, message: str, short: str = "") -> None:
        super().__init__(message)
        self.short = short or message


def shortage(error: BaseException) -> str | None:
    """Return what to do if the system refused memory or files, for an error or its cause."""
    cause: BaseException | None = error
    while cause is not None:
        number = cause.errno if isinstance(cause, OSError) else None
        # The dynamic loader reports a lack of memory without an error number.
        unmapped = isinstance(cause, ImportError) and "failed to map segment" in str(cause)
        if isinstance(cause, MemoryError) or number == errno.ENOMEM or unmapped:
            return (
                "The process has used all of its memory; free some or raise the limit (ulimit -v; "
                "a small run needs 1.5 GB of address space), then repeat the command."
            )
        if number in (errno.EMFILE, errno.ENFILE):
            return (
                "Too many files are open; raise the limit (ulimit -n 1024) and repeat the command."
            )
        cause = cause.__cause__ or cause.__context__
    return None


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that is most similar to `word`, if any is similar."""
    by_folded = {choice.casefold(): choice for choice in choices}
    folded = word.casefold()
    close = difflib.get_close_matches(folded, by_folded, n=3, cutoff=0.6)
    # Two swapped letters are the most likely typing error.
    for found in sorted(close, key=lambda each: Counter(each) != Counter(folded)):
        # In a short word, two wrong letters are too many: 'seed' is not a typing error for 'sweep'.
        missing, extra = Counter(found) - Counter(folded), Counter(folded) - Counter(found)
        near = missing.total() <= 1 and extra.total() <= 1
        if len(folded) > _SHORT:
            near = difflib.SequenceMatcher(None, found, folded).ratio() >= _NEAR
        if near or folded in found or found in folded:
            return by_folded[found]
    return None


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 split`` or ``2 splits``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return the first names in one line, the rest as a number."""
    first = ", ".join(names[:most])
    return f"{first} and {len(names) - most} more" if len(names) > most else first


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` or, if nothing is similar, an empty string."""
    match = nearest(word, choices)
    return f" Did you mean '{match}'?" if match else ""
