"""The picture of samples shows every class, and says when there is nothing to show."""

import numpy as np
import pytest
from PIL import Image

from ddr_cli.core.errors import InputError
from ddr_cli.data import load_dataset
from ddr_cli.figures.image_samples import write_samples


def test_the_picture_has_light_and_dark_pixels_in_every_row_of_images(tmp_path):
    path = write_samples(load_dataset("digits"), tmp_path / "new" / "digits.png")
    grey = np.asarray(Image.open(path).convert("L"))
    below_title = grey[grey.shape[0] // 12 :]
    for band in np.array_split(below_title, 10):
        assert band.min() < 50
        assert band.max() > 200


def test_svg_too(tmp_path):
    path = write_samples(load_dataset("digits"), tmp_path / "digits.svg")
    assert path.read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("dataset", "file", "message"),
    [("iris", "iris.png", "iris holds no images"), ("digits", "digits.pdf", r"end in \.png")],
)
def test_what_cannot_be_drawn_is_one_clear_message(tmp_path, dataset, file, message):
    with pytest.raises(InputError, match=message):
        write_samples(load_dataset(dataset), tmp_path / file)
    assert not list(tmp_path.iterdir())
