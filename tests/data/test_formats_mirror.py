"""The formats on the real files: counts, and equality with second versions of the same data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ddr_cli.data.dataset import keep_classes
from ddr_cli.data.formats import FORMATS, RawData
from ddr_cli.data.synthetic.embedded import balance, iris

NEWS = {"encoding": "ascii", "skip_header": True, "min_documents": 6}
NEWS_FILE = "20news/20news-18828-rec.tar.gz"


def read(mirror: Path, format_name: str, *files: str, **options) -> RawData:
    return FORMATS.load(format_name)([mirror / file for file in files], **options)


def class_counts(raw: RawData) -> list[int]:
    return np.unique(raw.labels, return_counts=True)[1].tolist()


@pytest.mark.parametrize(
    ("format_name", "files", "options", "features", "sizes", "classes"),
    [
        (
            "csv",
            ["landsat/sat.trn", "landsat/sat.tst"],
            {"separator": "whitespace"},
            36,
            (4435, 2000),
            [1533, 703, 1358, 626, 707, 1508],
        ),
        (
            "csv",
            ["usps/zip.train.gz", "usps/zip.test.gz"],
            {"separator": "whitespace", "label": 0},
            256,
            (7291, 2007),
            [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821],
        ),
        (
            "csv",
            ["segment/segmentation.data", "segment/segmentation.test"],
            {"label": 0, "skip_lines": 5},
            19,
            (210, 2100),
            [330] * 7,
        ),
        ("csv", ["thyroid/new-thyroid.data"], {"label": 0}, 5, (215,), [150, 35, 30]),
        (
            "letor",
            ["ohsumed/QueryLevelNorm/Fold3/train.txt.gz"],
            {},
            45,
            (10494,),
            [7390, 3104],
        ),
        ("mat_cells", ["binaryalphadigs/binaryalphadigs.mat"], {}, 320, (1404,), [39] * 36),
        (
            "images",
            ["orl/att_faces.zip"],
            {"label": "s([0-9]+)/"},
            112 * 92,
            (400,),
            [10] * 40,
        ),
    ],
)
def test_shapes_and_class_counts(
    data_mirror: Path,
    format_name: str,
    files: list[str],
    options: dict,
    features: int,
    sizes: tuple[int, ...],
    classes: list[int],
) -> None:
    raw = read(data_mirror, format_name, *files, **options)
    assert raw.X.shape == (sum(sizes), features)
    assert raw.sizes == sizes
    assert class_counts(raw) == classes


def test_usps_values_lie_between_minus_one_and_one(data_mirror: Path) -> None:
    raw = read(data_mirror, "csv", "usps/zip.test.gz", separator="whitespace", label=0)
    assert (raw.X.min(), raw.X.max()) == (-1, 1)
    assert class_counts(raw) == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
    assert class_counts(keep_classes(raw, [1, 2, 3, 4])) == [264, 198, 166, 200]


def test_letter_counts(data_mirror: Path) -> None:
    raw = read(data_mirror, "csv", "letter/letter-recognition.data", label=0)
    assert raw.X.shape == (20000, 16)
    assert len(keep_classes(raw, ["A", "B", "C"]).labels) == 789 + 766 + 736


@pytest.mark.parametrize(
    ("made", "file", "options"),
    [
        (balance, "balance/balance-scale.data", {"label": 0}),
        (iris, "iris/iris.data", {}),
    ],
)
def test_embedded_sets_equal_the_uci_files_row_for_row(
    data_mirror: Path, made, file: str, options: dict
) -> None:
    raw, file_raw = made(), read(data_mirror, "csv", file, **options)
    np.testing.assert_array_equal(raw.X, file_raw.X)
    np.testing.assert_array_equal(raw.labels, file_raw.labels)


def test_mushroom_one_hot_equals_libsvm_up_to_column_order(data_mirror: Path) -> None:
    raw = read(
        data_mirror,
        "csv",
        "mushroom/agaricus-lepiota.data",
        label=0,
        categorical="all",
        ignore=[11],
    )
    theirs = read(data_mirror, "libsvm", "mushroom/mushrooms")
    assert raw.X.shape == theirs.X.shape == (8124, 112)
    np.testing.assert_array_equal(np.where(raw.labels == "p", 1, 2), theirs.labels)
    ours, other = (
        {column.tobytes() for column in np.ascontiguousarray(X.T)}
        for X in (raw.X, theirs.X.toarray())
    )
    assert ours == other
    np.testing.assert_array_equal(np.sort(raw.X.sum(axis=0)), np.sort(theirs.X.sum(axis=0)))


def test_tdt2_is_the_same_from_both_layouts_and_sparse(data_mirror: Path) -> None:
    raw = read(data_mirror, "mat", "tdt2/TDT2.mat")
    dated = read(data_mirror, "mat", "tdt2/TDT2_with_label_and_date.mat", label=-2, ignore=[-1])
    assert isinstance(raw.X, sp.csr_array)
    assert raw.X.shape == dated.X.shape == (9394, 36771)
    assert (raw.X != dated.X).nnz == 0
    np.testing.assert_array_equal(raw.labels, dated.labels)
    assert (raw.X.nnz, raw.X.max()) == (1224135, 52)
    top = keep_classes(raw, [1, 2, 3, 4])
    assert isinstance(top.X, sp.csr_array)
    assert class_counts(top) == [1844, 1828, 1222, 811]


def test_ohsumed_fold_3_has_64_queries(data_mirror: Path) -> None:
    raw = read(data_mirror, "letor", "ohsumed/QueryLevelNorm/Fold3/train.txt.gz", labels="grade")
    assert len(np.unique(raw.groups)) == 64
    assert np.unique(raw.labels).tolist() == [0, 1, 2]
    assert raw.X.min() >= 0
    assert raw.X.max() <= 1


def test_alphadigits_are_binary_images(data_mirror: Path) -> None:
    raw = read(data_mirror, "mat_cells", "binaryalphadigs/binaryalphadigs.mat")
    assert raw.image_shape == (20, 16)
    assert np.unique(raw.X).tolist() == [0, 1]
    assert "".join(dict.fromkeys(raw.labels.tolist())) == "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert len(np.unique(raw.X, axis=0)) == 1363


def test_coil20_images_agree_with_the_matlab_version(data_mirror: Path) -> None:
    images = read(
        data_mirror,
        "images",
        "coil20/coil-20-proc.zip",
        label="obj([0-9]+)__",
        resize="block_mean",
        shape=(32, 32),
        scale="unit",
    )
    matrix = read(data_mirror, "mat", "coil20/COIL20.mat", columnwise_image=(32, 32))
    np.testing.assert_array_equal(images.labels, matrix.labels)
    assert images.image_shape == matrix.image_shape == (32, 32)
    correlation = [
        np.corrcoef(ours, theirs)[0, 1] for ours, theirs in zip(images.X, matrix.X, strict=True)
    ]
    assert min(correlation) > 0.99


def test_coil20_stride_takes_every_eighth_pixel(data_mirror: Path) -> None:
    name, options = "coil20/coil-20-proc.zip", {"label": "obj([0-9]+)__"}
    small = read(data_mirror, "images", name, **options, resize="stride", shape=(16, 16))
    full = read(data_mirror, "images", name, **options)
    assert small.X.shape == (1440, 256)
    pixels = full.X.reshape(1440, 128, 128)[:, ::8, ::8]
    np.testing.assert_array_equal(small.X, pixels.reshape(1440, 256))


def test_newsgroups_have_the_papers_documents_and_terms_without_stemming(
    data_mirror: Path,
) -> None:
    raw = read(data_mirror, "text", NEWS_FILE, **NEWS)
    assert isinstance(raw.X, sp.csr_array)
    assert raw.X.shape == (3970, 8014)
    assert class_counts(raw) == [988, 993, 992, 997]
    assert np.unique(raw.labels).tolist() == [
        "rec.autos",
        "rec.motorcycles",
        "rec.sport.baseball",
        "rec.sport.hockey",
    ]
    assert {"hockey", "motorcycles", "motorcycle"} <= set(raw.feature_names)
    assert {"the", "t", "hockey1"}.isdisjoint(raw.feature_names)
    assert raw.X.data.min() > 0


def test_newsgroups_have_fewer_terms_with_stemming(data_mirror: Path) -> None:
    raw = read(data_mirror, "text", NEWS_FILE, **NEWS, stemmer="porter", weights="counts")
    assert raw.X.shape == (3970, 6491)
    assert {"motorcycl", "hockei"} <= set(raw.feature_names)
    assert np.array_equal(raw.X.data, np.round(raw.X.data))
