"""The result of a trial, which a row of the journal records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Coordinates = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial; seconds are CPU time, see `ddr_cli.engine.rows.journal.read_trials`.

    If the trial is tuned, `candidate` is the number of its setting. `traceback` belongs to the
    failure.
    """

    trial_id: str
    status: str
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float | None = None
    eval_seconds: float | None = None
    candidate: int | None = None
    inner_score: float | None = None
    tune_seconds: float | None = None
    traceback: str = ""
