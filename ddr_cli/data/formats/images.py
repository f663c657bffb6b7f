"""The `images` format: folders or archives of image files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from PIL import Image

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import registered
from ddr_cli.data.files import file_labeller, natural_key, walk_folder
from ddr_cli.data.formats import RawData, concatenate_rows, numeric_labels

Resize = Literal["none", "stride", "block_mean", "bilinear", "bicubic"]
_Pixels = Annotated[int, Ge(1)]
_Image = NDArray[np.float64]

# Formats that Pillow decodes itself; for others, such as EPS, it starts another program, which an
# untrusted file could attack.
_DECODED = ("PPM", "PNG", "JPEG", "BMP", "GIF", "TIFF")
_PORTABLE = (".pgm", ".ppm", ".pbm", ".pnm")
_ENDINGS = (*_PORTABLE, ".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff")


@registered(
    "format",
    "images",
    "folder or archive of image files",
    endings=(".pgm", ".ppm", ".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff"),
)
def read_images(
    paths: Sequence[Path],
    *,
    label: str = "folder",
    files: str = "*",
    resize: Resize = "none",
    shape: tuple[_Pixels, _Pixels] | None = None,
    scale: Literal["none", "unit"] = "none",
) -> RawData:
    """Read folders, zip or tar archives of image files, one grey image per row.

    Rows are sorted by file name, with numbers in the names sorted by value, so the result does not
    depend on the order in an archive. Colours are converted to luminance. Each sample holds the
    pixels of its image row by row.

    Options
    -------
    label: ``folder``: a file's class is the name of its folder; or a regular expression with one
        group that is searched for in the file's name with its folders, such as ``obj([0-9]+)__``.
    files: Shell pattern of the files to read; files without the ending of an image are skipped.
    resize: How to resize images to `shape`: by the first pixel of each block, by the mean of each
        block (both need a size that `shape` divides), or by Pillow's interpolations, which use all
        pixels when an image becomes smaller.
    shape: Height and width after resizing.
    scale: Keep grey values (``none``), or divide them by the largest value that the file can hold
        (``unit``).
    """
    if (resize == "none") != (shape is None):
        raise InputError("For the format `images`, set both `resize` and `shape`, or neither.")
    label_of = file_labeller(label)

    def read_one(path: Path) -> RawData:
        found: list[tuple[str, _Image]] = []
        for name, content in walk_folder(path, pattern=files, endings=_ENDINGS):
            grey, largest = _grey(f"{path}, {name}", content)
            if shape is not None:
                grey = _resized(f"{path}, {name}", grey, resize, shape)
            if found and grey.shape != found[0][1].shape:
                raise InputError(
                    f"The images of {path} have different sizes ({name}: {grey.shape[0]} x "
                    f"{grey.shape[1]} pixels); set `resize` and `shape`."
                )
            found.append((name, grey / largest if scale == "unit" else grey))
        if not found:
            raise InputError(f"{path} contains no images that match '{files}'.")
        found.sort(key=lambda item: natural_key(item[0]))
        height, width = found[0][1].shape
        X = np.array([image.ravel() for _, image in found])
        labels = numeric_labels([label_of(name) for name, _ in found])
        return RawData(X, labels, image_shape=(height, width))

    return concatenate_rows([read_one(Path(path)) for path in paths])


def _grey(where: str, content: bytes) -> tuple[_Image, float]:
    """Return an image's grey values and the largest one that its file could hold."""
    try:
        with Image.open(io.BytesIO(content), formats=_DECODED) as image:
            deep = image.mode.startswith("I") or image.mode == "F"
            grey = np.array(image if deep else image.convert("L"), dtype=np.float64)
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise InputError(f"{where} is not a readable image ({error}).") from None
    return grey, 65535.0 if deep else 255.0


def _resized(where: str, grey: _Image, resize: Resize, shape: tuple[int, int]) -> _Image:
    height, width = shape
    if resize in ("bilinear", "bicubic"):
        kind = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}[resize]
        # With 32-bit floats, Pillow does not round the result to whole grey values.
        image = Image.fromarray(grey.astype(np.float32))
        return np.array(image.resize((width, height), kind), dtype=np.float64)
    if grey.shape[0] % height or grey.shape[1] % width:
        raise InputError(
            f"{where}: {grey.shape[0]} x {grey.shape[1]} pixels can't be divided into {height} x "
            f"{width} equal blocks; set `resize` to `bilinear`."
        )
    blocks = grey.reshape(height, grey.shape[0] // height, width, grey.shape[1] // width)
    if resize == "stride":
        return np.ascontiguousarray(blocks[:, 0, :, 0])
    return np.asarray(blocks.mean(axis=(1, 3)))
