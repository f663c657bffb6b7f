"""A first look at a data set: reducers fitted to one split of it, of which nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from ddr_cli.engine.plan.plan import Fit, make_plan
from ddr_cli.engine.rows.manifest import KeptEmbedding
from ddr_cli.engine.work.fitting import collected, dense, embed_split, failing_of, preprocessed
from ddr_cli.engine.work.jobs import FitJob
from ddr_cli.engine.work.schedule import kept_rows
from ddr_cli.engine.work.scoring import seeded
from ddr_cli.engine.work.scratch import Labels, PointSet
from ddr_cli.engine.work.splits import Draws
from ddr_cli.evaluation.metrics import METRICS
from ddr_cli.evaluation.registry import CLASSIFIERS, PREPROCESSORS
from ddr_cli.reducers.labels import UNLABELLED
from ddr_cli.reducers.registry import REDUCERS

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from ddr_cli.engine.plan.identity import DataIdentity, Datasets
    from ddr_cli.spec import Spec

_MOST_DRAWN = 3
_GENERATED = "generated"  # the licence of data that a card makes itself


def generated_points(spec: Spec, data: DataIdentity) -> tuple[str, NDArray[np.float64]] | None:
    """Return the features of the points whose embeddings a run keeps, with their split's hash.

    None where the data are measured ones: a figure reads no files of data.
    """
    from ddr_cli.data import load_card, load_dataset

    card = load_card(spec.card)
    if card.licence != _GENERATED or card.generate is None or spec.embeddings is None:
        return None
    dataset = load_dataset(spec.card, options=data.options)
    if dataset.fingerprint != data.fingerprint:
        return None
    plan = make_plan(spec, data)
    split, seed, _ = Draws(plan, dataset)(next(iter(plan.fits)))
    rows = np.concatenate([split.train, split.test])
    kept = np.asarray(kept_rows(spec.embeddings.points, len(rows), seed), dtype=np.intp)
    return split.hash, np.asarray(dataset.X[rows[kept]], dtype=float)


@dataclass(frozen=True, eq=False)
class Look:
    """Where one reducer places all points of a split, whose training part comes first.

    `rows` are the points' numbers in the data set, from 0; `error` is that of the spec's
    classifier on the test points.
    """

    label: str
    rows: NDArray[np.intp]
    coordinates: NDArray[np.float64]
    error: float
    kept: KeptEmbedding

    def table(self) -> pd.DataFrame:
        """Return the coordinates, a line per point in the order of the data set."""
        import pandas as pd

        facts = {
            "reducer": self.label,
            "row": self.rows,
            "label": [self.kept.classes[code] if code >= 0 else "" for code in self.kept.y],
            "part": self.kept.part,
        }
        places = {f"x{i}": column for i, column in enumerate(self.coordinates.T, start=1)}
        return pd.DataFrame(facts | places).sort_values("row", ignore_index=True)


def first_looks(
    spec: Spec, datasets: Datasets, note: Callable[[str], object] = lambda _: None
) -> Iterator[Look]:
    """Yield what each reducer of a spec makes of its first split; `note` is told their warnings.

    The numbers are those that a run of the spec has. Raises MethodError if a fit fails.
    """
    plan = make_plan(spec, datasets=datasets)
    dataset = datasets.load(spec, plan.data.options)
    key, fits = next(iter(plan.fits.items()))
    split, seed, _ = Draws(plan, dataset)(key)
    # A look is at points whose class is known.
    train = split.train[dataset.y[split.train] != UNLABELLED]
    rows, n = np.concatenate([train, split.test]), len(train)
    labels = Labels.of(dataset).rows(rows)
    with threadpool_limits(1), collected() as warned:
        steps = [
            seeded(PREPROCESSORS.load(step.name)(**step.params), seed) for step in spec.preprocess
        ]
        X: Any = dataset.X
        with failing_of("The preprocessing"):
            parts = X[train], X[split.test]
            points = preprocessed(*parts, labels.y[:n], steps, dataset.categorical)
        for fit in fits:
            yield _look(fit, PointSet(points, labels, n), rows, seed, key.name, split.hash)
        for text in warned():
            note(text)


def _look(
    fit: Fit, points: PointSet, rows: NDArray[np.intp], seed: int, split: str, split_hash: str
) -> Look:
    trial = next(iter(fit.trials.values()))
    reducer, evaluator, labels = trial.reducer, trial.evaluator, points.labels
    params = dict(reducer.params)
    job = FitJob(Path(), Path(), reducer.name, params, fit.mode, (), (), (), seed)
    n = points.n_train
    with failing_of(reducer.label):
        found = embed_split(REDUCERS.load(reducer.name), job, points, None)
        classifier = seeded(CLASSIFIERS.load(evaluator.name)(**evaluator.params), seed)
        predicted = classifier.fit(found.train, labels.y[:n]).predict(found.test)
        error = float(METRICS["error"](labels.y[n:], predicted))
    places = np.vstack([dense(found.train), dense(found.test)])
    own = found.prototypes
    kept = KeptEmbedding(
        reducer=reducer.name,
        mode=fit.mode,
        params=params,
        split=split,
        split_hash=split_hash,
        n_components=places.shape[1],
        classes=labels.classes,
        y=tuple(labels.y.tolist()),
        part=("train",) * n + ("test",) * (len(rows) - n),
        subclass_names=labels.subclass_names,
        subclasses=None if labels.subclasses is None else tuple(labels.subclasses.tolist()),
        coordinates=_leading(places),
        prototypes=None if own is None else _leading(own[:, : places.shape[1]]),
    )
    return Look(reducer.label, rows, places, error, kept)


def _leading(points: NDArray[Any]) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, points[:, :_MOST_DRAWN].tolist()))
