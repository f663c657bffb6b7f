"""`manifest.json`: what was run, on what data, with which code, where, and what it took.

It holds no name of a host or user and no path of the machine.
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
from typing import TYPE_CHECKING, Any

import ddr_cli
from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    from ddr_cli.engine.plan import Plan

FILE_NAME = "manifest.json"

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "pebble")


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Return the manifest of a result folder.

    Returns
    -------
    dict
        ``spec`` (resolved), ``data`` (name, fingerprint, version, options), ``seed``, ``planned``
        (number of trials), ``sizes`` (of the ``train`` and ``test`` part, by the kind of split),
        ``environments`` and ``sessions``; each session names its environment by its place in the
        list.

    Raises
    ------
    InputError
        If there is none or it can't be read.
    """
    path = Path(folder) / FILE_NAME
    if not path.is_file():
        raise InputError(f"There is no {FILE_NAME} in {folder}; run a spec first.")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(manifest["sessions"], list) and isinstance(manifest["environments"], list):
            return dict(manifest)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise InputError(f"{path} is damaged; restore it, or run the spec again with --fresh.")


class Manifest:
    """The manifest of a run that is going on.

    Parameters
    ----------
    folder : Path
        The result folder. Sessions that its manifest holds are kept.
    plan : Plan
        What is run.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._path = folder / FILE_NAME
        before = self._before = _before(folder)
        self._content: dict[str, Any] = {
            "format": 1,
            "spec": plan.spec.resolved(),
            "data": plan.data.as_dict(),
            "seed": plan.spec.split.seed,
            "planned": len(plan.trials),
            "sizes": before.get("sizes", {}),
            "environments": before.get("environments", []),
            "sessions": before.get("sessions", []),
        }

    @property
    def is_saved(self) -> bool:
        """Whether the file says all this already."""
        return bool(json.loads(json.dumps(self._content)) == self._before)

    def begin(
        self,
        settings: Mapping[str, Any],
        packages: Iterable[str],
        rows: int,
        sizes: Mapping[str, Mapping[str, int]],
    ) -> None:
        """Begin a session and write the manifest.

        Parameters
        ----------
        settings : mapping
            How it is run: back end, jobs, timeout, memory limit.
        packages : iterable of str
            Distributions beside ddr that provide pieces of the spec.
        rows : int
            How many trials have a row already.
        sizes : mapping of str to mapping
            How many points are in the ``train`` and the ``test`` part of each kind of split.
        """
        self._content["sizes"] = dict(sizes)
        here = environment() | {"packages": {name: _version(name) for name in sorted(packages)}}
        known = self._content["environments"]
        if here not in known:
            known.append(here)
        session = {
            "started": _now(),
            "finished": None,
            **settings,
            "rows_before": rows,
            "environment": known.index(here),
        }
        self._content["sessions"].append(session)
        self._write()

    def end(self, facts: Mapping[str, Any]) -> None:
        """End the session with what came out of it, and write the manifest."""
        self._content["sessions"][-1].update(finished=_now(), **facts)
        self._write()

    def save(self) -> None:
        """Write the manifest without a session, for a run that has nothing left to do."""
        self._write()

    def _write(self) -> None:
        text = json.dumps(self._content, indent=2, ensure_ascii=False) + "\n"
        with clear_messages(self._path):
            atomic_write(self._path, text)


def _before(folder: Path) -> dict[str, Any]:
    """Return the folder's manifest; one that can't be read is written anew."""
    try:
        return read_manifest(folder)
    except InputError:
        return {}


@cache
def environment() -> dict[str, Any]:
    """Return the versions of code and libraries, and the hardware; looked up once per process."""
    return {
        "python": platform.python_version(),
        "versions": {"ddr": ddr_cli.__version__, **{name: _version(name) for name in _LIBRARIES}},
        "git": _git(),
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": _memory_bytes(),
        "blas": _blas(),
        "threads_per_process": 1,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _git() -> dict[str, Any] | None:
    """Return the commit of the checkout that this code is in, and whether the code differs."""
    package = Path(ddr_cli.__file__).resolve().parent
    if not (package.parent / ".git").exists():
        return None
    try:
        commit = _git_says(package, "rev-parse", "HEAD")
        # The results themselves change during a run; only the code counts.
        changed = _git_says(package, "status", "--porcelain", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "dirty": bool(changed)}


def _git_says(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or None)


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


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
    return [library for i, library in enumerate(found) if library not in found[:i]]
