"""The formats of arrays: NumPy archives (`npz`), MATLAB (`mat`, `mat_cells`), R and IDX files."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError, did_you_mean, unreadable
from ddr_cli.core.extras import load_module
from ddr_cli.core.registry import registered
from ddr_cli.data.files import DAMAGE, UNPACKED_LIMIT, check_zip, read_bytes
from ddr_cli.data.formats import Features, RawData, concatenate_rows

# The array names that `scipy.sparse.save_npz` writes.
_SPARSE_KEYS = {"data", "indices", "indptr", "shape"}


@registered("format", "npz", "NumPy archive of X and y", endings=(".npz",))
def read_npz(
    paths: Sequence[Path],
    *,
    data: str = "X",
    label: str = "y",
    groups: str | None = None,
) -> RawData:
    """Read NumPy archives, one block of rows from each.

    X may have three dimensions (samples, height, width): then each sample is an image. A sparse X
    is stored as the arrays ``data``, ``indices``, ``indptr`` and ``shape`` (what
    `scipy.sparse.save_npz` writes, for CSR or CSC) next to the label array, and stays sparse.

    Options
    -------
    data, label: The names of the arrays with the features and the classes.
    groups: The name of the array of the groups.
    """

    def read_one(path: Path) -> RawData:
        arrays = load_npz(path)
        features, shape = _features(path, arrays, data)

        def values(name: str) -> NDArray[Any]:
            found: NDArray[Any] = _find_named(path, arrays, name, "array").reshape(-1)
            n_samples = features.shape[0]
            if len(found) != n_samples:
                raise InputError(
                    f"{path}: '{name}' needs {n_samples} values, but has {len(found)}."
                )
            return found

        together = None if groups is None else values(groups)
        return RawData(features, values(label), image_shape=shape, groups=together)

    return concatenate_rows([read_one(Path(path)) for path in paths])


def load_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays in a NumPy archive, by name."""
    try:
        check_zip(path)
        with np.load(path, allow_pickle=False) as content:
            return dict(content)
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, EOFError, MemoryError, *DAMAGE) as error:
        reason = "it contains Python objects" if "pickle" in str(error) else str(error)
        raise InputError(f"{path} is not a readable NumPy archive: {reason}.") from None


def _features(
    path: Path, arrays: Mapping[str, NDArray[Any]], data: str
) -> tuple[Features, tuple[int, int] | None]:
    if data not in arrays and arrays.keys() >= _SPARSE_KEYS:
        kind = str(arrays["format"].item()) if "format" in arrays else "csr"
        build = {"csr": sp.csr_array, "csc": sp.csc_array}.get(kind.removeprefix("b").strip("'"))
        if build is None:
            raise InputError(f"{path}: a sparse matrix must be stored as csr or csc, not {kind}.")
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        return build(parts, shape=tuple(arrays["shape"].tolist())), None
    X = _find_named(path, arrays, data, "array")
    if X.dtype.kind not in "biuf":
        raise InputError(f"{path}: the array '{data}' contains no numbers (its type is {X.dtype}).")
    if X.ndim == 3:
        return X.reshape(len(X), -1), (X.shape[1], X.shape[2])
    if X.ndim != 2:
        raise InputError(
            f"{path}: the array '{data}' has {X.ndim} dimensions, but must have 2 (images: 3)."
        )
    return X, None


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

    The default variable names are those of Deng Cai's data sets. A sparse matrix stays sparse.

    Options
    -------
    paths: The files; version 7.3 needs the package h5py.
    data: The variable that holds the features, a row per sample.
    label: The variable that holds the classes, or the column of `data` that does (from 0, negative
        ones from the end).
    groups: The variable of the groups, such as subjects.
    ignore: Columns of `data` that are not features (from 0, negative ones from the end).
    samples_in_columns: `data` has a column per sample; it is transposed first.
    columnwise_image: Height and width of images whose pixels are stored column by column, as in
        MATLAB; they are reordered row by row.
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
                raise InputError(f"{path} has {len(values)} {what} for {n_samples} samples.")
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
    data: The variable that holds the cell array; empty cells are skipped.
    label: The variable that names the class of each row of cells.
    """

    def read_one(path: Path) -> RawData:
        variables = load_mat(path)
        cells = np.asarray(_find_named(path, variables, data, "variable"))
        names = _labels(path, variables, label)
        if cells.dtype != object or cells.ndim != 2 or len(names) != len(cells):
            raise InputError(
                f"{path}: '{data}' must be a cell array with one row per class ({len(names)} rows)."
            )
        full = [(row, image) for row, line in enumerate(cells) for image in line if image.size]
        shapes = sorted({image.shape for _, image in full})
        if len(shapes) != 1 or len(shapes[0]) != 2:
            raise InputError(f"{path}: the images in '{data}' have different sizes: {shapes}.")
        X = np.array([image.ravel() for _, image in full])
        return RawData(X, names[[row for row, _ in full]], image_shape=shapes[0])

    return concatenate_rows([read_one(Path(path)) for path in paths])


def load_mat(path: Path) -> dict[str, Any]:
    """Return the variables in a MATLAB file, by name."""
    content = read_bytes(path)
    # A v7.3 file is an HDF5 file after 512 bytes of text.
    if content[512:520] == b"\x89HDF\r\n\x1a\n":
        return _load_hdf5(path)
    import scipy.io

    stream: Any = io.BytesIO(content)
    try:
        variables: dict[str, Any] = scipy.io.loadmat(stream, spmatrix=True)
    except Exception as error:  # SciPy can raise any exception for a damaged file
        raise InputError(f"{path} is not a readable MATLAB file ({error}).") from None
    return {name: value for name, value in variables.items() if not name.startswith("__")}


def _load_hdf5(path: Path) -> dict[str, Any]:
    need = f"{path} is a MATLAB 7.3 file, which needs the package h5py"
    h5py = load_module("h5py", "mat73", need, ", or save it in MATLAB with save(..., '-v7')")
    try:
        with h5py.File(path, "r") as file:
            return {name: _from_hdf5(file, name) for name in file if name[0] != "#"}
    except (OSError, KeyError, ValueError, MemoryError) as error:
        raise InputError(f"{path} is not a readable MATLAB 7.3 file ({error}).") from None


def _from_hdf5(group: Any, name: str) -> Any:
    # Reject everything that makes HDF5 read other files; MATLAB writes nothing of the kind.
    link = type(group.get(name, getlink=True)).__name__
    item = group[name] if link == "HardLink" else None
    if item is None or getattr(item, "is_virtual", False) or getattr(item, "external", None):
        raise ValueError(f"'{name}' refers to another file")
    if getattr(item, "nbytes", 0) > UNPACKED_LIMIT:
        raise ValueError(f"'{name}' unpacks to {item.nbytes} bytes")
    if "MATLAB_sparse" in item.attrs:
        indptr = _from_hdf5(item, "jc")
        n_rows = int(item.attrs["MATLAB_sparse"])
        # An all-zero matrix has neither values nor row numbers.
        values = _from_hdf5(item, "data") if "data" in item else np.empty(0)
        rows = _from_hdf5(item, "ir") if "ir" in item else np.empty(0, dtype=np.int64)
        parts = (values, rows.astype(np.int64), indptr.astype(np.int64))
        return sp.csc_array(parts, shape=(n_rows, len(indptr) - 1))
    # HDF5 lists the dimensions of MATLAB's column-major arrays backwards.
    return item[()].T if hasattr(item, "dtype") else item.name


@registered("format", "rdata", "R data file with matrices and classes", endings=(".rda", ".rdata"))
def read_rdata(
    paths: Sequence[Path],
    *,
    data: str | tuple[str, str] = "X",
    label: str | tuple[str, str] = "y",
    train: str | None = None,
    repeats: int | None = None,
) -> RawData:
    """Read one R data file, as R's `save` writes it; needs the package rdata.

    If the file holds one list or data frame, its elements are the variables.

    Options
    -------
    data, label: The variables with the features, a row per sample, and with the classes; or two of
        each, of the training and of the test set, which are then the given split `part`.
    train: The logical variable that is true for training samples; it is the given split `part`.
    repeats: This many consecutive rows are measurements of one sample and form a group.
    """
    if len(paths) != 1:
        raise InputError(f"The rdata format takes one file, but the card lists {len(paths)} files.")
    path = Path(paths[0])
    variables = load_rdata(path)
    X_names, y_names = ((each,) if isinstance(each, str) else each for each in (data, label))
    if len(X_names) != len(y_names):
        raise InputError(
            f"{path}: 'data' names {len(X_names)} variables, but 'label' names {len(y_names)}."
        )
    raw = concatenate_rows(
        [
            RawData(_matrix(path, variables, X), _labels(path, variables, y))
            for X, y in zip(X_names, y_names, strict=True)
        ]
    )
    assert raw.sizes is not None
    rows = np.arange(sum(raw.sizes))
    in_train = rows < raw.sizes[0]
    if train is not None:
        in_train = _labels(path, variables, train)
        if in_train.dtype != bool or len(in_train) != len(rows):
            raise InputError(f"{path}: '{train}' must have one value, TRUE or FALSE, per sample.")
    parts = {"part": np.where(in_train, "train", "test")} if train or len(X_names) == 2 else None
    groups = None if repeats is None else rows // repeats
    return replace(raw, sizes=None, parts=parts, groups=groups)


def load_rdata(path: Path) -> dict[str, Any]:
    """Return the variables in an R data file, or the elements of its only list, by name."""
    need = f"{path} is an R data file, which needs the package rdata"
    rdata = load_module("rdata", "rdata", need)
    content = read_bytes(path)
    # A column of an R data frame can be a matrix, so the columns are not put into a pandas frame.
    classes = {**rdata.conversion.DEFAULT_CLASS_MAP, "data.frame": lambda columns, _: columns}
    try:
        with warnings.catch_warnings():
            # rdata warns about files of R before 3.5, which state no encoding.
            warnings.simplefilter("ignore")
            parsed = rdata.parser.parse_data(content)
            found: Any = rdata.conversion.convert(parsed, constructor_dict=classes)
    except Exception as error:  # rdata can raise any exception for a damaged file
        raise InputError(f"{path} is not a readable R data file ({error}).") from None
    if len(found) == 1 and isinstance(only := next(iter(found.values())), dict):
        found = only
    return {name: np.asarray(value) for name, value in found.items()}


def _matrix(path: Path, variables: Mapping[str, Any], name: str) -> Any:
    value = _find_named(path, variables, name, "variable")
    if hasattr(value, "tocsc"):
        return sp.csc_array(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf" or value.ndim != 2:
        raise InputError(f"{path}: the variable '{name}' is not a matrix of numbers.")
    return value


def _labels(path: Path, variables: Mapping[str, Any], name: str) -> NDArray[Any]:
    value = _find_named(path, variables, name, "variable")
    values = _dense(value).ravel()
    if values.dtype != object:
        return values
    try:
        return np.array([np.asarray(cell).item() for cell in values])
    except ValueError:
        raise InputError(f"{path}: each cell of '{name}' must contain exactly one label.") from None


def _column(path: Path, index: int, width: int) -> int:
    if not -width <= index < width:
        raise InputError(f"{path}: there is no column {index}; the matrix has {width} columns.")
    return index % width


def _rowwise(path: Path, matrix: Any, shape: tuple[int, int]) -> Any:
    height, width = shape
    if matrix.shape[1] != height * width:
        raise InputError(f"{path} has {matrix.shape[1]} features, not {height} x {width} pixels.")
    return matrix[:, np.arange(height * width).reshape(width, height).T.ravel()]


def _dense(matrix: Any) -> NDArray[Any]:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


@registered("format", "idx", "IDX files, such as those of MNIST: samples, then labels; plain or gz")
def read_idx(paths: Sequence[Path], *, scale: Literal["none", "unit"] = "none") -> RawData:
    """Read IDX files in pairs, plain or gzip: samples, then their labels.

    Samples of two dimensions are images, a row each, their pixels row by row.

    Options
    -------
    scale: Keep values (``none``), or divide them by the largest value of their type (``unit``;
        bytes: 255).
    """
    if len(paths) % 2:
        raise InputError(
            f"The card lists {len(paths)} IDX files; list them in pairs (samples, then labels)."
        )
    pairs = zip(paths[::2], paths[1::2], strict=True)
    found = concatenate_rows([_read_pair(Path(X), Path(y), scale) for X, y in pairs])
    sizes = [size for rows in found.sizes or () for size in (rows, 0)]
    return RawData(found.X, found.labels, image_shape=found.image_shape, sizes=tuple(sizes))


def _read_pair(samples: Path, labels: Path, scale: str) -> RawData:
    X, y = _array(samples), _array(labels)
    if X.ndim < 2 or y.ndim != 1 or y.dtype.kind == "f":
        raise InputError(
            f"{samples} must contain samples, and {labels} must contain labels; check the order."
        )
    if len(X) != len(y):
        raise InputError(f"{labels} has {len(y)} labels, but there are {len(X)} samples.")
    features = X.reshape(len(X), -1).astype(np.float64)
    if scale == "unit":
        if X.dtype.kind == "f":
            raise InputError(f"{samples}: `scale: unit` needs whole numbers.")
        features /= np.iinfo(X.dtype).max
    shape = (X.shape[1], X.shape[2]) if X.ndim == 3 else None
    return RawData(features, y.astype(np.int64), image_shape=shape)


def is_idx(content: bytes) -> bool:
    """Return whether a file starts with an IDX header: two zeros, a type, the dimensions."""
    return len(content) > 3 and content[:2] == b"\0\0" and content[2] in _TYPES and content[3] > 0


def _array(path: Path) -> NDArray[Any]:
    content = read_bytes(path)
    if not is_idx(content):
        raise InputError(f"{path} is not an IDX file: its magic number is wrong.")
    start = 4 + 4 * content[3]
    kind = np.dtype(_TYPES[content[2]])
    header = np.frombuffer(content[4:start].ljust(start - 4, b"\0"), ">u4")
    shape = tuple(header.tolist())
    if len(content) - start != math.prod(shape) * kind.itemsize:
        raise InputError(
            f"{path}: {max(len(content) - start, 0)} bytes follow the header, but the header "
            f"states {' x '.join(map(str, shape))} values of {kind.itemsize} bytes."
        )
    return np.frombuffer(content, kind, offset=start).reshape(shape)


def _find_named(path: Path, found: Mapping[str, Any], name: str, kind: str) -> Any:
    """Return one of the arrays found in a file; messages call them `kind`."""
    if name not in found:
        raise InputError(
            f"{path}: there is no {kind} '{name}'; the file has {', '.join(found) or 'none'}."
            f"{did_you_mean(name, found)} Name another {kind} with the options 'data' and 'label'."
        )
    return found[name]
