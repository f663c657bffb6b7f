"""The best setting of a run as a scikit-learn pipeline, not yet fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddr_cli.comparison.summary import (
    CONTROL,
    TUNED,
    Summary,
    best_over_resplits,
    find_item,
    parameter_columns,
    same_value,
)
from ddr_cli.core.embedding import seeded
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import in_this_process
from ddr_cli.evaluation.splits import method_seed
from ddr_cli.spec.budgets import ALL, LABELS
from ddr_cli.spec.estimators import in_form
from ddr_cli.spec.sweeps import COMPONENTS, swept_of

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from ddr_cli.comparison.runs import Run


@in_this_process()
def best_pipeline(summary: Summary) -> Pipeline:
    """Return the steps, the reducer and the classifier of the best row, seeded as in the run."""
    from sklearn.pipeline import make_pipeline

    run, trial = summary.run, _best_trial(summary)
    name = run.manifest.data.name if run.manifest.data else run.spec.dataset.name
    seed = method_seed(run.spec.split.seed, name, 0)
    parts = [step.factory(**step.params) for step in run.spec.preprocess]
    parts += [_made(run, piece, trial) for piece in COMPONENTS]
    return make_pipeline(*(seeded(part, seed) for part in parts))


def _best_trial(summary: Summary) -> dict[str, Any]:
    """Return a trial with the best setting: if tuned, the one that most splits chose."""
    run, spec = summary.run, summary.run.spec
    if not run.is_complete:
        raise InputError(f"{run.folder}: {run.progress}; finish the run first.")
    rows, metric = summary.rows, spec.metrics[0] if spec.tune is None else str(spec.tune.metric)
    rows = rows[
        (rows["metric"] == spec.metrics[0])
        & (rows[CONTROL] == "")
        & rows["classifier"].isin([item.name for item in spec.classifiers])
        & (rows["reducer.mode"] != "transductive")
    ]
    if spec.tune is not None:
        rows = rows[rows[TUNED]]
        inner = [summary.row(index).trials["inner_score"].mean() for index in rows.index]
        rows = rows.assign(mean=inner)
    if LABELS in rows and len(rows):
        rows = rows[rows[LABELS] == (ALL if ALL in spec.labels else max(spec.labels))]
    best = best_over_resplits(rows, metric)
    if best is None:
        raise InputError(
            f"{run.folder} has no classifier after a method that transforms new samples; such a "
            "method has reducer.mode=out_of_sample."
        )
    trials = summary.row(best[0]).trials
    columns = parameter_columns(trials.columns)
    times = trials.groupby(columns, dropna=False, sort=False)["split"].transform("size")
    found: dict[Any, Any] = trials.iloc[int(times.to_numpy().argmax())].to_dict()
    return found | {TUNED: spec.tune is not None}


def _made(run: Run, piece: str, trial: dict[str, Any]) -> Any:
    """Return the reducer or classifier of a trial."""
    found = find_item(run, piece, trial)
    assert found is not None
    item = found[1]
    params = dict(item.params)
    for name, values in swept_of(item, run.spec.sweep).items():
        if name != "mode" and (column := f"{piece}.{name}") in trial:
            possible = (*values, params.get(name))
            params[name] = next(value for value in possible if same_value(trial[column], value))
    return item.factory(**in_form(item.factory, params))
