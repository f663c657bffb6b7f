"""The images format: labels, order, resizing and refused files."""

import io
import tarfile
import zipfile

import numpy as np
import pytest
from PIL import EpsImagePlugin, Image

from ddr_cli.core.errors import InputError
from ddr_cli.data import files as folders
from ddr_cli.data.files import file_labeller
from ddr_cli.data.formats.images import read_images

NAMES = ["cat/1.png", "cat/10.png", "cat/2.png", "dog/1.pgm"]


def picture(number):
    return np.random.default_rng(number).integers(0, 256, (4, 6), dtype=np.uint8)


def encoded(pixels, ending):
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, {"png": "png", "pgm": "ppm"}[ending])
    return content.getvalue()


FILES = {name: encoded(picture(number), name[-3:]) for number, name in enumerate(NAMES)}
IN_ORDER = np.array([picture(number).ravel() for number in (0, 2, 1, 3)], dtype=float)


@pytest.fixture
def folder(tmp_path):
    for name, content in {**FILES, "README": b"hello", ".hidden/9.png": b"no image"}.items():
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "pictures"


def zipped(path, *, prefix="", backwards=False):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{prefix}README", "hello")
        for name in sorted(FILES, reverse=backwards):
            archive.writestr(prefix + name, FILES[name])
    return path


def test_folder_gives_rows_in_natural_order_with_the_folders_as_labels(folder):
    raw = read_images([folder])
    np.testing.assert_array_equal(raw.X, IN_ORDER)
    assert raw.labels.tolist() == ["cat", "cat", "cat", "dog"]
    assert raw.image_shape == (4, 6)
    assert raw.X.dtype == np.float64


@pytest.mark.parametrize("prefix", ["", "pack/", "./pack/deep/"])
@pytest.mark.parametrize("backwards", [False, True])
def test_packing_changes_nothing(tmp_path, prefix, backwards):
    raw = read_images([zipped(tmp_path / "a.zip", prefix=prefix, backwards=backwards)])
    np.testing.assert_array_equal(raw.X, IN_ORDER)
    assert raw.labels.tolist() == ["cat", "cat", "cat", "dog"]


def test_tar_equals_folder(tmp_path, folder):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(folder, "top")
    np.testing.assert_array_equal(read_images([tmp_path / "a.tar.gz"]).X, IN_ORDER)


def test_label_pattern_and_file_pattern(folder):
    raw = read_images([folder], label=r"([0-9]+)\.", files="*.png")
    assert raw.labels.tolist() == [1, 2, 10]


def test_several_archives_are_stacked(tmp_path):
    paths = [zipped(tmp_path / "a.zip"), zipped(tmp_path / "b.zip")]
    raw = read_images(paths)
    assert raw.sizes == (4, 4)
    np.testing.assert_array_equal(raw.X, np.vstack([IN_ORDER, IN_ORDER]))


def test_stride_takes_the_first_pixel_and_block_mean_all(folder):
    images = IN_ORDER.reshape(4, 4, 6)
    stride = read_images([folder], resize="stride", shape=(2, 3))
    np.testing.assert_array_equal(stride.X, images[:, ::2, ::2].reshape(4, 6))
    mean = read_images([folder], resize="block_mean", shape=(2, 2))
    expected = [[image[:2, :3], image[:2, 3:], image[2:, :3], image[2:, 3:]] for image in images]
    np.testing.assert_allclose(mean.X, np.array(expected).mean(axis=(2, 3)))
    assert mean.image_shape == (2, 2)


@pytest.mark.parametrize("resize", ["bilinear", "bicubic"])
def test_interpolation_keeps_the_mean_and_makes_any_shape(folder, resize):
    raw = read_images([folder], resize=resize, shape=(3, 5))
    assert raw.X.shape == (4, 15)
    assert np.abs(raw.X - np.round(raw.X)).max() > 0.01, "rounded to whole grey values"
    flat = np.full((8, 8), 77, dtype=np.uint8)
    (folder / "flat").mkdir()
    (folder / "flat" / "1.png").write_bytes(encoded(flat, "png"))
    level = read_images([folder], files="flat/*", resize=resize, shape=(3, 5))
    np.testing.assert_allclose(level.X, 77, rtol=1e-6)


@pytest.mark.parametrize(
    ("pixels", "expected"),
    [
        (np.array([[0, 51], [102, 255]], dtype=np.uint8), [0, 0.2, 0.4, 1]),
        (np.array([[0, 13107], [26214, 65535]], dtype=np.uint16), [0, 0.2, 0.4, 1]),
        (
            np.repeat(np.array([[[0], [51]], [[102], [255]]], dtype=np.uint8), 3, 2),
            [0, 0.2, 0.4, 1],
        ),
    ],
    ids=["8 bit", "16 bit", "colour"],
)
def test_unit_scale_of_every_depth(tmp_path, pixels, expected):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.png").write_bytes(encoded(pixels, "png"))
    np.testing.assert_allclose(read_images([tmp_path], scale="unit").X, [expected])


def test_an_image_that_another_program_would_decode_is_not_opened(folder, monkeypatch):
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_, **__: pytest.fail("was started"))
    size = "%%BoundingBox: 0 0 2 2\n%%EndComments\n"
    (folder / "cat" / "3.png").write_text(f"%!PS-Adobe-3.0 EPSF-3.0\n{size}%%EOF\n")
    with pytest.raises(InputError, match=r"3\.png is not a readable image"):
        read_images([folder])


def test_a_label_pattern_of_exponential_cost_is_refused(monkeypatch):
    monkeypatch.setattr(folders, "_LONGEST_SEARCH", 0.02)
    assert file_labeller("(a+)+b")("aab") == "aa"
    with pytest.raises(InputError, match=r"pattern '\(a\+\)\+c' is too slow"):
        file_labeller("(a+)+c")("a" * 60)


@pytest.mark.parametrize(
    ("extra", "options", "message"),
    [
        ({}, {"files": "*.bmp"}, "no images"),
        ({"cat/3.png": b"\x89PNG broken"}, {}, "3.png is not a readable image"),
        ({"cat/3.png": encoded(np.zeros((3, 3), np.uint8), "png")}, {}, "`resize` and `shape`"),
        ({"top.png": FILES["cat/1.png"]}, {}, "'top.png' is not in a class's folder"),
        ({}, {"label": "([a-z"}, "is not valid"),
        ({}, {"label": "cat"}, "needs 1 group"),
        ({}, {"label": "(cat)"}, "does not match the file name 'dog/1.pgm'"),
        ({}, {"resize": "stride"}, "both `resize` and `shape`"),
        ({}, {"shape": (2, 2)}, "both `resize` and `shape`"),
        ({}, {"resize": "stride", "shape": (3, 3)}, "into 3 x 3 equal blocks"),
        ({}, {"resize": "block_mean", "shape": (8, 12)}, "into 8 x 12 equal blocks"),
    ],
)
def test_refusals(folder, extra, options, message):
    for name, content in extra.items():
        (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_images([folder], **options)
