"""From a spec to its work: trials, grouped by split and by the fit that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ddr_cli.core.own_code import class_name, display_name
from ddr_cli.engine.plan.datasets import Datasets
from ddr_cli.engine.plan.identity import (
    TrialIds,
    canonical_json,
    of_registered,
)
from ddr_cli.engine.plan.searches import OUT_OF_SAMPLE, QUERIES, transforms_by_neighbors
from ddr_cli.rows.log import parameter_text
from ddr_cli.spec.budgets import ALL, LABELS
from ddr_cli.spec.feasible import WIDTH
from ddr_cli.spec.method_name import method_name
from ddr_cli.spec.sweeps import TRAIN

if TYPE_CHECKING:
    from ddr_cli.reducers.registry import Traits
    from ddr_cli.rows.manifest import DataIdentity
    from ddr_cli.spec import Cell, Setting, Spec, SplitKey, Tuning


# A trial's id, and the number of one of its candidate settings if it is tuned, otherwise 0.
_Key = tuple[str, int]


@dataclass(frozen=True)
class Fit:
    """One fit on one split, and the trials, or candidates of tuned trials, that it serves.

    If the reducer is nested, `widths` are the values of ``n_components``, the largest first.
    `labels` is the number of training samples per class whose labels the fit uses, None for all; an
    unsupervised fit serves trials with any number of labels. A tuned fit has the trials of one
    reducer whose settings are selected: first its `candidates`, which `search` makes, are fitted on
    each inner fold, then the selected settings.
    """

    cells: Mapping[_Key, Cell]
    widths: tuple[int, ...]
    labels: int | None = None
    search: Callable[[Mapping[_Key, Cell]], tuple[Fit, ...]] | None = None

    @cached_property
    def trials(self) -> dict[str, Cell]:
        """The trials by id."""
        return {trial_id: cell for (trial_id, _), cell in self.cells.items()}

    @cached_property
    def candidates(self) -> tuple[Fit, ...]:
        """The fits of all candidates, created only for splits that are run."""
        return () if self.search is None else self.search(self.cells)

    @cached_property
    def _first(self) -> Cell:
        return next(iter(self.cells.values()))

    @property
    def reducer(self) -> Setting:
        """The reducer, with the parameters of one of its trials."""
        return self._first.reducer

    @property
    def params(self) -> dict[str, Any]:
        """The reducer's parameters, without ``n_components`` if `widths` has its values."""
        params = self.reducer.params
        return {key: params[key] for key in params if key != WIDTH or not self.widths}

    @property
    def control(self) -> str:
        """The control that its trials belong to."""
        return self._first.control

    @property
    def tuning(self) -> Tuning | None:
        """How the settings of its trials are selected, if they are tuned."""
        return self._first.tuning

    @property
    def mode(self) -> str:
        """How test samples are embedded."""
        return self.reducer.mode or OUT_OF_SAMPLE

    def width_of(self, trial: Cell) -> int | None:
        """Return how many columns of the fit a trial uses, None for all."""
        width = trial.reducer.params.get(WIDTH)
        return width if self.widths and isinstance(width, int) else None


@dataclass(frozen=True)
class Plan:
    """The work of a spec.

    `searches` has, by kind of search (see `ddr_cli.engine.work.jobs.SplitJob`), the largest number
    of neighbours that any fit of a split needs, so each search is done once. `kept` has, for each
    trial of the first split whose embedding is kept for a figure, the name of its file.
    """

    spec: Spec
    data: DataIdentity
    fits: dict[SplitKey, tuple[Fit, ...]]
    searches: Mapping[str, int]
    kept: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def trials(self) -> dict[str, Cell]:
        """All trials by id, in the order of the spec's splits, reducers and evaluators."""
        fits = (fit for of_split in self.fits.values() for fit in of_split)
        return {trial_id: trial for fit in fits for trial_id, trial in fit.trials.items()}

    def first(self, splits: int | None = None) -> tuple[str, ...]:
        """Return the ids of the trials of the first `n` splits, or of all."""
        chosen = list(self.fits.values())[:splits]
        return tuple(trial for fits in chosen for fit in fits for trial in fit.trials)

    @cached_property
    def lines(self) -> dict[str, dict[str, str]]:
        """The cells that describe each trial in its row, by trial id; see `ddr_cli.rows.schema`."""
        has_budgets = any(trial.labels is not None for trial in self.trials.values())
        settings: dict[tuple[int, int, int], dict[str, str]] = {}
        lines = {}
        for trial_id, trial in self.trials.items():
            # Trials share settings, so the cells of each are made once.
            key = id(trial.reducer), id(trial.evaluator), id(trial.tuning)
            if key not in settings:
                settings[key] = _setting_cells(trial)
            lines[trial_id] = {
                "trial_id": trial_id,
                "dataset": self.data.name,
                "split": trial.split.name,
                "control": trial.role,
                **settings[key],
            }
            if trial.split.train is not None:
                lines[trial_id][TRAIN] = parameter_text(trial.split.train)
            if has_budgets:
                lines[trial_id][LABELS] = ALL if trial.labels is None else str(trial.labels)
        return lines

    @property
    def n_fits(self) -> int:
        """How many embeddings are fitted, not counting those on inner folds."""
        return sum(map(len, self.fits.values()))

    @property
    def n_inner_fits(self) -> int:
        """How many embeddings are fitted on inner folds."""
        tune = self.spec.tune
        folds = 0 if tune is None else tune.folds * tune.repeats
        # All splits have the same fits.
        of_one = next(iter(self.fits.values()), ())
        return folds * len(self.fits) * sum(len(fit.candidates) for fit in of_one)


def make_plan(
    spec: Spec, data: DataIdentity | None = None, *, datasets: Datasets | None = None
) -> Plan:
    """Return the work that a spec requires, on `data` if it is known already.

    The first m columns of a nested reducer's fit are its m-dimensional fit, so it is fitted once,
    at the largest ``n_components`` of the whole spec. A fit with more components may round
    differently, so the fitted ``n_components`` is part of the id of a trial that has another value.
    The data set is read only if its card does not state the fingerprint.
    """
    from ddr_cli.spec import expand

    cells = expand(spec)
    sharing = _Sharing(cells)
    data = data or (datasets or Datasets()).identify(spec)
    ids = TrialIds(spec, data, sharing.fitted_width)
    splits: dict[SplitKey, dict[_SharedFit, dict[_Key, Cell]]] = {}
    kept: dict[str, str] = {}
    for split, of_split in groupby(cells, key=attrgetter("split")):
        fits = splits[split] = {}
        for cell in of_split:
            trial_id = ids.of(cell)
            fits.setdefault(sharing.fit_of(cell), {}).setdefault((trial_id, 0), cell)
            is_shown = spec.embeddings is not None and cell.tuning is None and not cell.control
            if is_shown and split == cells[0].split:
                name = class_name(cell.reducer.name)
                kept[trial_id] = f"{name}-{ids.of_embedding(cell)}.json"
    planned = {
        split: tuple(
            Fit(served, sharing.widths.get(shared.whole, ()), shared.labels, sharing.candidates)
            for shared, served in fits.items()
        )
        for split, fits in splits.items()
    }
    return Plan(spec, data, planned, sharing.searches(), kept)


def parameter_cells(reducer: Setting, evaluator: Setting) -> dict[str, str]:
    """Return the parameters of a reducer and an evaluator as cells of a row."""
    params = {f"reducer.{name}": value for name, value in reducer.params.items()}
    params |= {"reducer.mode": reducer.mode}
    params |= {f"classifier.{name}": value for name, value in evaluator.params.items()}
    return {name: parameter_text(value) for name, value in params.items()}


def _setting_cells(trial: Cell) -> dict[str, str]:
    """Return the cells of a trial's methods; of a tuned trial, parameters that are not tuned."""
    first, *others = (parameter_cells(*pair) for pair in _settings_of(trial))
    cells = {
        "reducer": display_name(trial.reducer.name),
        # This column also names measures.
        "classifier": display_name(trial.evaluator.name),
        "reducer_label": method_name(trial.reducer.label),
        "classifier_label": method_name(trial.evaluator.label),
        **{name: text for name, text in first.items() if all(one[name] == text for one in others)},
    }
    return cells | ({"tuned": str(len(others) + 1)} if trial.tuning else {})


def _settings_of(cell: Cell) -> Sequence[tuple[Setting, Setting]]:
    """Return the reducer and the evaluator of a trial, or all its candidates if it is tuned."""
    return ((cell.reducer, cell.evaluator),) if cell.tuning is None else cell.tuning.candidates


class _Whole(NamedTuple):
    """The settings that one fit serves: of one reducer, or of its candidates."""

    fit: str
    tuned: str = ""


class _SharedFit(NamedTuple):
    """The common properties of the trials of one split that one fit serves."""

    whole: _Whole
    labels: int | None
    control: str = ""


class _Sketch(NamedTuple):
    """The properties of one reducer's setting that the plan uses.

    `fit` is the text that settings served by one fit have in common, and `width` the setting's
    ``n_components`` if they differ in it. `among` is the same pair for the candidates of a tuned
    trial, where a method that can be reduced to fewer components without a new fit shares more.
    """

    setting: Setting
    traits: Traits
    fit: str
    width: int | None
    among: tuple[str, int | None]
    takes_queries: bool


class _Sharing:
    """Finds the trials that share a fit; each distinct setting is examined once."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._sketches: dict[int, _Sketch] = {}
        found: dict[_Whole, set[int]] = {}
        # Most trials differ only in their split and evaluator, so examine each reducer once.
        for cell in {(id(cell.reducer), id(cell.tuning)): cell for cell in cells}.values():
            for reducer, _ in _settings_of(cell):
                sketch = self._sketch(reducer)
                whole, width = _Whole(sketch.fit), sketch.width
                if cell.tuning is not None:
                    whole, width = _Whole(sketch.among[0], cell.reducer.text), sketch.among[1]
                if width is not None:
                    found.setdefault(whole, set()).add(width)
        self.widths = {whole: tuple(sorted(found[whole], reverse=True)) for whole in found}

    def fitted_width(self, setting: Setting, tuned: str) -> int | None:
        """Return the ``n_components`` at which a setting is fitted, None if it is its own."""
        sketch = self._sketch(setting)
        widest = self.widths.get(_Whole(sketch.fit, tuned), (sketch.width,))[0]
        return None if widest == sketch.width else widest

    def fit_of(self, cell: Cell) -> _SharedFit:
        """Return the fit that a trial shares with others of its split."""
        if cell.tuning is not None:
            # No fit has the name "", so the tuned fit gets no `widths`; its candidates have their
            # own.
            return _SharedFit(_Whole("", cell.reducer.text), cell.labels, cell.control)
        sketch = self._sketch(cell.reducer)
        labels = cell.labels if sketch.traits.supervised else None
        return _SharedFit(_Whole(sketch.fit), labels, cell.control)

    def candidates(self, cells: Mapping[_Key, Cell]) -> tuple[Fit, ...]:
        """Return the fits of the candidates of tuned trials, one per embedding."""
        found: dict[_SharedFit, dict[_Key, Cell]] = {}
        for (trial_id, _), cell in cells.items():
            for number, (reducer, evaluator) in enumerate(
                cell.tuning.candidates if cell.tuning else ()
            ):
                sketch = self._sketch(reducer)
                labels = cell.labels if sketch.traits.supervised else None
                shared = _SharedFit(_Whole(sketch.among[0], cell.reducer.text), labels)
                candidate = cell._replace(reducer=reducer, evaluator=evaluator, tuning=None)
                found.setdefault(shared, {})[trial_id, number] = candidate
        return tuple(
            Fit(served, self.widths.get(shared.whole, ()), shared.labels)
            for shared, served in found.items()
        )

    def searches(self) -> dict[str, int]:
        """Return the largest number of neighbours that a fit needs, by kind of search."""
        most: dict[str, int] = {}
        for sketch in self._sketches.values():
            k = sketch.setting.params.get("n_neighbors")
            if sketch.traits.neighbors and isinstance(k, int):
                mode = sketch.setting.mode or OUT_OF_SAMPLE
                has_queries = mode == OUT_OF_SAMPLE and sketch.takes_queries
                for samples in [mode, QUERIES] if has_queries else [mode]:
                    most[samples] = max(most.get(samples, 0), k)
        return most

    def _sketch(self, setting: Setting) -> _Sketch:
        if (found := self._sketches.get(id(setting))) is None:
            found = self._sketches[id(setting)] = _sketch_of(setting)
        return found


@of_registered
def _sketch_of(setting: Setting) -> _Sketch:
    from ddr_cli.reducers.registry import REDUCERS, get_traits

    reducer = REDUCERS.load(setting.name)(**setting.params)
    traits, width = get_traits(reducer), setting.params.get(WIDTH)
    # A fraction of the variance, "mle" or True does not state a number of columns.
    counts = isinstance(width, int) and not isinstance(width, bool)
    rest = {name: value for name, value in setting.params.items() if name != WIDTH}

    def fit(*, shares: bool) -> tuple[str, int | None]:
        shares = shares and counts
        params = rest if shares else setting.params
        text = canonical_json([setting.name, setting.mode, setting.version, params])
        return text, int(str(width)) if shares else None

    narrows = traits.shares_widths and setting.mode == OUT_OF_SAMPLE
    alone, among = fit(shares=traits.nested), fit(shares=traits.nested or narrows)
    return _Sketch(setting, traits, *alone, among, transforms_by_neighbors(reducer))
