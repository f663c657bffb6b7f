"""The idx format: files like MNIST's, and files in another format."""

import gzip
import struct

import numpy as np
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.data.formats.numeric_arrays import read_idx
from ddr_cli.data.new_card import format_of

CODES = {"uint8": 8, "int16": 11, "float32": 13}


def idx(array):
    header = bytes([0, 0, CODES[array.dtype.name], array.ndim])
    shape = struct.pack(f">{array.ndim}I", *array.shape)
    return header + shape + array.astype(array.dtype.newbyteorder(">")).tobytes()


def pair(folder, X, y, name="train"):
    images, labels = folder / f"{name}-images", folder / f"{name}-labels.gz"
    images.write_bytes(idx(X))
    labels.write_bytes(gzip.compress(idx(y)))
    return [images, labels]


@pytest.mark.parametrize("kind", CODES)
def test_images_come_row_by_row_with_their_labels(kind, tmp_path):
    X = np.arange(24).reshape(4, 2, 3).astype(kind)
    y = np.array([3, 1, 4, 1], np.uint8)
    raw = read_idx([*pair(tmp_path, X, y), *pair(tmp_path, X[:1], y[:1], "test")])
    assert raw.image_shape == (2, 3)
    np.testing.assert_array_equal(raw.X, np.vstack([X.reshape(4, 6), X[:1].reshape(1, 6)]))
    assert raw.X.dtype == np.float64
    assert raw.labels.tolist() == [3, 1, 4, 1, 3]
    assert raw.sizes == (4, 0, 1, 0)


def test_bytes_are_brought_to_the_unit_range(tmp_path):
    paths = pair(tmp_path, np.array([[0, 51], [255, 102]], np.uint8), np.zeros(2, np.uint8))
    np.testing.assert_allclose(read_idx(paths, scale="unit").X, [[0, 0.2], [1, 0.4]])


def test_data_new_tells_an_idx_file_by_its_content(tmp_path):
    assert format_of(pair(tmp_path, np.zeros((2, 3), np.uint8), np.zeros(2, np.uint8))[1]) == "idx"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, _: [X], "in pairs"),
        (lambda X, y: [y, X], "must contain samples"),
        (lambda X, y: [X, _cut(y, 9)], "1 bytes"),
        (lambda X, y: [X, _cut(y, 6)], "0 bytes"),
        (lambda X, y: [X, _cut(y, 2)], "not an IDX file"),
        (lambda X, y: [X, _more(y)], "has 5 labels, but there are 4 samples"),
    ],
)
def test_what_is_no_pair_is_one_sentence(change, message, tmp_path):
    X, y = pair(tmp_path, np.zeros((4, 2, 2), np.uint8), np.arange(4, dtype=np.uint8))
    with pytest.raises(InputError, match=message):
        read_idx(change(X, y))


def _cut(path, length):
    path.write_bytes(gzip.decompress(path.read_bytes())[:length])
    return path


def _more(path):
    path.write_bytes(idx(np.zeros(5, np.uint8)))
    return path
