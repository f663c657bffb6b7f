"""From a spec to the work it takes: trials, grouped by split and by the fit that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ddr_cli.engine.datasets import Datasets
from ddr_cli.engine.identity import DataIdentity, canonical, digest, identify_data
from ddr_cli.engine.jobs import OUT_OF_SAMPLE, QUERIES, places_by_neighbors

if TYPE_CHECKING:
    from ddr_cli.data import Sources
    from ddr_cli.reducers.registry import Traits
    from ddr_cli.spec import Cell, Setting, Spec, SplitKey

_WIDTH = "n_components"


@dataclass(frozen=True)
class Trial:
    """One cell of a spec.

    Parameters
    ----------
    id : str
        16 hexadecimal digits; see `ddr_cli.engine.identity`.
    split : SplitKey
        The split.
    reducer, classifier : Setting
        The pieces with all their parameters.
    """

    id: str
    split: SplitKey
    reducer: Setting
    classifier: Setting


@dataclass(frozen=True)
class Unit:
    """All trials of a split that one fit serves.

    Parameters
    ----------
    trials : tuple of Trial
        The trials.
    params : mapping
        The reducer's parameters, without ``n_components`` if `widths` is given.
    widths : tuple of int
        The values of ``n_components`` if the reducer is nested, the largest first.
    """

    trials: tuple[Trial, ...]
    params: Mapping[str, Any]
    widths: tuple[int, ...]

    @property
    def reducer(self) -> str:
        """The reducer's name."""
        return self.trials[0].reducer.name

    @property
    def mode(self) -> str:
        """How test points are embedded."""
        return self.trials[0].reducer.mode or OUT_OF_SAMPLE

    def width_of(self, trial: Trial) -> int | None:
        """Return how many columns of the fit a trial takes, None for all."""
        width = trial.reducer.params.get(_WIDTH)
        return width if self.widths and isinstance(width, int) else None


@dataclass(frozen=True)
class Group:
    """All work on one split.

    Parameters
    ----------
    split : SplitKey
        The split.
    units : tuple of Unit
        The fits.
    """

    split: SplitKey
    units: tuple[Unit, ...]


@dataclass(frozen=True)
class Plan:
    """The work of a spec.

    Parameters
    ----------
    spec : Spec
        The spec.
    data : DataIdentity
        The data set.
    groups : tuple of Group
        By split, in the order of the spec.
    searches : mapping of str to int
        The most neighbours that any fit of a split needs, by what is searched; see
        `ddr_cli.engine.jobs.SplitJob`. The search is done once.
    kept : mapping of str to str
        For each trial of the first split whose embedding is kept for a figure, by its id, the id
        of that embedding.
    """

    spec: Spec
    data: DataIdentity
    groups: tuple[Group, ...]
    searches: Mapping[str, int]
    kept: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """All trials by id, in the order of the spec's splits, reducers and classifiers."""
        units = (unit for group in self.groups for unit in group.units)
        return {trial.id: trial for unit in units for trial in unit.trials}

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The dotted names of all parameters that the trials have, sorted."""
        names = {
            f"{kind}.{name}"
            for kind, setting in self._settings()
            for name in (*setting.params, *(("mode",) if kind == "reducer" else ()))
        }
        return tuple(sorted(names))

    @property
    def n_fits(self) -> int:
        """How many embeddings are fitted."""
        return sum(len(group.units) for group in self.groups)

    def _settings(self) -> Iterable[tuple[str, Setting]]:
        for trial in next(iter(self.groups)).units if self.groups else ():
            for one in trial.trials:
                yield "reducer", one.reducer
                yield "classifier", one.classifier


def make_plan(
    spec: Spec,
    data: DataIdentity | None = None,
    *,
    sources: Sources | None = None,
    datasets: Datasets | None = None,
) -> Plan:
    """Return the work that a spec takes.

    Parameters
    ----------
    spec : Spec
        The spec.
    data : DataIdentity, optional
        The data set, if it is known already.
    sources : Sources, optional
        Where to look for the data if its card states no fingerprint.
    datasets : Datasets, optional
        What reads data sets, to share them with other runs; `sources` is then its own.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If the data set, or a reducer or classifier of the spec, is not there.
    DataUnavailableError
        If the data has to be read to know its fingerprint, and can't be had.

    Notes
    -----
    A nested reducer (the first m columns of a wider fit are the m-dimensional fit) is fitted once,
    at the largest ``n_components`` of the whole spec. A wider fit may round differently, so the
    fitted width is part of a trial's identity where it is not the trial's own.
    """
    from ddr_cli.spec import expand

    data = data or identify_data(spec, datasets or Datasets(sources))
    sketches = _Sketches()
    cells = expand(spec)
    widths: dict[str, set[int]] = {}
    for cell in cells:
        sketch = sketches.of(cell.reducer)
        if sketch.width is not None:
            widths.setdefault(sketch.fit, set()).add(sketch.width)
    descending = {fit: tuple(sorted(found, reverse=True)) for fit, found in widths.items()}

    identify = _Identify(spec, data, sketches, descending)
    units: dict[SplitKey, dict[str, dict[str, Trial]]] = {}
    kept: dict[str, str] = {}
    for cell in cells:
        trial = Trial(identify(cell), cell.split, cell.reducer, cell.classifier)
        if spec.embeddings is not None and cell.split == cells[0].split:
            kept[trial.id] = identify.embedding(cell)
        fits = units.setdefault(cell.split, {})
        fits.setdefault(sketches.of(cell.reducer).fit, {}).setdefault(trial.id, trial)
    groups = tuple(
        Group(
            split,
            tuple(
                _unit(tuple(trials.values()), descending.get(fit, ()))
                for fit, trials in fits.items()
            ),
        )
        for split, fits in units.items()
    )
    return Plan(spec, data, groups, sketches.searches(), kept)


def _unit(trials: tuple[Trial, ...], widths: tuple[int, ...]) -> Unit:
    params = dict(trials[0].reducer.params)
    if widths:
        del params[_WIDTH]
    return Unit(trials, params, widths)


@dataclass(frozen=True)
class _Sketch:
    """What the plan needs of one reducer setting.

    `fit` is the text that settings served by one fit have in common.
    """

    setting: Setting
    traits: Traits
    width: int | None
    fit: str
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
            wanted = sketch.setting.params.get("n_neighbors")
            if not sketch.traits.neighbors or not isinstance(wanted, int):
                continue
            mode = sketch.setting.mode or OUT_OF_SAMPLE
            wanted_of = [mode]
            if mode == OUT_OF_SAMPLE and sketch.places_by_neighbors:
                wanted_of.append(QUERIES)
            for points in wanted_of:
                most[points] = max(most.get(points, 0), wanted)
        return most

    def _draw(self, setting: Setting) -> _Sketch:
        from ddr_cli.reducers.registry import REDUCERS, get_traits

        reducer = REDUCERS.load(setting.name)(**setting.params)
        traits = get_traits(reducer)
        width: Any = setting.params.get(_WIDTH)
        # A share of the variance, "mle" or true are not numbers of columns.
        nested = traits.nested and isinstance(width, int) and not isinstance(width, bool)
        shared = {
            name: value for name, value in setting.params.items() if not (nested and name == _WIDTH)
        }
        fit = canonical([setting.name, setting.mode, setting.version, shared])
        return _Sketch(
            setting, traits, width if nested else None, fit, places_by_neighbors(reducer)
        )


class _Identify:
    """Computes trial ids, writing the JSON of each distinct piece once."""

    def __init__(
        self,
        spec: Spec,
        data: DataIdentity,
        sketches: _Sketches,
        widths: Mapping[str, tuple[int, ...]],
    ) -> None:
        self._spec = spec
        self._data = data
        self._sketches = sketches
        self._widths = widths
        self._steps = canonical([_step(step.name, step.params) for step in spec.preprocess])
        self._texts: dict[int, tuple[object, str]] = {}

    def __call__(self, cell: Cell) -> str:
        # Keys in alphabetical order: the text is the canonical JSON of the whole trial.
        return digest(
            f'{{"classifier":{self._text(cell.classifier, self._classifier)},'
            f'"data":{self._data.text},"preprocess":{self._steps},'
            f'"reducer":{self._text(cell.reducer, self._reducer)},'
            f'"split":{self._text(cell.split, self._split)}}}'
        )

    def embedding(self, cell: Cell) -> str:
        """Return the id of the embedding that a trial rests on."""
        return digest(
            f'{{"data":{self._data.text},"preprocess":{self._steps},'
            f'"reducer":{self._text(cell.reducer, self._reducer)},'
            f'"split":{self._text(cell.split, self._split)}}}'
        )

    def _text(self, piece: Any, describe: Any) -> str:
        known = self._texts.get(id(piece))
        if known is None:
            known = self._texts[id(piece)] = (piece, canonical(describe(piece)))
        return known[1]

    def _split(self, split: SplitKey) -> dict[str, Any]:
        train = None if split.kind == "predefined" else self._spec.split.train
        # The seed also drives the methods' own randomness, so it counts for any kind of split.
        seed = self._spec.split.seed
        return {"kind": split.kind, "index": split.index, "seed": seed, "train": train}

    def _classifier(self, setting: Setting) -> dict[str, Any]:
        return {"name": setting.name, "version": setting.version, "params": setting.params}

    def _reducer(self, setting: Setting) -> dict[str, Any]:
        sketch = self._sketches.of(setting)
        described = self._classifier(setting) | {"mode": setting.mode}
        widest = self._widths.get(sketch.fit, (sketch.width,))[0]
        if widest != sketch.width:
            described["fitted_width"] = widest
        return described


def _step(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    from ddr_cli.evaluation.registry import PREPROCESSORS

    version = getattr(PREPROCESSORS.load(name), "version", 1)
    return {"name": name, "params": params, "version": version}
