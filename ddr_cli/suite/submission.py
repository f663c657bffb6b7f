"""A method submitted to a suite: the folder of its rows, its file and its card; rerunning it."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pandas as pd
import yaml
from annotated_types import Ge
from pydantic import AfterValidator, Field

from ddr_cli.core.atomic import as_input_errors, atomic_write
from ddr_cli.core.digests import digest
from ddr_cli.core.errors import DdrError, InputError
from ddr_cli.core.own_code import class_name, display_name, located, source_of
from ddr_cli.core.validation import validated
from ddr_cli.core.yaml_loader import parse, read_document
from ddr_cli.reducers.registry import reference, year
from ddr_cli.rows.log import TRIAL_FILES, read_rows
from ddr_cli.rows.manifest import (
    MANIFEST,
    here,
    kernels_of,
    number_versions,
    read_manifest,
)
from ddr_cli.spec.components import StrictFrozen, Text
from ddr_cli.spec.estimators import load_factory
from ddr_cli.suite.audits import AUDIT_FILE, audit_parts, read_audits
from ddr_cli.suite.names import CARD, INDUCTIVE, VERIFIED
from ddr_cli.suite.remaining import SuitePart, parts_of, run_suite
from ddr_cli.suite.rows import rows_in

if TYPE_CHECKING:
    from ddr_cli.engine.run import RunSettings
    from ddr_cli.suite.definition import Suite
    from ddr_cli.suite.own_method import Joined

_STATED = ("authors", "paper", "year", "licence")
_NOT_COMPARED = {"fit_seconds", "eval_seconds", "tune_seconds", "reason"}
_SPLIT = ["dataset", "split", "split_hash", "classifier", "tuned"]


class Confirmed(StrictFrozen):
    """Which of the method's authors has confirmed its rows, and when."""

    name: Text
    date: Text


class SubmissionCard(StrictFrozen):
    """The card of a submitted method: what it is, and who made it."""

    method: Annotated[Text, AfterValidator(display_name)]
    """The method: ./mine.py:MyMethod, from a file next to the card, or package.module:Class."""
    requires: list[Text] = Field(default_factory=list)
    """The packages that the method needs, such as scikit-kda==0.1."""
    suite: Text
    version: Annotated[int, Ge(1)]
    track: Text
    kind: Literal["method", "ensemble"] = "method"
    """An ensemble chooses among methods or combines methods; ensembles are ranked separately."""
    authors: Text
    paper: Text
    year: Annotated[int, Ge(1900)]
    licence: Text
    confirmed: Confirmed | None = None

    @property
    def label(self) -> str:
        """The name in tables."""
        return class_name(self.method)


@dataclass(frozen=True, eq=False)
class Submission:
    """The folder of a submitted method."""

    folder: Path
    card: SubmissionCard

    @classmethod
    def read(cls, folder: Path) -> Submission:
        """Return the submission in a folder; a DocumentError has all problems of its card."""
        if not (folder / CARD).is_file():
            raise InputError(f"There is no {CARD} in {folder}; use 'ddr suite submit' first.")
        document = read_document(folder / CARD)
        return cls(folder, validated(document, SubmissionCard, "a card of a submission"))

    @property
    def files(self) -> list[Path]:
        """All files that belong to it and exist, except the record of its verification."""
        place = self.card.method.rpartition(":")[0]
        names = [CARD, AUDIT_FILE, *([place] if place.endswith(".py") else [])]
        runs = sorted(path.parent for path in self.folder.glob(f"*/{MANIFEST}"))
        paths = [self.folder / name for name in names]
        paths += [run / name for run in runs for name in (MANIFEST, *TRIAL_FILES)]
        return [path for path in paths if path.is_file()]

    @property
    def content(self) -> str:
        """A digest of what is verified: everything but who made it."""
        card = self.card.model_dump(include={"method", "requires", "suite", "version", "track"})
        files = (path for path in self.files if path.name != CARD)
        return digest(json.dumps(card).encode(), *(path.read_bytes() for path in files))

    @cached_property
    def verified(self) -> dict[str, Any] | None:
        """The record of its verification; None if nothing was rerun since its last change."""
        path = self.folder / VERIFIED
        record = json.loads(path.read_bytes()) if path.is_file() else {}
        return record if record.get("content") == self.content else None

    @property
    def note(self) -> str:
        """What is known of it, in words."""
        told = "not verified"
        if found := self.verified:
            told = (
                f"verified on {found['date']} by rerunning {found['rows']} rows of "
                f"{found['datasets']} data sets, with equal values"
            )
        by = self.card.confirmed
        confirmed = f"confirmed by an author ({by.name}, {by.date})" if by else "not confirmed"
        return f"{self.card.label} ({self.card.authors}, {self.card.year}): {told}; {confirmed}"

    def rows(self, theirs: pd.DataFrame, track: str) -> pd.DataFrame:
        """Return its rows as `suite_rows` has them, without loading its code.

        They are empty if one is missing that all of the suite's methods have.
        """
        found = [theirs.iloc[:0]]
        for path in sorted(self.folder.glob(f"*/{MANIFEST}")):
            manifest = read_manifest(path.parent)
            named = manifest.data.name if manifest.data else ""
            known = theirs[(theirs["track"] == track) & (theirs["dataset"] == named)]
            if known.empty or manifest.spec["suite"]["track"] != track or self.card.track != track:
                continue
            same = [name for name in map(str, known) if name.startswith("floor_")]
            same += ["suite", "version", "fingerprint", "n_train"]
            own = rows_in(path.parent, manifest).assign(
                **{name: known[name].iloc[0] for name in same}
            )
            found.append(own.reindex(columns=known.columns))
        own = pd.concat(found) if len(found) > 1 else found[0]
        needed = theirs[(theirs["track"] == track) & (theirs["control"] == "")]
        met = needed.groupby(_SPLIT)["method"].nunique()
        shared = met[met == needed["method"].nunique()].index
        return own if shared.isin(pd.MultiIndex.from_frame(own[_SPLIT])).all() else own.iloc[:0]


# -- submitting ------------------------------------------------------------------------------------


def card_of(method: str, folder: Path, suite: str, file: Path | None) -> SubmissionCard:
    """Return a method's card, except for the version and the track that it will be in.

    An entry comes from a `file` of the form of the card, or else from the earlier card, the
    metadata of the method's package, or the references of its docstring. Raises InputError if
    something is missing or wrong.
    """
    earlier = folder / CARD
    file = earlier if file is None and earlier.is_file() else file
    document = parse(b"{}", CARD) if file is None else read_document(file)
    if isinstance(document.data, dict):
        stated = {name: value for name, value in document.data.items() if value is not None}
        own = {"method": display_name(method), "suite": suite, "version": 1, "track": INDUCTIVE}
        document.data = dict(_known(located(method, Path()))) | stated | own
        if absent := [name for name in _STATED if not document.data.get(name)]:
            raise InputError(
                f"The card of {class_name(method)} lacks {', '.join(absent)}. Write "
                f"'{absent[0]}: ...' into a YAML file, and pass it with --card FILE."
            )
    return validated(document, SubmissionCard, "a card of a submission")


def write_submission(joined: Joined, method: str, folder: Path, card: SubmissionCard) -> None:
    """Add a method's file and card to the folder of its rows.

    Raises InputError if the method has not finished all splits that the suite's methods have.
    """
    ended = {part.dataset: part.ended for part in joined.ours}
    if left := [name for name, n in joined.finished.items() if ended.get(name, 0) < n]:
        raise InputError(f"{joined.label} lacks trials on {', '.join(left)}. Repeat the command.")
    card = card.model_copy(update={"version": joined.suite.version, "track": joined.track})
    place = Path(method.rpartition(":")[0])
    with as_input_errors(folder):
        if place.suffix == ".py":
            shutil.copyfile(place, folder / place.name)
        text = yaml.safe_dump(card.model_dump(), sort_keys=False, allow_unicode=True, width=100)
        atomic_write(folder / CARD, text)


def _known(name: str) -> Iterator[tuple[str, Any]]:
    """Yield what a method's docstring and its package's metadata state."""
    factory = load_factory("reducers", name)
    yield "paper", reference(factory)
    yield "year", year(factory)
    if name.rpartition(":")[0].endswith(".py"):
        return
    distribution, _, version = source_of(name).partition(" ")
    if not version:
        return
    facts = metadata.metadata(distribution).json
    yield "requires", [f"{distribution}=={version}"]
    yield "authors", facts.get("author") or facts.get("author_email")
    yield "licence", facts.get("license_expression") or facts.get("license")


# -- verifying -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rerun:
    """What rerunning a submission gave: a row per value that differs, and the other problems."""

    problems: Sequence[str]
    differences: pd.DataFrame = field(default_factory=pd.DataFrame)
    splits: int = 0
    datasets: int = 0
    rows: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return self.differences.empty and not self.problems


def verify(
    submission: Submission, suite: Suite, settings: RunSettings, *, splits: int = 1
) -> Rerun:
    """Rerun some splits of each data set, drawn at random, and the audit; compare all values.

    If they are equal, the folder gets a record of it.
    """
    card, folder = submission.card, submission.folder
    if card.version != suite.version or card.track not in suite.tracks:
        raise InputError(
            f"{folder} is for version {card.version} of {suite.name} (track {card.track}), but "
            f"{suite.name} now has version {suite.version}. Submit the method again."
        )
    own = suite.with_method(located(card.method, folder), card.track)
    parts = parts_of(own, folder)
    stale = [part.dataset for part in parts if part.stale]
    if lost := stale or [p.dataset for p in parts if all(map(p.to_do, p.plan.fits))]:
        what = "no split has all rows"
        if stale:
            what = "the method's code, the data or ddr has changed since the rows were computed"
        return Rerun([f"{what} (on {', '.join(lost)})"])
    with TemporaryDirectory() as place:
        fresh = [_drawn(part, splits, Path(place)) for part in parts]
        settings = replace(settings, out=Path(place))
        endings = run_suite(own, fresh, settings)
        failed = [f"{name}: {e}" for name, e in endings.items() if isinstance(e, DdrError)]
        if failed:
            return Rerun(failed)
        problems = list(_audited(submission, suite, parts, settings))
        found = [_differences(part.folder, folder / part.spec.name) for part in fresh]
    differences = pd.concat([table for table, _ in found], ignore_index=True)
    if len(differences):
        problems += _other_versions(folder / fresh[0].spec.name)
    n_rows = sum(n for _, n in found)
    rerun = Rerun(problems, differences, splits, len(fresh), n_rows)
    if rerun.is_equal:
        record = {
            "date": datetime.now(UTC).date().isoformat(),
            "splits": splits,
            "datasets": len(fresh),
            "rows": n_rows,
            "versions": number_versions(),
            "content": submission.content,
        }
        atomic_write(folder / VERIFIED, json.dumps(record, indent=1) + "\n")
    return rerun


def _audited(
    submission: Submission, suite: Suite, parts: Sequence[SuitePart], settings: RunSettings
) -> Iterator[str]:
    """Audit a submission again, and yield what is wrong."""
    told: list[str] = []
    audits = audit_parts(parts, settings.out, told=told.append, quiet=settings.quiet)
    yield from told
    submitted = read_audits(submission.folder)
    before = {(each.dataset, each.test_labels, each.alone) for each in submitted}
    for each in audits:
        if (each.dataset, each.test_labels, each.alone) not in before:
            yield f"{each.dataset}: the result of the audit differs from {AUDIT_FILE}"
    if any(each.test_labels is False for each in audits):
        yield "the method uses test labels"
    mode = suite.tracks[submission.card.track].mode
    if any(each.alone is False for each in audits) and mode != "transductive":
        yield f"the method is transductive, but the track {submission.card.track} is not"


def _drawn(part: SuitePart, splits: int, place: Path) -> SuitePart:
    """Return a part with a few random splits and no rows; nobody can predict the splits."""
    done = [key for key in part.plan.fits if not part.to_do(key)]
    drawn = random.SystemRandom().sample(done, min(splits, len(done)))
    fits = {key: part.plan.fits[key] for key in done if key in drawn}
    plan = replace(part.plan, fits=fits)
    return SuitePart(part.spec, plan, place / part.spec.name, {}, Counter())


def _differences(fresh: Path, submitted: Path) -> tuple[pd.DataFrame, int]:
    """Return a row per value that differs, and the number of rows compared."""
    new = read_rows(fresh).set_index("trial_id")
    old = read_rows(submitted).set_index("trial_id")
    old = old.reindex(index=new.index, columns=new.columns, fill_value="")
    compared = [name for name in new if name not in _NOT_COMPARED]
    differs = (new[compared] != old[compared]).to_numpy()
    records = [
        {
            "data set": submitted.name,
            "split": new.at[trial, "split"],
            "classifier": new.at[trial, "classifier"],
            "tuned": "yes" if "tuned" in new and new.at[trial, "tuned"] else "no",
            "column": column,
            "submitted": old.at[trial, column],
            "rerun": new.at[trial, column],
        }
        for row, place in np.argwhere(differs)
        for trial, column in [(new.index[row], compared[place])]
    ]
    return pd.DataFrame(records), len(new)


def _other_versions(folder: Path) -> Iterator[str]:
    """Yield the libraries and processors that differ between the submission and here."""
    environment, ours = read_manifest(folder).environments[-1], here()
    theirs = {"Python": environment.python, **environment.versions}
    for name, version in {"Python": ours.python, **ours.versions}.items():
        if theirs.get(name) != version:
            yield f"the submitted rows used {name} {theirs.get(name)}; the rerun used {version}"
    first, second = (kernels_of(each) for each in (environment, ours))
    if first != second:
        yield f"the submitted rows used {first}; the rerun used {second}"
