"""NMMP on real data comes out where the paper's Table 4 prints it, within its deviation."""

from __future__ import annotations

import numpy as np
import pytest

from ddr_cli.data import Sources, load_dataset
from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.evaluation.registry import make_preprocessor
from ddr_cli.evaluation.splits import make_split
from ddr_cli.reducers import NMMP

_UNIT = [("rescale", {"by": "all"}), ("unit_length", {})]


@pytest.mark.parametrize(
    ("name", "per_class", "m", "steps", "printed", "sd"),
    [
        ("iris", 20, 3, [], 96.5, 1.6),
        ("balance", 20, 2, [], 72.9, 4.2),
        ("coil20", 6, 60, [], 86.5, 2.0),
        ("usps_1234", 20, 60, _UNIT, 94.5, 0.9),
    ],
)
def test_accuracy(name, per_class, m, steps, printed, sd, data_mirror, tmp_path):
    data = load_dataset(name, sources=Sources((data_mirror,), tmp_path, offline=True))
    accuracy = []
    for index in range(8):
        split = make_split("per_class", data.y, index=index, seed=0, dataset=name, train=per_class)
        train, test = data.X[split.train], data.X[split.test]
        for step, params in [*steps, ("pca", {"n_components": "full"})]:
            fitted = make_preprocessor(step, **params)
            train, test = fitted.fit_transform(train), fitted.transform(test)
        reducer = NMMP(m)
        classifier = KNNClassifier(3, ties="smallest_label")
        classifier.fit(reducer.fit_transform(train, data.y[split.train]), data.y[split.train])
        accuracy.append(classifier.score(reducer.transform(test), data.y[split.test]))
    # The mean of 8 splits itself varies by a third of their deviation.
    assert abs(100 * np.mean(accuracy) - printed) <= 1.5 * sd
