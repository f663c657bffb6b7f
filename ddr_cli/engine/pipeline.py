"""A spec's selected method, fitted to all labelled samples and saved as a scikit-learn pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from ddr_cli.core.atomic import atomic_write
from ddr_cli.core.embedding import fit_transform
from ddr_cli.core.errors import InputError
from ddr_cli.core.extras import load_module
from ddr_cli.core.own_code import in_this_process
from ddr_cli.engine.work.fitting import collected, failing_of
from ddr_cli.engine.work.scoring import seeded
from ddr_cli.evaluation.evaluators import CLASSIFIERS, PREPROCESSORS
from ddr_cli.evaluation.preprocess import fit_step
from ddr_cli.evaluation.splits import method_seed
from ddr_cli.reducers.partial_labels import UNLABELLED
from ddr_cli.reducers.registry import REDUCERS, get_traits

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from ddr_cli.data import Dataset
    from ddr_cli.engine.winner import Winner
    from ddr_cli.spec import Spec


def require_skops() -> Any:
    """Return `skops.io`; an `InputError` says how to install it."""
    return load_module("skops.io", "skops", "A fitted pipeline is saved by skops")


@in_this_process()
def fit_pipeline(
    spec: Spec, winner: Winner, dataset: Dataset, note: Callable[[str], object]
) -> Pipeline:
    """Fit a spec's steps and the winner's settings to all labelled samples; `note` gets warnings.

    The pipeline predicts the names of classes. Raises a `DdrError` if a component fails.
    """
    from sklearn.pipeline import make_pipeline

    seed = method_seed(spec.split.seed, dataset.name, 0)
    steps = [seeded(PREPROCESSORS.load(step.name)(**step.params), seed) for step in spec.preprocess]
    reducer = seeded(REDUCERS.load(winner.reducer.name)(**winner.reducer.params), seed)
    classifier = seeded(CLASSIFIERS.load(winner.classifier.name)(**winner.classifier.params), seed)
    labelled = dataset.y != UNLABELLED
    rows = np.full(len(labelled), True) if get_traits(reducer).semi_supervised else labelled
    X: Any = dataset.X if rows.all() else dataset.X[rows]
    y, labelled = dataset.y[rows], labelled[rows]
    categorical: Sequence[int] = dataset.categorical
    pipeline: Pipeline = make_pipeline(*steps, reducer, classifier)
    with threadpool_limits(1), collected() as warned:
        embedded = X
        for setting, step in zip(spec.preprocess, steps, strict=True):
            with failing_of(setting.name):
                embedded, categorical = fit_step(step, embedded, y, categorical)
        with failing_of(winner.reducer.label):
            embedded = fit_transform(reducer, embedded, y)
        with failing_of(winner.classifier.label):
            classifier.fit(embedded[labelled], np.asarray(dataset.target_names)[y[labelled]])
        with failing_of(f"The pipeline of {winner.reducer.label} and {winner.classifier.label}"):
            pipeline.predict(X[:1])
        for text in warned():
            note(text)
    return pipeline


def save_pipeline(pipeline: Pipeline, path: Path) -> list[str]:
    """Write a pipeline without pickle; return the types that must be trusted to load it.

    Raises an `InputError` if skops can't write a component, or the file can't be written.
    """
    io = require_skops()
    try:
        content = io.dumps(pipeline)
        types: list[str] = io.get_untrusted_types(data=content)
    except Exception as error:  # skops can raise any exception for a third party's component
        names = ", ".join(type(step).__name__ for _, step in pipeline.steps)
        raise InputError(
            f"skops can't save the pipeline ({names}): {type(error).__name__}: {error}."
        ) from error
    atomic_write(path, content)
    return types
