"""`audit.csv` of a suite: by method and data set, what test embeddings depend on."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd
from pydantic import TypeAdapter

from ddr_cli.core.atomic import as_input_errors, atomic_write
from ddr_cli.core.errors import InputError, counted
from ddr_cli.core.progress import progress_bar
from ddr_cli.data import load_dataset
from ddr_cli.engine.audit import QUESTIONS, Audit, audit, summary
from ddr_cli.engine.plan.plan import make_plan
from ddr_cli.reducers.registry import REDUCERS
from ddr_cli.suite.remaining import SuitePart

AUDIT_FILE = "audit.csv"

_ANSWERS = ["test_labels", "alone", "order"]
_FILE = TypeAdapter(list[Audit])
_WORDS = {True: "yes", False: "no", None: "unknown"}


def audit_parts(
    parts: Sequence[SuitePart],
    folder: Path,
    *,
    told: Callable[[str], None],
    quiet: bool,
) -> list[Audit]:
    """Audit the methods of these parts, except where it is done, and return what was found.

    `told` gets a line if a method fails on a data set, which then has no audit. Progress is shown
    on the terminal unless `quiet`.
    """
    known = {(each.method, each.dataset): each for each in read_audits(folder)}
    before, found = dict(known), []
    for part in parts if quiet else progress_bar(parts, "Audit on real splits"):
        for item in part.spec.reducers:
            key = item.label, part.dataset
            version = part.spec.version_of(item.name, item.traits().version)
            now = version, REDUCERS.get(item.name).source
            if key not in known or (known[key].version, known[key].source) != now:
                default = item.model_copy(update={"grids": {}})
                alone = part.spec.model_copy(update={"reducers": (default,), "tune": None})
                options = part.plan.data.options
                load = partial(load_dataset, part.spec.card, options=options)
                try:
                    answers = asdict(audit(make_plan(alone), load))
                except Exception as error:  # the method's code can raise any exception
                    told(f"The audit of {item.label} on {part.dataset} failed: {error}")
                    continue
                known[key] = Audit(**answers | {"method": item.label})
            found.append(known[key])
    if known != before:
        table = pd.DataFrame([asdict(each) for each in known.values()])
        with as_input_errors(folder / AUDIT_FILE):
            folder.mkdir(parents=True, exist_ok=True)
            atomic_write(folder / AUDIT_FILE, table.to_csv(index=False, lineterminator="\n"))
    return found


def read_audits(folder: Path) -> list[Audit]:
    """Return the audits in a suite's folder; none if it has no file."""
    path = folder / AUDIT_FILE
    if not path.is_file():
        return []
    try:
        table = pd.read_csv(io.BytesIO(path.read_bytes()), dtype=str, keep_default_na=False)
        table[_ANSWERS] = table[_ANSWERS].replace({"": None})
        return _FILE.validate_python(table.to_dict("records"))
    except (KeyError, ValueError) as error:
        raise InputError(f"{path} is damaged. Remove the file and repeat the command.") from error


def audit_line(audits: Sequence[Audit], *, short: bool) -> str:
    """Return the answers of a method's audit in one line; if `short`, only a no has a note."""
    if not audits:
        return "not audited"
    told = "; ".join(
        f"{QUESTIONS[question]}: {_WORDS[holds]}{'' if short and holds else f', {note}'}"
        for question, (holds, note) in summary(audits).items()
    )
    return f"audit on {counted(len(audits), 'data set')}: {told}" if short else told
