"""What is sent to worker processes and what comes back: plain records, light to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

Params = Mapping[str, Any]

TRANSDUCTIVE = "transductive"
OUT_OF_SAMPLE = "out_of_sample"
QUERIES = "queries"


@dataclass(frozen=True)
class SplitJob:
    """Preprocess one split and search its neighbours, for all fits of that split.

    Parameters
    ----------
    data : Path
        The scratch folder of the data set.
    folder : Path
        The scratch folder of the split; it holds ``rows.npy``, the row numbers of the training
        part followed by those of the test part.
    trace : Path
        The file that says which process has the job; see `ddr_cli.engine.trace`.
    n_train : int
        The size of the training part.
    steps : tuple of (str, mapping)
        The preprocessing steps' names and parameters.
    searches : mapping of str to int
        The number of neighbours to find of all points among themselves (``transductive``), of
        the training points among themselves (``out_of_sample``), or of the test points among the
        training points (``queries``).
    seed : int
        For steps with a randomness of their own.
    timeout : float, optional
        Seconds after which the process ends itself.
    """

    data: Path
    folder: Path
    trace: Path
    n_train: int
    steps: tuple[tuple[str, Params], ...]
    searches: Mapping[str, int]
    seed: int
    timeout: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """One trial of a unit: a classifier on the first columns of the embedding.

    Parameters
    ----------
    trial_id : str
        The trial.
    width : int, optional
        How many columns of a nested embedding; all if not given.
    classifier : str
        Its name.
    params : mapping
        Its parameters.
    """

    trial_id: str
    width: int | None
    classifier: str
    params: Params


@dataclass(frozen=True)
class Keep:
    """Which part of an embedding is sent back for a figure.

    Parameters
    ----------
    rows : tuple of int
        The points, numbered as the split's rows, the training part first.
    widths : tuple of int or None
        The first so many columns, each as an embedding of its own; None for all.
    """

    rows: tuple[int, ...]
    widths: tuple[int | None, ...]


@dataclass(frozen=True)
class Kept:
    """Part of an embedding.

    Parameters
    ----------
    width : int or None
        Which of `Keep.widths` it is.
    coordinates : tuple of tuple of float
        Of the points, in up to three dimensions.
    prototypes : tuple of tuple of float, optional
        Of the classes, where the method places them too.
    """

    width: int | None
    coordinates: tuple[tuple[float, ...], ...]
    prototypes: tuple[tuple[float, ...], ...] | None


@dataclass(frozen=True)
class UnitJob:
    """Fit one embedding of one split and evaluate trials on it.

    Parameters
    ----------
    folder : Path
        The scratch folder of the split.
    trace : Path
        The file that says how far the job is; see `ddr_cli.engine.trace`.
    reducer : str
        Its name.
    params : mapping
        Its parameters, without ``n_components`` if `widths` is given.
    mode : str
        ``"transductive"`` or ``"out_of_sample"``.
    widths : tuple of int
        All ``n_components`` that the spec has for a nested reducer, the largest first; empty for
        others. It holds those of trials that are not in this job too: what is fitted must not
        depend on what is left to do.
    evaluations : tuple of Evaluation
        The trials.
    metrics : tuple of str
        Names of metrics.
    seed : int
        For pieces with a randomness of their own.
    timeout : float, optional
        Seconds a trial may take, its share in the fit included.
    batched : bool
        Whether trials may be evaluated together.
    keep : Keep, optional
        What is to be sent back of the embedding itself.
    """

    folder: Path
    trace: Path
    reducer: str
    params: Params
    mode: str
    widths: tuple[int, ...]
    evaluations: tuple[Evaluation, ...]
    metrics: tuple[str, ...]
    seed: int
    timeout: float | None = None
    batched: bool = True
    keep: Keep | None = None


@dataclass(frozen=True)
class TrialResult:
    """How a trial ended.

    Parameters
    ----------
    trial_id : str
        The trial.
    status : str
        ``ok``, ``failed``, ``timeout`` or ``killed``.
    reason : str
        Why it is not ok.
    metrics : mapping of str to float
        The scores.
    fit_seconds, eval_seconds : float, optional
        CPU seconds; see `ddr_cli.engine.journal.read_trials`.
    """

    trial_id: str
    status: str
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float | None = None
    eval_seconds: float | None = None


@dataclass(frozen=True)
class JobResult:
    """What a job returns.

    Parameters
    ----------
    results : tuple of TrialResult
        One per trial of a unit; none of a split.
    warnings : tuple of str
        Distinct warnings that were raised.
    error : str
        What kept the whole job from being done; empty if nothing did.
    disk_full : bool
        Whether that was a lack of space, which no other job would get around either.
    cpu_seconds : float
        CPU time of the process since its last result, or since it began.
    kept : tuple of Kept
        What a unit's job was to keep of its embedding.
    """

    results: tuple[TrialResult, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""
    disk_full: bool = False
    cpu_seconds: float = 0.0
    kept: tuple[Kept, ...] = ()


Job = SplitJob | UnitJob


def places_by_neighbors(reducer: Any) -> bool:
    """Return whether a reducer's ``transform`` takes the neighbours of the new points too."""
    return "neighbors" in signature(reducer.transform).parameters
