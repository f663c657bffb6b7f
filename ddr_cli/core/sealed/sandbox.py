"""Sealed processes in bubblewrap: without network, data, results and other processes."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib import util
from multiprocessing.connection import Connection
from pathlib import Path

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import GIVEN, GIVEN_FILE

VARIABLE = "DDR_SANDBOX"
"""The environment variable that turns the sandbox on, for this process and its workers."""

_PACKAGE = Path(__file__).resolve().parents[2]
_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", GIVEN_FILE)


def use_sandbox() -> None:
    """Turn the sandbox on; raise InputError if it cannot be used."""
    if problem := sandbox_problem():
        raise InputError(
            f"--sandbox cannot be used: {problem}. Omit --sandbox to run without a sandbox."
        )
    os.environ[VARIABLE] = "1"


def sandbox_problem() -> str:
    """Return why bubblewrap cannot be used here, and what to do; empty if it can."""
    if sys.platform != "linux":
        return "bubblewrap is for Linux only"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed; install your system's package bubblewrap"
    tried = subprocess.run([*_walls(), "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"bubblewrap cannot start ({tried.stderr.strip()}); allow user namespaces"
    return ""


class Boxed:
    """A process in the sandbox, with the same methods as a fork of a sealed process."""

    def __init__(self, name: str, connection: Connection, environment: Mapping[str, str]) -> None:
        number = connection.fileno()
        kept = {key: environment[key] for key in _KEPT if key in environment}
        origin = _origin(name)
        kept["PYTHONPATH"] = os.pathsep.join(
            dict.fromkeys(str(path.parent) for path in (_PACKAGE, origin) if path is not None)
        )
        words = [word for key, text in kept.items() for word in ("--setenv", key, text)]
        code = [word for path in _code(name) for word in ("--ro-bind-try", path, path)]
        data = [word for path in _data() for word in ("--tmpfs", path)]
        server = [sys.executable, "-m", "ddr_cli.core.sealed.server", str(number)]
        self._process = subprocess.Popen(
            [*_walls(), *code, *data, *words, *server],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        """Kill it, and all processes that it started."""
        self._process.kill()

    def join(self, seconds: float) -> None:
        """Wait for its end."""
        self._process.wait(seconds)

    def is_alive(self) -> bool:
        """Return whether it runs."""
        return self._process.poll() is None

    @property
    def exitcode(self) -> int | None:
        """Its exit code, minus the signal that killed it; None while it runs."""
        code = self._process.returncode
        # Like a shell, bubblewrap exits with 128 plus the number of the signal.
        return 128 - code if code is not None and 128 < code < 193 else code


def _walls() -> list[str]:
    system = [word for path in _SYSTEM for word in ("--ro-bind-try", path, path)]
    return [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--clearenv", *system, "--proc", "/proc", "--dev", "/dev"),
        *("--tmpfs", "/tmp", "--chdir", "/tmp"),
    ]


def _code(name: str) -> Iterator[str]:
    """Yield the paths that can be read: Python, installed packages, `ddr`, the component."""
    yield from dict.fromkeys([sys.prefix, sys.base_prefix, sys.exec_prefix])
    yield from site.getsitepackages()
    yield str(Path(sys.executable).resolve().parents[1])
    yield str(_PACKAGE)
    place = name.rpartition(":")[0]
    if place.endswith(".py"):
        yield place
    elif (origin := _origin(name)) is not None:
        yield str(origin)
    if place == GIVEN and GIVEN_FILE in os.environ:
        yield os.environ[GIVEN_FILE]


def _origin(name: str) -> Path | None:
    """Return the file or folder of the top-level package of a component that a module defines."""
    place = name.rpartition(":")[0]
    if place.endswith(".py") or place == GIVEN:
        return None
    found = util.find_spec(place.partition(".")[0])
    if found is None or found.origin is None:
        return None
    origin = Path(found.origin)
    return origin.parent if found.submodule_search_locations else origin


def _data() -> Iterator[str]:
    """Yield the folders within readable paths that hold data sets."""
    for folder in (
        Path(sysconfig.get_paths()["purelib"]) / "sklearn" / "datasets" / "data",
        _PACKAGE / "_datasets",
    ):
        if folder.is_dir():
            yield str(folder)
