"""A document read as a spec: every default is filled in, and everything is checked.

Parameters are checked against the signatures of estimators, the data set against its card. The
validators know the values read before theirs, and share a `Context`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, Self, get_args

import numpy as np
from pydantic import ValidatorFunctionWrapHandler, field_validator, model_validator

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.positions import as_clause, value_text
from ddr_cli.core.registry import paper_files
from ddr_cli.core.validation import as_problem, problem_at, refuse
from ddr_cli.core.yaml_loader import read_document
from ddr_cli.data.cards import load_card
from ddr_cli.evaluation.folds import too_few_for_folds
from ddr_cli.evaluation.metrics import (
    TRAINING_ERROR,
    get_scale,
    measured,
    metric_names,
    scorer_names,
    scorer_needs,
    scorer_score,
)
from ddr_cli.spec.budgets import ALL, LABELS, check_budgets, note_train_sizes, read_labels
from ddr_cli.spec.checks import problems_of, too_many_trials
from ddr_cli.spec.components import ClassifierSpec, Context, Info, Item, Params, ReducerSpec
from ddr_cli.spec.controls import (
    FULL_FEATURES,
    SEEN,
    SHUFFLED_LABELS,
    control_reducers,
    strong_classifier,
)
from ddr_cli.spec.estimators import make
from ddr_cli.spec.feasible import WIDTH, known_limits, with_known_width
from ddr_cli.spec.model import Control, DatasetRef, PaperRef, Spec, TuneSpec
from ddr_cli.spec.read_components import (
    Labelled,
    ReadClassifier,
    ReadMeasure,
    ReadReducer,
    ReadStep,
    labelled,
    nested,
    too_many_neighbors,
)
from ddr_cli.spec.read_split import ReadSplit
from ddr_cli.spec.sweeps import COMPONENTS, axes_of, is_geometric, is_positive, read_sweep


@cache
def _artefacts(paper: str) -> list[str]:
    return [item["id"] for item in read_document(paper_files()[paper]).data["artefacts"]]


class ReadPaper(PaperRef):
    """The paper of a document."""

    record: ClassVar = PaperRef

    @field_validator("name")
    @classmethod
    def _known_paper(cls, name: str) -> str:
        known = list(paper_files())
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"there is no paper '{name}'.{hint} Papers: {', '.join(known)}.")
        return name

    @field_validator("artefact")
    @classmethod
    def _of_the_paper(cls, artefact: str, info: Info) -> str:
        if "name" in info.data:
            paper = info.data["name"]
            known = _artefacts(paper)
            if artefact not in known:
                hint = did_you_mean(artefact, known) or f" Known: {', '.join(known)}."
                raise ValueError(f"the paper '{paper}' has no table or figure '{artefact}'.{hint}")
        return artefact


class ReadDataset(DatasetRef):
    """The data set of a document: a name, or a mapping of a name and the card's options."""

    record: ClassVar = DatasetRef

    @model_validator(mode="before")
    @classmethod
    def _name_and_options(cls, value: Any) -> Any:
        return nested(value, "a data set is a name or the path of a card", ("name",), "options")

    @field_validator("name")
    @classmethod
    def _has_a_card(cls, name: str, info: Info) -> str:
        context = info.context
        with as_problem():
            context.card = load_card(name, base=context.base)
        return name

    @field_validator("options")
    @classmethod
    def _of_the_card(cls, options: Params, info: Info) -> Params:
        context = info.context
        if context.card is None:
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


class ReadSpec(Spec):
    """The whole of a document."""

    record: ClassVar = Spec

    paper: ReadPaper | None = None
    dataset: ReadDataset
    split: ReadSplit
    preprocess: tuple[ReadStep, ...] = ()
    reducers: tuple[ReadReducer, ...]
    classifiers: tuple[ReadClassifier, ...] = ()
    measures: tuple[ReadMeasure, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Fill in defaults that follow from other values; `None` is left to later validators."""
        empty: dict[str, Any] = {"title": value["name"], "metrics": None, "plot": {}}
        if _compares(value):
            empty["controls"] = list(get_args(Control))
        if "classifiers" not in value and "measures" not in value:
            empty["classifiers"] = []
        return {**empty, **value}

    @field_validator("preprocess", "controls", "reducers", "classifiers", "measures", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any, info: Info) -> Any:
        if value == [] and info.field_name not in ("preprocess", "controls"):
            if info.field_name == "reducers":
                raise ValueError(
                    "'reducers' is empty; list a reducer, or 'none' to keep all features"
                )
            raise ValueError("a spec needs at least one classifier or measure")
        return tuple(value) if isinstance(value, list) else value

    @field_validator("reducers")
    @classmethod
    def _ask_for_all(cls, items: tuple[ReadReducer, ...], info: Info) -> tuple[ReadReducer, ...]:
        limits = known_limits(info.context, info.data.get("preprocess", ()))
        return tuple(
            item.model_copy(update={"params": with_known_width(item, limits)}) for item in items
        )

    @field_validator("reducers", "classifiers", "measures")
    @classmethod
    def _check_list(cls, items: tuple[Labelled, ...], info: Info) -> tuple[Labelled, ...]:
        context = info.context
        split = info.data.get("split")
        items = (*items, *_added(info, items))  # type: ignore[arg-type]  # of the list's own kind
        if info.field_name == "classifiers" and items and split and split.kind == "whole":
            raise ValueError("`kind: whole` has no test set; use 'measures', not 'classifiers'")
        problems = []
        for i, item in enumerate(items):
            for name, value in item.params.items():
                values = [value] if context.tuned else item.grids.get(name, [value])
                message = too_many_neighbors(context, item, name, values)
                if message and f"{item.prefix}.{name}" not in context.swept:
                    problems.append(problem_at((i, name), message))
        refuse(problems)
        taken = [item.label for item in info.data.get("classifiers", ())]
        return labelled(items, taken, context.swept, tuned=context.tuned)

    @field_validator("sweep", mode="before")
    @classmethod
    def _read_sweep(cls, value: Any, info: Info) -> Any:
        if not isinstance(value, dict):
            return value
        context = info.context
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
    def _read_labels(cls, value: Any, info: Info) -> Any:
        context = info.context
        budgets = read_labels(value)
        if info.data.get("measures") and any(budget != ALL for budget in budgets):
            raise ValueError("'measures' and 'labels' can't be combined; remove one of these keys")
        refuse(check_budgets(budgets, context.class_sizes))
        if context.class_sizes:
            # Tuning divides the labelled samples into folds, so only these count as class sizes.
            least = min(budgets, key=lambda budget: math.inf if budget == ALL else budget)
            context.class_sizes = {
                name: size if least == ALL else least for name, size in context.class_sizes.items()
            }
        return budgets

    @field_validator("metrics", mode="before")
    @classmethod
    def _read_metrics(cls, value: Any, info: Info) -> Any:
        """Return the metrics of the classifiers, by default the error, and those of measures."""
        if not isinstance(value, list | None):
            return value
        measured = [item.factory.scale.name for item in info.data.get("measures", ())]
        if measured and info.data.get("classifiers") == ():
            if value is not None:
                raise ValueError("'metrics' needs 'classifiers'; remove 'metrics'")
            return tuple(dict.fromkeys(measured))
        known, problems = metric_names(), []
        names = ["error"] if value is None else value
        if any(name not in known for name in names):
            known += scorer_names()
        for i, name in enumerate(names):
            if not isinstance(name, str) or name not in known:
                hint = did_you_mean(name, known) if isinstance(name, str) else ""
                hint = hint or f" The metrics are {', '.join(known)}."
                problems.append(problem_at((i,), f"there is no metric {value_text(name)}.{hint}"))
            elif name in names[:i]:
                problems.append(problem_at((i,), f"the metric '{name}' is listed twice."))
            elif lack := _lacking(name, info.data.get("classifiers", ()), info.context):
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
    def _can_tune(cls, tune: TuneSpec | None, info: Info) -> TuneSpec | None:
        """Return `tune` with its metric: by default, the first metric that scores classifiers."""
        if tune is None:
            return tune
        if info.data.get("classifiers") == ():
            raise ValueError("'tune' needs a classifier, but the spec has none; remove 'tune'")
        metrics, classes = info.data.get("metrics", ()), info.context.class_sizes
        left_out = {*measured(), TRAINING_ERROR}
        known = [name for name in metrics if name not in left_out and get_scale(name).better]
        metric = tune.metric or (*known, "error")[0]
        problems = []
        # If the spec's `metrics` are wrong, only they are reported.
        if metrics and metric not in known:
            hint = did_you_mean(metric, known) or f" Use {' or '.join(known) or 'error'}."
            message = (
                f"'metric' must be one of the spec's metrics of the test set, not '{metric}'.{hint}"
            )
            problems.append(problem_at(("metric",), message))
        if classes and (lack := too_few_for_folds(classes, tune.folds)):
            problems.append(problem_at(("folds",), lack))
        refuse(problems)
        return tune.model_copy(update={"metric": metric})

    @field_validator("plot", mode="wrap")
    @classmethod
    def _read_plot(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: Info) -> Any:
        """By default x is swept first, y the first metric, and x logarithmic if its grid is."""
        if not isinstance(value, dict):
            return handler(value)
        sweep, metrics = info.data.get("sweep"), info.data.get("metrics", ())
        lists = [info.data.get(name, ()) for name in ("reducers", "classifiers", "measures")]
        items = [item for components in lists for item in components]
        tuned = info.data.get("tune") is not None
        grids = dict(axes_of(items, sweep or {}, tuned=tuned))
        budgets = info.data.get("labels", ())
        if len(budgets) > 1:
            grids = {LABELS: tuple(b for b in budgets if b != ALL), **grids}
        axes = list(grids) or list(COMPONENTS)
        x = str(value.get("x", axes[0]))
        log = x in grids and (x == LABELS or is_geometric(grids[x]))
        plot = handler({"x": axes[0], "y": (*metrics, "error")[0], "log": log, **value})
        # If the sweep has a problem, it is unknown which axes exist.
        problems = []
        if sweep is not None and plot.x not in axes:
            needed = "a parameter that the spec sweeps" if grids else "reducer or classifier"
            message = f"x must be {needed}, but is '{plot.x}'. Use {' or '.join(axes)}."
            problems.append(problem_at(("x",), message))
        elif sweep is not None and plot.log and not is_positive(grids.get(plot.x, ("",))):
            message = f"a logarithmic axis needs numbers above 0, but {plot.x} has others."
            problems.append(problem_at(("log",), message))
        if metrics and plot.y not in metrics:
            message = f"y must be a metric of the spec, but is '{plot.y}'. Use "
            problems.append(problem_at(("y",), f"{message}{' or '.join(metrics)}."))
        refuse(problems)
        return plot

    @model_validator(mode="after")
    def _can_be_run(self, info: Info) -> Self:
        if message := too_many_trials(self):
            refuse([problem_at(("sweep",) if self.sweep else ("split",), message)])
        refuse(problems_of(self, info.context))
        return self


def _compares(value: dict[str, Any]) -> bool:
    """Return whether a spec compares methods, so that it has controls by default.

    A spec that names a paper repeats the paper's runs.
    """
    if value.get("tune", "none") != "none":
        return True
    reducers = value.get("reducers")
    several = isinstance(reducers, list) and len(reducers) > 1
    return several and bool(value.get("classifiers")) and value.get("paper") is None


def _added(info: Info, items: Sequence[Item]) -> Sequence[Item]:
    """Return the items that the controls of a spec add to one of its lists."""
    context, controls = info.context, info.data.get("controls", ())
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


def _lacking(name: str, classifiers: Sequence[ClassifierSpec], context: Context) -> str:
    """Yield a problem if a metric needs something that a classifier or the data set lacks."""
    if name in metric_names():
        return ""
    needed = scorer_needs(name)
    for item in classifiers:
        classifier = make(item.factory, item.params)
        if not any(hasattr(classifier, method) for method in needed):
            return (
                f"the classifier {item.name} has no {' or '.join(needed)}; remove the metric "
                f"{name}."
            )
    classes = context.expect.classes if context.expect else None
    if classes:
        from sklearn.dummy import DummyClassifier

        y = np.arange(len(classes))
        X = np.zeros((len(y), 1))
        try:
            scorer_score(name, DummyClassifier(strategy="prior").fit(X, y), X, y)
        except ValueError as error:
            return f"{name} can't score the data set's {len(y)} classes: {error}"
    return ""
