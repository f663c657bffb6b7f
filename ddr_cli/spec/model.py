"""What a spec is: its keys, their types and ranges, and how they must fit together.

The models read two things. The document of a file, with names and flat parameters, is validated
with a `Context` and becomes complete: every default filled in, every estimator's parameters checked
against its signature, the data set against its card. What `Spec.resolved` returned is validated
without one and stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self, get_args

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)

from ddr_cli.core.errors import InputError, did_you_mean, printable
from ddr_cli.core.positions import as_clause, value_text
from ddr_cli.core.registry import paper_files
from ddr_cli.core.validation import as_problem, problem_at, refuse
from ddr_cli.core.yaml_loader import read_document
from ddr_cli.data.cards import load_card
from ddr_cli.evaluation.metrics import metric_names, scorer_names
from ddr_cli.spec.budgets import (
    ALL,
    LABELS,
    Budget,
    check_budgets,
    note_train_sizes,
    read_labels,
)
from ddr_cli.spec.controls import (
    FULL_FEATURES,
    SEEN,
    SHUFFLED_LABELS,
    Control,
    control_reducers,
    strong_classifier,
)
from ddr_cli.spec.feasible import (
    WIDTH,
    impossible,
    known_limits,
    needs_labels,
    takes_no_sparse,
    unprepared,
)
from ddr_cli.spec.pieces import (
    ClassifierSpec,
    Item,
    Labelled,
    MeasureSpec,
    Params,
    ReducerSpec,
    StepSpec,
    StrictFrozen,
    Text,
    context_of,
    labelled,
    nested,
    too_many_neighbors,
    unsupported_mode,
)
from ddr_cli.spec.scored import lacking
from ddr_cli.spec.split import SplitSpec
from ddr_cli.spec.sweeps import (
    TRAIN,
    axes_of,
    combinations,
    count_settings,
    is_geometric,
    is_positive,
    read_sweep,
)
from ddr_cli.spec.tune import TuneSpec, with_metric

Stripped = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(printable)]

MAX_TRIALS = 300_000
CATEGORIES = ("reducer", "classifier")


class PaperRef(StrictFrozen):
    """The table or figure of a paper that a spec reproduces."""

    name: Text
    """ccdr, dp, lfda, nmmp or ssde."""
    artefact: Text
    """One of the artefacts that `ddr describe PAPER` lists, such as fig2."""

    @field_validator("name")
    @classmethod
    def _known_paper(cls, name: str, info: ValidationInfo) -> str:
        if context_of(info):
            known = list(paper_files())
            if name not in known:
                hint = did_you_mean(name, known)
                raise ValueError(f"unknown paper '{name}'.{hint} Known: {', '.join(known)}.")
        return name

    @field_validator("artefact")
    @classmethod
    def _of_the_paper(cls, artefact: str, info: ValidationInfo) -> str:
        if context_of(info) and "name" in info.data:
            paper = info.data["name"]
            known = [item["id"] for item in read_document(paper_files()[paper]).data["artefacts"]]
            if artefact not in known:
                hint = did_you_mean(artefact, known) or f" It has {', '.join(known)}."
                raise ValueError(f"the paper '{paper}' has no artefact '{artefact}'.{hint}")
        return artefact


class SuiteRef(StrictFrozen):
    """The suite that a spec was made from."""

    name: Text
    version: int
    track: Text


class DatasetRef(StrictFrozen):
    """A data set by its name or, relative to the spec, its card's path, with all its options."""

    name: Text
    """As `ddr list datasets` has it, or a card's path relative to the spec."""
    options: Params = Field(default_factory=dict)
    """Those of the card, beside `name`: `ddr describe DATASET` lists them."""

    @model_validator(mode="before")
    @classmethod
    def _name_and_options(cls, value: Any, info: ValidationInfo) -> Any:
        what = "a data set is a name, the path of a card"
        return nested(value, what, ("name",), "options") if context_of(info) else value

    @field_validator("name")
    @classmethod
    def _has_a_card(cls, name: str, info: ValidationInfo) -> str:
        if context := context_of(info):
            with as_problem():
                context.card = load_card(name, base=context.base)
        return name

    @field_validator("options")
    @classmethod
    def _of_the_card(cls, options: Params, info: ValidationInfo) -> Params:
        context = context_of(info)
        if context is None or context.card is None:
            return options
        card, problems = context.card, []
        for key, value in options.items():
            try:
                card.choose({key: value})  # type: ignore[dict-item]  # a wrong type is an error
            except InputError as error:
                problems.append(problem_at((key,), as_clause(error), key=key not in card.options))
        refuse(problems)
        context.expect = card.expected(options)  # type: ignore[arg-type]  # checked
        return dict(card.choose(options))  # type: ignore[arg-type]  # checked


class EmbeddingsSpec(StrictFrozen):
    """Which embeddings are kept for a figure: of the first split, of at most `points` points."""

    points: Annotated[int, Ge(10), Le(20_000)] = 1000
    """At most so many of the first split."""


class PlotSpec(StrictFrozen):
    """What the figure shows.

    `x` is a swept parameter, ``split.train`` or ``labels``, or, in a spec without any of them,
    ``reducer`` or ``classifier``; `y` is a metric, `interval` the level of the intervals, and `log`
    says that the axis of x is logarithmic.
    """

    x: Text
    """What is swept first; without a sweep reducer, or classifier."""
    y: Text
    """A metric of the spec; its first, if not given."""
    interval: Annotated[float, Gt(0), Lt(1)] = 0.80
    """The level of the intervals that are drawn."""
    log: bool = False
    """Whether x has a logarithmic axis; by default if its grid is one."""


class Spec(StrictFrozen):
    """An experiment, complete: nothing in it depends on a default any more.

    Every reducer is run with every classifier and every measure on every split. `name` is the stem
    of the spec's file and the name of the folder of its results; `path`, to which the path of a
    card is relative, is not part of `resolved`. `sweep` has the values of each swept parameter,
    and `labels` the numbers of labelled training points per class, if they are not all labelled.
    """

    name: Text
    path: Annotated[Path | None, Field(exclude=True)] = None
    title: Stripped
    """What stands above the figure; the file's name, if not given."""
    description: Stripped = ""
    """What is asked and why, in a sentence or two."""
    paper: PaperRef | None = None
    """The table or figure of a paper that is reproduced; such a spec has the controls it lists."""
    dataset: DatasetRef
    """A name, a card's path, openml:NUMBER, or a mapping with `name` and the card's options."""
    split: SplitSpec
    """How the points are divided into a training and a test part, and how often."""
    preprocess: tuple[StepSpec, ...] = ()
    """Steps before every reducer, in this order, each fitted to the training part alone."""
    controls: tuple[Control, ...] = ()
    """What any method is held against; all of them by default where a spec compares methods."""
    reducers: tuple[ReducerSpec, ...]
    """Methods: a name, or a mapping of a name, parameters, `label` and `mode`."""
    classifiers: tuple[ClassifierSpec, ...] = ()
    """What scores an embedding by its errors on the test part, each with each reducer."""
    measures: tuple[MeasureSpec, ...] = ()
    """What scores an embedding itself, beside or instead of classifiers."""
    sweep: dict[str, tuple[JsonValue, ...]] = Field(default_factory=dict)
    """Values of reducer.NAME, classifier.NAME or split.train: a list, or {log: [a, b, n]}."""
    labels: tuple[Budget, ...] = ()
    """So many training points of each class keep their label, for each number (or all)."""
    metrics: Annotated[tuple[Text, ...], MinLen(1)]
    """Scores of predictions, `ddr list metrics`; the error, if not given."""
    tune: TuneSpec | None = None
    """Each method also with settings that are chosen inside every training part."""
    plot: PlotSpec
    """What the figure shows."""
    embeddings: EmbeddingsSpec | None = None
    """The points of the first split are kept where each reducer places them, and drawn."""
    suite: SuiteRef | None = None
    """The suite that the spec was made from; no file says it."""

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, value: Any, info: ValidationInfo) -> Any:
        """Fill in what other values tell; `None` marks what a validator below decides."""
        if context_of(info) is None:
            return value
        empty: dict[str, Any] = {"title": value["name"], "metrics": None, "plot": {}}
        if _compares(value):
            empty["controls"] = list(get_args(Control))
        if "classifiers" not in value and "measures" not in value:
            empty["classifiers"] = []
        return {**empty, **value}

    @field_validator("preprocess", "controls", "reducers", "classifiers", "measures", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any, info: ValidationInfo) -> Any:
        if context_of(info) and value == [] and info.field_name not in ("preprocess", "controls"):
            if info.field_name == "reducers":
                raise ValueError(
                    "reducers must have one item or more ('none' is the reducer that reduces "
                    "nothing)"
                )
            raise ValueError("a spec needs classifiers or measures")
        return tuple(value) if isinstance(value, list) else value

    @field_validator("reducers", "classifiers", "measures")
    @classmethod
    def _check_list(cls, items: tuple[Labelled, ...], info: ValidationInfo) -> tuple[Labelled, ...]:
        context = context_of(info)
        if context is None:
            return items
        split = info.data.get("split")
        items = (*items, *_added(info, items))  # type: ignore[arg-type]  # of the list's own kind
        if info.field_name == "classifiers" and items and split and split.kind == "whole":
            raise ValueError("the kind whole leaves no test points for classifiers; use measures")
        problems = []
        for i, item in enumerate(items):
            for name, value in item.params.items():
                is_swept = f"{item.prefix}.{name}" in context.swept
                grids = {} if context.tuned else item.grids
                values = grids.get(name, [value])
                message = too_many_neighbors(context, item, name, values)
                if message and not is_swept:
                    problems.append(problem_at((i, name), message))
        refuse(problems)
        taken = [item.label for item in info.data.get("classifiers", ())]
        return labelled(items, taken, context.swept, tuned=context.tuned)

    @field_validator("sweep", mode="before")
    @classmethod
    def _read_sweep(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, dict):
            return value
        context = context_of(info)
        if context is None:
            return {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        lists: dict[str, Sequence[Item] | None] = {"reducer": info.data.get("reducers")}
        if {"classifiers", "measures"} <= info.data.keys():
            lists["classifier"] = (*info.data["classifiers"], *info.data["measures"])
        split = info.data.get("split")

        def check_sizes(values: Sequence[Any]) -> list[tuple[int, str]]:
            return [] if split is None else note_train_sizes(context, split.kind, values)

        sweep = read_sweep(value, lists, check_sizes)
        problems = []
        for key, values in sweep.items():
            prefix, _, name = key.partition(".")
            for item in lists.get(prefix) or ():
                message = too_many_neighbors(context, item, name, values)
                if message and name in item.params and name not in item.grids:
                    problems.append(problem_at((key,), message))
        refuse(problems)
        return sweep

    @field_validator("labels", mode="before")
    @classmethod
    def _read_labels(cls, value: Any, info: ValidationInfo) -> Any:
        context = context_of(info)
        if context is None:
            return tuple(value) if isinstance(value, list) else value
        budgets = read_labels(value)
        if info.data.get("measures") and any(budget != ALL for budget in budgets):
            raise ValueError(
                "measures look at the classes of all points, so they have no budget of labels; "
                "leave out measures or labels"
            )
        refuse(check_budgets(budgets, context.class_sizes))
        if context.class_sizes:
            # What is tuned is divided into folds of the labelled points.
            least = min(budgets, key=lambda budget: math.inf if budget == ALL else budget)
            context.class_sizes = {
                name: size if least == ALL else least for name, size in context.class_sizes.items()
            }
        return budgets

    @field_validator("metrics", mode="before")
    @classmethod
    def _read_metrics(cls, value: Any, info: ValidationInfo) -> Any:
        """Return the metrics of the classifiers, by default the error, and those of measures."""
        if context_of(info) is None or not isinstance(value, list | None):
            return tuple(value) if isinstance(value, list) else value
        measured = [item.factory.scale.name for item in info.data.get("measures", ())]
        if measured and info.data.get("classifiers") == ():
            if value is not None:
                raise ValueError(
                    "metrics score classifiers, and there are none; measures bring their own"
                )
            return tuple(dict.fromkeys(measured))
        known, problems = metric_names(), []
        names = ["error"] if value is None else value
        if any(name not in known for name in names):
            known += scorer_names()
        for i, name in enumerate(names):
            if not isinstance(name, str) or name not in known:
                hint = did_you_mean(name, known) if isinstance(name, str) else ""
                hint = hint or f" There are {', '.join(known)}."
                problems.append(
                    problem_at((i,), f"there is no metric called {value_text(name)}.{hint}")
                )
            elif name in names[:i]:
                problems.append(problem_at((i,), f"the metric '{name}' is listed twice."))
            elif lack := lacking(name, info.data.get("classifiers", ()), context_of(info)):
                problems.append(problem_at((i,), lack))
        refuse(problems)
        seen = [SEEN] if SHUFFLED_LABELS in info.data.get("controls", ()) else []
        return tuple(dict.fromkeys([*names, *seen, *measured]))

    @field_validator("tune", mode="before")
    @classmethod
    def _none_is_none(cls, value: Any) -> Any:
        return None if value == "none" else value

    @field_validator("tune")
    @classmethod
    def _can_tune(cls, tune: TuneSpec | None, info: ValidationInfo) -> TuneSpec | None:
        """Return how to tune with its metric: by default, the first that scores classifiers."""
        context = context_of(info)
        if context is None or tune is None:
            return tune
        if info.data.get("classifiers") == ():
            raise ValueError(
                "settings are chosen by a classifier's score, and the spec has no classifiers"
            )
        return with_metric(tune, info.data.get("metrics", ()), context)

    @field_validator("plot", mode="wrap")
    @classmethod
    def _read_plot(
        cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        """By default x is swept first, y the first metric, and x logarithmic if its grid is."""
        if context_of(info) is None or not isinstance(value, dict):
            return handler(value)
        sweep, metrics = info.data.get("sweep"), info.data.get("metrics", ())
        lists = [info.data.get(name, ()) for name in ("reducers", "classifiers", "measures")]
        items = [item for pieces in lists for item in pieces]
        tuned = info.data.get("tune") is not None
        grids = dict(axes_of(items, sweep or {}, tuned=tuned))
        budgets = info.data.get("labels", ())
        if len(budgets) > 1:
            grids = {LABELS: tuple(b for b in budgets if b != ALL), **grids}
        axes = list(grids) or list(CATEGORIES)
        x = str(value.get("x", axes[0]))
        log = x in grids and (x == LABELS or is_geometric(grids[x]))
        plot = handler({"x": axes[0], "y": (*metrics, "error")[0], "log": log, **value})
        # It can't be said which axes there are if the sweep has a problem.
        problems = []
        if sweep is not None and plot.x not in axes:
            needed = "a parameter that the spec sweeps" if grids else "reducer or classifier"
            message = f"x must be {needed}, but is '{plot.x}'. Use {' or '.join(axes)}."
            problems.append(problem_at(("x",), message))
        elif sweep is not None and plot.log and not is_positive(grids.get(plot.x, ("",))):
            message = (
                f"a logarithmic axis needs numbers above 0, and not all values of {plot.x} are."
            )
            problems.append(problem_at(("log",), message))
        if metrics and plot.y not in metrics:
            message = f"y must be a metric of the spec, but is '{plot.y}'. Use "
            problems.append(problem_at(("y",), f"{message}{' or '.join(metrics)}."))
        refuse(problems)
        return plot

    @model_validator(mode="after")
    def _can_be_run(self, info: ValidationInfo) -> Self:
        """Refuse too many trials, impossible modes, and widths that are never possible."""
        context = context_of(info)
        if context is None:
            return self
        tuned = self.tune is not None
        count = self.split.drawn * len(self.sweep.get(TRAIN, "1")) + self.split.predefined
        count *= max(len(self.labels), 1) * (1 + tuned)
        for items in (self.reducers, self.evaluators):
            count *= count_settings(items, self.sweep, tuned=tuned)
        if count > MAX_TRIALS:
            message = f"the spec has {count} trials, and {MAX_TRIALS} is the most there can be."
            refuse([problem_at(("sweep",) if self.sweep else ("split",), message)])
        problems = []
        for control in (FULL_FEATURES, SHUFFLED_LABELS):
            if control in self.controls and not self.classifiers:
                message = f"{control} is read from classifiers, and the spec has none."
                problems.append(problem_at(("controls", self.controls.index(control)), message))
        reducers = {item.name for item in self.reducers}
        for i, classifier in enumerate(self.classifiers):
            if classifier.only_on and classifier.only_on not in reducers:
                hint = did_you_mean(classifier.only_on, reducers)
                message = f"the spec has no reducer '{classifier.only_on}'.{hint}"
                problems.append(problem_at(("classifiers", i, "only_on"), message))
        for section, i, message in takes_no_sparse(self, context.card):
            problems.append(problem_at((section, i), message))
        if (card := context.card) is not None:
            lacks = unprepared(card.name, card.has_missing, card.coded, self.preprocess)
            problems += [problem_at(place, message) for place, message in lacks]
        if context.card is not None and context.card.unlabelled:
            message = (
                f"{context.card.name} has rows without a label, and this looks at the classes of "
                "all points; leave it out."
            )
            looks = {"measures": bool(self.measures), "embeddings": self.embeddings is not None}
            problems += [problem_at((name,), message) for name, used in looks.items() if used]
        hidden = self.labels not in ((), (ALL,)) or SHUFFLED_LABELS in self.controls
        for i, step in enumerate(self.preprocess):
            if hidden and needs_labels(step):
                message = (
                    f"{step.name} is fitted to all labels of the training part, those too that "
                    "labels or shuffled_labels keep from the methods; leave it out, or them."
                )
                problems.append(problem_at(("preprocess", i), message))
        limits = known_limits(context, self.preprocess)
        if self.embeddings is not None and self.labels not in ((), (ALL,)):
            # Which points have an embedding would differ from budget to budget.
            message = "embeddings are kept of methods that have all labels; leave out labels."
            problems.append(problem_at(("embeddings",), message))
        for i, item in enumerate(self.reducers):
            try:
                if message := impossible(item, self.sweep, limits, tuned=tuned):
                    swept = f"reducer.{WIDTH}" in self.sweep and WIDTH not in item.grids
                    place = ("sweep", f"reducer.{WIDTH}") if swept else ("reducers", i, WIDTH)
                    problems.append(problem_at(place, message))
                for params, mode in combinations(item, self.sweep, tuned=tuned):
                    if not getattr(item.traits(params), str(mode)):
                        message = unsupported_mode(item.name, str(mode))
                        problems.append(problem_at(("reducers", i, "mode"), message))
                        break
            except InputError as error:
                problems.append(problem_at(("reducers", i), as_clause(error)))
        for section in ("reducers", "classifiers") if tuned else ():
            pieces: tuple[Item, ...] = getattr(self, section)
            problems += [
                problem_at(
                    (section, i, name),
                    f"{name} is tuned here and swept by the spec; drop one of the two.",
                )
                for i, piece in enumerate(pieces)
                for name in piece.grids
                if f"{piece.prefix}.{name}" in self.sweep
            ]
        for i, swept_mode in enumerate(self.sweep.get("reducer.mode", ())):
            if not any(getattr(item.traits(), str(swept_mode)) for item in self.reducers):
                message = f"no reducer can be used with mode: {swept_mode}."
                problems.append(problem_at(("sweep", "reducer.mode", i), message))
        refuse(problems)
        return self

    @property
    def evaluators(self) -> tuple[ClassifierSpec, ...]:
        """What scores an embedding: the classifiers, then the measures."""
        return (*self.classifiers, *self.measures)

    @property
    def axes(self) -> dict[str, tuple[JsonValue, ...]]:
        """All values of each parameter that is swept, by the spec or by a grid of one item."""
        items = (*self.reducers, *self.evaluators)
        return axes_of(items, self.sweep, tuned=self.tune is not None)

    @property
    def split_file(self) -> Path | None:
        """The file of given splits, if they are of one."""
        if self.split.file is None:
            return None
        return (self.path.parent if self.path else Path()) / Path(self.split.file).expanduser()

    @property
    def card(self) -> str | Path:
        """What to load the data set by: its name, or the path of its card."""
        name = self.dataset.name
        if not is_card_path(name) or self.path is None:
            return name
        return self.path.parent / Path(name).expanduser()

    def resolved(self) -> dict[str, Any]:
        """Return the spec as JSON has it, with all defaults filled in and no path of this machine.

        Card paths stay as the spec gives them, relative to its file.
        """
        return self.model_dump(mode="json")

    @classmethod
    def from_resolved(cls, resolved: dict[str, Any], *, path: Path | None = None) -> Spec:
        """Return the spec, in the file `path`, that `resolved` was made from.

        Raises InputError if it isn't such a dictionary.
        """
        try:
            spec = cls.model_validate(resolved)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"This is not a resolved spec: {place}: {first['msg']}.") from None
        return spec.model_copy(update={"path": path})


def _compares(value: dict[str, Any]) -> bool:
    """Return whether a spec compares methods, so that it has controls by default.

    One that names a paper repeats what the paper ran.
    """
    if value.get("tune", "none") != "none":
        return True
    reducers = value.get("reducers")
    several = isinstance(reducers, list) and len(reducers) > 1
    return several and bool(value.get("classifiers")) and value.get("paper") is None


def _added(info: ValidationInfo, items: Sequence[Item]) -> Sequence[Item]:
    """Return what the controls of a spec add to one of its lists."""
    context, controls = context_of(info), info.data.get("controls", ())
    if context is None:
        return ()
    steps = info.data.get("preprocess", ())
    if info.field_name == "reducers":
        return control_reducers(
            controls,
            [item for item in items if isinstance(item, ReducerSpec)],
            known_limits(context, steps),
            swept=f"reducer.{WIDTH}" in context.swept,
            tuned=context.tuned,
        )
    if info.field_name == "classifiers" and items and FULL_FEATURES in controls:
        strong = strong_classifier(context, steps)
        return () if any(item.name == strong.name for item in items) else (strong,)
    return ()


KEYS = tuple(name for name in Spec.model_fields if name not in ("name", "path", "suite"))
"""The keys of a spec's file."""


def is_card_path(name: str) -> bool:
    """Return whether a data set is given by the path of its card instead of by name."""
    return "/" in name or name.endswith((".yaml", ".yml"))
