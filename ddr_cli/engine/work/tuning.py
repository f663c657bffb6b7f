"""A tuned trial's search: its candidates' scores on inner folds, and the fit of the best one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ddr_cli.engine.plan.names import candidate_of
from ddr_cli.engine.rows.journal import FAILED, OK
from ddr_cli.engine.rows.result import TrialResult
from ddr_cli.engine.work.jobs import Evaluation, FitJob, TuneJob
from ddr_cli.evaluation.metrics import LABEL_METRICS, get_scale

# Means that differ in rounding alone are equal, and the first of equal settings is taken.
_DECIMALS = 12


def on_fold(fit: FitJob) -> FitJob:
    """Return a fit as it is done on inner folds, where the labelled points of a class are first."""
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
    """A candidate: the fit that it takes, its scores on the folds, what kept it from having one."""

    job: FitJob
    evaluation: Evaluation
    scores: list[float] = field(default_factory=list)
    failure: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class Choice:
    """The setting that a trial takes."""

    number: int
    score: float


class SettingsSearch:
    """Collects the candidates' scores, fold by fold, and says which is the best."""

    def __init__(self, job: TuneJob) -> None:
        self._job = job
        self._candidates: dict[str, dict[int, _Candidate]] = {}
        self._seconds: dict[str, float] = {}
        for fit in job.candidates:
            for one in fit.evaluations:
                trial_id, number = candidate_of(one.trial_id)
                self._candidates.setdefault(trial_id, {})[number] = _Candidate(fit, one)

    def add(self, results: Sequence[TrialResult]) -> None:
        """Take the results of one fit on one fold."""
        fits: dict[str, float] = {}
        for result in results:
            trial_id, number = candidate_of(result.trial_id)
            candidate = self._candidates[trial_id][number]
            score = result.metrics.get(self._job.metric, math.nan)
            if result.status != OK:
                candidate.failure = candidate.failure or result.reason
                candidate.traceback = candidate.traceback or result.traceback
            elif not math.isfinite(score):
                candidate.failure = candidate.failure or f"{self._job.metric} is not defined"
            else:
                candidate.scores.append(score)
            # A fit counts once for each trial that rests on it, as for rows that share one.
            fits[trial_id] = max(fits.get(trial_id, 0.0), result.fit_seconds or 0.0)
            self._add_seconds(trial_id, result.eval_seconds or 0.0)
        for trial_id, seconds in fits.items():
            self._add_seconds(trial_id, seconds)

    def _add_seconds(self, trial_id: str, seconds: float) -> None:
        self._seconds[trial_id] = self._seconds.get(trial_id, 0.0) + seconds

    def failures(self) -> list[TrialResult]:
        """Return the results of trials none of whose candidates has a score on every fold."""
        failed = [trial_id for trial_id in self._candidates if self._choice(trial_id) is None]
        first = {trial_id: min(self._candidates[trial_id].items())[1] for trial_id in failed}
        return [
            TrialResult(
                trial_id,
                FAILED,
                f"no setting could be scored on every inner fold: {candidate.failure}",
                tune_seconds=self._seconds[trial_id],
                traceback=candidate.traceback,
            )
            for trial_id, candidate in first.items()
        ]

    def final_fits(self) -> Iterator[FitJob]:
        """Yield the fits of the chosen settings on the whole training part, each of its width."""
        found: dict[str, list[tuple[FitJob, Evaluation]]] = {}
        for trial_id, candidates in self._candidates.items():
            choice = self._choice(trial_id)
            if choice is None:
                continue
            fit, one = candidates[choice.number].job, candidates[choice.number].evaluation
            params = dict(fit.params)
            if one.width is not None:
                params["n_components"] = one.width
            own = replace(one, trial_id=trial_id, width=None)
            exact = replace(fit, params=params, widths=(), metrics=self._job.metrics)
            found.setdefault(repr(sorted(params.items())), []).append((exact, own))
        for shared in found.values():
            yield replace(shared[0][0], evaluations=tuple(own for _, own in shared))

    def with_choice(self, results: Sequence[TrialResult]) -> list[TrialResult]:
        """Return results of final fits with what was chosen, its score and what that took."""
        found = []
        for result in results:
            choice = self._choice(result.trial_id)
            assert choice is not None
            found.append(
                replace(
                    result,
                    chosen=choice.number,
                    inner_score=choice.score,
                    tune_seconds=self._seconds[result.trial_id],
                )
            )
        return found

    def _choice(self, trial_id: str) -> Choice | None:
        lower = get_scale(self._job.metric).better == "lower"
        best: Choice | None = None
        for number, candidate in sorted(self._candidates[trial_id].items()):
            if candidate.failure or len(candidate.scores) < self._job.n_folds:
                continue
            score = round(math.fsum(candidate.scores) / len(candidate.scores), _DECIMALS)
            if best is None or (score < best.score if lower else score > best.score):
                best = Choice(number, score)
        return best
