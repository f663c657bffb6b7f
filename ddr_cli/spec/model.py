"""The records of a spec, with every default filled in.

`ddr_cli.spec.read_spec` creates them from a document, `Spec.from_resolved` from the result of
`Spec.resolved`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic import AfterValidator, Field, JsonValue, StringConstraints, ValidationError

from ddr_cli.core.atomic import is_one_name
from ddr_cli.core.errors import InputError, printable
from ddr_cli.core.positions import value_text
from ddr_cli.spec.budgets import Budget
from ddr_cli.spec.components import (
    ClassifierSpec,
    MeasureSpec,
    Params,
    ReducerSpec,
    StepSpec,
    StrictFrozen,
    Text,
)
from ddr_cli.spec.sweeps import axes_of

Stripped = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(printable)]
Control = Literal["none", "pca", "random_projection", "full_features", "shuffled_labels"]


def _one_folder(name: str) -> str:
    if not is_one_name(name):
        raise ValueError(f"{value_text(name)} is not a valid folder name; rename the spec")
    return name


class PaperRef(StrictFrozen):
    """The table or figure of a paper that a spec reproduces."""

    name: Text
    """The paper: ccdr, dp, lfda, nmmp or ssde."""
    artefact: Text
    """A table or figure of the paper, such as fig2; `ddr describe PAPER` lists the names."""


class SuiteRef(StrictFrozen):
    """The suite that a spec was made from."""

    name: Text
    version: int
    track: Text
    versions: Annotated[dict[Text, int], Field(default_factory=dict, exclude=True)]
    """Versions of components with which the rows of a frozen suite were computed."""


class DatasetRef(StrictFrozen):
    """A data set by its name or by its card's path (relative to the spec), with all its options."""

    name: Text
    """A name from `ddr list datasets`, or the path of a card relative to the spec."""
    options: Params = Field(default_factory=dict)
    """Options of the card, next to `name`; `ddr describe DATASET` lists the options."""


def _default_repeats(data: dict[str, Any]) -> int:
    once = data.get("kind") in ("predefined", "kfold", "given") or data.get("folds") is not None
    return 1 if once else 10


class SplitSpec(StrictFrozen):
    """How the data set is divided into a training and a test set, and how often.

    ``predefined``: the data set's own split. ``resample``: new stratified splits of the predefined
    sizes; with `predefined`, also that split, as a separate line. ``per_class``: `train` samples
    of each class. ``fraction``: the fraction `train` of all samples. ``labelled``: `train` samples
    in total; the others are unlabelled and are the test set. ``kfold``: `repeats` stratified
    divisions into `folds`; each fold is the test set once. ``grouped``: the same with whole groups,
    or with `train` as the fraction of the groups, or with each group as the test set once
    (``leave_one_out``). ``given``: the splits of a `file`, with the hash `sha256`, or of a `column`
    of the card's table. ``whole``: all samples, for measures; repeats differ in the methods'
    randomness only. If ``split.train`` is swept, `train` may be left out.
    """

    kind: Literal[
        "predefined",
        "resample",
        "per_class",
        "fraction",
        "labelled",
        "kfold",
        "grouped",
        "given",
        "whole",
    ]
    """The kind of split; `ddr describe KIND` has examples."""
    folds: Annotated[int, Ge(2)] | Literal["leave_one_out"] | None = Field(
        default=None, validate_default=True
    )
    """For kfold and grouped: number of folds. For grouped also: leave_one_out."""
    file: Text | None = None
    """For given: a CSV table next to the spec, with one column per split."""
    column: Text | None = None
    """For given: a column of the data table that the card lists in `parts`."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """SHA-256 of `file`; `ddr` fills in this key."""
    repeats: Annotated[int, Ge(1), Le(100_000)] = Field(default_factory=_default_repeats)
    """Number of random splits, or number of divisions into folds."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the splits and of the randomness in the methods."""
    train: int | float | None = Field(default=None, validate_default=True)
    """Size of the training set; by kind: samples per class, samples in total, or a fraction."""
    predefined: bool = False
    """For resample: also use the predefined split; its results are shown separately."""
    test: Annotated[int, Ge(1)] | None = None
    """For per_class, fraction and labelled: draw at most this many test samples at random."""

    @property
    def drawn(self) -> int:
        """The number of splits, without a predefined one next to drawn ones."""
        return self.repeats * (self.folds if isinstance(self.folds, int) else 1)


class TuneSpec(StrictFrozen):
    """How settings are selected: by the mean of `metric` over stratified inner folds.

    At most `budget` settings of each method (a reducer with a classifier) are compared, that of the
    spec first. A larger grid is thinned: ``grid`` keeps evenly spaced values of every axis,
    ``sobol`` takes those of a low-discrepancy sequence, which the seed shifts.
    """

    folds: Annotated[int, Ge(2), Le(1000)] = 3
    """Number of stratified inner folds of the training set; grouped if the split is grouped."""
    repeats: Annotated[int, Ge(1), Le(1000)] = 1
    """Number of times that the training set is divided into inner folds."""
    budget: Annotated[int, Ge(1), Le(10_000)] = 16
    """Largest number of settings per method, including the setting in the spec."""
    search: Literal["grid", "sobol"] = "grid"
    """How `ddr` thins a larger grid: evenly (grid), or by Sobol's sequence (sobol)."""
    metric: Text | None = None
    """The metric that selects the setting. Default: the first metric of the classifiers."""


class EmbeddingsSpec(StrictFrozen):
    """Which embeddings are stored for a figure: of at most `points` samples of the first split."""

    points: Annotated[int, Ge(10), Le(20_000)] = 1000
    """Largest number of samples of the first split to keep."""


class PlotSpec(StrictFrozen):
    """What the figure shows.

    `x` is a swept parameter, ``split.train`` or ``labels``, or, in a spec without any of them,
    ``reducer`` or ``classifier``; `y` is a metric, `interval` the level of the intervals, and `log`
    makes the axis of x logarithmic.
    """

    x: Text
    """A swept parameter. Default: the first; without a sweep, `reducer` or `classifier`."""
    y: Text
    """A metric of the spec. Default: the first."""
    interval: Annotated[float, Gt(0), Lt(1)] = 0.80
    """The level of the intervals in the figure, such as 0.8."""
    log: bool = False
    """Whether the x axis is logarithmic. Default: true if the grid of x is logarithmic."""


class Spec(StrictFrozen):
    """A complete experiment: nothing in it depends on a default.

    Every reducer is run with every classifier and every measure on every split. `name` is the stem
    of the spec's file and the name of the folder of its results; `path`, to which the path of a
    card is relative, is not part of `resolved`. `sweep` has the values of each swept parameter,
    and `labels` the numbers of labelled training samples per class, if not all are labelled.
    """

    name: Annotated[Text, AfterValidator(_one_folder)]
    path: Annotated[Path | None, Field(exclude=True)] = None
    title: Stripped
    """Title of the figure. Default: the name of the file."""
    description: Stripped = ""
    """The question of the experiment, in one or two sentences."""
    paper: PaperRef | None = None
    """The table or figure that the spec reproduces; such a spec has no default controls."""
    dataset: DatasetRef
    """A name, the path of a card, openml:NUMBER, or a mapping with `name` and options."""
    split: SplitSpec
    """How, and how often, the samples are divided into a training and a test set."""
    preprocess: tuple[StepSpec, ...] = ()
    """Ordered steps before every reducer; each step is fitted only to the training set."""
    controls: tuple[Control, ...] = ()
    """Baselines. Default: all baselines if the spec compares methods, otherwise none."""
    reducers: tuple[ReducerSpec, ...]
    """Methods; each is a name, or a mapping with `name`, parameters, `label` and `mode`."""
    classifiers: tuple[ClassifierSpec, ...] = ()
    """Classifiers; each classifier scores the embedding of each reducer on the test set."""
    measures: tuple[MeasureSpec, ...] = ()
    """Measures of the embedding itself, with or without classifiers."""
    sweep: dict[str, tuple[JsonValue, ...]] = Field(default_factory=dict)
    """Values of reducer.NAME, classifier.NAME or split.train: a list, or {log: [a, b, n]}."""
    labels: tuple[Budget, ...] = ()
    """Numbers of labelled training samples per class, or `all`; other samples lose the label."""
    metrics: Annotated[tuple[Text, ...], MinLen(1)]
    """Scores of predictions; `ddr list metrics` shows all metrics. Default: the error."""
    tune: TuneSpec | None = None
    """Also run each method with a setting that is selected within every training set."""
    plot: PlotSpec
    """What the figure shows."""
    embeddings: EmbeddingsSpec | None = None
    """Keep and plot each reducer's embedding of the first split."""
    suite: SuiteRef | None = None
    """The suite that the spec comes from; a file cannot set this key."""

    def version_of(self, name: str, now: int) -> int:
        """Return the version of a component: now's, or that of a frozen suite's rows."""
        return self.suite.versions.get(name, now) if self.suite else now

    @property
    def evaluators(self) -> tuple[ClassifierSpec | MeasureSpec, ...]:
        """What scores an embedding: the classifiers, then the measures."""
        return (*self.classifiers, *self.measures)

    @property
    def classifier_metrics(self) -> tuple[str, ...]:
        """The metrics by which classifiers are scored; a measure has a column of its own."""
        measured = {item.factory.scale.name for item in self.measures}  # type: ignore[attr-defined]
        return tuple(name for name in self.metrics if name not in measured)

    @property
    def axes(self) -> dict[str, tuple[JsonValue, ...]]:
        """All values of each parameter that is swept, by the spec or by a grid of one item."""
        items = (*self.reducers, *self.evaluators)
        return axes_of(items, self.sweep, tuned=self.tune is not None)

    @property
    def split_file(self) -> Path | None:
        """The file of given splits, if they come from a file."""
        if self.split.file is None:
            return None
        return (self.path.parent if self.path else Path()) / Path(self.split.file).expanduser()

    @property
    def card(self) -> str | Path:
        """The name or the path from which the data set is loaded."""
        name = self.dataset.name
        if not is_card_path(name) or self.path is None:
            return name
        return self.path.parent / Path(name).expanduser()

    def resolved(self) -> dict[str, Any]:
        """Return the spec for JSON, with all defaults filled in and no path of this machine.

        Card paths stay as the spec gives them, relative to its file.
        """
        return self.model_dump(mode="json")

    @classmethod
    def from_resolved(cls, resolved: dict[str, Any]) -> Spec:
        """Return the spec that `resolved` was made from, without its path.

        Raises InputError if `resolved` is not valid.
        """
        try:
            return cls.model_validate_json(json.dumps(resolved))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"This is not a resolved spec ({place}: {first['msg']}).") from None


KEYS = tuple(name for name in Spec.model_fields if name not in ("name", "path", "suite"))
"""The keys of a spec's file."""


def is_card_path(name: str) -> bool:
    """Return whether a data set is given by the path of its card instead of by name."""
    return "/" in name or name.endswith((".yaml", ".yml"))
