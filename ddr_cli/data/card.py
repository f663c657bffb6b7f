"""A card: the record that states where a data set is, how to read it and what it must contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, MinLen
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from ddr_cli.core.atomic import is_inside
from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.own_code import is_code
from ddr_cli.core.positions import as_clause
from ddr_cli.core.registry import Registry
from ddr_cli.core.validation import Frozen, error_at, sentence
from ddr_cli.data.formats import FORMATS, GENERATORS

Scalar = bool | int | float | str
Options = Mapping[str, Scalar]

OPENML = "openml"
"""The generator in the card of an OpenML data set that has not been downloaded yet."""

ARRAYS = "arrays"
"""The generator in the card of a data set that a program passes as arrays."""


def _as_label(value: object) -> object:
    # YAML reads the 1 in `keep: [1, 2]` as a number, but a card's class names are texts.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Label = Annotated[str, BeforeValidator(_as_label, json_schema_input_type=str | int)]
Fingerprint = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


def _short_for(key: str) -> Callable[[object], object]:
    return lambda value: {key: value} if isinstance(value, str) else value


class Url(Frozen):
    """Where a file can be downloaded: directly, or as a `member` of an archive."""

    url: Annotated[str, Field(pattern=r"^https?://")]
    member: str | None = None


class CardFile(Frozen):
    """One raw file."""

    path: Annotated[str, MinLen(1)]
    """The path in a data folder, ``<folder>/<file>``, or relative to a user's own card."""
    also: tuple[str, ...] = ()
    """Other paths of the same file, such as the path of the unpacked file."""
    role: Literal["train", "test"] | None = None
    """The set of the predefined split (train or test) to which the file belongs."""
    urls: tuple[
        Annotated[Url, BeforeValidator(_short_for("url"), json_schema_input_type=str | Url)], ...
    ] = ()
    """The addresses from which to download the file, the best first."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The SHA-256 checksum of the file at `urls`, if known."""
    bytes: Annotated[int, Gt(0)] | None = None

    @model_validator(mode="after")
    def _stays_inside(self) -> CardFile:
        if self.urls and not is_inside(self.path):
            raise ValueError(f"with 'urls', 'path' must be <folder>/<file>, not {self.path}")
        return self


def _no_code(name: str) -> str:
    if is_code(name):
        raise ValueError(
            f"a card can't refer to code ({name}); use a registered format or generator"
        )
    return name


class Call(BaseModel):
    """A format or a generator; all keys but the name are its options."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: Annotated[str, AfterValidator(_no_code)]

    @property
    def options(self) -> dict[str, Any]:
        """All keys except the name."""
        return dict(self.model_extra or {})


def _called_in(registry: Registry, *others: str) -> Callable[[Call], Call]:
    """Return a validator that rejects a name that is not in a registry."""

    def check(call: Call) -> Call:
        try:
            # Names from other packages are checked last, because listing these packages takes long.
            if call.name not in (*registry.ours, *others):
                registry.get(call.name)
        except InputError as error:
            raise error_at(("name",), as_clause(error)) from None
        number = call.options.get("number")
        if call.name == OPENML and (type(number) is not int or number < 1):
            raise error_at(("number",), "'openml' needs a number, such as `number: 31`.")
        return call

    return check


AsCall = Annotated[Call, BeforeValidator(_short_for("name"), json_schema_input_type=str | Call)]
AsFormat = Annotated[AsCall, AfterValidator(_called_in(FORMATS))]
AsGenerator = Annotated[AsCall, AfterValidator(_called_in(GENERATORS, OPENML, ARRAYS))]


class Layout(Frozen):
    """The files of the data set, in the order of the rows, and the format that reads them."""

    files: Annotated[tuple[CardFile, ...], MinLen(1)]
    format: AsFormat


class Option(Frozen):
    """An option that a spec can choose: one of `choices`, or any value of the default's type."""

    default: Scalar
    choices: tuple[Scalar, ...] | None = None
    summary: str = ""


class SplitSizes(Frozen):
    """The sizes of the training and the test set of the predefined split."""

    train: Annotated[int, Ge(1)]
    test: Annotated[int, Ge(1)]


class Duplicates(Frozen):
    """The number of samples with a duplicate, by `benchmarks/count_duplicates.py`."""

    exact: Annotated[int, Ge(0)]
    exact_across: Annotated[int, Ge(0)]
    """The number of samples of `exact` that have an equal sample in another class."""
    near: Annotated[int, Ge(0)] | None = None
    near_across: Annotated[int, Ge(0)] | None = None

    def shown(self, samples: int) -> str:
        """Return the counts as a clause."""
        counted = (
            f"{count:,} of {samples:,} samples ({count / samples:.1%}) have {kind} duplicate"
            + (f" ({across:,} in another class)" if count else "")
            for kind, count, across in (
                ("an exact", self.exact, self.exact_across),
                ("a near", self.near, self.near_across),
            )
            if count is not None
        )
        return "; ".join(counted)


class Expect(Frozen):
    """The expected properties of the loaded arrays; keys that are left out are not checked."""

    samples: Annotated[int, Ge(1)] | None = None
    features: Annotated[int, Ge(1)] | None = None
    classes: dict[Label, Annotated[int, Ge(1)]] | None = None
    groups: Annotated[int, Ge(1)] | None = None
    unlabelled: Annotated[int, Ge(0)] | None = None
    missing: Annotated[int, Ge(0)] | None = None
    """The number of missing values among the features."""
    split: SplitSizes | None = None
    fingerprint: Fingerprint | None = None
    duplicates: Duplicates | None = None
    """The number of samples with duplicates; `benchmarks/count_duplicates.py` counts them."""


class Variant(Frozen):
    """The expected properties with other options than the defaults."""

    options: dict[str, Scalar]
    expect: Expect


class Card(Frozen):
    """A data set's card."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
    title: str
    version: Annotated[int, Ge(1)] = 1
    """A version number; raise it whenever the loaded numbers change."""
    description: str = ""
    citation: str = ""
    licence: str = ""
    home: str = ""
    papers: tuple[str, ...] = ()
    files: tuple[CardFile, ...] = ()
    format: AsFormat | None = None
    alternatives: tuple[Layout, ...] = ()
    """Other files and formats of the same data, which `ddr` searches for after `files`."""
    generate: AsGenerator | None = None
    """The generator of a data set without files."""
    options: dict[str, Option] = Field(default_factory=dict)
    """Options of the format or generator that a spec may choose."""
    keep: tuple[Label, ...] | None = None
    """Keep only the rows of these classes."""
    merge: dict[Label, tuple[Label, ...]] | None = None
    """New classes, each with the list of classes that it merges; other rows are removed."""
    unlabelled: Literal["keep"] | None = None
    """keep: rows without a label, or with the label -1, are unlabelled training samples."""
    names: dict[Label, Label] | None = None
    """The name of the class for each label in the files, in the order of the classes."""
    image_shape: tuple[Annotated[int, Ge(1)], Annotated[int, Ge(1)]] | None = None
    """Height and width of the images, if the files do not state the size."""
    decimals: Annotated[int, Ge(0)] | None = None
    """Number of decimals to which `ddr` rounds X. Without rounding, the fingerprint can depend on
    the platform's logarithm or sine."""
    split: Literal["by_file"] | None = None
    """by_file: the role of each file (train or test) determines the set of its rows."""
    expect: Expect = Expect()
    """The expected properties of the arrays."""
    variants: tuple[Variant, ...] = ()
    """The expected properties of the arrays if a spec chooses other options."""

    _path: Path | None = PrivateAttr(default=None)
    _shipped: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _consistent(self) -> Card:
        if self.generate is None and (not self.files or self.format is None):
            raise ValueError("a card needs 'generate', or both 'files' and 'format'")
        if self.generate is not None and (self.files or self.format or self.alternatives):
            raise ValueError("with 'generate', remove 'files', 'format' and 'alternatives'")
        if self.split == "by_file":
            for layout in self.layouts:
                if {file.role for file in layout.files} != {"train", "test"}:
                    raise ValueError(
                        "`split: by_file` needs train and test files, and a role for each file"
                    )
        for variant in self.variants:
            unknown = variant.options.keys() - self.options.keys()
            if unknown:
                raise ValueError(f"a variant names the unknown option '{min(unknown)}'")
        return self

    def with_path(self, path: Path, *, shipped: bool) -> Card:
        """Return this card with the file that it was read from."""
        card = self.model_copy()
        card._path, card._shipped = path, shipped
        return card

    @property
    def path(self) -> Path | None:
        """The card's file."""
        return self._path

    @property
    def shipped(self) -> bool:
        """Whether the card ships with ddr."""
        return self._shipped

    @property
    def embedded(self) -> bool:
        """Whether the data set needs no file."""
        return self.generate is not None and self.openml is None

    @property
    def openml(self) -> int | None:
        """The number of an OpenML data set that was not downloaded yet."""
        if self.generate is None or self.generate.name != OPENML:
            return None
        number: int = self.generate.options["number"]
        return number

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """All layouts in the order of the search; none for generated data."""
        if self.format is None:
            return ()
        return (Layout(files=self.files, format=self.format), *self.alternatives)

    @property
    def predefined(self) -> tuple[int, int] | None:
        """The sizes of the predefined split's training and test set, if there is one."""
        sizes = self.expect.split
        return None if sizes is None else (sizes.train, sizes.test)

    @property
    def has_groups(self) -> bool | None:
        """Whether the samples have groups; None if only the files determine it."""
        options = [layout.format.options for layout in self.layouts]
        if self.expect.groups or any(each.get("groups") is not None for each in options):
            return True
        # A card with a fingerprint states everything that the arrays contain, including groups.
        return None if self.layouts and self.expect.fingerprint is None else False

    @property
    def has_missing(self) -> bool:
        """Whether the card states that the features have missing values."""
        if self.expect.missing is not None:
            return self.expect.missing > 0
        return any(layout.format.options.get("missing") == "keep" for layout in self.layouts)

    @property
    def coded(self) -> tuple[str, ...]:
        """The columns that hold codes of categories according to the card."""
        for options in (layout.format.options for layout in self.layouts):
            if options.get("categories") == "codes" and (columns := options.get("categorical")):
                return (columns,) if isinstance(columns, str) else tuple(map(str, columns))
        return ()

    @property
    def parts(self) -> tuple[str, ...] | None:
        """The columns that hold given splits; None if only the file determines their names."""
        found = (self.format.options.get("parts") if self.format else None) or ()
        return tuple(found) if all(isinstance(column, str) for column in found) else None

    def choose(self, options: Options | None) -> dict[str, Scalar]:
        """Return the value of every option: that in `options`, or the default."""
        given = dict(options or {})
        for name in given.keys() - self.options.keys():
            hint = did_you_mean(name, self.options)
            names = ", ".join(self.options)
            there = f"The options are {names}." if names else "This data set has no options."
            raise InputError(f"The data set '{self.name}' has no option '{name}'.{hint} {there}")
        return {
            name: self._checked(name, option, given.get(name, option.default))
            for name, option in self.options.items()
        }

    def _checked(self, name: str, option: Option, value: Scalar) -> Scalar:
        if option.choices is not None:
            # Python considers 1, 1.0 and True equal; a card does not.
            if (type(value), value) not in [(type(choice), choice) for choice in option.choices]:
                choices = [str(choice) for choice in option.choices]
                raise InputError(
                    f"The option '{name}' of the data set '{self.name}' can't be {value!r}."
                    f"{did_you_mean(str(value), choices)} The values are {', '.join(choices)}."
                )
            return value
        try:
            return TypeAdapter(type(option.default)).validate_python(value, strict=True)
        except ValidationError as error:
            reason = sentence(name, error.errors())
            raise InputError(f"The card '{self.name}': the option {reason}") from None

    def expected(self, options: Options | None = None) -> Expect:
        """Return the expected properties with these options; empty if the card states none."""
        chosen = self.choose(options)
        if chosen == self.choose(None):
            return self.expect
        for variant in self.variants:
            if self.choose(variant.options) == chosen:
                return variant.expect
        return Expect()
