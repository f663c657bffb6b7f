"""The libsvm and letor formats."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from ddr_cli.core.errors import InputError
from ddr_cli.data.formats.svmlight import read_letor, read_libsvm


@pytest.fixture
def write(tmp_path):
    def put(text, name="data.txt", *, packed=False):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        return path

    return put


@pytest.mark.parametrize("packed", [False, True])
def test_libsvm_reads_sparse_rows(write, packed):
    raw = read_libsvm([write("+1 1:0.5 3:2 # a note\n-1 2:1e-3\n", packed=packed)])
    assert isinstance(raw.X, sp.csr_array)
    np.testing.assert_array_equal(raw.X.toarray(), [[0.5, 0, 2], [0, 1e-3, 0]])
    assert raw.labels.tolist() == [1, -1]
    assert raw.labels.dtype == np.int64


def test_libsvm_files_get_the_widest_ones_columns(write):
    raw = read_libsvm([write("1 1:1\n", "a"), write("2 4:1\n2 1:1\n", "b")], dense=True)
    np.testing.assert_array_equal(raw.X, [[1, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]])
    assert raw.sizes == (1, 2)


def test_libsvm_width_and_first_index_can_be_stated(write):
    raw = read_libsvm([write("0.5 0:1 2:1\n")], n_features=5, first_index=0)
    assert raw.X.shape == (1, 5)
    assert raw.X.indices.tolist() == [0, 2]
    assert raw.labels.tolist() == [0.5]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "no rows"),
        ("1 1:1\n1 x:1\n", {}, "line 2: 'x:1' must be index:number"),
        ("1 1:1\n1 2:a\n", {}, "line 2: '2:a' must be index:number"),
        ("1 1:1\nyes 1:1\n", {}, "line 2: the label 'yes'"),
        ("1 2:1 1:1\n", {}, "line 1: '1:1' .*at least 3"),
        ("1 0:1\n", {"first_index": 1}, "line 1: '0:1' .*ascending indices .*at least 1"),
        ("1 1:nan\n", {}, "not a finite number"),
        ("1 7:1\n", {"n_features": 6}, "n_features is 6.*feature 7"),
    ],
)
def test_libsvm_refusals(write, text, options, message):
    with pytest.raises(InputError, match=message):
        read_libsvm([write(text)], **options)


LETOR = (
    "2 qid:7 1:0.5 2:1 #docid = 10\n0 qid:7 1:0 2:0.25 #docid = 11\n1 qid:9 1:1 2:0 #docid = 3\n"
)


def test_letor_reads_relevance_and_queries(write):
    raw = read_letor([write(LETOR)])
    np.testing.assert_array_equal(raw.X, [[0.5, 1], [0, 0.25], [1, 0]])
    assert raw.labels.tolist() == ["relevant", "non-relevant", "relevant"]
    assert raw.groups.tolist() == [7, 7, 9]


def test_letor_grades_and_threshold(write):
    path = write(LETOR)
    assert read_letor([path], labels="grade").labels.tolist() == [2, 0, 1]
    strict = read_letor([path], relevant_above=1)
    assert strict.labels.tolist() == ["relevant", "non-relevant", "non-relevant"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:1\n", "needs a query"),
        ("1 qid:1 1:1\n1 1:1\n", "query"),
        ("1 qid:1 1:1\n1 qid:1 1:NULL\n", "line 2: '1:NULL' must be index:number"),
    ],
)
def test_letor_refusals(write, text, message):
    with pytest.raises(InputError, match=message):
        read_letor([write(text)])


def test_libsvm_counts_features_from_zero_if_a_file_does(write):
    first, second = write("1 1:1 3:2 # 0:9\n", "a"), write("2 0:5 3:1\n", "b")
    assert read_libsvm([first], dense=True).X.tolist() == [[1, 0, 2]]
    assert read_libsvm([first, second], dense=True).X.tolist() == [[0, 1, 0, 2], [5, 0, 0, 1]]
