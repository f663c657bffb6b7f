"""scikit-learn classes that need no trust only fit arrays, and do nothing else."""

import sys
import warnings
from functools import cache
from importlib import import_module

import numpy as np
import pytest

from ddr_cli.core import own_code
from ddr_cli.core.parameters import parameter_model, undeclared_texts
from ddr_cli.core.registry import load_component
from ddr_cli.core.sklearn_names import LISTED

# Python's audit events for files, processes, connections, pickles, imports and executed code.
_EVENTS = ("open", "os.", "shutil.", "subprocess.", "socket.", "pickle.", "exec", "import")
_seen: list[str] | None = None
_SETTINGS = {
    "DictionaryLearning": {"max_iter": 2},
    "GaussianRandomProjection": {"n_components": 2},
    "LatentDirichletAllocation": {"n_components": 2},
    "MDS": {"n_init": 1},
    "MiniBatchDictionaryLearning": {"max_iter": 2},
    "SparseRandomProjection": {"n_components": 2},
}


@cache
def _watch():
    def note(event, arguments):
        if _seen is not None and event.startswith(_EVENTS):
            _seen.append(f"{event} {arguments[:1]}")

    sys.addaudithook(note)


def _fit(name):
    module, _, attribute = name.partition(":")
    estimator = getattr(import_module(module), attribute)(**_SETTINGS.get(attribute, {}))
    generator = np.random.default_rng(0)
    X = generator.integers(1, 5, size=(60, 4)).astype(float)
    y = np.arange(60) % 3
    if attribute == "KernelCenterer":
        X = X @ X.T
    if hasattr(estimator, "fit_transform"):
        estimator.fit_transform(X, y)
    else:
        estimator.fit(X, y).predict(X)


@pytest.mark.parametrize("name", sorted(LISTED))
def test_a_listed_class_fits_arrays_and_touches_nothing(name):
    global _seen
    _watch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _fit(name)  # the first fit may import modules
        _seen = []
        try:
            _fit(name)
        finally:
            found, _seen = _seen, None
    assert found == []


@pytest.mark.parametrize("name", sorted(LISTED))
def test_no_parameter_of_a_listed_class_takes_a_path(name):
    module, _, attribute = name.partition(":")
    factory = getattr(import_module(module), attribute)
    for parameter in parameter_model(factory).model_fields:
        for value in ("./x", ["./x"], {"a": ["./x"]}):
            assert undeclared_texts(factory, parameter, value) == ["./x"], parameter


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("sklearn.svm:SVC", "kernel", "poly"),
        ("sklearn.decomposition:PCA", "n_components", "mle"),
        ("sklearn.neighbors:KNeighborsClassifier", "metric", "cityblock"),
        ("sklearn.ensemble:HistGradientBoostingClassifier", "scoring", "loss"),
        ("sklearn.cluster:FeatureAgglomeration", "memory", None),
        ("sklearn.svm:SVC", "class_weight", {"a": 2.0}),
        ("sklearn.neural_network:MLPClassifier", "hidden_layer_sizes", [10, 5]),
    ],
)
def test_choices_defaults_and_numbers_are_plain(name, parameter, value):
    module, _, attribute = name.partition(":")
    assert not undeclared_texts(getattr(import_module(module), attribute), parameter, value)


def test_a_class_in_a_sealed_process_declares_the_same_choices(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from sklearn.decomposition import PCA\n"
        "class Mine(PCA):\n"
        "    def __init__(self, n_components=2, svd_solver='full'):\n"
        "        super().__init__(n_components, svd_solver=svd_solver)\n"
    )
    monkeypatch.setattr(own_code, "_trusted", {"*"})
    mine = load_component(f"{tmp_path}/mine.py:Mine")
    assert undeclared_texts(mine, "svd_solver", "arpack") == []
    assert undeclared_texts(mine, "svd_solver", "./x") == ["./x"]
