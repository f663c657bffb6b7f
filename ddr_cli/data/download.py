"""Downloading one file: several addresses, retries with back-off, progress, checks."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ddr_cli.core.errors import InputError
from ddr_cli.data.archive import check_packing, members
from ddr_cli.data.card_model import CardFile, Url
from ddr_cli.data.locate import Sources

if TYPE_CHECKING:
    import requests

# What a server says that asks to come again; any other 4xx will say the same next time.
_PASSING = frozenset({408, 425, 429})
_LARGEST = 4 * 1024**3
_CHUNK = 1 << 16
# Where a firewall drops what is sent, each address costs this many seconds, once.
_CONNECT_TIMEOUT = 10.0


class DownloadFailedError(Exception):
    """A file came from none of its addresses; the message names each with its reason."""


class _LastingError(Exception):
    """Trying the same address again would end the same."""


def download(file: CardFile, target: Path, sources: Sources) -> None:
    """Download one file of a card to `target`.

    Parameters
    ----------
    file : CardFile
        The file; its addresses are tried in order.
    target : Path
        Where it is put, in a folder of our own: parts of it may lie there meanwhile.
    sources : Sources
        Says how often and how patiently each address is tried.

    Raises
    ------
    DownloadFailedError
        If it came from no address, whole and with the right checksum.
    """
    reasons = []
    for url in file.urls:
        try:
            _patiently(file, url, target, sources)
        except _LastingError as error:
            reasons.append(f"{url.url}: {error}")
        else:
            return
    raise DownloadFailedError("\n".join(reasons))


def _patiently(file: CardFile, url: Url, target: Path, sources: Sources) -> None:
    reason = ""
    for attempt in range(sources.attempts):
        if attempt:
            time.sleep(sources.backoff * 2 ** (attempt - 1))
        try:
            _once(file, url, target, sources.timeout, tell=attempt == 0)
        except InputError:
            reason = "what came can't be unpacked: damaged on the way, or another file"
        except ValueError as error:
            reason = str(error)
        except OSError as error:  # requests' errors are OSErrors too
            reason = _reason(error, sources.timeout)
        else:
            return
    raise _LastingError(f"{reason} ({sources.attempts} attempts)")


def _once(file: CardFile, url: Url, target: Path, timeout: float, *, tell: bool) -> None:
    if url.member is None:
        _retrieve(url.url, target, timeout, tell=tell)
    else:
        packed = target.parent / "archive"
        try:
            _retrieve(url.url, packed, timeout, tell=tell)
            target.write_bytes(_member(packed, url.member))
        finally:
            packed.unlink(missing_ok=True)
    _check(file, target)


def _retrieve(url: str, target: Path, timeout: float, *, tell: bool) -> None:
    import logging

    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    target.unlink(missing_ok=True)
    with _Progress(url, tell=tell) as progress:
        downloader = pooch.HTTPDownloader(
            progressbar=progress,
            chunk_size=_CHUNK,
            timeout=(min(timeout, _CONNECT_TIMEOUT), timeout),
            # A server that packs on the fly would have a .gz file come unpacked.
            headers={"Accept-Encoding": "identity"},
        )
        pooch.retrieve(
            url, known_hash=None, fname=target.name, path=target.parent, downloader=downloader
        )


def _member(packed: Path, name: str) -> bytes:
    for _, content in members(packed, wanted=lambda path: f"/{path}".endswith(f"/{name}")):
        return content
    raise ValueError(f"the archive that came has no file {name}")


def _check(file: CardFile, target: Path) -> None:
    """Raise ValueError or InputError if what came is not the file."""
    size = target.stat().st_size
    if file.bytes not in (None, size):
        raise ValueError(f"{size} bytes came, not {file.bytes}")
    if file.sha256 is not None:
        import pooch

        if pooch.file_hash(str(target)) != file.sha256:
            raise ValueError("what came has the wrong checksum: damaged on the way, or changed")
    else:
        check_packing(target)


def _reason(error: OSError, timeout: float) -> str:
    import requests

    if isinstance(error, requests.ConnectTimeout):
        raise _LastingError("no connection could be made") from error
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return _answered(error.response)
    if isinstance(error, requests.Timeout) or "timed out" in str(error):
        return f"nothing came for {timeout:g} s"
    if isinstance(error, requests.exceptions.ChunkedEncodingError | requests.ConnectionError):
        broken = "IncompleteRead" in str(error) or "ChunkedEncoding" in type(error).__name__
        return "the connection broke off" if broken else "the server can't be reached"
    if isinstance(error, requests.RequestException):
        return f"{type(error).__name__}: {error}"
    raise _LastingError(f"can't be written: {error.strerror or error}") from error


def _answered(response: requests.Response) -> str:
    code = response.status_code
    reason = f"the server answered {code} {response.reason or ''}".rstrip()
    if 400 <= code < 500 and code not in _PASSING:
        raise _LastingError(reason)
    return reason


class _Progress:
    """What pooch tells of a download, as a bar on a terminal and as one line elsewhere.

    Parameters
    ----------
    url : str
        The address.
    tell : bool
        Whether the line is printed.
    """

    total: float

    def __init__(self, url: str, *, tell: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TransferSpeedColumn,
        )

        console = Console(file=sys.stderr)
        self.total = 0
        self._came = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(url.rsplit("/", 1)[-1], total=None)
        if tell and not console.is_terminal:
            console.print(f"downloading {url}", soft_wrap=True, highlight=False)

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, size: int) -> None:
        """Note that `size` more bytes came."""
        self._came += size
        if self._came > _LARGEST:
            raise _LastingError(f"more than {_LARGEST} bytes came; given up")
        self._bar.update(self._task, completed=self._came, total=self.total or None)

    def reset(self) -> None:
        """Start counting anew; pooch does so before it reports the whole at the end."""
        self._came = 0

    def close(self) -> None:
        """Do nothing: the bar goes when the block ends, also after an error."""
