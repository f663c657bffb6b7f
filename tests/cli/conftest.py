"""The real program in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Ddr = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def ddr(tmp_path: Path) -> Ddr:
    """Run `ddr` in an empty folder, with an empty cache, no mirror and no downloads."""
    folder = tmp_path / "work"
    folder.mkdir()
    clean = {key: value for key, value in os.environ.items() if not key.startswith("DDR_")}
    clean |= {"DDR_CACHE": str(tmp_path / "cache"), "DDR_OFFLINE": "1", "COLUMNS": "100"}

    def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ddr_cli.cli.app", *words],
            cwd=folder,
            env=clean | env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def work(tmp_path: Path, ddr: Ddr) -> Path:  # noqa: ARG001  makes the folder
    """Return the folder in which `ddr` runs."""
    return tmp_path / "work"
