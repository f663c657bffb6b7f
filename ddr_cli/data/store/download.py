"""Downloading: files by pooch, tables of OpenML by scikit-learn; what to do if that fails.

scikit-learn checks OpenML's own checksum. The card that is written for ``openml:ID`` keeps the
fingerprint of the arrays, so that a table that changes later is not taken for the same.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import DataUnavailableError, InputError
from ddr_cli.core.limits import TookTooLongError, time_limit
from ddr_cli.data.card import Card, CardFile, Url
from ddr_cli.data.files import check_packing, read_members
from ddr_cli.data.store.sources import Folder, Sources, find_file, folders_of

if TYPE_CHECKING:
    import requests


# With these the server asks to try again; it repeats every other 4xx.
_PASSING = frozenset({408, 425, 429})
_LARGEST = 4 * 1024**3
# Each address costs this many seconds, once, behind a firewall that drops packets.
_CONNECT_TIMEOUT = 10.0
_LONGEST_START = 60.0
_LEAST_RATE = 16 * 1024
_USUAL_BYTES = 64 * 1024**2

_FOLDERS = {
    "card": "next to the card, {}",
    "mirror": "mirror {} (DDR_DATA or --data-dir)",
    "cache": "cache {}",
}


class DownloadFailedError(Exception):
    """A file came from none of its addresses; the message names each with its reason."""


class _LastingError(Exception):
    """Another attempt would fail too: pooch tries again after other errors, not after this one."""


def download(file: CardFile, target: Path, sources: Sources) -> None:
    """Download one file of a card to `target`, in a folder of our own, whole and checked."""
    import logging

    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    reasons = []
    for url in file.urls:
        with _Progress(url.url) as progress:
            registry = pooch.create(
                path=target.parent,
                base_url="",
                registry={target.name: file.sha256},
                urls={target.name: url.url},
                retry_if_failed=sources.attempts - 1,
            )
            attempt = partial(_attempt, file=file, url=url, sources=sources, progress=progress)
            try:
                registry.fetch(target.name, downloader=attempt)
            except (_LastingError, ValueError, OSError) as error:  # requests' are OSErrors too
                reasons.append(f"{url.url}: {_reason(error, sources)}")
            else:
                return
    raise DownloadFailedError("\n".join(reasons))


def _attempt(
    _: str,
    output_file: str,
    registry: object,
    *,
    file: CardFile,
    url: Url,
    sources: Sources,
    progress: _Progress,
) -> None:
    """Download a file; pooch checks it, and tries again after a ValueError or one of requests'."""
    import pooch
    import requests

    progress.reset()
    retrieve = pooch.HTTPDownloader(
        progressbar=progress,
        chunk_size=1 << 16,
        timeout=(min(sources.timeout, _CONNECT_TIMEOUT), sources.timeout),
        # A server that compresses on the fly would send a .gz file unpacked.
        headers={"Accept-Encoding": "identity"},
    )
    # Also for a server that sends byte by byte.
    limit = _LONGEST_START + (file.bytes or _USUAL_BYTES) / _LEAST_RATE
    try:
        with time_limit(limit):
            retrieve(url.url, output_file, registry)
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
            path.write_bytes(_member(path, url.member))
        if file.sha256 is None:
            check_packing(path)
    except InputError as error:
        raise ValueError("the download is no valid archive (corrupt, or the wrong file)") from error


def _member(archive: Path, member: str) -> bytes:
    for _, content in read_members(archive, wanted=lambda n: f"/{n}".endswith(f"/{member}")):
        return content
    raise ValueError(f"the downloaded archive has no file {member}")


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
    elif "does not match the known hash" in reason:
        reason = "checksum mismatch (corrupt download, or changed upstream)"
    return f"{reason} ({sources.attempts} attempts)"


def _answer(error: requests.HTTPError) -> str:
    response = error.response
    if response is None:
        return str(error)
    return f"the server answered {response.status_code} {response.reason or ''}".rstrip()


class _Progress:
    """What pooch reports of a download: a bar on a terminal, one line elsewhere."""

    total: float = 0

    def __init__(self, url: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

        console = Console(file=sys.stderr)
        shown = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
        on_terminal = console.is_terminal
        self._bar = Progress(*shown, console=console, transient=True, disable=not on_terminal)
        self._task = self._bar.add_task(url.rsplit("/", 1)[-1], total=None)
        self._received = 0
        if not on_terminal:
            console.print(f"downloading {url}", soft_wrap=True, highlight=False)

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, size: int) -> None:
        """Count `size` more bytes."""
        self._received += size
        if self._received > _LARGEST:
            raise _LastingError(f"given up after {_LARGEST} bytes")
        self._bar.update(self._task, completed=self._received, total=self.total or None)

    def reset(self) -> None:
        """Start counting again; pooch does so before it reports the whole at the end."""
        self._received = 0

    def close(self) -> None:
        """Do nothing: the bar ends with the block, also after an error."""


def unavailable(card: Card, sources: Sources, failures: Sequence[str]) -> DataUnavailableError:
    """Return the error that says where a data set was looked for and what can be done.

    `failures` says why it could not be downloaded, a line per address; it is empty when offline.
    """
    looked = [
        f"  {_FOLDERS[folder.kind].format(folder.path)}: {_lacking(card, folder)}"
        for folder in folders_of(card, sources)
    ]
    name = card.name if card.shipped or card.path is None else str(card.path)
    fate = "downloads are off" if sources.offline else "could not be downloaded"
    home = card.home or "their distributor"
    reasons = "; ".join(failures) or f"{fate}; its files are from {home}"
    return DataUnavailableError(
        "\n".join(
            [
                f"The data set '{card.name}' is not available locally and {fate}. Tried:",
                *looked,
                *(f"  {line}" for line in failures),
                *advice(name, home),
            ]
        ),
        f"{card.name}: not available; {reasons}",
    )


def advice(name: str, home: str) -> list[str]:
    """Return the lines that say what can be done if a data set is not available."""
    return [
        "What you can do:",
        f"  - put the files (from {home}) into the cache: ddr data import {name} PATH...",
        "  - or name a folder that has them, laid out as <folder>/<file>: DDR_DATA=FOLDER",
        "  - or run a spec that needs no download: digits_ccdr_beta, balance_ccdr_beta",
    ]


def _lacking(card: Card, folder: Folder) -> str:
    if not folder.path.is_dir():
        return "no such folder"
    absent = [file.path for file in card.layouts[0].files if not find_file(card, file, [folder])]
    return f"no {', '.join(absent)}" if absent else "files that are not the data set"


_MOST_CLASSES = 50


def download_table(number: int, sources: Sources) -> tuple[Path, dict[str, Any]]:
    """Download a data set as a table; return the path and the content of the card for it."""
    path = sources.openml_card(number)
    if sources.offline:
        raise DataUnavailableError(
            f"openml:{number} is not in the cache {sources.cache_dir}, and downloads are off; run "
            f"'ddr data fetch openml:{number}' once where there is a connection."
        )
    bunch = _fetched(number, sources)
    frame, target = bunch.data, bunch.target
    name = str(bunch.details.get("name", f"OpenML {number}"))
    if target is None or getattr(target, "ndim", 1) != 1:
        raise InputError(f"openml:{number} ({name}) does not have exactly one column of classes.")
    if target.dtype.name != "category" and target.nunique() > _MOST_CLASSES:
        raise InputError(
            f"openml:{number} ({name}) has no classes: its target '{target.name}' is a number "
            f"with {target.nunique()} values."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    table = path.with_name("data.csv")
    frame.assign(**{str(target.name): target}).to_csv(table, index=False)
    options: dict[str, Any] = {"label": str(target.name), "header": True, "missing": "keep"}
    if categorical := [str(c) for c in frame.columns if not _is_numeric(frame[c])]:
        options |= {"categorical": categorical, "categories": "codes"}
    content: dict[str, Any] = {
        "name": path.stem,
        "title": name,
        "version": 1,
        "files": [{"path": table.name}],
        "format": {"name": "csv", **options, "missing_values": [""]},
    }
    if target.isna().any():
        content["unlabelled"] = "keep"
    return path, content


def _fetched(number: int, sources: Sources) -> Any:
    from http.client import HTTPException

    from sklearn import datasets

    try:
        with warnings.catch_warnings():
            # It warns of each failed attempt; one message follows when all have failed.
            warnings.simplefilter("ignore")
            return datasets.fetch_openml(
                data_id=number,
                as_frame=True,
                data_home=str(sources.cache_dir / "scikit-learn"),
                n_retries=sources.attempts,
            )
    except (OSError, HTTPException) as error:
        reason = str(getattr(error, "reason", error)) or type(error).__name__
        raise DataUnavailableError(
            f"openml:{number} is not in the cache and can't be fetched from OpenML ({reason}); try "
            "again where there is a connection."
        ) from None
    except (ValueError, ImportError) as error:  # an unknown number, a sparse table
        raise InputError(f"openml:{number} can't be used: {error}") from None


def _is_numeric(column: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return bool(is_numeric_dtype(column)) and not bool(is_bool_dtype(column))
