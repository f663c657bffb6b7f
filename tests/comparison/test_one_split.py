"""Two methods on one split: McNemar's test, where the run has kept its predictions."""

from __future__ import annotations

import pytest

from ddr_cli.comparison.methods import compare
from ddr_cli.comparison.pairing import MCNEMAR
from ddr_cli.engine import run_spec
from ddr_cli.engine.kept import read_kept
from ddr_cli.evaluation.statistics import mcnemar
from ddr_cli.spec import load_spec

SPEC = """
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 1}
reducers: [{name: pca, n_components: 1}, lda]
classifiers: [linear]
keep: {predictions: true}
controls: []
"""


def test_one_split_is_compared_point_by_point(tmp_path):
    (tmp_path / "one.yaml").write_text(SPEC)
    folder = run_spec(load_spec(tmp_path / "one.yaml"), out=tmp_path).folder
    (group,) = read_kept(folder).values()
    expected = mcnemar(*(predicted == group.y_test for predicted in group.predicted.values()))
    found = compare([folder])
    (row,) = found.differences.to_dict("records")
    assert row["p_value"] == row["p_holm"] == pytest.approx(expected)
    assert (row["interval"], row["n"]) == (MCNEMAR, 1)
    (pair,) = found.pairs.to_dict("records")
    assert (pair["test"], pair["p_value"]) == (MCNEMAR, pytest.approx(expected))
