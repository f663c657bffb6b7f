"""A tuned trial's search: its candidates' scores on inner folds, and the fit of the best one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ddr_cli.engine.work.jobs import Evaluation, FitJob, TuneJob
from ddr_cli.evaluation.metrics import LABEL_METRICS, get_scale
from ddr_cli.rows.log import FAILED, OK, TrialResult

# Means that differ only by rounding are ties, and the first setting of a tie is selected.
_DECIMALS = 12


def on_fold(fit: FitJob) -> FitJob:
    """Return a fit for inner folds, where every label budget includes all labelled samples."""
    evaluations = (replace(one, labels=_one_if_some(one.labels)) for one in fit.evaluations)
    return replace(
        fit,
        labels=_one_if_some(fit.labels),
        evaluations=tuple(evaluations),
        across_widths=all(name in LABEL_METRICS for name in fit.metrics),
    )


def _one_if_some(budget: int | None) -> int | None:
    return None if budget is None else 1


@dataclass
class _Candidate:
    """A candidate: its fit, its scores on the folds, and the reason if it has no score."""

    job: FitJob
    evaluation: Evaluation
    scores: list[float] = field(default_factory=list)
    failure: str = ""
    traceback: str = ""


class SettingsSearch:
    """Collects the candidates' scores, fold by fold, and selects the best."""

    def __init__(self, job: TuneJob) -> None:
        self._job = job
        self._candidates: dict[str, dict[int, _Candidate]] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)
        for fit in job.candidates:
            for one in fit.evaluations:
                self._candidates.setdefault(one.trial_id, {})[one.candidate] = _Candidate(fit, one)

    def add(self, results: Sequence[TrialResult]) -> None:
        """Add the results of one fit on one fold."""
        fits: dict[str, float] = {}
        for result in results:
            trial_id = result.trial_id
            candidate = self._candidates[trial_id][result.candidate or 0]
            score = result.metrics.get(self._job.metric, math.nan)
            if result.status != OK:
                candidate.failure = candidate.failure or result.reason
                candidate.traceback = candidate.traceback or result.traceback
            elif not math.isfinite(score):
                candidate.failure = candidate.failure or f"{self._job.metric} is not defined"
            else:
                candidate.scores.append(score)
            # Each trial that shares a fit counts the whole time of the fit once, as in the journal.
            fits[trial_id] = max(fits.get(trial_id, 0.0), result.fit_seconds or 0.0)
            self._seconds[trial_id] += result.eval_seconds or 0.0
        for trial_id, seconds in fits.items():
            self._seconds[trial_id] += seconds

    def failures(self) -> list[TrialResult]:
        """Return the results of trials for which no candidate has a score on every fold."""
        return [
            TrialResult(
                trial_id,
                FAILED,
                f"no setting could be scored on every inner fold: {first.failure}",
                tune_seconds=self._seconds[trial_id],
                traceback=first.traceback,
            )
            for trial_id, candidates in self._candidates.items()
            if self._best(trial_id) is None
            for first in [candidates[min(candidates)]]
        ]

    def final_fits(self) -> Iterator[FitJob]:
        """Yield the fits of the chosen settings on the whole training set."""
        found: dict[str, list[tuple[FitJob, Evaluation]]] = {}
        for trial_id, candidates in self._candidates.items():
            best = self._best(trial_id)
            if best is None:
                continue
            fit, one = candidates[best[0]].job, candidates[best[0]].evaluation
            params = dict(fit.params)
            if one.width is not None:
                params["n_components"] = one.width
            exact = replace(fit, params=params, widths=(), metrics=self._job.metrics)
            own = replace(one, width=None)
            found.setdefault(repr(sorted(params.items())), []).append((exact, own))
        for shared in found.values():
            yield replace(shared[0][0], evaluations=tuple(own for _, own in shared))

    def with_choice(self, results: Sequence[TrialResult]) -> list[TrialResult]:
        """Return results of final fits with the inner score, and the time of the search."""
        return [
            replace(one, inner_score=best[1], tune_seconds=self._seconds[one.trial_id])
            for one in results
            if (best := self._best(one.trial_id)) is not None
        ]

    def _best(self, trial_id: str) -> tuple[int, float] | None:
        """Return the number of a trial's best candidate (ties: the first), and its mean score."""
        lower = get_scale(self._job.metric).better == "lower"
        best: tuple[int, float] | None = None
        for number, candidate in sorted(self._candidates[trial_id].items()):
            if candidate.failure or len(candidate.scores) < self._job.n_folds:
                continue
            score = round(math.fsum(candidate.scores) / len(candidate.scores), _DECIMALS)
            if best is None or (score < best[1] if lower else score > best[1]):
                best = number, score
        return best
