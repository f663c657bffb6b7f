import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from filelock import FileLock, Timeout

from ddr_cli.engine import read_trials
from ddr_cli.engine.work.samples import Labels, Samples
from ddr_cli.engine.work.scratch import Scratch
from ddr_cli.numerics.neighbors import kneighbors

DENSE = np.random.default_rng(0).normal(size=(7, 5)) * (np.arange(35).reshape(7, 5) % 3 == 0)


LABELS = Labels(np.array([0, 1, 0, 1, 0, 1, 0]), ("a", "b"), groups=np.arange(7))


@pytest.mark.parametrize(
    "matrix",
    [DENSE, np.asfortranarray(DENSE), DENSE[:, ::2], sp.csr_array(DENSE), sp.csc_matrix(DENSE)],
    ids=["dense", "fortran", "view", "csr", "csc"],
)
def test_points_come_back_read_only(tmp_path, matrix):
    Samples(matrix, LABELS).save(tmp_path / "points")
    loaded = Samples.load(tmp_path / "points").X
    if sp.issparse(matrix):
        assert isinstance(loaded, sp.csr_array)
        assert loaded.has_sorted_indices
        np.testing.assert_array_equal(loaded.toarray(), DENSE)
        np.testing.assert_array_equal(loaded[2:5].toarray(), DENSE[2:5])
        values = loaded.data
    else:
        np.testing.assert_array_equal(loaded, matrix)
        assert loaded.flags.c_contiguous
        values = loaded
    assert type(values) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1


def test_a_sparse_matrix_is_put_in_order_without_changing_the_callers(tmp_path):
    matrix = sp.csr_array((np.ones(3), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    Samples(matrix, LABELS).save(tmp_path / "points")
    loaded = Samples.load(tmp_path / "points").X
    np.testing.assert_array_equal(loaded.toarray(), [[1, 0, 2]])
    assert matrix.indices.tolist() == [2, 0, 2]


def test_labels_and_neighbors_come_back(tmp_path):
    found = kneighbors(DENSE, 3)
    Samples(DENSE, LABELS, 4, {"queries": found}).save(tmp_path / "points")
    loaded = Samples.load(tmp_path / "points")
    assert loaded.n_train == 4
    assert (loaded.labels.classes, loaded.labels.subclasses) == (("a", "b"), None)
    np.testing.assert_array_equal(loaded.labels.y, LABELS.y)
    assert list(loaded.neighbors) == ["queries"]
    np.testing.assert_array_equal(
        loaded.neighbors["queries"].first(2).indices, found.indices[:, :2]
    )
    np.testing.assert_array_equal(loaded.neighbors["queries"].distances, found.distances)


def test_sparse_data_run_like_dense_data(make_spec, run, tmp_path):
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


def test_scratch_of_a_killed_run_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stale = tmp_path / "ddr-scratch-stale"
    (stale / "data").mkdir(parents=True)
    (stale / "alive.lock").write_text("")
    new = tmp_path / "ddr-scratch-new"
    new.mkdir()
    old = tmp_path / "ddr-scratch-old"
    old.mkdir()
    os.utime(old, (0, 0))
    other = tmp_path / "ddr-something-else"
    other.mkdir()
    with Scratch() as first, Scratch() as second:
        assert sorted(tmp_path.iterdir()) == sorted([first.path, second.path, new, other])
    assert sorted(tmp_path.iterdir()) == [new, other]


def test_a_folder_that_another_run_takes_for_an_old_one_is_made_again(monkeypatch):
    acquire, failed = FileLock.acquire, []

    def acquire_second(lock, *args, **kwargs):
        if not failed:
            failed.append(Path(lock.lock_file).parent)
            raise Timeout(lock.lock_file)
        return acquire(lock, *args, **kwargs)

    monkeypatch.setattr("ddr_cli.engine.work.scratch._remove_stale", lambda: None)
    monkeypatch.setattr(FileLock, "acquire", acquire_second)
    with Scratch() as scratch:
        assert scratch.path not in failed
        assert scratch.folder("part").is_dir()
    shutil.rmtree(failed[0])
