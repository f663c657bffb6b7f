"""A suite's results as others keep and cite them: a folder that describes itself, in one file."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

import ddr_cli
from ddr_cli.comparison.leaderboard import suite_rows
from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import shipped
from ddr_cli.data.card import load_card
from ddr_cli.engine.rows.journal import FILE_NAME as TRIALS
from ddr_cli.engine.rows.manifest import MANIFEST as RUN
from ddr_cli.engine.rows.manifest import read_manifest
from ddr_cli.engine.suite import MANIFEST, Part
from ddr_cli.report.leaderboard import long_rows
from ddr_cli.report.tables import to_csv

if TYPE_CHECKING:
    from ddr_cli.spec.suite import Suite

CITATION, CRATE, SUMS = "CITATION.cff", "ro-crate-metadata.json", "SHA256SUMS"
ROWS, PROTOCOL = "rows.csv.gz", "suite.yaml"

_LICENSE = "BSD-3-Clause"
_TYPES = {
    ".cff": "application/yaml",
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".yaml": "application/yaml",
}


def archive_name(suite: Suite) -> str:
    """Return what the archive of a suite's version is called, without the ending."""
    return f"suite_{suite.name}_v{suite.version}"


def require_rocrate() -> None:
    """Refuse to begin an archive whose metadata can't be made."""
    if find_spec("rocrate") is None:
        raise InputError(
            "The metadata of an archive is made by rocrate: pip install 'ddr[export]'."
        )


def write_archive(suite: Suite, parts: Sequence[Part], folder: Path, file: Path) -> list[str]:
    """Write into a suite's folder what describes it, and all of it into `file`; return the names.

    The same rows make the same bytes. Raises InputError if there are rows of an older version,
    which no archive is to freeze, or none.
    """
    if stale := sum(tally.stale for part in parts for tally in part.tallies.values()):
        raise InputError(
            f"{stale} rows are of an older version of something: 'ddr suite status {suite.name}' "
            "lists them, 'ddr suite run' makes them again."
        )
    if not (folder / MANIFEST).is_file():
        raise InputError(f"There is no {MANIFEST} in {folder}: 'ddr suite run' writes it.")
    described = [part for part in parts if part.status]
    rows = to_csv(long_rows(suite_rows(described)))
    date = max(_ended(part) for part in described)
    made = {
        ROWS: gzip.compress(rows.encode(), mtime=0),
        PROTOCOL: suite.path.read_bytes() if suite.path else b"",
        CITATION: _citation(suite, date).encode(),
    }
    kept = [
        MANIFEST,
        *(f"{part.folder.name}/{name}" for part in described for name in (RUN, TRIALS)),
    ]
    with clear_messages(folder):
        files = {name: (folder / name).read_bytes() for name in kept} | made
    files[CRATE] = made[CRATE] = _crate(suite, described, files, date).encode()
    sums = "".join(f"{sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    files[SUMS] = made[SUMS] = sums.encode()
    for name, content in made.items():
        with clear_messages(folder / name):
            atomic_write(folder / name, content)
    with clear_messages(file):
        atomic_write(file, _zipped(archive_name(suite), files, date))
    return sorted(files)


def _ended(part: Part) -> str:
    """Return the day of a part's last rows."""
    last = read_manifest(part.folder).sessions[-1]
    return (last.finished or last.started)[:10]


def _makers(suite: Suite) -> str:
    own = suite.path is None or shipped("suites") not in suite.path.resolve().parents
    return f"The makers of the suite {suite.name}" if own else "The ddr developers"


def _citation(suite: Suite, date: str) -> str:
    """Return how the results are cited, in the Citation File Format."""
    said = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them, and the papers of the methods and "
        "data that you use.",
        "type": "dataset",
        "title": f"{suite.title}: results of version {suite.version}",
        "authors": [{"name": _makers(suite)}],
        "version": str(suite.version),
        "date-released": date,
        "license": _LICENSE,
        "references": [
            {
                "type": "software",
                "title": "ddr",
                "version": ddr_cli.__version__,
                "authors": [{"name": "The ddr developers"}],
            }
        ],
    }
    text: str = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=100)
    return text


def _crate(suite: Suite, parts: Sequence[Part], files: Mapping[str, bytes], date: str) -> str:
    """Return the RO-Crate metadata of the folder: its files, their data sets, what made them."""
    from rocrate.model import ContextEntity
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version="1.1")

    def entity(identifier: str, kind: str, **facts: str) -> Any:
        return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **facts}))

    done = sum(tally.done for part in parts for tally in part.tallies.values())
    makers = entity("#makers", "Organization", name=_makers(suite))
    terms = entity(f"https://spdx.org/licenses/{_LICENSE}", "CreativeWork", name=_LICENSE)
    root = crate.root_dataset
    root["name"] = f"{suite.title}: results of version {suite.version}"
    root["description"] = f"{suite.description.strip() or suite.title} {done} trials."
    root["datePublished"], root["version"] = date, str(suite.version)
    root["license"], root["author"] = terms, makers
    for part in parts:
        card = load_card(part.spec.card)
        about = {
            "name": f"{card.title}, track {part.track}",
            "description": f"Trials on the data set {card.name}.",
            "identifier": part.plan.data.fingerprint,
            "isBasedOn": card.home,
            "usageInfo": card.licence and f"The data themselves, not here: {card.licence}",
        }
        crate.add_dataset(
            dest_path=f"{part.folder.name}/",
            properties={name: value for name, value in about.items() if value},
        )
    for name in sorted(files):
        facts = {
            "encodingFormat": _TYPES[Path(name).suffix],
            "contentSize": str(len(files[name])),
            "sha256": sha256(files[name]).hexdigest(),
        }
        crate.add_file(dest_path=name, properties=facts)
    program = entity("#ddr", "SoftwareApplication", name="ddr", version=ddr_cli.__version__)
    run = entity("#run", "CreateAction", name=f"ddr suite run {suite.name}")
    run["instrument"], run["result"], run["endTime"] = program, root, date
    root["mentions"] = run
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n"


def _zipped(stem: str, files: Mapping[str, bytes], date: str) -> bytes:
    year, month, day = map(int, date.split("-"))
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{stem}/{name}", (year, month, day, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, files[name])
    return whole.getvalue()
