"""Real files that exist in two formats give the same data."""

import numpy as np

from ddr_cli.data.formats import FORMATS


def read(mirror, format_name, *files, **options):
    return FORMATS.load(format_name)([mirror / file for file in files], **options)


def test_mushroom_one_hot_equals_libsvm_up_to_column_order(data_mirror):
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


def test_coil20_images_agree_with_the_matlab_version(data_mirror):
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
