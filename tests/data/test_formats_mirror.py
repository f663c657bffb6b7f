"""The formats on the real files: counts, and equality with second versions of the same data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ddr_cli.data.assemble import keep_classes
from ddr_cli.data.formats import FORMATS, RawData

NEWS = {"encoding": "ascii", "skip_header": True, "min_documents": 6}
NEWS_FILE = "20news/20news-18828-rec.tar.gz"


def read(mirror: Path, format_name: str, *files: str, **options) -> RawData:
    return FORMATS.load(format_name)([mirror / file for file in files], **options)


def class_counts(raw: RawData) -> list[int]:
    return np.unique(raw.labels, return_counts=True)[1].tolist()


def test_usps_values_lie_between_minus_one_and_one(data_mirror: Path) -> None:
    raw = read(data_mirror, "csv", "usps/zip.test.gz", separator="whitespace", label=0)
    assert (raw.X.min(), raw.X.max()) == (-1, 1)
    assert class_counts(raw) == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
    assert class_counts(keep_classes(raw, ["1", "2", "3", "4"])) == [264, 198, 166, 200]


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
    top = keep_classes(raw, ["1", "2", "3", "4"])
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
