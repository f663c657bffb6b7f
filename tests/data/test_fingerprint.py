"""Equal content has equal fingerprints, and different content has different ones."""

from hashlib import sha256

import numpy as np
import pytest
from scipy import sparse

from ddr_cli.data.dataset import Dataset, PredefinedSplit, canonical, fingerprint

X = np.array([[0.0, 1.5, -2.0], [3.0, 0.0, 0.0], [0.0, 0.0, 4.0]])
Y = np.array([0, 1, 0])
NAMES = ("a", "b")


def of(X=X, y=Y, names=NAMES, **more):
    return fingerprint(Dataset("", "", canonical(X), y, names, "", **more))


def test_is_the_hash_of_the_documented_bytes():
    start = b"ddr data set, canonical form 1"
    y = Y.astype("<i8").tobytes()
    end = b"|y:1:24:" + y + b"|target_names:2:1:a:1:b"
    dense = start + b"|dense:1:6:(3, 3)" + X.astype("<f8").tobytes() + end
    assert of() == f"sha256:{sha256(dense).hexdigest()}"
    indptr, indices, data = (
        np.array(values, dtype=kind).tobytes()
        for values, kind in [([0, 2, 3, 4], "<i8"), ([1, 2, 0, 2], "<i8"), ([1.5, -2, 3, 4], "<f8")]
    )
    csr = b"|csr:1:6:(3, 3)|indptr:1:32:" + indptr + b"|indices:1:32:" + indices
    csr = start + csr + b"|data:1:32:" + data + end
    assert of(sparse.csr_array(X)) == f"sha256:{sha256(csr).hexdigest()}"


@pytest.mark.parametrize(
    "same",
    [
        np.asfortranarray(X),
        X.astype(">f8"),
        X.astype(np.float32),
        np.where(X == 0, -0.0, X),
        np.repeat(X, 2, axis=0)[::2],
        X.tolist(),
    ],
    ids=["column order", "big-endian", "single precision", "minus zero", "strided", "lists"],
)
def test_memory_layout_does_not_count(same):
    assert of(same) == of()


def test_sparse_layout_does_not_count():
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    order = np.array([3, 1, 0, 2])
    halves = (
        np.concatenate([values[order] / 2, values[order] / 2, [0.0]]),
        (
            np.concatenate([rows[order], rows[order], [2]]),
            np.concatenate([columns[order], columns[order], [0]]),
        ),
    )
    messy = sparse.coo_array(halves, shape=X.shape)
    assert of(messy) == of(sparse.csc_array(X)) == of(sparse.csr_array(X))
    wide = sparse.csr_array(X)
    wide.indices = wide.indices.astype(np.int64)
    wide.indptr = wide.indptr.astype(np.int64)
    assert of(wide) == of(sparse.csr_array(X))


def test_any_nan_is_the_same_nan():
    one, other = X.copy(), X.copy()
    one[0, 0] = np.nan
    other[0, 0] = np.frombuffer(b"\x01\x00\x00\x00\x00\x00\xf8\xff", dtype="<f8")[0]
    assert of(one) == of(other) != of()


def test_blocks_do_not_count():
    tall = np.arange(5000.0).reshape(-1, 1)
    y = np.zeros(5000, dtype=np.int64)
    assert of(tall, y) != of(tall[::-1], y)
    assert of(tall, y) == of(np.asfortranarray(tall), y)


def test_the_fingerprint_depends_on_all_that_changes_results():
    split = PredefinedSplit(np.array([0, 1]), np.array([2]))
    others = [
        of(X + np.eye(3) * 1e-15),
        of(X.T),
        of(X.reshape(1, 9), Y[:1]),
        of(y=np.array([1, 0, 1])),
        of(names=("b", "a")),
        of(names=("ab", "")),
        of(split=split),
        of(split=PredefinedSplit(np.array([0]), np.array([1, 2]))),
        of(groups=Y),
        of(parts={"a": split}),
        of(parts={"b": split}),
        of(subclasses=Y, subclass_names=NAMES),
        of(sparse.csr_array(X)),
        of(),
    ]
    assert len(set(others)) == len(others)


def test_canonical_leaves_its_argument_alone():
    given = np.array([[-0.0, 1.0]])
    assert np.signbit(given[0, 0])
    assert not np.signbit(canonical(given)[0, 0])
    assert np.signbit(given[0, 0])
