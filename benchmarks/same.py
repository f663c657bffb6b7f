"""Check that everything that is shipped still gives the results recorded in same.json.

    python benchmarks/same.py [GROUP ...] [--record]     compare with same.json, or overwrite it
    python benchmarks/same.py --cells NAME               print the settings behind a spec's hash

Groups: `cells` (the resolved settings and the trial ids of each spec and suite), `report` (the
verdicts and the papers' numbers and claims by column, and their pages byte for byte), `runs` (the
summary and the comparison of each run in results/, and one comparison with both kinds of tests),
`rows` (the rows of the trial logs without ids), `lite` (its leaderboards and the tables of its
page), `made` (a suite with an accuracy that runs here, and a made-up paper with calibration claims,
both from the tests), `golden` (the golden values of each component). Numbers are rounded to ten
significant digits.

This file defines the hashed content in plain names, independently of how ddr stores it, so that a
change of ddr's records does not change a hash. Only the functions above the dividing line read
ddr's objects.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
RECORD = Path(__file__).with_suffix(".json")
RESULTS = ROOT / "results"
GOLDEN = "tests/engine/test_versions.py"
PAIRED = ("nmmp_iris", "nmmp_faces", "nmmp_rings")
"""Runs that share some pairs of methods on several data sets, and others on one."""
TRACKS = ("inductive", "transductive", "few_labels", "permuted", "dimension")
SKIPPED = "skipped: without DDR_DATA its data set has no fingerprint"
Item = dict[str, Any]


def specs_of(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield a file's specs with their names; a suite has one per data set and track."""
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.spec import load_spec
    from ddr_cli.suite.definition import load_suite

    if path.parent.name == "configs":
        yield path.stem, load_spec(str(path))
        return
    with nothing_fitted():  # optional libraries need not be installed
        for spec in load_suite(path).specs():
            yield f"{path.stem} {spec.name}", spec


def plan_of(spec: Any) -> tuple[Item, list[tuple[str, Item]]]:
    """Return the settings of a spec's whole plan, and the id and settings of each trial."""
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.data import load_card
    from ddr_cli.engine import make_plan
    from ddr_cli.evaluation.evaluators import evaluator_registry
    from ddr_cli.reducers.registry import REDUCERS
    from ddr_cli.spec.estimators import usual

    with nothing_fitted():
        plan = make_plan(spec)
        plan.trials  # noqa: B018 - expanded within the block
        n_inner_fits = plan.n_inner_fits
    data = {name: getattr(plan.data, name) for name in ("name", "fingerprint", "version")}
    whole = {
        "data": {**data, "options": load_card(spec.card).choose(plan.data.options)},
        "preprocess": [[step.name, step.params] for step in spec.preprocess],
        "metrics": list(spec.metrics),
        "fits": [plan.n_fits, n_inner_fits],
    }
    own = spec.split
    drawn = {name: getattr(own, name) for name in ("train", "test", "folds", "column", "sha256")}
    pieces: dict[str, Item] = {}
    names: dict[int, tuple[object, str]] = {}

    def piece(setting: Any) -> Item:
        told = {name: getattr(setting, name) for name in ("name", "label", "mode", "version")}
        registry = evaluator_registry(setting.name) if setting.mode is None else REDUCERS
        return {**told, "params": usual(registry.load(setting.name)) | setting.params}

    def tuning(chosen: Any) -> Item:
        among = [[piece(reducer), piece(other)] for reducer, other in chosen.candidates]
        return {"among": among, "by": [chosen.folds, chosen.repeats, chosen.metric]}

    def once(describe: Callable[[Any], Item], thing: Any) -> str:
        """Return the hash of settings that splits share; `pieces` maps it to the settings."""
        if id(thing) not in names:
            described = describe(thing)
            names[id(thing)] = (thing, digest(described))  # keeping the object keeps its id unique
            pieces[names[id(thing)][1]] = described
        return names[id(thing)][1]

    trials = []
    for key, fits in plan.fits.items():
        size = {} if key.kind == "predefined" else {**drawn, "train": key.train or own.train}
        split = [key.kind, key.index, key.name, own.seed, size]
        for fit in fits:
            for trial_id, cell in fit.trials.items():
                described = {
                    "split": split,
                    "reducer": once(piece, cell.reducer),
                    "evaluator": once(piece, cell.evaluator),
                    "labels": cell.labels,
                    "control": cell.control,
                    "tuning": once(tuning, cell.tuning) if cell.tuning else None,
                    "fitted_width": fit.widths[0] if fit.widths else None,
                }
                trials.append((trial_id, described))
    return {**whole, "pieces": pieces}, trials


def frames_of_runs(*folders: Path) -> dict[str, pd.DataFrame]:
    """Return the summary of a single run, and a comparison if there are several methods."""
    import ddr_cli
    from ddr_cli.core.errors import InputError

    frames = {"summary": ddr_cli.Results(folders[0]).summary} if len(folders) == 1 else {}
    try:
        found = ddr_cli.compare(*folders)
    except InputError:
        return frames
    names = ("methods", "differences", "pairs", "scores")
    return frames | {name: getattr(found, name) for name in names}


def frames_of_board(track: str) -> dict[str, pd.DataFrame]:
    """Return the leaderboards of a track of the suite lite, with and without tuning."""
    import ddr_cli
    from ddr_cli.core.errors import InputError

    frames = {}
    for tuned in (True, False):
        try:
            board = ddr_cli.leaderboard("lite", out=RESULTS, track=track, tuned=tuned)
        except InputError as error:
            frames[f"{tuned}"] = pd.DataFrame({"refused": [type(error).__name__]})
            continue
        for name in ("table", "means", "scores", "seconds", "failures"):
            frames[f"{tuned} {name}"] = getattr(board, name).reset_index()
    return frames


def frames_of_page() -> dict[str, pd.DataFrame]:
    """Return the tables of the page of the suite lite, and all leaderboards that it offers."""
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.suite.benchmark import benchmark_of
    from ddr_cli.suite.definition import load_suite
    from ddr_cli.suite.remaining import folder_of

    with nothing_fitted():
        suite = load_suite("lite")
        bench = benchmark_of(suite, folder_of(suite, RESULTS))
        names = ("edges", "orders", "choices", "widths", "width_changes", "by_labels", "by_size")
        names += ("faithfulness", "by_dimension", "permuted", "failures")
        frames = {name: getattr(bench, name).reset_index() for name in names}
        return frames | {str(key): board.table for key, board in bench.boards.items()}


# -------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a value in JSON types, numbers with ten significant digits, 1.0 as 1."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bool | str) or value is None:
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return int(number) if number.is_integer() else f"{number:.10g}"


def digest(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(plain(value), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def frame_digest(frame: pd.DataFrame) -> str:
    """Return the hash of a table, which does not depend on the order of its columns."""
    columns = {str(name): frame[name].astype(object).tolist() for name in frame.columns}
    return digest(columns)


def column_digests(frame: pd.DataFrame) -> Item:
    return {str(name): digest(frame[name].astype(object).tolist()) for name in frame.columns}


def verdict_digests(path: Path) -> Item:
    """Return a hash for each paper and kind of entry in a record of verdicts."""
    papers = json.loads(path.read_text(encoding="utf-8"))
    return {
        f"{paper} {kind}": digest(found)
        for paper, kinds in papers.items()
        for kind, found in kinds.items()
    }


def resolved(spec: Any) -> tuple[list[str], list[str]]:
    """Return a spec's shared settings and its sorted cells as lines of JSON, and the trial ids."""
    whole, trials = plan_of(spec)
    lines = [json.dumps(plain(cell), sort_keys=True) for _, cell in trials]
    shared = [json.dumps({key: plain(whole[key])}, sort_keys=True) for key in whole]
    return [*shared, *sorted(lines)], sorted(trial_id for trial_id, _ in trials)


def cells(path: Path) -> dict[str, Item | str]:
    from ddr_cli.core.errors import DataUnavailableError

    found: dict[str, Item | str] = {}
    for name, spec in specs_of(path):
        try:
            lines, ids = resolved(spec)
        except DataUnavailableError:
            found[name] = SKIPPED
            continue
        found[name] = {"trials": len(ids), "cells": digest("\n".join(lines)), "ids": digest(ids)}
    return found


def report(form: str) -> dict[str, Item | str]:
    """Generate the report in a temporary folder with links to the runs."""
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch, "results")
        results.mkdir()
        shutil.copy(RESULTS / "verdicts.json", results)
        for journal in RESULTS.glob("*/trials.csv"):
            (results / journal.parent.name).symlink_to(journal.parent)
        option = ["--check"] if form == "check" else ["--format", form]
        ran = subprocess.run(
            [sys.executable, "-m", "ddr_cli", "report", str(results), *option],
            env={**os.environ, "COLUMNS": "250"},
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            return {f"--{form}": f"exit {ran.returncode}: {ran.stderr.strip()}"}
        if form == "check":
            words = re.findall(r"[^\s\u2500-\u257f]+", ran.stdout)  # without table borders
            return {"--check": {"exit": 0, "output": digest(" ".join(words))}}
        return report_digests(results)


def report_digests(results: Path) -> dict[str, Item | str]:
    """Return the verdicts and tables by column, and the hash of every other file of a report."""
    found: dict[str, Item | str] = {"verdicts": verdict_digests(results / "verdicts.json")}
    for file in (results / "report").rglob("*.*"):
        name = file.relative_to(results).as_posix()
        if file.suffix == ".csv":
            found[name] = column_digests(pd.read_csv(file, dtype=str, keep_default_na=False))
        elif file.suffix in (".md", ".tex"):
            found[name] = digest(file.read_text(encoding="utf-8"))
    return found


def runs(_: None) -> dict[str, Item | str]:
    folders = sorted(path.parent for path in RESULTS.glob("*/trials.csv"))
    compared = {folder.name: [folder] for folder in folders}
    compared[" ".join(PAIRED)] = [RESULTS / name for name in PAIRED]
    return {
        name: {part: frame_digest(each) for part, each in frames_of_runs(*runs).items()}
        for name, runs in compared.items()
    }


def rows(_: None) -> dict[str, Item | str]:
    found: dict[str, Item | str] = {}
    from ddr_cli.suite.published import results_of

    paths = {
        path.parent.relative_to(top): path
        for top in (RESULTS, results_of("lite", RESULTS))
        for path in top.rglob("trials.csv")
    }
    for folder, path in sorted(paths.items()):
        files = (path, path.with_name("controls.csv"))
        both = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in files]
        frame = pd.concat(both).drop(columns="trial_id")
        lines = sorted(json.dumps(row, sort_keys=True) for row in frame.to_dict("records"))
        found[folder.as_posix()] = {"rows": len(lines), "content": digest("\n".join(lines))}
    return found


def lite(track: str | None) -> dict[str, Item | str]:
    frames = frames_of_page() if track is None else frames_of_board(track)
    return {track or "page": {name: frame_digest(each) for name, each in frames.items()}}


def made(what: str) -> dict[str, Item | str]:
    """Run the tests' suite or write their paper, and return what the commands make of it."""
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as scratch:
        try:
            found = {"suite": made_suite, "paper": made_paper}[what](Path(scratch))
        except AssertionError as error:  # a command failed
            return {what: str(error)}
    return {f"{what} {name}": item for name, item in found.items()}


def with_times(row: Item) -> Item:
    """Return times of a trial that are the same on each run, and differ between trials."""
    told = [row.get(name) for name in ("split", "reducer", "classifier", "tuned", "labels")]
    names = [name for name in row if name.endswith("_seconds") and row[name]]
    return {name: f"0.{int(digest([name, *told]), 16) % 10**6:06}" for name in names}


def made_suite(folder: Path) -> dict[str, Item | str]:
    from tests.suite.test_accuracy import (
        SELECTED,
        board,
        change,
        costs,
        exported,
        run_suite,
        with_other_samples,
    )

    run_suite(folder)
    for log in folder.glob("suite_small/*/trials.csv"):
        change(log, with_times)
        manifest = log.with_name("manifest.json")
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"sessions": []}))
    change(folder / "suite_small" / "iris" / "trials.csv", with_other_samples)
    asked = ["", "--defaults", "--classifier linear", "--track few_labels"]
    found: dict[str, Item | str] = {
        f"table {words}": frame_digest(pd.DataFrame(board(folder, *words.split())))
        for words in asked
    }
    found["table selected"] = frame_digest(pd.DataFrame(board(folder, "--classifier", SELECTED)))
    found["export"] = column_digests(pd.DataFrame(exported(folder)))
    return found | {"status": digest(costs(folder))}


def made_paper(folder: Path) -> dict[str, Item | str]:
    from tests.papers.test_whole_paper import report_paper

    results = report_paper(folder, "csv", "all")
    controls = results / "run" / "controls.csv"
    controls.write_text(controls.read_text().replace(",0.2,", ",0.3,"))
    report_paper(folder, "html")
    summary = pd.read_csv(results / "run" / "summary.csv", dtype=str)
    return report_digests(results) | {"summary": column_digests(summary)}


def golden(_: None) -> dict[str, Item | str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", GOLDEN]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    failed = re.findall(r"^(?:FAILED|ERROR) \S*?(?:::(\S+))?(?: |$)", ran.stdout, re.MULTILINE)
    return {"golden": {"exit": ran.returncode, "failed": sorted(failed)}}


GROUPS: dict[str, Callable[[Any], dict[str, Item | str]]] = {
    "report": report,
    "lite": lite,
    "made": made,
    "cells": cells,
    "runs": runs,
    "rows": rows,
    "golden": golden,
}


def differences(old: Item, new: Item) -> Iterator[str]:
    """Yield a line for each item that differs, with the values that differ."""
    for name in sorted(old.keys() | new.keys()):
        before, now = old.get(name, "missing"), new.get(name, "missing")
        if isinstance(before, dict) and isinstance(now, dict):
            parts = [key for key in {**before, **now} if before.get(key) != now.get(key)]
            told = (f"{key} {before.get(key)} -> {now.get(key)}" for key in parts)
            if parts:
                yield f"  {name}: {', '.join(told)}"
        elif before != now:
            yield f"  {name}: {before} -> {now}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that results are unchanged.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--record", action="store_true", help="overwrite same.json")
    parser.add_argument("--cells", metavar="NAME", help="print the hashed settings")
    given = parser.parse_args()
    os.chdir(ROOT)
    shipped = [path for folder in ("suites", "configs") for path in Path(folder).glob("*.yaml")]
    if given.cells:
        path = next(each for each in shipped if each.stem == given.cells.split()[0])
        print(*resolved(dict(specs_of(path))[given.cells])[0], sep="\n")
        return 0
    parts: dict[str, list[Any]] = {
        "report": ["csv", "markdown", "latex", "check"],
        "lite": [None, *TRACKS],
        "made": ["suite", "paper"],
        "cells": shipped,
    }
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    is_same = True
    with ProcessPoolExecutor(2) as pool:
        jobs = {
            group: [pool.submit(make, each) for each in parts.get(group, [None])]
            for group, make in GROUPS.items()
            if group in (given.groups or GROUPS)
        }
        for group, asked in jobs.items():
            found = {name: item for job in asked for name, item in job.result().items()}
            skipped = [name for name, item in found.items() if item == SKIPPED]
            before = known.get(group, {})
            found |= {name: before[name] for name in skipped if name in before}
            lines = [] if given.record else list(differences(before, found))
            is_same &= not lines
            ending = "recorded" if given.record else f"{len(lines)} differ" if lines else "same"
            print(f"{group}: {len(found)} items, {ending}", *lines, sep="\n", flush=True)
            for name in skipped:
                print(f"  {name} {SKIPPED}")
            if given.record:
                known[group] = found
    if given.record:
        RECORD.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
