"""The `mat` and `mat_cells` formats: MATLAB files, version 5 and version 7.3."""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import registered
from ddr_cli.data.files import read_bytes
from ddr_cli.data.formats import RawData, concatenate_rows, find_named


@registered("format", "mat", "MATLAB file, v5 or v7.3", endings=(".mat",))
def read_mat(
    paths: Sequence[Path],
    *,
    data: str = "fea",
    label: str | int = "gnd",
    groups: str | None = None,
    ignore: Sequence[int] = (),
    samples_in_columns: bool = False,
    columnwise_image: tuple[int, int] | None = None,
) -> RawData:
    """Read MATLAB files with a matrix of features, one block of rows from each.

    The variable names that are assumed are those of Deng Cai's data sets. A sparse matrix stays
    sparse.

    Options
    -------
    paths: The files; version 7.3 needs the package h5py.
    data: The variable that holds the features, a row per sample.
    label: The variable that holds the classes, or the column of `data` that does (from 0, negative
        ones from the end).
    groups: The variable of the groups, such as subjects.
    ignore: Columns of `data` that are no features (from 0, negative ones from the end).
    samples_in_columns: `data` has a column per sample; it is transposed first.
    columnwise_image: Each row is an image of this height and width with its pixels column by
        column, as MATLAB unfolds them; they are put row by row.
    """

    def read_one(path: Path) -> RawData:
        variables = load_mat(path)
        matrix = _matrix(path, variables, data)
        if samples_in_columns:
            matrix = matrix.T
        n_samples, width = matrix.shape
        left_out = {_column(path, index, width) for index in ignore}
        if isinstance(label, int):
            place = _column(path, label, width)
            left_out.add(place)
            labels = _dense(matrix[:, [place]]).ravel()
        else:
            labels = _labels(path, variables, label)
        together = None if groups is None else _labels(path, variables, groups)
        for values, what in ((labels, "labels"), (together, "groups")):
            if values is not None and len(values) != n_samples:
                raise InputError(f"{path}: there are {len(values)} {what} for {n_samples} samples.")
        features: Any = matrix
        if left_out:
            features = matrix[:, [index for index in range(width) if index not in left_out]]
        if columnwise_image is not None:
            features = _rowwise(path, features, columnwise_image)
        return RawData(features, labels, image_shape=columnwise_image, groups=together)

    return concatenate_rows([read_one(Path(path)) for path in paths])


@registered(
    "format",
    "mat_cells",
    "MATLAB file with a cell array of images, one row of cells per class",
)
def read_mat_cells(
    paths: Sequence[Path], *, data: str = "dat", label: str = "classlabels"
) -> RawData:
    """Read MATLAB files with a cell array of images, a row of cells per class.

    Options
    -------
    data: The variable that holds the cell array; empty cells are passed over.
    label: The variable that names the class of each row of cells.
    """

    def read_one(path: Path) -> RawData:
        variables = load_mat(path)
        cells = np.asarray(find_named(path, variables, data, "variable"))
        names = _labels(path, variables, label)
        if cells.dtype != object or cells.ndim != 2 or len(names) != len(cells):
            raise InputError(
                f"{path}: '{data}' must be a cell array with one row for each of the "
                f"{len(names)} classes in '{label}'."
            )
        full = [(row, image) for row, line in enumerate(cells) for image in line if image.size]
        shapes = sorted({image.shape for _, image in full})
        if len(shapes) != 1 or len(shapes[0]) != 2:
            raise InputError(f"{path}: the images in '{data}' don't have one size: {shapes}.")
        X = np.array([image.ravel() for _, image in full])
        return RawData(X, names[[row for row, _ in full]], image_shape=shapes[0])

    return concatenate_rows([read_one(Path(path)) for path in paths])


def load_mat(path: Path) -> dict[str, Any]:
    """Return the variables in a MATLAB file, by name."""
    content = read_bytes(path)
    # A v7.3 file is an HDF5 file behind 512 bytes of text.
    if content[512:520] == b"\x89HDF\r\n\x1a\n":
        return _load_hdf5(path)
    import scipy.io

    stream: Any = io.BytesIO(content)
    try:
        variables: dict[str, Any] = scipy.io.loadmat(stream, spmatrix=True)
    except Exception as error:  # its reader raises anything on a damaged file
        raise InputError(f"{path}: not a MATLAB file that can be read ({error}).") from None
    return {name: value for name, value in variables.items() if not name.startswith("__")}


def _load_hdf5(path: Path) -> dict[str, Any]:
    try:
        h5py = importlib.import_module("h5py")
    except ImportError:
        raise InputError(
            f"{path}: this is a MATLAB 7.3 file, which needs the package h5py: "
            f"pip install 'ddr[mat73]', or save it in MATLAB with save(..., '-v7')."
        ) from None
    try:
        with h5py.File(path, "r") as file:
            return {name: _from_hdf5(item) for name, item in file.items() if name[0] != "#"}
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{path}: not a MATLAB 7.3 file that can be read ({error}).") from None


def _from_hdf5(item: Any) -> Any:
    if "MATLAB_sparse" in item.attrs:
        indptr = item["jc"][()]
        n_rows = int(item.attrs["MATLAB_sparse"])
        # An all-zero matrix has neither values nor row numbers.
        values = item["data"][()] if "data" in item else np.empty(0)
        rows = item["ir"][()] if "ir" in item else np.empty(0, dtype=np.int64)
        parts = (values, rows.astype(np.int64), indptr.astype(np.int64))
        return sp.csc_array(parts, shape=(n_rows, len(indptr) - 1))
    # HDF5 lists the dimensions of MATLAB's column-major arrays backwards.
    return item[()].T if hasattr(item, "dtype") else item.name


def _matrix(path: Path, variables: Mapping[str, Any], name: str) -> Any:
    value = find_named(path, variables, name, "variable")
    if _is_sparse(value):
        return sp.csc_array(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf" or value.ndim != 2:
        raise InputError(f"{path}: the variable '{name}' is not a matrix of numbers.")
    return value


def _labels(path: Path, variables: Mapping[str, Any], name: str) -> NDArray[Any]:
    value = find_named(path, variables, name, "variable")
    values = _dense(value).ravel()
    if values.dtype != object:
        return values
    try:
        return np.array([np.asarray(cell).item() for cell in values])
    except ValueError:
        raise InputError(f"{path}: a cell of '{name}' doesn't hold just one label.") from None


def _column(path: Path, index: int, width: int) -> int:
    if not -width <= index < width:
        raise InputError(f"{path}: there is no column {index}; the matrix has {width}.")
    return index % width


def _rowwise(path: Path, matrix: Any, shape: tuple[int, int]) -> Any:
    height, width = shape
    if matrix.shape[1] != height * width:
        raise InputError(
            f"{path}: {matrix.shape[1]} features are not an image of {height} x {width} pixels."
        )
    return matrix[:, np.arange(height * width).reshape(width, height).T.ravel()]


def _dense(matrix: Any) -> NDArray[Any]:
    return np.asarray(matrix.toarray() if _is_sparse(matrix) else matrix)


def _is_sparse(matrix: Any) -> bool:
    return bool(sp.issparse(matrix))
