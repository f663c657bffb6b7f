"""Print how duplicates affect error rates in the suite lite: the table of docs/fair_comparison.md.

    python benchmarks/duplicates.py

For each data set with exact or near duplicates, 3-NN without reduction classifies the test samples
of ten of the suite's splits. One error rate covers all test samples. The other covers only those
without a duplicate in the training set, as if no pair of duplicates were split.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from count_duplicates import distinct_rows, near_pairs
from sklearn.pipeline import make_pipeline
from tables import markdown

from ddr_cli.core.extras import nothing_fitted
from ddr_cli.data import load_card, load_dataset
from ddr_cli.evaluation.evaluators import CLASSIFIERS, PREPROCESSORS
from ddr_cli.evaluation.splits import make_split
from ddr_cli.suite.definition import load_suite
from ddr_cli.suite.names import INDUCTIVE

REPEATS = 10  # More splits than in the suite, because 3-NN is cheap.


def rows_of(spec: Any) -> dict[str, str]:
    data = load_dataset(spec.card)
    row = distinct_rows(data)
    first = np.unique(row, return_index=True)[1]
    pairs = near_pairs(data.X[first])
    own = data.split and (data.split.train, data.split.test)
    given = spec.split.model_dump(exclude_none=True, exclude={"repeats", "predefined"})
    rates = []
    for index in range(REPEATS):
        split = make_split(
            **given, y=data.y, index=index, dataset=data.name, predefined=own, groups=data.groups
        )
        steps = [PREPROCESSORS.load(step.name)(**step.params) for step in spec.preprocess]
        model = make_pipeline(*steps, CLASSIFIERS.load("knn")(n_neighbors=3))
        model.fit(data.X[split.train], data.y[split.train])
        wrong = model.predict(data.X[split.test]) != data.y[split.test]
        trained = np.isin(np.arange(len(first)), row[split.train])
        twins = trained.copy()
        twins[pairs[trained[pairs[:, 1]], 0]] = True
        twins[pairs[trained[pairs[:, 0]], 1]] = True
        has_twin = twins[row[split.test]]
        rates.append((has_twin.mean(), wrong.mean(), wrong[~has_twin].mean()))
    twin, every, without = 100 * np.mean(rates, axis=0)
    return {
        "data set": data.name,
        "test samples with a duplicate in the training set (%)": f"{twin:.2f}",
        "error rate, all test samples (%)": f"{every:.2f}",
        "error rate, test samples without a duplicate in the training set (%)": f"{without:.2f}",
        "difference (percentage points)": f"{without - every:+.2f}",
    }


if __name__ == "__main__":
    with nothing_fitted():
        specs = list(load_suite("lite").specs(tracks=[INDUCTIVE]))
    found = []
    for spec in specs:
        counts = load_card(spec.card).expect.duplicates
        if counts is not None and (counts.exact or counts.near):
            found.append(rows_of(spec))
    print(markdown(pd.DataFrame(found)))
