"""`manifest.json`: the origin of the rows of a result folder.

It records the spec, the data, the code, the hardware and the time. It contains no name of a host or
user and no path of the machine.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, ValidationError

import ddr_cli
from ddr_cli.core.atomic import atomic_write
from ddr_cli.core.errors import InputError
from ddr_cli.core.processes import machine_memory

_MOST_PLANNED = 10_000_000

MANIFEST = "manifest.json"

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "pebble")


class DataIdentity(BaseModel):
    """The data set of a run; `options` are the options of the card that are not defaults."""

    model_config = ConfigDict(frozen=True)

    name: str
    fingerprint: str
    version: int
    options: dict[str, Any]


class _Stored(BaseModel):
    # Fields that another version of ddr has stored are kept.
    model_config = ConfigDict(extra="allow")


class Environment(_Stored):
    """The hardware, and the versions of the code, of libraries and of the components' packages."""

    python: str
    versions: dict[str, str | None]
    git: dict[str, str | bool] | None
    platform: str
    cpu: str | None
    cores: int | None
    memory_bytes: int | None
    blas: list[dict[str, Any]]
    simd: list[str] = []
    threads_per_process: int
    packages: dict[str, str | None]


class SessionRecord(_Stored):
    """One start of a run: its time, options, environment, and duration.

    `data` is the location of the data files: next to the card, in a mirror, in the cache, or
    embedded. While the session runs, or if it was killed, its outcome is missing. `startup_seconds`
    is the time before the first split was prepared.
    """

    started: str
    finished: str | None = None
    jobs: int = 1
    timeout: float | None = None
    memory_limit: int | None = None
    rows_before: int = 0
    environment: int = 0
    data: str | None = None
    outcome: Literal["finished", "interrupted", "stopped"] | None = None
    startup_seconds: float = 0.0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    trials_ended: int = 0
    trials_failed: int = 0


class Manifest(_Stored):
    """The manifest of a result folder.

    `spec` is the resolved spec, perhaps from another version of ddr; `planned` is the number of
    trials; `sizes` are the mean sizes of the ``train`` and ``test`` sets, by kind of split;
    `majority` has the scores of the majority-class baseline, by metric, if the data set's card has
    the sizes of the classes; `versions` are those of the methods, by label.
    """

    format: int = 1
    spec: dict[str, Any]
    data: DataIdentity | None = None
    seed: int = 0
    planned: Annotated[int, Ge(0), Le(_MOST_PLANNED)]
    sizes: dict[str, dict[str, int | float]] = {}
    majority: dict[str, float] = {}
    versions: dict[str, int] = {}
    environments: list[Environment]
    sessions: list[SessionRecord]

    def begin_session(self, record: SessionRecord, packages: Mapping[str, str]) -> None:
        """Add a session that begins now on this machine."""
        found = here().model_copy(update={"packages": dict(sorted(packages.items()))})
        if found not in self.environments:
            self.environments.append(found)
        record.environment = self.environments.index(found)
        self.sessions.append(record)

    def write(self, folder: Path) -> None:
        """Write it to a folder."""
        text = json.dumps(self._as_json(), indent=2, ensure_ascii=False) + "\n"
        atomic_write(folder / MANIFEST, text)

    def is_written(self, folder: Path) -> bool:
        """Return whether a folder's manifest has the same content."""
        try:
            return self._as_json() == read_manifest(folder)._as_json()
        except InputError:
            return False

    def _as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_unset=True)


def read_manifest(folder: str | Path) -> Manifest:
    """Return the manifest of a result folder; raise an `InputError` if there is none to read."""
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise InputError(f"There is no {MANIFEST} in {folder}; run a spec first.")
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        reason = str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            reason = ": ".join([".".join(str(part) for part in first["loc"]), first["msg"]])
        raise InputError(
            f"{path} is damaged ({reason.removeprefix(': ')}); restore the file, or run the spec "
            "again with --redo all."
        ) from None


def now() -> str:
    """Return the time to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def number_versions() -> dict[str, str | None]:
    """Return the versions of Python and of the packages that affect numbers."""
    packages = {name: _version(name) for name in _LIBRARIES[:3]}
    return {"Python": platform.python_version(), "ddr": ddr_cli.__version__, **packages}


@cache
def here() -> Environment:
    """Return the environment without packages, collected once per process."""
    return Environment(
        python=platform.python_version(),
        versions={"ddr": ddr_cli.__version__, **{name: _version(name) for name in _LIBRARIES}},
        git=_git(),
        platform=platform.platform(),
        cpu=_cpu_model(),
        cores=os.cpu_count(),
        memory_bytes=machine_memory(),
        blas=_blas(),
        simd=_simd(),
        threads_per_process=1,
        packages={},
    )


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _git() -> dict[str, Any] | None:
    """Return the commit of the checkout that holds this code, and whether the code differs."""
    package = Path(ddr_cli.__file__).resolve().parent
    if not (package.parent / ".git").exists():
        return None
    # Only the code counts; the results change during a run.
    questions = (["rev-parse", "HEAD"], ["status", "--porcelain", "--", "."])
    try:
        commit, changed = (
            subprocess.run(
                ["git", "-C", package, *words],
                capture_output=True,
                text=True,
                check=True,
                timeout=10,
            ).stdout.strip()
            for words in questions
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "dirty": bool(changed)}


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or None)


def _blas() -> list[dict[str, Any]]:
    import numpy as np
    import scipy.linalg
    from threadpoolctl import threadpool_info

    _ = np.linalg, scipy.linalg
    kept = ("internal_api", "version", "architecture", "threading_layer")
    found = [
        {name: library[name] for name in kept if name in library}
        for library in threadpool_info()
        if library.get("user_api") == "blas"
    ]
    each = [library for i, library in enumerate(found) if library not in found[:i]]
    # threadpoolctl lists them in the order of loading, which differs between runs.
    return sorted(each, key=lambda library: [str(library.get(name)) for name in kept])


def kernels_of(environment: Environment) -> str:
    """Return the BLAS libraries of an environment, each with its kernel for the processor."""
    names = ("internal_api", "version", "architecture")
    each = {" ".join(str(blas.get(name)) for name in names) for blas in environment.blas}
    return ", ".join(sorted(each)) or "no known BLAS library"


def _simd() -> list[str]:
    """Return the instruction sets beyond the least that NumPy uses on this processor."""
    import numpy as np

    told: Any = np.show_config(mode="dicts")
    return list(told.get("SIMD Extensions", {}).get("found", []))


def days_of(manifests: Iterable[Manifest]) -> str:
    """Return the first and the last day of these runs, such as ``2026-11-22 to 2026-11-24``."""
    days = sorted({each.sessions[-1].started[:10] for each in manifests if each.sessions})
    return " to ".join(dict.fromkeys([*days[:1], *days[-1:]]))
