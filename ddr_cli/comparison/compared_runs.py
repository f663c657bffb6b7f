"""The runs that are compared, each with a unique label, and remarks on them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from os.path import realpath
from pathlib import Path

from ddr_cli.comparison.runs import Run
from ddr_cli.comparison.summary import Summary, summary_of

_MOST_NAMED = 4


@dataclass(frozen=True)
class ComparedRun:
    """A compared run: its unique label, summary and data set."""

    label: str
    tag: str
    summary: Summary
    dataset: str

    @property
    def run(self) -> Run:
        """What its folder holds."""
        return self.summary.run


@dataclass
class Remarks:
    """Sentences about the comparison, each with the runs that it applies to."""

    runs: int
    found: dict[str, list[str]] = field(default_factory=dict)

    def add(self, sentence: str, place: ComparedRun) -> None:
        """Add a sentence on a run."""
        labels = self.found.setdefault(sentence, [])
        if place.label not in labels:
            labels.append(place.label)

    def add_for_all(self, sentence: str) -> None:
        """Add a sentence on all runs together."""
        self.found[sentence] = [""] * self.runs

    def sentences(self) -> tuple[str, ...]:
        """Return the sentences; those that do not apply to all runs name theirs."""
        return tuple(
            f"{sentence}." if len(labels) == self.runs else f"{sentence} ({listed(labels)})."
            for sentence, labels in self.found.items()
        )


def load_compared(runs: Sequence[Path | Summary]) -> tuple[ComparedRun, ...]:
    """Read the runs given as folders; runs of the same name are labelled with their folder."""
    folders = [run if isinstance(run, Path) else run.run.folder for run in runs]
    # Path.resolve refuses a link to itself, which reading the run reports.
    given = {Path(realpath(folder)): run for folder, run in zip(folders, runs, strict=True)}
    twice = len({folder.name for folder in given}) < len(given)
    parents = {folder.parent for folder in given} if twice else set()
    found = []
    for folder, as_given in given.items():
        summary = as_given
        if isinstance(summary, Path):
            summary = summary_of(summary if summary.name else folder)
        run = summary.run
        dataset = run.spec.dataset.name
        if len(run.trials):
            dataset = str(run.trials["dataset"].iloc[0])
        tag = _end_of(folder.parent, parents - {folder.parent}) if twice else ""
        found.append(
            ComparedRun(f"{folder.name} ({tag})" if tag else run.name, tag, summary, dataset)
        )
    return tuple(found)


def _end_of(folder: Path, others: Collection[Path]) -> str:
    """Return the shortest end of a folder's path that no other folder has."""
    for length in range(1, len(folder.parts) + 1):
        end = folder.parts[-length:]
        if all(other.parts[-length:] != end for other in others):
            return "/".join(end)
    return str(folder)


def listed(names: Sequence[str]) -> str:
    """Return the first four names in one line, the rest as a number."""
    shown = ", ".join(names[:_MOST_NAMED])
    return f"{shown} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else shown
