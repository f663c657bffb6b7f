"""Downloading one file by pooch: several addresses, progress, and what is checked."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ddr_cli.core.errors import InputError
from ddr_cli.core.limits import TookTooLongError, time_limit
from ddr_cli.data.archives import check_packing, read_members
from ddr_cli.data.card import CardFile, Url
from ddr_cli.data.store.locate import Sources

if TYPE_CHECKING:
    import requests

# What a server says that asks to come again; any other 4xx will say the same next time.
_PASSING = frozenset({408, 425, 429})
_LARGEST = 4 * 1024**3
# Where a firewall drops what is sent, each address costs this many seconds, once.
_CONNECT_TIMEOUT = 10.0
_LONGEST_START = 60.0
_LEAST_RATE = 16 * 1024
_USUAL_BYTES = 64 * 1024**2


class DownloadFailedError(Exception):
    """A file came from none of its addresses; the message names each with its reason."""


class _LastingError(Exception):
    """Trying the same address again would end the same: pooch, which retries others, lets it by."""


def download(file: CardFile, target: Path, sources: Sources) -> None:
    """Download one file of a card to `target`, in a folder of our own, whole and checked."""
    import logging

    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    reasons = []
    for url in file.urls:
        with _Progress(url.url) as progress:
            asked = pooch.create(
                path=target.parent,
                base_url="",
                registry={target.name: None},
                urls={target.name: url.url},
                retry_if_failed=sources.attempts - 1,
            )
            attempt = partial(_attempt, file=file, url=url, sources=sources, progress=progress)
            try:
                asked.fetch(target.name, downloader=attempt)
            except (_LastingError, ValueError, OSError) as error:  # requests' are OSErrors too
                reasons.append(f"{url.url}: {_reason(error, sources)}")
            else:
                return
    raise DownloadFailedError("\n".join(reasons))


def _attempt(
    _: str,
    output_file: str,
    asked: object,
    *,
    file: CardFile,
    url: Url,
    sources: Sources,
    progress: _Progress,
) -> None:
    """Download a file and check it; pooch tries again after a ValueError or one of requests'."""
    import pooch
    import requests

    progress.reset()
    retrieve = pooch.HTTPDownloader(
        progressbar=progress,
        chunk_size=1 << 16,
        timeout=(min(sources.timeout, _CONNECT_TIMEOUT), sources.timeout),
        # A server that packs on the fly would have a .gz file come unpacked.
        headers={"Accept-Encoding": "identity"},
    )
    limit = _longest(file)
    try:
        with time_limit(limit):
            retrieve(url.url, output_file, asked)
    except TookTooLongError:
        raise _LastingError(f"not complete after {limit:.3g} s") from None
    except requests.ConnectTimeout as error:
        raise _LastingError("no connection could be made") from error
    except requests.HTTPError as error:
        status = 0 if error.response is None else error.response.status_code
        if 400 <= status < 500 and status not in _PASSING:
            raise _LastingError(_answer(error)) from error
        raise
    path = Path(output_file)
    try:
        if url.member is not None:
            _take_member(path, url.member)
        if file.sha256 is None:
            check_packing(path)
    except InputError as error:
        raise ValueError(
            "the download is not a valid archive (corrupt, or the wrong file)"
        ) from error
    size = path.stat().st_size
    if file.bytes not in (None, size):
        raise ValueError(f"expected {file.bytes} bytes, got {size}")
    if file.sha256 not in (None, pooch.file_hash(output_file)):
        raise ValueError("checksum mismatch (corrupt download, or changed upstream)")


def _longest(file: CardFile) -> float:
    """Return how many seconds a download may take, also from a server that sends byte by byte."""
    return _LONGEST_START + (file.bytes or _USUAL_BYTES) / _LEAST_RATE


def _take_member(path: Path, member: str) -> None:
    """Put a member of an archive in the archive's place."""
    for _, content in read_members(path, wanted=lambda name: f"/{name}".endswith(f"/{member}")):
        path.write_bytes(content)
        return
    raise ValueError(f"the archive that came has no file {member}")


def _reason(error: Exception, sources: Sources) -> str:
    import requests

    reason = str(error)
    if isinstance(error, _LastingError):
        return reason
    if isinstance(error, OSError) and not isinstance(error, requests.RequestException):
        return f"can't be written: {error.strerror or error}"
    if isinstance(error, requests.HTTPError):
        reason = _answer(error)
    elif isinstance(error, requests.Timeout) or "timed out" in reason:
        reason = f"timed out after {sources.timeout:g} s"
    elif isinstance(error, requests.exceptions.ChunkedEncodingError) or "IncompleteRead" in reason:
        reason = "the connection broke off"
    elif isinstance(error, requests.ConnectionError):
        reason = "can't reach the server"
    return f"{reason} ({sources.attempts} attempts)"


def _answer(error: requests.HTTPError) -> str:
    response = error.response
    if response is None:
        return str(error)
    return f"the server answered {response.status_code} {response.reason or ''}".rstrip()


class _Progress:
    """What pooch tells of a download, as a bar on a terminal and as one line elsewhere."""

    total: float = 0

    def __init__(self, url: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

        console = Console(file=sys.stderr)
        shown = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
        on_terminal = console.is_terminal
        self._bar = Progress(*shown, console=console, transient=True, disable=not on_terminal)
        self._task = self._bar.add_task(url.rsplit("/", 1)[-1], total=None)
        self._came = 0
        if not on_terminal:
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
