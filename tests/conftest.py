"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Before NumPy is loaded: several threads in each of several processes take twice the time of one.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

_TOP = Path(__file__).resolve().parent.parent


def _find_mirror() -> Path | None:
    named = [Path(part) for part in os.environ.get("DDR_DATA", "").split(os.pathsep) if part]
    for folder in [*named, _TOP.parent / "shared" / "data"]:
        if (folder / "landsat" / "sat.trn").is_file():
            return folder.resolve()
    return None


@pytest.fixture(scope="session")
def data_mirror() -> Path:
    """Return the mirror that holds the real data sets, or skip."""
    mirror = _find_mirror()
    if mirror is None:
        pytest.skip("the real data is not here: set DDR_DATA to a mirror to run this test")
    return mirror
