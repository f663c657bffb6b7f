"""Downloads files by pooch and OpenML tables by scikit-learn, and explains failures.

scikit-learn checks OpenML's own checksum. The card that is written for ``openml:ID`` stores the
fingerprint of the arrays, so a table that changes later is detected.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pooch
import requests
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ddr_cli.core.errors import DataUnavailableError, InputError
from ddr_cli.core.limits import TookTooLongError, time_limit
from ddr_cli.data.card import Card, CardFile, Url
from ddr_cli.data.files import check_packing, read_members
from ddr_cli.data.store.sources import Folder, Sources, find_file, folders_of

# After these HTTP status codes another attempt may succeed; the other 4xx codes are final.
_PASSING = frozenset({408, 425, 429})
_LARGEST = 4 * 1024**3
# In seconds. Behind a firewall that drops packets, each address costs this time once.
_CONNECT_TIMEOUT = 10.0
_LONGEST_START = 60.0
_LEAST_RATE = 16 * 1024
_USUAL_BYTES = 64 * 1024**2
_MOST_CLASSES = 50

_FOLDERS = {
    "card": "next to the card, {}",
    "mirror": "data folder {} (DDR_DATA or --data-dir)",
    "cache": "cache {}",
}


class DownloadFailedError(Exception):
    """No address delivered a file; the message gives the reason for each address."""


class _LastingError(Exception):
    """Another attempt would fail too: pooch only repeats a download after other errors."""


def download(file: CardFile, target: Path, sources: Sources) -> None:
    """Download one file of a card to `target`, in a folder of our own, complete and verified."""
    pooch.get_logger().setLevel(logging.WARNING)
    console = Console(stderr=True)
    figures = DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    columns = ("{task.description}", BarColumn(), *figures)
    reasons = []
    for url in file.urls:
        if not console.is_terminal:
            console.print(f"downloading {url.url}", soft_wrap=True, highlight=False)
        registry = pooch.create(
            path=target.parent,
            base_url="",
            registry={target.name: file.sha256},
            urls={target.name: url.url},
            retry_if_failed=sources.attempts - 1,
        )
        bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        try:
            with bar:
                attempt = _Attempt(file, url, sources, bar)
                registry.fetch(target.name, downloader=attempt)
        except (_LastingError, ValueError, OSError) as error:  # requests raises OSErrors, too
            reasons.append(f"{url.url}: {_reason(error, sources)}")
        else:
            return
    raise DownloadFailedError("\n".join(reasons))


class _Attempt:
    """A downloader and a progress bar with the methods that pooch calls."""

    total: float = 0

    def __init__(self, file: CardFile, url: Url, sources: Sources, bar: Progress) -> None:
        self._file, self._url, self._sources, self._bar = file, url, sources, bar
        self._task = bar.add_task(url.url.rsplit("/", 1)[-1], total=None)
        self._received = 0

    def __call__(self, _: str, output_file: str, registry: object) -> None:
        """Download the file; pooch checks it, and repeats after some errors."""
        self.reset()
        retrieve = pooch.HTTPDownloader(
            progressbar=self,
            chunk_size=1 << 16,
            timeout=(min(self._sources.timeout, _CONNECT_TIMEOUT), self._sources.timeout),
            # Otherwise, a server that compresses on the fly could make a .gz file arrive unpacked.
            headers={"Accept-Encoding": "identity"},
        )
        # requests' timeouts do not stop a server that sends byte by byte; this limit does.
        limit = _LONGEST_START + (self._file.bytes or _USUAL_BYTES) / _LEAST_RATE
        try:
            with time_limit(limit):
                retrieve(self._url.url, output_file, registry)
        except TookTooLongError:
            raise _LastingError(f"the download was not complete after {limit:.3g} s") from None
        except requests.ConnectTimeout as error:
            raise _LastingError("no connection") from error
        except requests.HTTPError as error:
            status = 0 if error.response is None else error.response.status_code
            if 400 <= status < 500 and status not in _PASSING:
                raise _LastingError(_answer(error)) from error
            raise
        path, member = Path(output_file), self._url.member
        try:
            if member is not None:
                found = read_members(path, wanted=lambda n: f"/{n}".endswith(f"/{member}"))
                content = next((content for _, content in found), None)
                if content is None:
                    raise ValueError(f"the downloaded archive has no file {member}")
                path.write_bytes(content)
            if self._file.sha256 is None:
                check_packing(path)
        except InputError as error:
            reason = "the downloaded file is not a valid archive (damaged, or the wrong file)"
            raise ValueError(reason) from error

    def update(self, size: int) -> None:
        """Count `size` more bytes."""
        self._received += size
        if self._received > _LARGEST:
            raise _LastingError(f"the file is larger than {_LARGEST} bytes")
        self._bar.update(self._task, completed=self._received, total=self.total or None)

    def reset(self) -> None:
        """Start counting again; pooch calls this before it reports the total at the end."""
        self._received = 0

    def close(self) -> None:
        """Do nothing: the bar ends with the block, even after an error."""


def _reason(error: Exception, sources: Sources) -> str:
    reason = str(error)
    if isinstance(error, _LastingError):
        return reason
    if isinstance(error, OSError) and not isinstance(error, requests.RequestException):
        return f"the file can't be written ({error.strerror or error})"
    if isinstance(error, requests.HTTPError):
        reason = _answer(error)
    elif isinstance(error, requests.Timeout) or "timed out" in reason:
        reason = f"timed out after {sources.timeout:g} s"
    elif isinstance(error, requests.exceptions.ChunkedEncodingError) or "IncompleteRead" in reason:
        reason = "the connection was lost"
    elif isinstance(error, requests.ConnectionError):
        reason = "can't reach the server"
    elif "does not match the known hash" in reason:
        reason = "checksum mismatch (a damaged download, or the server has another file now)"
    return f"{reason} ({sources.attempts} attempts)"


def _answer(error: requests.HTTPError) -> str:
    response = error.response
    if response is None:
        return str(error)
    return f"the server answered {response.status_code} {response.reason or ''}".rstrip()


def unavailable(card: Card, sources: Sources, failures: Sequence[str]) -> DataUnavailableError:
    """Return the error that states where a data set was searched for and what the user can do.

    `failures` has the reason why each address failed, a line each; it is empty when offline.
    """
    looked = [
        f"  {_FOLDERS[folder.kind].format(folder.path)}: {_lacking(card, folder)}"
        for folder in folders_of(card, sources)
    ]
    fate = "downloads are off" if sources.offline else "could not be downloaded"
    home = card.home or "their distributor"
    reasons = "; ".join(failures) or f"{fate}; the files come from {home}"
    return DataUnavailableError(
        "\n".join(
            [
                f"The data set '{card.name}' is not on this machine and {fate}. ddr tried:",
                *looked,
                *(f"  {line}" for line in failures),
                *advice(home, card.files[0].path),
            ]
        ),
        f"{card.name} is not available; {reasons}",
    )


def advice(home: str, file: str) -> list[str]:
    """Return the lines that state what to do if the files of a data set are not available."""
    return [
        "What you can do:",
        f"  - get the files from {home}, put them into a folder as FOLDER/{file}, and set "
        "DDR_DATA=FOLDER",
        "  - or run a spec that needs no download: digits_ccdr_beta, balance_ccdr_beta",
    ]


def _lacking(card: Card, folder: Folder) -> str:
    if not folder.path.is_dir():
        return "no such folder"
    absent = [file.path for file in card.layouts[0].files if not find_file(card, file, [folder])]
    return f"no file {', '.join(absent)}" if absent else "the files do not match the card"


def download_table(number: int, sources: Sources) -> tuple[Path, dict[str, Any]]:
    """Download a data set as a table; return its path and the content of its card."""
    path = sources.openml_card(number)
    if sources.offline:
        raise DataUnavailableError(
            f"Downloads are off; first fetch the data with 'ddr data fetch openml:{number}'."
        )
    from sklearn import datasets

    try:
        with warnings.catch_warnings():
            # scikit-learn warns about each failed attempt; the error below follows if all fail.
            warnings.simplefilter("ignore")
            bunch: Any = datasets.fetch_openml(
                data_id=number,
                as_frame=True,
                data_home=str(sources.cache_dir / "scikit-learn"),
                n_retries=sources.attempts,
            )
    except (OSError, HTTPException) as error:
        reason = str(getattr(error, "reason", error)) or type(error).__name__
        raise DataUnavailableError(
            f"openml:{number} can't be fetched ({reason}); check the internet connection."
        ) from None
    except (ValueError, ImportError) as error:  # the number is unknown, or the table is sparse
        raise InputError(f"openml:{number} can't be used: {error}") from None
    frame, target = bunch.data, bunch.target
    name = str(bunch.details.get("name", f"OpenML {number}"))
    if target is None or getattr(target, "ndim", 1) != 1:
        raise InputError(
            f"openml:{number} ({name}) must have one class column; use another data set."
        )
    if target.dtype.name != "category" and target.nunique() > _MOST_CLASSES:
        raise InputError(
            f"openml:{number} ({name}) has a numeric target, not classes; use another data set."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    table = path.with_name("data.csv")
    frame.assign(**{str(target.name): target}).to_csv(table, index=False)
    options: dict[str, Any] = {"label": str(target.name), "header": True, "missing": "keep"}
    if categorical := [str(c) for c in frame.select_dtypes(exclude="number").columns]:
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
