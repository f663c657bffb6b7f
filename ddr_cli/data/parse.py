"""From files, or a generator, to a verified data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ddr_cli.core.errors import DdrError, InputError, did_you_mean
from ddr_cli.core.parameters import parameter_model
from ddr_cli.data.assemble import DataMismatchError, assemble, differences
from ddr_cli.data.card_model import Call, Card, Layout, Scalar
from ddr_cli.data.dataset import Dataset
from ddr_cli.data.formats import FORMATS
from ddr_cli.data.raw import RawData
from ddr_cli.data.synthetic import GENERATORS


def parse_files(
    card: Card,
    layout: Layout,
    paths: Sequence[Path],
    chosen: Mapping[str, Scalar],
    source: str,
    *,
    blame_files: bool | None = None,
) -> Dataset:
    """Return the data set in the files of a layout, verified against the card.

    Parameters
    ----------
    card : Card
        The card.
    layout : Layout
        The layout that the files are of.
    paths : sequence of Path
        Where each file of the layout is.
    chosen : mapping of str to bool, int, float or str
        The value of every option of the card.
    source : str
        What the files are called in messages.
    blame_files : bool, optional
        When reading fails, the files are at fault and not the card. So it is with shipped cards,
        if nothing is said.

    Raises
    ------
    InputError
        If an option of the format is wrong, or a file can't be read and the card may be at fault.
    DataMismatchError
        If a file can't be read, or the arrays are not what the card describes.
    """
    read = FORMATS.load(layout.format.name)
    options = _checked(card, "format", read, layout.format, chosen, paths=list(paths))
    try:
        dataset = assemble(card, read(**options), layout.files)
    except Exception as error:
        # A damaged file can make a parser raise anything.
        if isinstance(error, DdrError) and not (
            card.shipped if blame_files is None else blame_files
        ):
            raise
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise DataMismatchError(
            f"The {source} can't be read as the data set '{card.name}' "
            f"(format {layout.format.name}): {reason}."
        ) from error
    return _verify(card, dataset, chosen, source)


def generate(card: Card, chosen: Mapping[str, Scalar]) -> Dataset:
    """Return the data set that a card's generator makes, verified against the card.

    Raises
    ------
    InputError
        If an option of the generator is wrong.
    DataMismatchError
        If the arrays are not what the card describes.
    """
    if card.generate is None:
        raise ValueError(f"the card '{card.name}' has no generator")
    make = GENERATORS.load(card.generate.name)
    dataset = assemble(card, make(**_checked(card, "generator", make, card.generate, chosen)))
    return _verify(card, dataset, chosen, "generated arrays")


def _verify(card: Card, dataset: Dataset, chosen: Mapping[str, Scalar], source: str) -> Dataset:
    found = differences(dataset, card.expected(chosen))
    if found:
        raise DataMismatchError(
            f"The {source} are not the data set that the card '{card.name}' describes: "
            f"{'; '.join(found)}."
        )
    return dataset


def _checked(
    card: Card,
    kind: str,
    function: Callable[..., RawData],
    call: Call,
    chosen: Mapping[str, Scalar],
    **also: Any,
) -> dict[str, Any]:
    """Return all arguments of a format or generator, checked against its annotations."""
    model = parameter_model(function)
    options = {**call.options, **chosen}
    try:
        # YAML has no tuples: what it writes as a list may be wanted as one.
        checked = model.model_validate({**also, **{key: _frozen(options[key]) for key in options}})
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0])
        if problem["type"] == "extra_forbidden":
            known = [field for field in model.model_fields if field not in also]
            raise InputError(
                f"The card '{card.name}': the {kind} '{call.name}' has no option '{name}'."
                f"{did_you_mean(name, known)} Its options are {', '.join(known)}."
            ) from None
        raise InputError(
            f"The card '{card.name}': the {kind} '{call.name}' can't take {name}: "
            f"{options.get(name)!r}: {problem['msg']}."
        ) from None
    return {name: getattr(checked, name) for name in (*also, *options)}


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
