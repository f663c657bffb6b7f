"""From a spec to the work it takes: trials, grouped by split and by the fit that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from inspect import signature
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ddr_cli.core.own_code import shown
from ddr_cli.engine.datasets import Datasets
from ddr_cli.engine.plan.identity import DataIdentity, TrialIds, canonical, differing, digest
from ddr_cli.engine.plan.names import OUT_OF_SAMPLE, QUERIES

if TYPE_CHECKING:
    from ddr_cli.reducers.registry import Traits
    from ddr_cli.spec import Cell, Setting, Spec, SplitKey, Tuning

COMPONENTS = ("reducer", "classifier")
_WIDTH = "n_components"


# A trial by its id or, if it is tuned, one of its settings by its number, which is else 0.
_Key = tuple[str, int]


@dataclass(frozen=True)
class Fit:
    """One fit on one split, and the trials, or candidates of tuned trials, that it serves.

    If the reducer is nested, `widths` are the values of ``n_components``, the largest first.
    `labels` is the number of training samples per class whose labels it sees,
    None for all; a fit without labels serves trials with any number of them. A tuned fit has the
    trials of one reducer whose settings are chosen: first its `candidates`, which `search` makes,
    are fitted on each inner fold, then the chosen settings.
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
        """The fits of all candidates; only a split that is run needs them."""
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
        return {key: params[key] for key in params if key != _WIDTH or not self.widths}

    @property
    def control(self) -> str:
        """The control that its trials are."""
        return self._first.control

    @property
    def tuning(self) -> Tuning | None:
        """How the settings of its trials are chosen, if they are tuned."""
        return self._first.tuning

    @property
    def mode(self) -> str:
        """How test samples are embedded."""
        return self.reducer.mode or OUT_OF_SAMPLE

    def width_of(self, trial: Cell) -> int | None:
        """Return how many columns of the fit a trial takes, None for all."""
        width = trial.reducer.params.get(_WIDTH)
        return width if self.widths and isinstance(width, int) else None


@dataclass(frozen=True)
class Plan:
    """The work of a spec.

    `searches` are the most neighbours that any fit of a split needs, by what is searched (see
    `ddr_cli.engine.work.jobs.SplitJob`): the search is done once. `kept` has, for each trial of the
    first split whose embedding is kept for a figure, the id of that embedding.
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
        """Return the ids of the trials of the first so many splits, or of all."""
        if splits is None or splits >= len(self.fits):
            return tuple(self.trials)
        chosen = list(self.fits.values())[:splits]
        return tuple(trial for fits in chosen for fit in fits for trial in fit.trials)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The dotted names of all parameters that the trials have, sorted."""
        names = set()
        for fit in next(iter(self.fits.values()), ()):
            for reducer, evaluator in chain(*map(_settings_of, fit.trials.values())):
                names |= {f"reducer.{name}" for name in (*reducer.params, "mode")}
                names |= {f"classifier.{name}" for name in evaluator.params}
        return tuple(sorted(names))

    @cached_property
    def unstated(self) -> dict[str, set[str]]:
        """The parameters that every trial has at its default, and the components that have them."""
        from ddr_cli.evaluation.registry import evaluator_registry
        from ddr_cli.reducers.registry import REDUCERS

        stated: set[str] = set()
        having: dict[str, set[str]] = {}
        for fit in next(iter(self.fits.values()), ()):
            for reducer, evaluator in chain(*map(_settings_of, fit.trials.values())):
                evaluators = evaluator_registry(evaluator.name)
                registered = (reducer, REDUCERS), (evaluator, evaluators)
                for kind, (setting, registry) in zip(COMPONENTS, registered, strict=True):
                    own = differing(registry.load(setting.name), setting.params)
                    stated |= {f"{kind}.{name}" for name in own}
                    for name in setting.params:
                        having.setdefault(f"{kind}.{name}", set()).add(shown(setting.name))
        return {column: names for column, names in having.items() if column not in stated}

    def values_of(self, trial_id: str, column: str) -> list[object]:
        """Return the values that a trial may have in a parameter's column: several if tuned."""
        kind, _, name = column.partition(".")
        pairs = _settings_of(self.trials[trial_id]) if trial_id in self.trials else ()
        components = [pair[COMPONENTS.index(kind)].params for pair in pairs if kind in COMPONENTS]
        return [params[name] for params in components if name in params]

    @cached_property
    def optional_columns(self) -> tuple[str, ...]:
        """The columns of the journal that only some specs use."""
        trials = self.trials.values()
        used: dict[str, bool] = {
            "split.train": any(key.train is not None for key in self.fits),
            "labels": any(trial.labels is not None for trial in trials),
            "control": any(trial.control for trial in trials),
        }
        tuned = any(trial.tuning is not None for trial in trials)
        used |= dict.fromkeys(("tuned", "inner_score", "tune_seconds"), tuned)
        return tuple(name for name, is_used in used.items() if is_used)

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
    """Return the work that a spec takes, on `data` if that is known already.

    A nested reducer (the first m columns of a wider fit are the m-dimensional fit) is fitted once,
    at the largest ``n_components`` of the whole spec. A wider fit may round differently, so the
    fitted width is part of a trial's identity where it is not the trial's own. The data is read
    only if its fingerprint is not known without.
    """
    from ddr_cli.spec import expand

    data = data or (datasets or Datasets()).identify(spec)
    sketches = _Sketches()
    cells = expand(spec)
    widths = _widths(cells, sketches)

    def fitted_width(setting: Setting, tuned: str) -> int | None:
        sketch = sketches.of(setting)
        widest = widths.get(_Whole(sketch.fit, tuned), (sketch.width,))[0]
        return None if widest == sketch.width else widest

    ids = TrialIds(spec, data, fitted_width)
    kinds: dict[object, tuple[_SharedFit, str, str]] = {}
    splits: dict[SplitKey, dict[_SharedFit, dict[_Key, Cell]]] = {}
    kept: dict[str, str] = {}
    for split, of_split in groupby(cells, key=attrgetter("split")):
        text, fits = ids.text_of(split), splits.setdefault(split, {})
        for cell in of_split:
            # The trials of a split differ in these; an address is quicker to hash than a setting.
            addresses = id(cell.reducer), id(cell.evaluator), id(cell.tuning)
            kind = addresses, cell.labels, cell.control
            known = kinds.get(kind)
            if known is None:
                sketch, tuned = sketches.of(cell.reducer), cell.tuning is not None
                # Trials that differ in one of these share no embedding.
                shared = _SharedFit(
                    cell.reducer.text if tuned else sketch.fit,
                    cell.labels if sketch.traits.supervised or tuned else None,
                    cell.control,
                    tuned,
                )
                known = kinds[kind] = (shared, *ids.around_split(cell))
            shared, before, after = known
            trial_id = digest(f"{before}{text}{after}")
            fits.setdefault(shared, {}).setdefault((trial_id, 0), cell)
            is_shown = spec.embeddings is not None and cell.tuning is None and not cell.control
            if is_shown and split == cells[0].split:
                kept[trial_id] = ids.of_embedding(cell)
    search = partial(_candidates, sketches=sketches, widths=widths)
    planned = {
        split: tuple(
            Fit(served, (), key.labels, search)
            if key.tuned
            else Fit(served, widths.get(_Whole(key.fit), ()), key.labels)
            for key, served in fits.items()
        )
        for split, fits in splits.items()
    }
    return Plan(spec, data, planned, sketches.searches(), kept)


def _settings_of(cell: Cell) -> Sequence[tuple[Setting, Setting]]:
    """Return the reducer and the evaluator of a trial, or all that it is tuned among."""
    return ((cell.reducer, cell.evaluator),) if cell.tuning is None else cell.tuning.candidates


class _Whole(NamedTuple):
    """All fits that have one width in a spec: of one reducer, or among one's candidates."""

    fit: str
    tuned: str = ""


def _widths(cells: Sequence[Cell], sketches: _Sketches) -> dict[_Whole, tuple[int, ...]]:
    """Return the ``n_components`` that nested fits have in a spec, the largest first."""
    found: dict[_Whole, set[int]] = {}
    # Most trials differ in their split and evaluator only.
    for cell in {(id(cell.reducer), id(cell.tuning)): cell for cell in cells}.values():
        if cell.tuning is None:
            sketch = sketches.of(cell.reducer)
            fits = [(_Whole(sketch.fit), sketch.width)]
        else:
            tried = [sketches.of(reducer) for reducer, _ in cell.tuning.candidates]
            fits = [(_Whole(one.shared_fit, cell.reducer.text), one.shared_width) for one in tried]
        for whole, width in fits:
            if width is not None:
                found.setdefault(whole, set()).add(width)
    return {whole: tuple(sorted(values, reverse=True)) for whole, values in found.items()}


class _SharedFit(NamedTuple):
    """What the trials of one split have in common that one fit serves."""

    fit: str
    labels: int | None
    control: str
    tuned: bool


def _candidates(
    cells: Mapping[_Key, Cell], *, sketches: _Sketches, widths: Mapping[_Whole, tuple[int, ...]]
) -> tuple[Fit, ...]:
    """Return the fits of the candidates of tuned trials, each embedding once."""
    found: dict[tuple[_Whole, int | None], dict[_Key, Cell]] = {}
    for (trial_id, _), cell in cells.items():
        assert cell.tuning is not None
        for number, (reducer, evaluator) in enumerate(cell.tuning.candidates):
            sketch = sketches.of(reducer)
            key = (
                _Whole(sketch.shared_fit, cell.reducer.text),
                cell.labels if sketch.traits.supervised else None,
            )
            candidate = cell._replace(reducer=reducer, evaluator=evaluator, tuning=None)
            found.setdefault(key, {})[trial_id, number] = candidate
    return tuple(Fit(each, widths.get(whole, ()), seen) for (whole, seen), each in found.items())


@dataclass(frozen=True)
class _Sketch:
    """What the plan needs of one reducer setting.

    `fit` is the text that settings served by one fit have in common; among the candidates of a
    tuned trial these are more settings (`shared_width` and `shared_fit`) where a method can be
    narrowed without a fit of its own.
    """

    setting: Setting
    traits: Traits
    width: int | None
    fit: str
    shared_width: int | None
    shared_fit: str
    places_by_neighbors: bool


class _Sketches:
    """Looks at each distinct setting once; a spec has far fewer of them than trials."""

    def __init__(self) -> None:
        self._by_object: dict[int, _Sketch] = {}

    def of(self, setting: Setting) -> _Sketch:
        found = self._by_object.get(id(setting))
        if found is None:
            # The sketch keeps the setting, so that its address is not used again.
            found = self._by_object[id(setting)] = self._draw(setting)
        return found

    def searches(self) -> dict[str, int]:
        most: dict[str, int] = {}
        for sketch in self._by_object.values():
            k = sketch.setting.params.get("n_neighbors")
            if not sketch.traits.neighbors or not isinstance(k, int):
                continue
            mode = sketch.setting.mode or OUT_OF_SAMPLE
            searched = [mode]
            if mode == OUT_OF_SAMPLE and sketch.places_by_neighbors:
                searched.append(QUERIES)
            for points in searched:
                most[points] = max(most.get(points, 0), k)
        return most

    def _draw(self, setting: Setting) -> _Sketch:
        from ddr_cli.reducers.registry import REDUCERS, get_traits

        reducer = REDUCERS.load(setting.name)(**setting.params)
        traits = get_traits(reducer)
        width: Any = setting.params.get(_WIDTH)
        # A share of the variance, "mle" or true are not numbers of columns.
        counts = isinstance(width, int) and not isinstance(width, bool)
        narrows = traits.shares_widths and setting.mode == OUT_OF_SAMPLE
        rest = {name: value for name, value in setting.params.items() if name != _WIDTH}

        def fit(*, shares: bool) -> tuple[int | None, str]:
            params = rest if shares and counts else setting.params
            text = canonical([setting.name, setting.mode, setting.version, params])
            return width if shares and counts else None, text

        alone = fit(shares=traits.nested)
        among = fit(shares=True) if narrows and not traits.nested else alone
        return _Sketch(setting, traits, *alone, *among, places_by_neighbors(reducer))


def places_by_neighbors(reducer: Any) -> bool:
    """Return whether a reducer's ``transform`` takes the neighbours of the new points too."""
    # One without the method fails where it is fitted.
    transform = getattr(reducer, "transform", None)
    return transform is not None and _takes_neighbors(getattr(transform, "__func__", transform))


@cache
def _takes_neighbors(transform: Callable[..., Any]) -> bool:
    return "neighbors" in signature(transform).parameters
