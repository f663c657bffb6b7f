"""A suite: data sets and methods under one protocol; each data set of a track is a spec."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from annotated_types import Ge, Gt, MinLen
from pydantic import (
    Field,
    JsonValue,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.own_code import class_name, is_code, located, require_trust
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.positions import Document, DocumentError, KeyPath, as_clause
from ddr_cli.core.validation import field_problems, problem_at, refuse, validated
from ddr_cli.core.yaml_loader import read_document
from ddr_cli.data.card import Card
from ddr_cli.data.cards import load_card
from ddr_cli.spec.budgets import Budget
from ddr_cli.spec.components import StrictFrozen, Text
from ddr_cli.spec.estimators import Mode, complete, load_factory, missing_of, traits_of
from ddr_cli.spec.feasible import WIDTH, Limits, limits_of
from ddr_cli.spec.load import find_yaml, make_spec
from ddr_cli.spec.model import Control, Spec, SuiteRef, TuneSpec
from ddr_cli.spec.sweeps import TRAIN, is_grid
from ddr_cli.suite.names import INDUCTIVE

if TYPE_CHECKING:
    from ddr_cli.reducers.registry import Traits

Settings = dict[str, JsonValue]


class SuiteData(StrictFrozen):
    """A data set of the suite: its split, and the preprocessing before every method."""

    split: Settings
    """The split, as in a spec, without `repeats` and `seed`; `train` and `test` limit set sizes."""
    options: Settings = Field(default_factory=dict)
    """Options of the data set, as its card defines them."""
    preprocess: list[JsonValue] | None = None
    """Steps before every method, as in a spec; default: the suite's `preprocess`."""
    n_components: Annotated[int, Ge(1)] | None = None
    """The methods' default n_components; without this key, max(2, n_classes - 1)."""


class Track(StrictFrozen):
    """Methods that see the same data; `ddr` compares methods only within a track."""

    methods: list[Text] = Field(default_factory=list)
    """The labels of the track's methods; default: all methods of the suite."""
    datasets: list[Text] = Field(default_factory=list)
    """Data sets, or groups of data sets; default: all data sets of the suite."""
    mode: Mode = "out_of_sample"
    """How test samples are embedded."""
    tune: TuneSpec | None = None
    """Also run each method with settings that are tuned on each training set."""
    labels: list[Budget] = Field(default_factory=list)
    """Numbers of labelled training samples per class."""
    dimensions: list[Annotated[int, Ge(1)]] = Field(default_factory=list)
    """Run each method untuned at these values of n_components, up to the method's maximum."""
    sizes: list[Annotated[int, Ge(1)]] = Field(default_factory=list)
    """Run each method untuned on training sets of these sizes, if there are enough samples."""
    measures: list[JsonValue] = Field(default_factory=list)
    """Measures of the embedding, as in a spec."""
    timeout: Annotated[float, Gt(0)] | None = None
    """Time limit of a trial in seconds; default: the suite's `timeout`."""
    controls: list[Control] = Field(default_factory=list)
    """Controls to compare the methods with."""
    classifiers: list[JsonValue] | None = None
    """Classifiers, as in a spec; default: the suite's `classifiers`."""
    repeats: Annotated[int, Ge(1)] | None = None
    """The number of splits of each data set; default: the suite's `repeats`."""

    @model_validator(mode="after")
    def _is_tuned_or_untuned(self) -> Self:
        for key in ("dimensions", "sizes"):
            if self.tune is not None and getattr(self, key):
                message = f"a track with {key} runs methods untuned: remove {key}, or remove tune."
                refuse([problem_at((key,), message, key=True)])
        return self


class Erratum(StrictFrozen):
    """An error in published rows."""

    date: Text
    """When the error was found, such as 2026-12-01."""
    what: Text
    """The error."""
    rows: Text
    """The rows that have the error."""
    fixed: Text
    """The version that corrects the error, such as `lite 2` (a suite) or `lfda 6` (a method)."""


class Frozen(StrictFrozen):
    """Why the rows of a suite stay as they are, although its components have changed since."""

    date: Text
    """The date of the freeze, such as 2026-12-01."""
    why: Text
    """What has changed since the rows were computed."""
    versions: dict[Text, Annotated[int, Ge(1)]]
    """The versions of components with which the rows were computed, where they differ."""


class Suite(StrictFrozen):
    """Data sets, methods, and the protocol under which the methods run on the data sets.

    Rows of different versions are never compared. Raise `version` if the meaning of rows changes,
    but not if you add data sets or methods.
    """

    name: Text
    path: Annotated[Path | None, Field(exclude=True)] = None
    title: Text
    """The heading of the leaderboard."""
    description: str = ""
    """The question that the suite answers, in a sentence or two."""
    version: Annotated[int, Ge(1)]
    """Raise the version if the meaning of rows changes."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the splits."""
    repeats: Annotated[int, Ge(1)] = 10
    """The number of splits of each data set."""
    preprocess: list[JsonValue] = Field(default_factory=list)
    """Steps before every method."""
    classifiers: Annotated[list[JsonValue], MinLen(1)]
    """Classifiers, as in a spec."""
    metrics: Annotated[list[Text], MinLen(1)] = Field(default_factory=lambda: ["error"])
    """Metrics, as in a spec; the leaderboard uses the first metric."""
    widths: list[Annotated[int, Ge(1)]] = Field(default_factory=lambda: [1, 2, 3, 5, 8, 12, 20])
    """Values of n_components for tuning, up to each method's maximum."""
    baseline: Text | None = None
    """The simplest method, to compare all others with; default: the first method."""
    timeout: Annotated[float, Gt(0)] | None = None
    """Time limit of a trial in seconds."""
    methods: Annotated[dict[str, Settings | None], MinLen(1)]
    """Parameters and grids of each method, by label; add `name` if label and name differ."""
    datasets: Annotated[dict[str, SuiteData], MinLen(1)]
    """The data sets, each by its name or by the path of its card."""
    groups: dict[str, list[Text]] = Field(default_factory=dict)
    """Groups of data sets, by name."""
    families: dict[str, list[Text]] = Field(default_factory=dict)
    """Families of methods, by name; the inner folds choose one method of each family."""
    tracks: Annotated[dict[str, Track], MinLen(1)]
    """Tracks, by name; every suite has the track `inductive`."""
    frozen: Frozen | None = None
    """States that no rows are added to the suite until all of it runs again."""
    errata: list[Erratum] = Field(default_factory=list)
    """Errors in published rows."""

    _document: Document | None = PrivateAttr(default=None)

    @field_validator("datasets")
    @classmethod
    def _have_cards(cls, datasets: dict[str, SuiteData], info: ValidationInfo) -> Any:
        path = info.data.get("path")
        problems = []
        for name in datasets:
            try:
                load_card(name, base=path.parent if path else None)
            except InputError as error:
                problems.append(problem_at((name,), as_clause(error), key=True))
        refuse(problems)
        return datasets

    @field_validator("methods")
    @classmethod
    def _are_reducers(cls, methods: dict[str, Settings | None], info: ValidationInfo) -> Any:
        path, problems = info.data.get("path"), []
        for label, given in methods.items():
            name = located(_name_of(label, given), path.parent if path else None)
            try:
                factory = load_factory("reducers", name)
            except InputError as error:
                problems.append(problem_at((label,), as_clause(error), key=True))
            else:
                if how := missing_of("reducers", factory, {}):
                    problems.append(problem_at((label,), f"{class_name(name)} {how}"))
        refuse(problems)
        return methods

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        problems = []
        for name, members in self.groups.items():
            problems += _unknown(("groups", name), members, self.datasets, "data set")
        for name, members in self.families.items():
            problems += _unknown(("families", name), members, self.methods, "method")
        for name, track in self.tracks.items():
            problems += _unknown(("tracks", name, "methods"), track.methods, self.methods, "method")
            known = [*self.datasets, *self.groups]
            problems += _unknown(("tracks", name, "datasets"), track.datasets, known, "data set")
        if self.baseline is not None and self.baseline not in self.methods:
            hint = did_you_mean(self.baseline, self.methods)
            message = f"the baseline '{self.baseline}' is not a method of the suite.{hint}"
            problems.append(problem_at(("baseline",), message))
        if INDUCTIVE not in self.tracks:
            problems.append(problem_at(("tracks",), f"the suite needs a track '{INDUCTIVE}'."))
        refuse(problems)
        return self

    def describe(self) -> str:
        """Return the suite's title, question, methods, data sets and tracks as text."""
        lists = [("methods", [*self.methods]), ("data sets", [*self.datasets])]
        lists.append(("tracks", [*self.tracks]))
        facts = [f"{len(names)} {what}: {', '.join(names)}" for what, names in lists]
        head = f"{self.name} (suite, version {self.version})\n\n{self.title}"
        texts = [head, self.description.strip(), *facts]
        return "\n\n".join(filter(None, texts))

    def tunes(self, track: str) -> bool:
        """Return whether a track tunes its methods."""
        return self.tracks[track].tune is not None

    def baseline_of(self, track: str) -> str:
        """Return the simplest of a track's methods: the suite's, or where it is not, the first."""
        methods = self.methods_of(track)
        return self.baseline if self.baseline in methods else methods[0]

    @property
    def transductive_track(self) -> str:
        """The first track whose methods see the test samples; InputError if there is none."""
        for name, track in self.tracks.items():
            if track.mode == "transductive" and not track.labels:
                return name
        raise InputError(
            f"The method is transductive: add a track with 'mode: transductive' to {self.name}."
        )

    def datasets_of(self, track: str) -> list[str]:
        """Return the data sets of a track, in the suite's order."""
        named = self.tracks[track].datasets or list(self.datasets)
        meant = {each for name in named for each in self.groups.get(name, (name,))}
        return [name for name in self.datasets if name in meant]

    def methods_of(self, track: str) -> list[str]:
        """Return the labels of a track's methods."""
        return self.tracks[track].methods or list(self.methods)

    def parts(
        self, *, tracks: Sequence[str] = (), datasets: Sequence[str] = ()
    ) -> dict[str, tuple[str, str]]:
        """Return the track and the data set of each spec by its name; the inductive ones first."""
        _check("track", tracks, self.tracks)
        _check("data set", datasets, [*self.datasets, *self.groups])
        meant = {each for name in datasets for each in self.groups.get(name, (name,))}
        return {
            Path(dataset).stem if track == INDUCTIVE else f"{Path(dataset).stem}-{track}": (
                track,
                dataset,
            )
            for track in sorted(self.tracks, key=lambda name: name != INDUCTIVE)
            if track in (tracks or self.tracks)
            for dataset in self.datasets_of(track)
            if dataset in meant or not meant
        }

    def specs(self, *, tracks: Sequence[str] = (), datasets: Sequence[str] = ()) -> Iterator[Spec]:
        """Yield the spec of each data set of these tracks, or all; the inductive ones first.

        An `InputError` names a data set that cannot be run as the suite states, and its line.
        """
        for track, dataset in self.parts(tracks=tracks, datasets=datasets).values():
            yield self._spec(track, dataset)

    def factory_of(self, label: str) -> Any:
        """Return the class of a method, which may be one that a control adds."""
        name = _name_of(label, self.methods.get(label))
        return load_factory("reducers", located(name, self.path.parent if self.path else None))

    def traits_of(self, label: str) -> Traits:
        """Return the traits of a method at its defaults."""
        found: Traits = traits_of("reducers", self.factory_of(label), {})
        return found

    def version_of(self, label: str) -> int:
        """Return the version of a method that the suite's rows have."""
        versions = self.frozen.versions if self.frozen else {}
        name = _name_of(label, self.methods.get(label))
        return versions.get(name) or self.traits_of(label).version

    def fingerprint_of(self, dataset: str) -> str | None:
        """Return the fingerprint of a data set, if its card states it."""
        card = self.card_of(dataset)
        options: Any = self.datasets[dataset].options
        return card.expected(card.choose(options)).fingerprint

    def card_of(self, dataset: str) -> Card:
        """Return the card of a data set."""
        return load_card(dataset, base=self.path.parent if self.path else None)

    def with_method(self, name: str, track: str = INDUCTIVE) -> Suite:
        """Return the suite with one method, of the user's own code, in one track alone.

        In any track it gets the test samples after its fit.
        """
        label = class_name(name)
        if label in self.methods:
            raise InputError(f"The suite already has a method '{label}'; rename your class.")
        try:
            complete(load_factory("reducers", name), {})
        except ValidationError as error:
            problems = [text for _, text, _ in field_problems(error, label, ())]
            raise InputError(
                f"{' '.join(problems)} In a suite, your method needs a default for each parameter."
            ) from None
        changes = {"methods": [label], "controls": [], "mode": "out_of_sample"}
        alone = self.tracks[track].model_copy(update=changes)
        return self.model_copy(
            update={
                "name": f"{self.name}_{label}",
                "frozen": None,
                "methods": {label: {"name": name}},
                "tracks": {track: alone},
            }
        )

    def _spec(self, track: str, dataset: str) -> Spec:
        try:
            return self._built(track, dataset)
        except InputError as error:
            problems = getattr(error, "problems", None)
            told = "; ".join(each.message for each in problems) if problems else as_clause(error)
            if self._document is None:
                told = f"suite {self.name}, data set {dataset}, track {track}: {told}"
                raise InputError(told) from None
            problem = self._document.problem(("datasets", dataset), f"track {track}: {told}")
            raise DocumentError([problem], self._document.source) from None

    def _built(self, track: str, dataset: str) -> Spec:
        own, how = self.datasets[dataset], self.tracks[track]
        parts: dict[str, Any] = {
            "dataset": {"name": dataset, **own.options},
            "split": {**own.split, "repeats": how.repeats or self.repeats, "seed": self.seed},
            "preprocess": self.preprocess if own.preprocess is None else own.preprocess,
            "path": self.path,
        }
        if how.sizes:
            parts["sweep"] = {TRAIN: self._sizes(how, dataset)}
        # The largest n_components depends on the split and the steps.
        limits = limits_of(make_spec(reducers=["none"], classifiers=["knn"], controls=[], **parts))
        parts["classifiers"] = how.classifiers or self.classifiers
        if how.measures:
            parts["measures"] = how.measures
        width = own.n_components or max((limits.n_classes or 0) - 1, 2)
        items = [self._item(label, how, limits, width) for label in self.methods_of(track)]
        stem = Path(dataset).stem
        spec = make_spec(
            name=stem if track == INDUCTIVE else f"{stem}-{track}",
            title=f"{self.title}: {stem}, {track}",
            reducers=[item for item, _ in items],
            metrics=self.metrics,
            controls=how.controls,
            labels=how.labels or None,
            tune=None if how.tune is None else how.tune.model_dump(exclude_none=True),
            **parts,
        )
        # Controls add their reducers at the end, so the first ones are the methods in `items`.
        reducers = list(spec.reducers)
        for i, (_, default) in enumerate(items):
            if default is not None:
                params = {**reducers[i].params, WIDTH: default}
                reducers[i] = reducers[i].model_copy(update={"params": params})
        versions = self.frozen.versions if self.frozen else {}
        ref = SuiteRef(name=self.name, version=self.version, track=track, versions=versions)
        return spec.model_copy(update={"reducers": tuple(reducers), "suite": ref})

    def _sizes(self, track: Track, dataset: str) -> list[int]:
        """Return the training sizes that leave a data set its test samples."""
        own, card = self.datasets[dataset], self.card_of(dataset)
        test: Any = own.split.get("test", 1)
        options: Any = own.options
        samples = card.expected(card.choose(options)).samples or sys.maxsize
        return [size for size in track.sizes if size + test <= samples]

    def _item(
        self, label: str, track: Track, limits: Limits, width: int
    ) -> tuple[Settings, int | None]:
        """Return a method as in a spec, and its default n_components if they are tuned."""
        given = dict(self.methods[label] or {})
        name = located(_name_of(label, given), self.path.parent if self.path else None)
        factory = load_factory("reducers", name)
        grids = {key for key, value in given.items() if is_grid(value)}
        kept = {key: value for key, value in given.items() if track.tune or key not in grids}
        item: Settings = {**kept, "name": name, "label": label, "mode": track.mode}
        traits = traits_of("reducers", factory, {})
        # A thinned grid can't cover all declared grids, so only Sobol search and a user's own code
        # use them.
        if track.tune and (track.tune.search == "sobol" or (is_code(name) and not grids)):
            item |= _declared(traits.grids, given, name)
        if WIDTH not in parameter_model(factory).model_fields or WIDTH in given.keys() - grids:
            return item, None
        most = limits.most(traits, track.mode) or sys.maxsize
        default = min(width, most)
        if track.tune is None:
            return {**item, WIDTH: _clipped(track.dimensions, most) or default}, None
        if is_code(name) and traits.grids and WIDTH not in traits.grids:
            return {**item, WIDTH: default}, None
        stated: Any = item.get(WIDTH, {"grid": self.widths})
        return {**item, WIDTH: _up_to(most, stated, default)}, default


def _clipped(widths: Sequence[int], most: int) -> Settings:
    """Return a grid with larger values at `most`, empty if there are no values."""
    return {"grid": list[JsonValue](sorted({min(n, most) for n in widths}))} if widths else {}


def _up_to(most: int, stated: Any, default: int) -> Settings:
    """Return a grid without the values above `most`, with the default."""
    return {"grid": sorted({default, *(each for each in stated["grid"] if each <= most)})}


def _declared(grids: Mapping[str, Sequence[Any]], given: Settings, name: str) -> Settings:
    """Return a method's own grids; n_components is the suite's, except for own code."""
    return {
        key: {"grid": list(values)}
        for key, values in grids.items()
        if key not in given and (key != WIDTH or is_code(name))
    }


def load_suite(path_or_name: str | Path) -> Suite:
    """Return the suite in a file, or the shipped one of that name; a path always wins over a name.

    Raises InputError if there is none, and DocumentError with all problems of the file, each with
    line and column.
    """
    path = find_yaml(str(path_or_name), "suites", "suite")
    document = read_document(path)
    data = document.data
    if isinstance(data, dict):
        methods = data.get("methods")
        for label, given in methods.items() if isinstance(methods, dict) else ():
            if is_code(name := _name_of(str(label), given)):
                require_trust(located(name, path.parent))
        for key in {"name", "path"} & data.keys():
            message = f"ddr takes {key} from the path of the file; remove {key}."
            document.problems.append(document.problem((key,), message, key=True))
        document.data = {**data, "name": path.stem, "path": path}
    suite = validated(document, Suite, "a suite")
    suite._document = document
    return suite


def _name_of(label: str, given: Any) -> str:
    name = given.get("name") if isinstance(given, dict) else None
    return name if isinstance(name, str) else label


def _unknown(
    place: KeyPath, names: Sequence[str], known: Collection[str], what: str
) -> list[InitErrorDetails]:
    return [
        problem_at((*place, i), f"the suite has no {what} '{name}'.{did_you_mean(name, known)}")
        for i, name in enumerate(names)
        if name not in known
    ]


def _check(what: str, names: Sequence[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f" Choose one of: {', '.join(known)}."
            raise InputError(f"The suite has no {what} '{name}'.{hint}")
