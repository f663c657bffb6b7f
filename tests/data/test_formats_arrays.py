"""The npz, mat and mat_cells formats."""

import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from ddr_cli.core.errors import InputError
from ddr_cli.data.formats.numeric_arrays import read_mat, read_mat_cells, read_npz, read_rdata

X = np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 0], [0, 0, 5]])
Y = np.array([1, 2, 1, 2])


def test_npz_round_trip_of_several_files(tmp_path):
    for name, rows in (("a", slice(0, 3)), ("b", slice(3, 4))):
        np.savez_compressed(tmp_path / f"{name}.npz", X=X[rows].astype(np.float32), y=Y[rows])
    raw = read_npz([tmp_path / "a.npz", tmp_path / "b.npz"])
    np.testing.assert_array_equal(raw.X, X)
    assert raw.X.dtype == np.float64
    assert raw.labels.tolist() == Y.tolist()
    assert raw.sizes == (3, 1)


def test_npz_names_groups_and_images(tmp_path):
    np.savez(tmp_path / "a.npz", pictures=np.arange(12).reshape(2, 3, 2), kind=["p", "q"], g=[7, 7])
    raw = read_npz([tmp_path / "a.npz"], data="pictures", label="kind", groups="g")
    assert raw.image_shape == (3, 2)
    np.testing.assert_array_equal(raw.X, np.arange(12).reshape(2, 6))
    assert raw.groups.tolist() == [7, 7]


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_npz_keeps_what_scipy_saves_sparse(tmp_path, kind):
    sp.save_npz(tmp_path / "matrix.npz", kind(X))
    parts = dict(np.load(tmp_path / "matrix.npz"))
    np.savez(tmp_path / "a.npz", **parts, y=Y)
    raw = read_npz([tmp_path / "a.npz"])
    assert isinstance(raw.X, sp.csr_array)
    np.testing.assert_array_equal(raw.X.toarray(), X)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X, "labels": Y}, "'y'; the file has X, labels.*'data' and 'label'"),
        ({"x": X, "y": Y}, "Did you mean 'x'"),
        ({"X": X, "y": Y[:3]}, "'y' needs 4 values, but has 3"),
        ({"X": X.ravel(), "y": Y}, "has 1 dimensions"),
        ({"X": X.astype(str), "y": Y}, "contains no numbers"),
        ({"X": X, "y": np.array([{}, 1, 2, 3], dtype=object)}, "Python objects"),
    ],
)
def test_npz_refusals(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InputError, match=message):
        read_npz([tmp_path / "a.npz"])


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04 torn"])
def test_npz_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(InputError, match="not a readable NumPy archive"):
        read_npz([tmp_path / "a.npz"])


@pytest.mark.parametrize("sparse", [False, True])
def test_mat_reads_matrix_and_labels(tmp_path, sparse):
    features = sp.csc_array(X) if sparse else X
    scipy.io.savemat(tmp_path / "a.mat", {"fea": features, "gnd": Y[:, None].astype(np.uint8)})
    raw = read_mat([tmp_path / "a.mat"])
    assert isinstance(raw.X, sp.csr_array if sparse else np.ndarray)
    np.testing.assert_array_equal(sp.csr_array(raw.X).toarray(), X)
    assert raw.labels.tolist() == Y.tolist()


@pytest.mark.parametrize("sparse", [False, True])
def test_mat_takes_the_label_out_of_a_column(tmp_path, sparse):
    wide = np.column_stack([X, Y, [104, 105, 106, 107]])
    features = sp.csc_array(wide) if sparse else wide
    scipy.io.savemat(tmp_path / "a.mat", {"fea": features})
    raw = read_mat([tmp_path / "a.mat"], label=-2, ignore=[-1])
    np.testing.assert_array_equal(sp.csr_array(raw.X).toarray(), X)
    assert raw.labels.tolist() == Y.tolist()


def test_mat_turns_samples_and_pixels_round(tmp_path):
    images = np.arange(24.0).reshape(4, 2, 3)
    unfolded = images.transpose(0, 2, 1).reshape(4, 6)
    scipy.io.savemat(tmp_path / "a.mat", {"pix": unfolded.T, "who": Y})
    raw = read_mat(
        [tmp_path / "a.mat"],
        data="pix",
        label="who",
        samples_in_columns=True,
        columnwise_image=(2, 3),
    )
    np.testing.assert_array_equal(raw.X, images.reshape(4, 6))
    assert raw.image_shape == (2, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": "feat"}, "'feat'; the file has fea, gnd. Did you mean 'fea'"),
        ({"label": 3}, "no column 3; the matrix has 3"),
        ({"ignore": [-4]}, "no column -4"),
        ({"columnwise_image": (2, 2)}, "3 features.*2 x 2"),
        ({"samples_in_columns": True}, "4 labels for 3 samples"),
    ],
)
def test_mat_refusals(tmp_path, options, message):
    scipy.io.savemat(tmp_path / "a.mat", {"fea": X, "gnd": Y})
    with pytest.raises(InputError, match=message):
        read_mat([tmp_path / "a.mat"], **options)


@pytest.mark.parametrize("content", [b"", b"MATLAB 5.0 MAT-file", b"x" * 4096])
def test_mat_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(InputError, match="not a readable MATLAB file"):
        read_mat([tmp_path / "a.mat"])


def save_rdata(path, content, **options):
    rdata = pytest.importorskip("rdata", reason="the extra rdata is not installed")
    rdata.write_rda(path, content, **options)


@pytest.mark.parametrize("compression", ["gzip", "bzip2", "xz"])
def test_rdata_reads_a_list_with_a_split_and_groups(tmp_path, compression):
    first = np.array([True, False, True, False])
    content = {"set": {"X": X, "kind": np.array(list("abab")), "first": first}}
    save_rdata(tmp_path / "a.rda", content, compression=compression)
    raw = read_rdata([tmp_path / "a.rda"], data="X", label="kind", train="first", repeats=2)
    np.testing.assert_array_equal(raw.X, X)
    assert raw.labels.tolist() == list("abab")
    assert raw.parts["part"].tolist() == ["train", "test", "train", "test"]
    assert raw.groups.tolist() == [0, 0, 1, 1]


def test_rdata_joins_a_training_and_a_test_set(tmp_path):
    save_rdata(tmp_path / "a.rda", {"X1": X[:3], "y1": Y[:3], "X2": X[3:], "y2": Y[3:]})
    raw = read_rdata([tmp_path / "a.rda"], data=("X1", "X2"), label=("y1", "y2"))
    np.testing.assert_array_equal(raw.X, X)
    assert raw.labels.tolist() == Y.tolist()
    assert raw.parts["part"].tolist() == ["train"] * 3 + ["test"]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"data": "XX", "label": "y"}, "XX.*the file has X, y"),
        ({"data": ("X", "X"), "label": "y"}, "'label' names 1"),
        ({"data": "X", "label": "y", "train": "y"}, "TRUE or FALSE"),
        ({"data": "y", "label": "y"}, "'y' is not a matrix"),
    ],
)
def test_rdata_names_the_wrong_option(tmp_path, options, what):
    save_rdata(tmp_path / "a.rda", {"X": X, "y": Y})
    with pytest.raises(InputError, match=what):
        read_rdata([tmp_path / "a.rda"], **options)


def test_rdata_that_is_none_is_refused(tmp_path):
    pytest.importorskip("rdata", reason="the extra rdata is not installed")
    (tmp_path / "a.rda").write_bytes(b"RDX2\nX")
    with pytest.raises(InputError, match="not a readable R data file"):
        read_rdata([tmp_path / "a.rda"], data="X", label="y")


def test_rdata_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdata", None)
    (tmp_path / "a.rda").write_bytes(b"RDX2\nX")
    with pytest.raises(InputError, match=r"pip install '.+\[rdata\]'"):
        read_rdata([tmp_path / "a.rda"], data="X", label="y")


def test_mat_73_without_h5py_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "a.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(InputError, match=r"pip install '.+\[mat73\]'"):
        read_mat([tmp_path / "a.mat"])


def test_mat_73_reads_dense_and_sparse(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py, the extra mat73, is not installed")
    sparse = sp.csc_array(X)
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file["fea"], file["gnd"] = X.T, Y[None, :]
        group = file.create_group("words")
        group.attrs["MATLAB_sparse"] = np.uint64(len(X))
        group["data"], group["ir"], group["jc"] = sparse.data, sparse.indices, sparse.indptr
    np.testing.assert_array_equal(read_mat([tmp_path / "a.mat"]).X, X)
    raw = read_mat([tmp_path / "a.mat"], data="words")
    assert isinstance(raw.X, sp.csr_array)
    np.testing.assert_array_equal(raw.X.toarray(), X)


def test_mat_73_reads_no_other_file(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py, the extra mat73, is not installed")
    with h5py.File(tmp_path / "private.h5", "w") as file:
        file["fea"] = X.T
    np.asfortranarray(X).tofile(tmp_path / "private.raw")
    virtual = h5py.VirtualLayout(X.T.shape, float)
    virtual[:] = h5py.VirtualSource(tmp_path / "private.h5", "fea", X.T.shape)
    outside = [(str(tmp_path / "private.raw"), 0, X.nbytes)]
    make = {
        "link": lambda file: file.__setitem__("fea", h5py.ExternalLink("private.h5", "/fea")),
        "virtual": lambda file: file.create_virtual_dataset("fea", virtual),
        "external": lambda file: file.create_dataset("fea", X.T.shape, float, external=outside),
    }
    for kind, put in make.items():
        path = tmp_path / f"{kind}.mat"
        with h5py.File(path, "w", userblock_size=512) as file:
            file["gnd"] = Y[None, :]
            put(file)
        with pytest.raises(InputError, match="'fea' refers to another file"):
            read_mat([path])


def cells(*rows):
    made = np.empty((len(rows), max(map(len, rows))), dtype=object)
    for place in np.ndindex(made.shape):
        row = rows[place[0]]
        made[place] = row[place[1]] if place[1] < len(row) else np.zeros((0, 0))
    return made


def test_mat_cells_passes_over_empty_ones(tmp_path):
    images = np.arange(18).reshape(3, 2, 3)
    names = np.array([["p"], ["q"]], dtype=object)
    content = {"dat": cells([images[0], images[1]], [images[2]]), "classlabels": names}
    scipy.io.savemat(tmp_path / "a.mat", content)
    raw = read_mat_cells([tmp_path / "a.mat"])
    np.testing.assert_array_equal(raw.X, images.reshape(3, 6))
    assert raw.labels.tolist() == ["p", "p", "q"]
    assert raw.image_shape == (2, 3)


def test_mat_cells_refuses_images_of_two_sizes(tmp_path):
    content = {"dat": cells([np.ones((2, 3)), np.ones((3, 2))]), "classlabels": ["p"]}
    scipy.io.savemat(tmp_path / "a.mat", content)
    with pytest.raises(InputError, match="different sizes"):
        read_mat_cells([tmp_path / "a.mat"])


def test_mat_cells_refuses_a_plain_matrix(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"dat": X, "classlabels": ["p"]})
    with pytest.raises(InputError, match="cell array"):
        read_mat_cells([tmp_path / "a.mat"])
