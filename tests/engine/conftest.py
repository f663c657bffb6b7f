"""A small package of reducers and classifiers that misbehave, and fixtures to run specs with them.

Worker processes are new interpreters and load only what is installed, so the package has an entry
point, like a user's package.
"""

import importlib
import os
import subprocess
import sys
import textwrap

import pytest

from ddr_cli.core import own_code
from ddr_cli.engine import run_spec
from ddr_cli.engine.work.local import LocalExecutor
from ddr_cli.evaluation.evaluators import CLASSIFIERS, PREPROCESSORS
from ddr_cli.reducers.registry import REDUCERS

_PLUGIN = '''
import os, signal, sys, time, warnings
from typing import Annotated, Literal
import numpy as np
from annotated_types import Ge
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.reducers.registry import Traits

Does = Literal[
    "nothing", "raise", "exit", "exit0", "die", "die_once", "hang", "spin", "gorge", "nan", "warn",
    "interrupt", "base", "peek",
]


class OddError(Exception):
    def __init__(self, one, two):
        super().__init__("odd")


def act(does, log):
    if does == "die_once" and not os.path.exists(log + ".died"):
        open(log + ".died", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if does == "raise":
        raise OddError("can't be", "unpickled")
    if does == "exit":
        sys.exit(3)
    if does == "interrupt":
        raise KeyboardInterrupt
    if does == "base":
        raise BaseException("neither caught nor told")
    if does == "exit0":
        os._exit(0)
    if does == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if does == "hang":
        time.sleep(600)
    if does == "spin":
        # One call into compiled code that holds the interpreter's lock for minutes.
        sum(range(10**11))
    if does == "gorge":
        np.ones(10**11)
    if does == "peek":
        assert "DDR_DATA" not in os.environ
    if does == "warn":
        warnings.warn("this method warns")


class Faulty(TransformerMixin, BaseEstimator):
    """Passes X on, times `scale`, after doing what it is told to."""

    def __init__(self, scale: float = 1.0, does: Does = "nothing", when: float = 1.0,
                 log: str = "") -> None:
        self.scale, self.does, self.when, self.log = scale, does, when, log

    def fit(self, X, y=None):
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{self.scale}\\n")
        if self.scale == self.when:
            act(self.does, self.log)
        return self

    def transform(self, X):
        return X * (np.nan if self.does == "nan" and self.scale == self.when else self.scale)

    def __ddr_traits__(self):
        return Traits(transductive=True)


class Picky(TransformerMixin, BaseEstimator):
    """The first columns of X, nested; can't be fitted wider than `limit`."""

    def __init__(self, n_components: Annotated[int, Ge(1)] = 2, limit: int = 99, log: str = ""):
        self.n_components, self.limit, self.log = n_components, limit, log

    def fit(self, X, y=None):
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{self.n_components}\\n")
        if self.n_components > self.limit:
            raise ValueError(f"{self.n_components} is more than {self.limit}")
        return self

    def transform(self, X):
        # Tells the width of the fit in the last bits, as a wider decomposition would.
        return X[:, : self.n_components] * (1 + 1e-15 * self.n_components)

    def __ddr_traits__(self):
        return Traits(nested=True)


class Noisy(TransformerMixin, BaseEstimator):
    """A random projection, for the stream of a method's own randomness."""

    def __init__(self, n_components: Annotated[int, Ge(1)] = 2, random_state: int | None = None):
        self.n_components, self.random_state = n_components, random_state

    def fit(self, X, y=None):
        generator = np.random.default_rng(self.random_state)
        self.matrix_ = generator.normal(size=(X.shape[1], self.n_components))
        return self

    def transform(self, X):
        return X @ self.matrix_


class NoTransform(TransformerMixin, BaseEstimator):
    """Can be fitted, and no more."""

    def fit(self, X, y=None):
        return self


no_class = 3


def function(X):
    return X


class FaultyClassifier(ClassifierMixin, BaseEstimator):
    """Says the first label, after doing what it is told to; shares its work over `k`."""

    def __init__(self, k: int = 1, does: Does = "nothing", when: int = 1, log: str = "") -> None:
        self.k, self.does, self.when, self.log = k, does, when, log

    def fit(self, X, y):
        if self.k == self.when:
            act(self.does, self.log)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.classes_[self.k % len(self.classes_)])

    @classmethod
    def predict_many(cls, X_train, y_train, X_test, settings):
        if settings[0]["log"]:
            with open(settings[0]["log"], "a") as file:
                file.write(f"{len(settings)}\\n")
        return [cls(**one).fit(X_train, y_train).predict(X_test) for one in settings]

    def __ddr_traits__(self):
        return EvaluatorTraits(shared="k")
'''

_ENTRY_POINTS = """
[ddr.reducers]
faulty = ddr_test_plugin:Faulty
picky = ddr_test_plugin:Picky
noisy = ddr_test_plugin:Noisy
no_transform = ddr_test_plugin:NoTransform
no_class = ddr_test_plugin:no_class
function = ddr_test_plugin:function
[ddr.classifiers]
faulty = ddr_test_plugin:FaultyClassifier
[ddr.preprocessors]
faulty = ddr_test_plugin:Faulty
"""


SPEC = {
    "dataset": "iris",
    "split": {"kind": "fraction", "train": 0.5, "repeats": 3, "seed": 0},
    "classifiers": [{"name": "knn", "n_neighbors": 3}, {"name": "linear"}],
    "metrics": ["error"],
    "controls": [],
}


@pytest.fixture(scope="session")
def plugin(tmp_path_factory):
    """Return a folder that, on the path, is an installed package of components that misbehave."""
    folder = tmp_path_factory.mktemp("plugin")
    info = folder / "ddr_test_plugin-1.0.dist-info"
    info.mkdir()
    (folder / "ddr_test_plugin.py").write_text(_PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ddr-test-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(_ENTRY_POINTS)
    return folder


@pytest.fixture
def installed(plugin, monkeypatch):
    """Install the package for this test, in this process and in those that it starts."""
    monkeypatch.syspath_prepend(str(plugin))
    # Parameters that are paths require trust.
    monkeypatch.setattr(own_code, "_trusted", {"*"})
    _forget_entry_points()
    yield plugin
    monkeypatch.undo()
    _forget_entry_points()
    sys.modules.pop("ddr_test_plugin", None)


def _forget_entry_points():
    importlib.invalidate_caches()
    for registry in (REDUCERS, CLASSIFIERS, PREPROCESSORS):
        vars(registry).pop("_entries", None)


@pytest.fixture(scope="session")
def executor(plugin):
    """Return an executor with two processes for all tests, because starting them takes a second."""
    sys.path.insert(0, str(plugin))
    try:
        shared = LocalExecutor(2)
        assert shared.capacity == 4  # this starts the processes, with the present path
    finally:
        sys.path.remove(str(plugin))
    yield shared
    shared.stop()


@pytest.fixture
def run(executor, tmp_path, installed):
    """Return `run_spec` with the shared executor and the test's own folder."""
    # A process that replaces a killed one gets the path that this process has then.
    assert str(installed) in sys.path

    def run_it(spec, **options):
        return run_spec(spec, **{"out": tmp_path, "executor": executor, **options})

    return run_it


@pytest.fixture
def make_spec(tmp_path):
    """Return a function that makes a small spec on iris, with other values for some keys."""
    import yaml

    from ddr_cli.spec import load_spec

    def make(name="small", **keys):
        path = tmp_path / "specs" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({"title": "A test", **SPEC, **keys}))
        return load_spec(path)

    return make


@pytest.fixture
def run_script(plugin, tmp_path):
    """Return a function that runs Python code in its own session, which ends with the test."""
    begun = []

    def run(code, *arguments):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(code))
        path = os.pathsep.join(filter(None, [str(plugin), os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            [sys.executable, str(script), *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        begun.append(process)
        return process

    yield run
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()
