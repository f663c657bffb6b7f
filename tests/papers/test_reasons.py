"""The counts in reasons equal those in the committed trial logs that they refer to."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from ddr_cli.papers.schema import load_paper

RESULTS = Path(__file__).parents[2] / "results"


def reason(paper, part):
    """Return the printed reason of a part of a claim."""
    (found,) = (p for claim in load_paper(paper).claims for p in claim.parts if p.id == part)
    assert found.reason is not None
    return " ".join(found.reason.text.split())


def errors(spec, columns, **only):
    """Return the errors of a run, one row per split."""
    trials = pd.read_csv(RESULTS / spec / "trials.csv")
    for column, value in only.items():
        trials = trials[trials[column.replace("__", ".")] == value]
    return trials.pivot_table(index="split", columns=columns, values="error")


@pytest.fixture(scope="module")
def along_beta():
    return errors("landsat_ccdr_beta", ["reducer.beta"], classifier="knn")


def test_how_often_a_split_shows_the_gain():
    nearest = {"classifier__n_neighbors": 3, "classifier__ties": "nearest"}
    found = errors("landsat_ccdr", ["reducer"], classifier="knn", **nearest)
    gain = 1 - found["ccdr"] / found["none"]
    own, over = gain["predefined"], gain.drop("predefined")
    text = reason("ccdr", "gain")
    assert f"in {(over >= 0.1).sum()} of {len(over)} re-splits" in text
    assert over.max() < own
    assert "In no re-split does CCDR reduce the error as much as on the paper's split" in text
    assert f"standard deviation of {over.std():.0%}".replace("%", " %") in text


def test_where_the_least_error_lies(along_beta):
    best = along_beta.drop("predefined").idxmin(axis=1)
    text = reason("ccdr", "fig2-knn-minimum")
    assert f"In {best.between(0.25, 1).sum()} of {len(best)} re-splits, k-NN" in text
    assert f"In {(best <= 0.05).sum()} of {len(best)} re-splits, k-NN" in text
    found = errors("landsat_ccdr_dim", ["reducer.n_components"], classifier="knn")
    best = found.drop("predefined").idxmin(axis=1)
    assert f"In {best.between(12, 14).sum()} of {len(best)}" in reason("ccdr", "fig3-knn-minimum")
    assert f"from {best.min():g} to {best.max():g}" in reason("ccdr", "fig3-knn-minimum")


def test_how_often_a_smaller_beta_is_worse(along_beta):
    rise = along_beta[0.01] - along_beta[0.5]
    own, over = rise["predefined"], rise.drop("predefined")
    text = reason("ccdr", "fig2-knn-rises")
    assert f"In {(over >= own).sum()} of {len(over)} re-splits" in text
    assert (over < 0).sum() > len(over) / 2
    assert "In most re-splits, the error at the smallest β is lower" in text


def test_the_labels_that_lie_together_are_one_off():
    for path in (RESULTS / "dp_usps_prototypes" / "embeddings").glob("*.json"):
        kept = json.loads(path.read_text(encoding="utf-8"))
        distances = squareform(pdist(np.array(kept["prototypes"])))

        def farthest(codes, distances=distances):
            return max(distances[pair] for pair in combinations(codes, 2))

        assert kept["classes"] == [str(digit) for digit in range(10)]
        assert min(combinations(range(10), 2), key=farthest) == (7, 9)
        assert min(combinations(range(10), 3), key=farthest) == (2, 5, 8)
    text = reason("dp", "fig5-0-8")
    summary = pd.read_csv(RESULTS / "dp_usps_label_index" / "summary.csv")
    for mean in summary[summary["classifier.classes"].isin(["7, 9", "2, 5, 8"])]["mean"]:
        assert f"{mean:.2f}" in text
