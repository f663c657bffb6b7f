"""Every processor predicts the same: OPENBLAS_CORETYPE selects the kernels of another family."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

NEEDS = {"Nehalem": "sse4_2", "Haswell": "avx2", "SkylakeX": "avx512f"}
INFO = Path("/proc/cpuinfo")
FLAGS = INFO.read_text(encoding="utf-8") if INFO.is_file() else ""
HERE = [kernel for kernel, flag in NEEDS.items() if flag in FLAGS]

# Rotated lattices tie, copies have distance 0, and few samples have equal eigenvalues.
PROGRAM = """
import json, sys, warnings
import numpy as np
from sklearn.decomposition import PCA
from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.evaluation.sklearn_classifiers import Logistic
from ddr_cli.reducers.registry import REDUCERS, get_traits

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
grid = np.stack(np.unravel_index(rng.permutation(625)[:160], (5, 5, 5, 5)), axis=1) - 2.0
balance = np.sign(grid[:, 0] * grid[:, 1] - grid[:, 2] * grid[:, 3]).astype(int) + 1
grid = PCA().fit_transform(grid / grid.std(axis=0))
copies, of_copies = np.repeat(rng.normal(size=(50, 6)), 3, axis=0), np.repeat(np.arange(50) % 3, 3)
copies = (copies + 2 * np.eye(3, 6)[of_copies]) @ rng.normal(size=(6, 6))
few, of_few = rng.normal(size=(45, 40)), np.arange(45) % 3
samples = {"grid": (grid, balance), "copies": (copies, of_copies), "few": (few, of_few)}
options = {"random_state": 0, "n_estimators": 10}
found = {}
for name in REDUCERS.names():
    make = REDUCERS.load(name)
    if REDUCERS.get(name).origin != "ddr" or get_traits(make()).library:
        continue
    for data, (X, y) in samples.items():
        reducer = make()
        known = reducer.get_params()
        reducer.set_params(**{key: value for key, value in options.items() if key in known})
        try:
            train = np.asarray(reducer.fit_transform(X[::2], y[::2]))
            test = np.asarray(reducer.transform(X[1::2]))
        except ValueError as error:
            found[f"{name} {data}"] = str(error)
            continue
        for classifier in (KNNClassifier(3), Logistic()):
            predicted = classifier.fit(train, y[::2]).predict(test)
            found[f"{name} {data} {type(classifier).__name__}"] = "".join(map(str, predicted))
print(json.dumps(found))
"""


@cache
def predictions(kernel):
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.skipif(len(HERE) < 2, reason="no second kernel of OpenBLAS runs on this processor")
def test_all_methods_predict_the_same_with_every_kernel():
    expected = predictions(HERE[0])
    assert len(expected) > 200
    for kernel in HERE[1:]:
        found = predictions(kernel)
        assert {name: found[name] for name in expected if found[name] != expected[name]} == {}
