from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp

from ddr_cli.engine import read_trials
from ddr_cli.engine.arrays import load_matrix, load_neighbors, save_matrix, save_neighbors
from ddr_cli.engine.execute import RunOutcome
from ddr_cli.numerics.neighbors import kneighbors

if TYPE_CHECKING:
    from ddr_cli.spec import Spec

MakeSpec = Callable[..., "Spec"]
Run = Callable[..., RunOutcome]

DENSE = np.random.default_rng(0).normal(size=(7, 5)) * (np.arange(35).reshape(7, 5) % 3 == 0)


@pytest.mark.parametrize(
    "matrix",
    [DENSE, np.asfortranarray(DENSE), DENSE[:, ::2], sp.csr_array(DENSE), sp.csc_matrix(DENSE)],
    ids=["dense", "fortran", "view", "csr", "csc"],
)
def test_matrices_come_back_read_only(tmp_path: Path, matrix: object) -> None:
    save_matrix(tmp_path, "X", matrix)
    loaded = load_matrix(tmp_path, "X")
    if sp.issparse(matrix):
        assert isinstance(loaded, sp.csr_array)
        assert loaded.has_sorted_indices
        np.testing.assert_array_equal(loaded.toarray(), DENSE)
        np.testing.assert_array_equal(loaded[2:5].toarray(), DENSE[2:5])
        values = loaded.data
    else:
        np.testing.assert_array_equal(loaded, matrix)
        values = loaded
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1


def test_a_sparse_matrix_is_put_in_order_without_changing_the_callers(tmp_path: Path) -> None:
    matrix = sp.csr_array((np.ones(3), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    save_matrix(tmp_path, "X", matrix)
    np.testing.assert_array_equal(load_matrix(tmp_path, "X").toarray(), [[1, 0, 2]])
    assert matrix.indices.tolist() == [2, 0, 2]


def test_neighbors_come_back(tmp_path: Path) -> None:
    assert load_neighbors(tmp_path, "queries") is None
    found = kneighbors(DENSE, 3)
    save_neighbors(tmp_path, "queries", found)
    loaded = load_neighbors(tmp_path, "queries")
    assert loaded is not None
    np.testing.assert_array_equal(loaded.first(2).indices, found.indices[:, :2])
    np.testing.assert_array_equal(loaded.distances, found.distances)


def test_sparse_data_run_like_dense_data(make_spec: MakeSpec, run: Run, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    X = generator.poisson(1.0, size=(90, 6)).astype(float)
    X[45:, :2] += 1
    label = np.repeat([1, 2], 45)
    folder = tmp_path / "specs"
    folder.mkdir()
    lines = [
        f"{k} " + " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(row) if v)
        for k, row in zip(label, X, strict=True)
    ]
    (folder / "data.svm").write_text("\n".join(lines) + "\n")
    (folder / "data.csv").write_text(
        "\n".join(",".join(f"{v:g}" for v in [*row, k]) for k, row in zip(label, X, strict=True))
    )
    errors = {}
    for kind, file, form in (
        ("sparse", "data.svm", "{name: libsvm}"),
        ("dense", "data.csv", "{name: csv, label: -1}"),
    ):
        (folder / f"{kind}.yaml").write_text(
            f"name: mine\ntitle: Counts\nfiles: [{{path: {file}}}]\nformat: {form}\n"
        )
        ccdr = {"name": "ccdr", "mode": "transductive"}
        outside = {"name": "ccdr", "mode": "out_of_sample", "label": "outside"}
        spec = make_spec(kind + "_run", dataset=f"./{kind}.yaml", reducers=["none", ccdr, outside])
        outcome = run(spec)
        assert outcome.failed == 0
        errors[kind] = read_trials(outcome.folder)["error"].tolist()
    assert errors["sparse"] == errors["dense"]
