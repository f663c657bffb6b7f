"""scikit-learn's tests run on ddr's class, and the cause of a failure is reported."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "peer_suites.py"
THEIRS = """
import pytest
from sklearn import decomposition
from sklearn.decomposition import PCA

X = [[0.0, 0.0], [2.0, 0.0], [4.0, 1.0]]


def test_imported_name():
    assert PCA(n_components=1, copy=True).fit(X).__class__.__module__.startswith("ddr_cli")


def test_name_in_a_module():
    assert decomposition.PCA().__class__.__module__.startswith("ddr_cli")


def test_parameter():
    PCA(n_components=1, batch_size=3).fit(X)


def test_attribute():
    PCA(n_components=1).fit(X).noise_variance_


def test_wording():
    with pytest.raises(ValueError, match="no such words"):
        PCA(n_components=7).fit(X)


def test_number():
    assert PCA(n_components=1).fit_transform(X).shape == (3, 2)


def test_of_something_else():
    pass
"""


def test_our_class_is_tested_and_failures_are_classified(tmp_path):
    file = tmp_path / "test_theirs.py"
    file.write_text(THEIRS)
    command = [
        sys.executable,
        SCRIPT,
        "--in-this-process",
        file,
        "sklearn.decomposition.PCA",
        "PCA",
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert '"passed": 2, "skipped": 1, "failed": 3, "absent": 1, "wording": 1, "other": 1' in (
        ended.stdout
    ), ended.stdout + ended.stderr


def test_a_file_of_scikit_learn_s():
    pytest.importorskip("sklearn.manifold.tests.test_classical_mds")
    command = [sys.executable, SCRIPT, "test_classical_mds.py"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    name, passed, failed, *_ = ended.stdout.splitlines()[1].split()
    assert (name, int(passed) >= 2, int(failed) <= 1) == ("test_classical_mds.py", True, True)
