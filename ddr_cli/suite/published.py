"""The published rows of a suite: the archive of a release, and its copy in the cache."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from glob import escape
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from ddr_cli import __version__
from ddr_cli.core.atomic import as_input_errors
from ddr_cli.core.errors import InputError
from ddr_cli.core.extras import distribution
from ddr_cli.data.store.sources import Sources
from ddr_cli.suite.names import CARD, FOLDER, SUITE_FILE

SUMS = "SHA256SUMS"
ENDING = ".tar.xz"
NO_ROWS = (
    "The suite has no results yet. 'ddr suite fetch' downloads the results of a shipped suite; "
    "'ddr suite run' runs the suite."
)


def archive_name(name: str, version: int | str) -> str:
    """Return the name of a suite's archive, without its ending."""
    return f"{FOLDER}{name}_v{version}"


def results_of(name: str, out: Path) -> Path:
    """Return the folder that contains a suite's.

    It is `out`; or, if that has the suite's archive instead, the unpacked archive; or, if it has
    neither, the fetched one.
    """
    kept = Sources.from_environment().cache_dir / "suites"
    if (out / f"{FOLDER}{name}").is_dir():
        return out
    if archives := sorted(out.glob(f"{archive_name(escape(name), '*')}{ENDING}")):
        unpacked = kept / f"{name}-{sha256(archives[-1].read_bytes()).hexdigest()[:16]}"
        if not unpacked.is_dir():
            _replace(unpacked, _verified(archives[-1], name))
        return unpacked
    return kept / name if (kept / name).is_dir() else out


def submissions_of(name: str, results: Path) -> list[Path]:
    """Return the folders of the methods that were submitted to a suite."""
    return sorted(card.parent for card in results.glob(f"{FOLDER}{name}_*/{CARD}"))


def begin_with_fetched(name: str, out: Path) -> None:
    """Copy a suite's fetched rows to `out` if that has none, for a run to continue them."""
    if (results := results_of(name, out)) != out:
        shutil.copytree(results / f"{FOLDER}{name}", out / f"{FOLDER}{name}")


def address_of(name: str, version: int) -> str:
    """Return the address of a suite's archive at the release of this version of ddr."""
    found = distribution()
    urls = (found.metadata.get_all("Project-URL") or []) if found else []
    home = next((url.partition(", ")[2] for url in urls if url.startswith("Repository, ")), None)
    if home is None:
        raise InputError(
            "ddr cannot find the published results. Name the archive with --from FILE_OR_URL."
        )
    return f"{home}/releases/download/v{__version__}/{archive_name(name, version)}{ENDING}"


def fetch(suite: Path, source: str | None = None) -> tuple[Path, int]:
    """Download and verify the rows of a suite's file; return their folder and the number of files.

    `source` is the address or the path of an archive, instead of the release's. Raises InputError
    if it can't be had, is damaged, or is of another version of the suite.
    """
    stated = re.search(r"^version: *(\d+)", suite.read_text(encoding="utf-8"), re.MULTILINE)
    name, version = suite.stem, int(stated[1]) if stated else 0
    sources = Sources.from_environment()
    place = sources.cache_dir / "suites" / name
    with TemporaryDirectory() as aside:
        source = source or address_of(name, version)
        archive = _downloaded(source, Path(aside), sources) if "://" in source else Path(source)
        files = _verified(archive, name, version)
    _replace(place, files)
    return place, len(files)


def _replace(place: Path, files: Mapping[str, bytes]) -> None:
    """Make these files, by their paths, the content of a folder, all or nothing."""
    with as_input_errors(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=place.parent, prefix=".") as aside:
            for inner, content in files.items():
                path = Path(aside) / "new" / inner
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            if place.exists():
                place.rename(Path(aside) / "old")
            (Path(aside) / "new").rename(place)


def _downloaded(url: str, folder: Path, sources: Sources) -> Path:
    from ddr_cli.data.card import CardFile, Url
    from ddr_cli.data.store.download import DownloadFailedError, download

    path = folder / f"archive{ENDING}"
    try:
        if sources.offline:
            raise DownloadFailedError(f"DDR_OFFLINE is set, so ddr does not download {url}")
        download(CardFile(path=path.name, urls=(Url(url=url),)), path, sources)
    except DownloadFailedError as error:
        raise InputError(
            f"{error}. Connect to the internet, or name a copy of the file with --from FILE_OR_URL."
        ) from None
    return path


def _verified(archive: Path, name: str, version: int | None = None) -> Mapping[str, bytes]:
    """Return the files of an archive by their paths in it, below its one folder."""
    from ddr_cli.data.files import read_members

    if not archive.is_file():
        raise InputError(f"The archive {archive} does not exist.")
    files = {inner.partition("/")[2]: content for inner, content in read_members(archive)}
    sums = dict(line.split("  ")[::-1] for line in files.pop(SUMS, b"").decode().splitlines())
    wrong = [
        inner
        for inner in sorted(sums.keys() | files.keys())
        if inner not in files or sha256(files[inner]).hexdigest() != sums.get(inner)
    ]
    record = f"{FOLDER}{name}/{SUITE_FILE}"
    if wrong or not sums:
        what = f"{wrong[0]} does not match its checksum" if wrong else "there are no checksums"
        raise InputError(f"{archive.name} is damaged: {what}. Get the archive again.")
    found = json.loads(files[record])["suite"]["version"] if record in files else None
    if version is not None and found != version:
        has = "no results" if found is None else f"the results of version {found}"
        raise InputError(
            f"{archive.name} contains {has} of the suite {name}, but this version of ddr "
            f"needs version {version}. Use the archive of version {version}."
        )
    return files
