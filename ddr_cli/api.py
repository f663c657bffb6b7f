"""The Python interface: run a spec, and get its trials, summary, figure and comparison as objects.

The data of a spec may be arrays, and its components estimator objects, including classes that a
notebook defines. The command line calls the same functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from sklearn.pipeline import Pipeline

    from ddr_cli.comparison.compare import Comparison
    from ddr_cli.comparison.summary import Summary
    from ddr_cli.data import Sources
    from ddr_cli.engine import Progress
    from ddr_cli.spec import Spec
    from ddr_cli.suite.leaderboard import Leaderboard as Board

_ARGUMENTS = ("name", "overrides", "repeats")


def run(
    spec: str | Path | Mapping[str, Any] | Spec,
    *,
    out: str | Path = "results",
    name: str | None = None,
    overrides: Sequence[str] = (),
    repeats: int | None = None,
    jobs: int = 1,
    timeout: float | None = None,
    memory_limit: int | None = None,
    redo: str | Sequence[str] = (),
    sources: Sources | None = None,
    progress: Progress | None = None,
    trust: bool = False,
) -> Results:
    """Run or resume a spec and return its results.

    Parameters
    ----------
    spec : str, Path, mapping or Spec
        A spec's path or shipped name, or its keys as a dictionary, as in YAML. In a dictionary,
        ``dataset`` may also be ``(X, y)`` or a `Dataset` (see `make_dataset`). An item of
        ``reducers``, ``classifiers``, ``measures`` and ``preprocess``, or its ``name``, may also be
        an estimator object or a class.
    out : str or Path
        The folder in which the result folder is made; the spec's name is its name.
    name : str, optional
        The name of a spec that is given as a dictionary. Default: a name made from its data set
        and reducers.
    overrides : sequence of str
        Settings to override, such as ``"reducer.beta=0.1"``.
    repeats : int, optional
        The number of random splits, instead of the spec's.
    jobs : int
        Number of processes; each uses one thread.
    timeout : float, optional
        Time limit of a trial, in seconds.
    memory_limit : int, optional
        Bytes of address space that each process may use.
    redo : str or sequence of str
        Which existing rows to replace: ``"failed"`` rows, ``"changed"`` rows (from another version
        of the spec, the data or the code), the rows of named reducers, classifiers or measures, or
        ``"all"``. Replaced rows are kept in the subfolder ``previous``.
    sources : Sources, optional
        Where to look for the data. Default: the environment variables decide.
    progress : Progress, optional
        Receives the progress. Default: a bar in a terminal, else lines on standard error.
    trust : bool
        Run code that the spec names by its file or module, with your permissions.

    Returns
    -------
    Results
        The results in the run's folder.

    Raises
    ------
    InputError
        If the spec is not valid or the folder cannot be used.
    DataUnavailableError
        If the data are neither available nor downloadable.

    Notes
    -----
    A hash of their content identifies arrays. The same call therefore resumes an interrupted run
    and repeats no finished trial; a call with other arrays raises an error instead of mixing its
    rows with the old ones. An estimator object is replaced by the name of its class (its registered
    name, or its module and name) and its parameters; a spec that names it this way has the same
    rows. A class that the notebook defines is identified by a hash of its source and of the
    notebook's objects that it uses, or by its attribute ``version``. The same holds for an object
    with parameters that YAML cannot store, such as a pipeline; its parameters have no columns in
    the table. Such a class is copied to the worker processes. It does not need `trust`, since its
    code already runs in this program.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from ddr_cli.reducers import LFDA
    >>> X, y = [[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.1]] * 9, [0, 0, 1, 1] * 9
    >>> results = run(
    ...     {
    ...         "dataset": (X, y),
    ...         "reducers": [LFDA(n_components=1), "none"],
    ...         "classifiers": [KNeighborsClassifier(n_neighbors=3)],
    ...     },
    ...     out="build",
    ... )  # doctest: +SKIP
    >>> results = run(
    ...     {
    ...         "dataset": "iris",
    ...         "split": {"kind": "fraction", "train": 0.5, "repeats": 5},
    ...         "reducers": ["none", {"name": "lda", "n_components": 1}],
    ...         "classifiers": ["knn"],
    ...     },
    ...     out="build",
    ... )  # doctest: +SKIP
    >>> results.summary[["reducer", "mean", "sd"]]  # doctest: +SKIP
    """
    from ddr_cli.core.own_code import trusting
    from ddr_cli.engine import Datasets, make_progress, run_spec
    from ddr_cli.spec.objects import in_words

    with ExitStack() as stack:
        stack.enter_context(trusting(trust))
        if isinstance(spec, Mapping):
            spec = stack.enter_context(in_words(spec))
        outcome = run_spec(
            _as_spec(spec, name, overrides, repeats),
            out=out,
            jobs=jobs,
            timeout=timeout,
            memory_limit=memory_limit,
            redo=(redo,) if isinstance(redo, str) else redo,
            datasets=Datasets(sources),
            progress=progress or make_progress(),
        )
    return Results(outcome.folder)


@dataclass(frozen=True, repr=False)
class Results:
    """The results in a run's folder, read on first use.

    Parameters
    ----------
    folder : str or Path
        A folder that a run has written, such as ``results/landsat_ccdr_beta``.
    """

    folder: Path

    def __init__(self, folder: str | Path) -> None:
        object.__setattr__(self, "folder", Path(folder))

    def __repr__(self) -> str:
        ended = [*self.trials["status"], *self.controls["status"]]
        done = ended.count("ok")
        failed = len(ended) - done
        text = f"{done} trials, {failed} failed" if failed else f"{done} trials"
        return f"<Results {self.folder}: {text}>"

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The trials of the methods, one per row: ``trials.csv`` as a table."""
        from ddr_cli.engine import read_trials

        return read_trials(self.folder)

    @cached_property
    def controls(self) -> pd.DataFrame:
        """The trials of the controls, one per row: ``controls.csv`` as a table.

        It has the columns of `trials`. ``control`` is ``shuffled_labels``, or ``full_features`` for
        the strong classifier on all features.
        """
        from ddr_cli.engine import read_trials

        return read_trials(self.folder, which="controls")

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Means, standard deviations and intervals; rates are in 0..1.

        It has one row per method, setting, family of splits and metric.
        """
        return self._summary.rows

    def figure(self) -> Figure:
        """Return the run's figure, as in ``figure.png``.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from ddr_cli.papers.figure_notes import notes_on
        from ddr_cli.report.run_chart import draw

        return draw(self._summary, notes_on(self._summary))

    def compare(self, *others: Results | str | Path, **options: Any) -> Comparison:
        """Compare the methods of this run, or of this and other runs.

        Parameters
        ----------
        *others : Results, str or Path
            Other runs, or their folders.
        **options
            As for `ddr_cli.compare`.

        Returns
        -------
        Comparison
            Tables of the methods, their differences and all pairs.

        Raises
        ------
        InputError
            As for `ddr_cli.compare`.
        """
        return compare(self, *others, **options)

    def best_pipeline(self, *, trust: bool = False) -> Pipeline:
        """Return the preprocessing, reducer and classifier of the best setting, not fitted.

        The best setting has the best mean of the run's first metric over the test sets, which
        makes this mean optimistic. If the run tuned, it has the best mean score on inner folds, and
        its parameters are those that most splits chose. Methods that cannot transform new samples
        are left out.

        Parameters
        ----------
        trust : bool
            Run code that the spec names by its file or module, with your permissions.

        Returns
        -------
        sklearn.pipeline.Pipeline
            A pipeline to fit to your data. Components that use random numbers have the seed of the
            run's first split.

        Raises
        ------
        InputError
            If the run is not complete, or has no such method.
        """
        from ddr_cli.comparison.pipeline import best_pipeline
        from ddr_cli.core.own_code import trusting

        with trusting(trust):
            return best_pipeline(self._summary)

    def write(self) -> list[Path]:
        """Write ``summary.csv``, ``figure.svg`` and ``figure.png`` into the folder.

        Returns
        -------
        list of Path
            The files.
        """
        from ddr_cli.papers.figure_notes import notes_on
        from ddr_cli.report.run_files import write_run

        return write_run(self._summary, notes_on(self._summary))

    @cached_property
    def _summary(self) -> Summary:
        from ddr_cli.comparison.summary import summary_of

        return summary_of(self.folder)

    def _repr_html_(self) -> str:
        """Return the table that `ddr run` prints, as HTML for notebooks."""
        from ddr_cli.report.run_tables import run_table
        from ddr_cli.show.html import table

        return table(run_table(self._summary))


def compare(*runs: Results | str | Path, **options: Any) -> Comparison:
    """Compare the methods of one or more runs on the same splits.

    Parameters
    ----------
    *runs : Results, str or Path
        Runs, or their folders.
    **options
        As for `ddr_cli.comparison.compare.compare`: ``metric``, ``against``, ``methods``,
        ``classifier``, ``at`` and ``equivalence``.

    Returns
    -------
    Comparison
        Tables of the methods, their differences and all pairs.

    Raises
    ------
    InputError
        If no run is given, a folder holds no run, the runs have too little in common, or a name is
        unknown.
    """
    from ddr_cli.comparison import compare as comparison
    from ddr_cli.report.comparison_tables import ShownComparison

    folders = [run.folder if isinstance(run, Results) else Path(run) for run in runs]
    if not folders:
        raise InputError("compare() needs at least one folder: compare('results/nmmp_iris').")
    return ShownComparison(**vars(comparison.compare(folders, **options)))


def leaderboard(
    suite: str | Path = "lite", *, out: str | Path = "results", **options: Any
) -> Board:
    """Return the leaderboard of a suite.

    Parameters
    ----------
    suite : str or Path
        A suite's path or shipped name.
    out : str or Path
        The folder that contains ``suite_<name>`` with the suite's results. If it does not, those
        of ``ddr suite fetch`` are used.
    **options
        As for `ddr_cli.suite.leaderboard.leaderboard`: ``classifier``, ``metric``, ``tuned``,
        ``track``, ``datasets``. Methods of a track without tuning are at their defaults.

    Returns
    -------
    Leaderboard
        Its `table` has one row per method.

    Raises
    ------
    InputError
        If there is no such suite, or it has no results for the options.
    """
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.suite.definition import load_suite
    from ddr_cli.suite.leaderboard import leaderboard
    from ddr_cli.suite.names import INDUCTIVE
    from ddr_cli.suite.remaining import folder_of
    from ddr_cli.suite.rows import folders_of, suite_rows

    track = options.get("track", INDUCTIVE)
    with nothing_fitted():
        found = load_suite(suite)
        rows = suite_rows(found, folders_of(found, folder_of(found, Path(out)), tracks=[track]))
    tuned = options.pop("tuned", True) and found.tunes(track)
    return leaderboard(rows, **{"baseline": found.baseline_of(track), **options}, tuned=tuned)


def join_suite(
    method: str,
    suite: str | Path = "lite",
    *,
    out: str | Path = "results",
    datasets: Sequence[str] = (),
    hours: float | None = None,
    jobs: int = 1,
    classifier: str | None = None,
    metric: str | None = None,
    tuned: bool = True,
    trust: bool = False,
) -> Board:
    """Run a method on the splits that all methods of a suite completed; return the leaderboard.

    Finished trials are not repeated.

    Parameters
    ----------
    method : str
        ``./mine.py:MyMethod``, ``package.module:Class``, or the name of a reducer.
    suite : str or Path
        A suite's path or shipped name.
    out : str or Path
        The folder of the suite's results (or else, those of ``ddr suite fetch`` are used), in which
        the method's results are written.
    datasets : sequence of str
        Data sets or groups of data sets. Default: all.
    hours : float, optional
        A budget of CPU hours.
    jobs : int
        Number of processes.
    classifier, metric : str, optional
        The classifier and metric of the comparison. Default: the suite's first.
    tuned : bool
        Compare tuned methods if the suite tunes them, instead of methods at their defaults.
    trust : bool
        Run code that `method` names by its file or module, with your permissions.

    Returns
    -------
    Leaderboard
        Its `table` has one row per method, including `method`.

    Raises
    ------
    InputError
        If there is no such suite or method, or the suite has no results yet.
    """
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.core.own_code import trusting
    from ddr_cli.engine import RunSettings
    from ddr_cli.suite.definition import load_suite
    from ddr_cli.suite.own_method import join

    with trusting(trust):
        settings = RunSettings(out=Path(out), jobs=jobs)
        with nothing_fitted():
            found = load_suite(suite)
        joined = join(
            found,
            method,
            settings,
            only=datasets,
            hours=hours,
            classifier=classifier,
            metric=metric,
        )
        return joined.board(joined.rows, tuned=tuned and found.tunes(joined.track))


def _as_spec(
    spec: str | Path | Mapping[str, Any] | Spec,
    name: str | None,
    overrides: Sequence[str],
    repeats: int | None,
) -> Spec:
    from ddr_cli.spec import Spec, load_spec, make_spec

    if isinstance(spec, Mapping):
        if wrong := [key for key in _ARGUMENTS if key in spec]:
            raise InputError(
                f"'{wrong[0]}' is not a spec key; use run(spec, {wrong[0]}={spec[wrong[0]]!r})."
            )
        missing = [key for key in ("dataset", "reducers") if not spec.get(key)]
        if missing:
            raise InputError(f"The spec has no {' and no '.join(map(repr, missing))}.")
        given: dict[str, Any] = dict(spec)
        return make_spec(name=name, overrides=overrides, repeats=repeats, **given)
    if isinstance(spec, Spec):
        if overrides or repeats is not None:
            raise InputError("A Spec is immutable; pass 'overrides' and 'repeats' to load_spec().")
        return spec
    return load_spec(spec, overrides=overrides, repeats=repeats)
