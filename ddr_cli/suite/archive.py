"""A suite's results in one file, with checksums and how to cite them."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import yaml

import ddr_cli
from ddr_cli.core.atomic import as_input_errors, atomic_write
from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import shipped
from ddr_cli.rows.log import TRIAL_FILES
from ddr_cli.rows.manifest import MANIFEST, read_manifest
from ddr_cli.suite.audits import AUDIT_FILE
from ddr_cli.suite.definition import Suite
from ddr_cli.suite.names import SUITE_FILE, VERIFIED
from ddr_cli.suite.published import SUMS, archive_name, submissions_of
from ddr_cli.suite.remaining import SuitePart
from ddr_cli.suite.submission import Submission


def write_archive(suite: Suite, parts: Sequence[SuitePart], folder: Path, file: Path) -> list[str]:
    """Write the rows of a suite's folder into a .tar.xz file; return the names of the files in it.

    Its one folder can be used as a folder of results (`--out`).
    The same rows make the same bytes. Raises InputError if there are no rows, or if some are of an
    older version.
    """
    if stale := sum(part.stale.total() for part in parts):
        raise InputError(
            f"{stale} rows of {suite.name} are stale; use 'ddr suite run {suite.name}' first."
        )
    if not (folder / SUITE_FILE).is_file():
        raise InputError(f"There is no {SUITE_FILE} in {folder}; use 'ddr suite run' first.")
    begun = [part.folder for part in parts if part.status]
    kept = [folder / SUITE_FILE, folder / AUDIT_FILE]
    kept += [path / name for path in begun for name in (MANIFEST, *TRIAL_FILES)]
    for own in submissions_of(suite.name, folder.parent):
        kept += [*Submission.read(own).files, own / VERIFIED]
    sessions = [read_manifest(path).sessions[-1] for path in begun]
    date = max((last.finished or last.started)[:10] for last in sessions)
    with as_input_errors(folder):
        files = {
            path.relative_to(folder.parent).as_posix(): path.read_bytes()
            for path in kept
            if path.is_file()
        }
    files["suite.yaml"] = suite.path.read_bytes() if suite.path else b""
    files["CITATION.cff"] = _citation(suite, date).encode()
    sums = "".join(f"{sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    files[SUMS] = sums.encode()
    time = int(datetime.fromisoformat(f"{date}T00:00:00+00:00").timestamp())
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:xz", preset=9) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{archive_name(suite.name, suite.version)}/{name}")
            entry.size, entry.mtime = len(files[name]), time
            archive.addfile(entry, io.BytesIO(files[name]))
    atomic_write(file, whole.getvalue())
    return sorted(files)


def _citation(suite: Suite, date: str) -> str:
    """Return how the results are cited, in the Citation File Format."""
    developers = "The ddr developers"
    own = suite.path is None or shipped("suites") not in suite.path.resolve().parents
    makers = f"The makers of the suite {suite.name}" if own else developers
    software = {"type": "software", "title": "ddr", "version": ddr_cli.__version__}
    content = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them, and cite the papers of the methods "
        "and of the data that you use.",
        "type": "dataset",
        "title": f"{suite.title}: results of version {suite.version}",
        "authors": [{"name": makers}],
        "version": str(suite.version),
        "date-released": date,
        "license": "BSD-3-Clause",
        "references": [software | {"authors": [{"name": developers}]}],
    }
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return text
