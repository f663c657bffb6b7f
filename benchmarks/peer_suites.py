"""Run scikit-learn's tests of a method on ddr's class.

    python benchmarks/peer_suites.py [FILE ...] [--show]

FILE is one of the test files in `FILES`; the default is all. `--show` lists each failed test with
the first line of its error. Each file runs in its own process, where scikit-learn's name refers to
ddr's class. A test is skipped if it sets a parameter that ddr's class does not have, unless it sets
scikit-learn's default or the parameter only affects how a result is computed. The counts exclude
tests that never create an object of the class. Each failure has one of four causes: "absent" (an
attribute or a parameter value that ddr does not have), "limit" (a limit that ddr's class sets and
states), "wording" (of a message), or "other", which needs a closer look.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sklearn

# The test file, the name that it imports, and ddr's class.
FILES = {
    "manifold/tests/test_isomap.py": ("sklearn.manifold.Isomap", "Isomap"),
    "manifold/tests/test_locally_linear.py": ("sklearn.manifold.LocallyLinearEmbedding", "LLE"),
    "manifold/tests/test_spectral_embedding.py": (
        "sklearn.manifold.SpectralEmbedding",
        "LaplacianEigenmaps",
    ),
    "manifold/tests/test_classical_mds.py": ("sklearn.manifold.ClassicalMDS", "MDS"),
    "neighbors/tests/test_nca.py": ("sklearn.neighbors.NeighborhoodComponentsAnalysis", "NCA"),
    "tests/test_discriminant_analysis.py": (
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "LDA",
    ),
    "decomposition/tests/test_pca.py": ("sklearn.decomposition.PCA", "PCA"),
    "decomposition/tests/test_kernel_pca.py": ("sklearn.decomposition.KernelPCA", "KernelPCA"),
    "tests/test_random_projection.py": (
        "sklearn.random_projection.GaussianRandomProjection",
        "RandomProjection",
    ),
}
FOLDER = Path(sklearn.__file__).parent
# These parameters affect how a result is computed, not which result is correct.
HOW = {
    *("random_state", "n_jobs", "copy", "copy_X", "verbose", "tol", "max_iter", "iterated_power"),
    *("solver", "svd_solver", "eigen_solver", "eigen_tol", "neighbors_algorithm", "path_method"),
    *("n_oversamples", "power_iteration_normalizer"),
}
KINDS = ("absent", "limit", "wording", "other")
COLUMNS = ("passed", "failed", *KINDS, "skipped")


class Substitution:
    """A pytest plugin that substitutes ddr's class and counts the outcomes of the tests."""

    def __init__(self, theirs: str, ours: str) -> None:
        module, self.name = theirs.rsplit(".", 1)
        self.home = importlib.import_module(module)
        self.theirs = getattr(self.home, self.name)
        self.ours: Any = getattr(importlib.import_module("ddr_cli.reducers"), ours)
        parameters = inspect.signature(self.theirs).parameters.items()
        self.defaults = {name: parameter.default for name, parameter in parameters}
        self.used = self.running = False
        self.counts: Counter[str] = Counter()
        self.failures: list[tuple[str, str, str]] = []
        for method in ("__init__", "set_params"):
            setattr(self.ours, method, self._offered(getattr(self.ours, method)))

    def _offered(self, method: Any) -> Any:
        known = set(inspect.signature(self.ours).parameters)

        @functools.wraps(method)
        def with_known(estimator: Any, *args: Any, **given: Any) -> Any:
            self.used = True
            for name in set(given) - known:
                value = given.pop(name)
                same = isinstance(value, str | int | float | None) and (
                    value == self.defaults.get(name, inspect.Parameter.empty)
                )
                # Objects that are created during collection only lose the parameter.
                if self.running and not same and name not in HOW:
                    pytest.skip(f"ddr has no parameter {name}")
            return method(estimator, *args, **given)

        return with_known

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, Any]:
        """Substitute the class where the test module imports it, and nowhere else.

        ddr's class may use scikit-learn's, so it must still find it. A test module that uses
        ``manifold.Isomap`` gets a copy of the module's names.
        """
        if not isinstance(collector, pytest.Module):
            return (yield)
        setattr(self.home, self.name, self.ours)
        report = yield
        setattr(self.home, self.name, self.theirs)
        names = vars(collector.obj)
        for name, value in list(names.items()):
            if value is self.home:
                names[name] = SimpleNamespace(**vars(value) | {self.name: self.ours})
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        """Mark that a test is running, as opposed to being collected."""
        self.used, self.running = False, True
        try:
            return (yield)
        finally:
            self.running = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, Any]:
        """Count the test if it created an object of ddr's class."""
        report = yield
        if report.when != "call" or not self.used:
            return report
        self.counts[report.outcome] += 1
        if report.failed:
            kind = self.kind_of(call.excinfo.value)
            self.counts[kind] += 1
            first = next(iter(str(call.excinfo.value).splitlines()), "")
            self.failures.append((item.name, kind, f"{call.excinfo.typename}: {first}"))
        return report

    def kind_of(self, error: BaseException) -> str:
        """Return which of `KINDS` the error of a failed test is."""
        message, ours = str(error), self.ours.__name__
        missing = isinstance(error, AttributeError) and ours in message
        refused = isinstance(error, ValueError) and message.startswith(f"{ours}: ")
        if missing or refused or "unexpected keyword argument" in message:
            return "absent"
        if isinstance(error, ValueError) and re.match(r"\w+=", message):
            return "limit"
        return "wording" if "Regex pattern did not match" in message else "other"


def run_file(path: Path, theirs: str, ours: str) -> dict[str, Any]:
    """Return the counts and the failures of a file, run in a new process."""
    command = [sys.executable, __file__, "--in-this-process", str(path), theirs, ours]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if not ended.stdout.strip():
        raise RuntimeError(f"pytest did not run {path}:\n{ended.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def run_here(path: str, theirs: str, ours: str) -> None:
    """Run a file in this process, and print what `run_file` returns."""
    plugin = Substitution(theirs, ours)
    # pytest searches the root for scikit-learn's conftest.py, which has the fixtures.
    root = FOLDER if Path(path).is_relative_to(FOLDER) else Path(path).parent
    options = ["-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore"]
    code = pytest.main([*options, f"--rootdir={root}", path], plugins=[plugin])
    if code > pytest.ExitCode.TESTS_FAILED:
        raise SystemExit(f"pytest ended with {code!r}")
    print()
    print(json.dumps({"counts": plugin.counts, "failures": plugin.failures}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="*", metavar="FILE", help="for example test_isomap.py")
    parser.add_argument("--show", action="store_true", help="list the failed tests")
    asked = parser.parse_args()
    installed = [file for file in FILES if (FOLDER / file).exists()]
    if not installed:
        raise SystemExit("This installation of scikit-learn does not include its tests.")
    print("file".ljust(28), *(column.rjust(8) for column in COLUMNS))
    for file in installed:
        name = Path(file).name
        if asked.files and name not in asked.files:
            continue
        found = run_file(FOLDER / file, *FILES[file])
        print(name.ljust(28), *(str(found["counts"].get(c, 0)).rjust(8) for c in COLUMNS))
        for failure in found["failures"] if asked.show else ():
            print("   ", *failure, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-this-process"]:
        run_here(*sys.argv[2:])
    else:
        main()
