"""What this machine offers, and whether a small run on it has the numbers that it has elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from ddr_cli.core.errors import DdrError
from ddr_cli.data.cards import card_names, load_card
from ddr_cli.data.status import dataset_status
from ddr_cli.data.store.sources import Sources
from ddr_cli.engine.rows.journal import OK, read_trials
from ddr_cli.engine.rows.manifest import here
from ddr_cli.engine.run import run_spec

EXPECTED_ERROR = 2 / 75
"""The share of wrong predictions of the self-test, two of iris's 75 test points."""

_LEAST_BYTES = 100_000_000
_MOST_NAMED = 4
_TEST: dict[str, Any] = {
    "dataset": "iris",
    "split": {"kind": "fraction", "train": 0.5, "repeats": 1, "seed": 0},
    "reducers": [{"name": "lda", "n_components": 2}],
    "classifiers": [{"name": "knn", "n_neighbors": 5}],
    "controls": [],
}


class Finding(NamedTuple):
    """One thing that was looked at; `good` is None where there is no right or wrong."""

    name: str
    detail: str
    good: bool | None = None


def examine(out: Path, sources: Sources) -> Iterator[Finding]:
    """Yield what is found of versions, threads, disk and data, and of a run in a process."""
    found = here()
    versions = ", ".join(f"{name} {number}" for name, number in found.versions.items() if number)
    yield Finding("python", f"{found.python} on {found.platform}")
    yield Finding("versions", versions)
    yield from _extras()
    memory = f", {found.memory_bytes / 1e9:.1f} GB" if found.memory_bytes else ""
    yield Finding("machine", f"{found.cpu or 'cpu not known'}, {found.cores} cores{memory}")
    blas = [" ".join(str(value) for value in library.values()) for library in found.blas]
    threads = f"{found.threads_per_process} thread in each process of a run"
    yield Finding("blas", f"{'; '.join(blas) or 'not known'}; {threads}")
    for name, folder in (
        ("results", out),
        ("cache", sources.cache_dir),
        ("scratch", Path(tempfile.gettempdir())),
    ):
        yield _disk(name, folder)
    yield _data(sources)
    yield _self_test()


def _extras() -> Iterator[Finding]:
    """Yield which optional packages there are; nothing if the program is not installed as one."""
    by_extra: dict[str, list[str]] = {}
    try:
        lines = metadata.requires("ddr") or []
    except metadata.PackageNotFoundError:
        return
    for line in lines:
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        package = re.match(r"[\w.-]+", line)
        if extra and package and extra[1] != "dev":
            by_extra.setdefault(extra[1], []).append(package[0])
    there = {extra: all(map(_is_there, names)) for extra, names in by_extra.items()}
    yield Finding("extras", ", ".join(extra for extra in there if there[extra]) or "none")
    if lacking := [extra for extra in there if not there[extra]]:
        yield Finding("not installed", f"{', '.join(lacking)} (pip install 'ddr[{lacking[0]}]')")


def _is_there(package: str) -> bool:
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False


def _disk(name: str, folder: Path) -> Finding:
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    free = shutil.disk_usage(there).free
    writable = there.is_dir() and os.access(there, os.W_OK)
    detail = f"{folder}: {free / 1e9:.1f} GB free"
    if not writable:
        return Finding(name, f"{detail}, but {there} can't be written to", good=False)
    return Finding(name, detail, good=free > _LEAST_BYTES)


def _data(sources: Sources) -> Finding:
    offline = Sources(sources.data_dirs, sources.cache_dir, offline=True)
    rows = [dataset_status(load_card(name), offline) for name in card_names()]
    missing = [row["name"] for row in rows if row["place"] == "missing"]
    places = ", ".join(map(str, sources.data_dirs)) or "DDR_DATA names no folder"
    detail = f"{len(rows) - len(missing)} of {len(rows)} data sets are here ({places})"
    if missing:
        more = " and others" if len(missing) > _MOST_NAMED else ""
        detail += f"; not {', '.join(missing[:_MOST_NAMED])}{more} ('ddr data status' shows all)"
    return Finding("data", detail)


def _self_test() -> Finding:
    """Run LDA on iris in a process of its own."""
    from ddr_cli.spec import make_spec

    started = time.perf_counter()
    what = "LDA and 5 nearest neighbours on iris"
    try:
        with tempfile.TemporaryDirectory(prefix="ddr-doctor-") as folder:
            outcome = run_spec(make_spec(name="doctor", **_TEST), out=folder)
            row = read_trials(outcome.folder).iloc[0]
    except (DdrError, OSError) as error:
        return Finding("self-test", f"{what}: {error}", good=False)
    seconds = time.perf_counter() - started
    if row["status"] != OK:
        return Finding("self-test", f"{what}: {row['status']}: {row['reason']}", good=False)
    same = bool(abs(row["error"] - EXPECTED_ERROR) < 1e-12)
    return Finding(
        "self-test",
        f"{what}: error {row['error']:.6f}, expected {EXPECTED_ERROR:.6f} ({seconds:.1f} s)",
        good=same,
    )
