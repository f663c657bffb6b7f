"""``embeddings/``: embedded samples of the first split, stored for a figure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ValidationError, model_validator

from ddr_cli.core.atomic import as_input_errors, atomic_write, require_file
from ddr_cli.core.errors import InputError, printable
from ddr_cli.core.registry import spec_word
from ddr_cli.core.validation import Frozen
from ddr_cli.rows.log import Coordinates

EMBEDDINGS = "embeddings"

Shown = Annotated[str, AfterValidator(printable)]


class KeptEmbedding(Frozen):
    """``embeddings/<reducer>-<id>.json``: one reducer's embedding of the first split, for a figure.

    Each sample has up to three `coordinates`; `prototypes` are those of the classes, if the method
    embeds them, too. `y` and `subclasses` are indices into the names of the classes, or -1.
    """

    reducer: str
    mode: str | None
    params: dict[str, Any]
    split: str
    split_hash: str
    n_components: int
    classes: tuple[Shown, ...]
    y: tuple[int, ...]
    part: tuple[Literal["train", "test"], ...]
    subclass_names: tuple[Shown, ...] | None = None
    subclasses: tuple[int, ...] | None = None
    coordinates: Coordinates
    prototypes: Coordinates | None = None

    @model_validator(mode="after")
    def _has_drawable_points(self) -> Self:
        widths = {len(point) for point in self.coordinates}
        if len(widths) != 1 or not widths <= {1, 2, 3}:
            raise ValueError("the coordinates are not a table of one to three columns")
        if not len(self.coordinates) == len(self.y) == len(self.part):
            raise ValueError("the number of labels differs from the number of samples")
        return self

    def write(self, path: Path) -> None:
        """Write the file, and create its folder if needed."""
        with as_input_errors(path):
            path.parent.mkdir(exist_ok=True)
            atomic_write(path, json.dumps(self.model_dump(), separators=(",", ":")) + "\n")


def read_embeddings(folder: Path) -> Iterator[tuple[str, KeptEmbedding]]:
    """Yield the name and the content of every stored embedding."""
    for path in sorted((folder / EMBEDDINGS).glob("*.json")):
        require_file(path)
        try:
            yield path.name, KeptEmbedding.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            reason = error.strerror if isinstance(error, OSError) else error.errors()[0]["msg"]
            raise InputError(
                f"{path} is damaged ({reason}). Delete the file; "
                f"'ddr run {spec_word(folder.name)}' writes a new file."
            ) from None
