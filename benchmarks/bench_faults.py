"""Inject faults into runs and compare their rows with those of an undisturbed run.

    python benchmarks/bench_faults.py [--minutes 10] [--seed 0] [--only KIND] [--quick]

In each episode, a run gets three faults of one kind at random moments; one kind injects several
faults each time. The same command resumes the run after each fault, and a last command with `--redo
failed` completes it and repeats failed trials. The trial log must then have each row of the
undisturbed run exactly once, with the same metrics to the last bit.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import psutil
from sklearn.datasets import load_digits
from tables import options, write

SPEC = """
dataset: ./points.yaml
split: {kind: fraction, train: 0.5, repeats: REPEATS}
reducers: [{name: ccdr, n_components: 9, n_neighbors: 4, mode: transductive}, none]
classifiers: [{name: knn, n_neighbors: 3}, linear]
sweep: {reducer.beta: {log: [0.1, 10, 3]}}
controls: []
"""
CARD = """
name: points
title: Images of digits
files: [{path: points.csv}]
format: {name: csv, label: digit}
"""
# A wall clock that jumps forwards or back by a day at random calls.
JUMPING = """
import random, time
_real = time.time
time.time = lambda: _real() + random.choice((-86400, 0, 0, 86400))
"""
_MOST_KILLS = 20
PATIENCE = 180.0
"""After this many seconds without a new row, a run counts as hung."""


def rows_in(journal: Path) -> int:
    """Return the number of complete lines after the header of a trial log."""
    return max(0, journal.read_bytes().count(b"\n") - 1) if journal.exists() else 0


@dataclass
class Place:
    """A folder with data, a spec and the results of its run; `chance` draws the times of faults."""

    home: Path
    chance: random.Random
    rows: int
    hung: int = 0

    @property
    def journal(self) -> Path:
        """The run's trial log, which may not exist yet."""
        return self.home / "results" / "points_run" / "trials.csv"

    def start(self, *words: str, limit: int | None = None) -> subprocess.Popen[bytes]:
        """Start the run as a user does, in its own session; `limit` bounds its files, in bytes."""

        def starve() -> None:
            if limit is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        (self.home / "tmp").mkdir(exist_ok=True)
        given = {"TMPDIR": str(self.home / "tmp"), "DDR_CACHE": str(self.home / "cache")}
        words = (*words, *([] if "--backend" in words else ["--jobs", "2"]))
        return subprocess.Popen(
            [sys.executable, "-m", "ddr_cli.cli.app", "run", "points_run.yaml", "--quiet", *words],
            cwd=self.home,
            env=os.environ | given | {"PYTHONPATH": str(self.home / "path")},
            start_new_session=True,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            preexec_fn=starve,
        )

    def moment(self, run: subprocess.Popen[bytes], within: int | None = None) -> None:
        """Wait for a random moment: in a quarter of the cases near the start, else after some rows.

        `within` is the largest number of rows to wait for, by default a quarter of all rows.
        """
        seconds = self.chance.uniform(0.1, 3.0) if self.chance.random() < 0.25 else PATIENCE
        until = time.monotonic() + seconds
        wanted = rows_in(self.journal) + self.chance.randint(1, within or max(1, self.rows // 4))
        while run.poll() is None and time.monotonic() < until and rows_in(self.journal) < wanted:
            time.sleep(0.002)
        time.sleep(self.chance.uniform(0, 0.02))

    def end(self, run: subprocess.Popen[bytes]) -> int | None:
        """Wait for the run to end; kill it if it writes no row for a long time."""
        seen, until = -1, 0.0
        while run.poll() is None:
            if (rows := rows_in(self.journal)) != seen:
                seen, until = rows, time.monotonic() + PATIENCE
            elif time.monotonic() > until:
                self.hung += 1
                kill(run, group=True)
            time.sleep(0.01)
        return run.returncode


def kill(run: subprocess.Popen[bytes], *, group: bool = False) -> None:
    """Kill a process, or its whole group, and wait for its end."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL) if group else run.kill()
    run.wait()


def workers(run: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the descendant processes of a run."""
    try:
        return psutil.Process(run.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


# -- the faults: each function starts a run and returns after it has ended --------------------


def sent(number: signal.Signals, *, group: bool = False) -> Callable[[Place], None]:
    def fault(place: Place) -> None:
        run = place.start()
        place.moment(run)
        if run.poll() is None:
            os.killpg(run.pid, number) if group else run.send_signal(number)
        place.end(run)

    return fault


def workers_killed(how_many: int | None) -> Callable[[Place], None]:
    def fault(place: Place) -> None:
        run = place.start()
        place.moment(run)
        found = workers(run)
        for each in place.chance.sample(found, min(how_many or len(found), len(found))):
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        place.end(run)

    return fault


def workers_killed_again_and_again(place: Place) -> int:
    run, kills = place.start(), 0
    while run.poll() is None and kills < _MOST_KILLS:
        place.moment(run, within=3)
        if found := workers(run):
            with contextlib.suppress(psutil.NoSuchProcess):
                place.chance.choice(found).kill()
                kills += 1
    place.end(run)
    return kills


def stopped_for_a_while(place: Place) -> None:
    run = place.start()
    place.moment(run)
    if run.poll() is None:
        os.killpg(run.pid, signal.SIGSTOP)
        time.sleep(place.chance.uniform(0.2, 2.0))
        os.killpg(run.pid, signal.SIGCONT)
    place.end(run)


def disk_full(place: Place) -> None:
    size = place.journal.stat().st_size if place.journal.exists() else 0
    place.end(place.start(limit=size + place.chance.randint(1, 4000)))


def journal_torn(place: Place) -> None:
    run = place.start()
    place.moment(run)
    kill(run, group=True)
    if rows_in(place.journal):
        # A power failure loses at most the last row and a half, which are not yet synced.
        size = place.journal.stat().st_size
        os.truncate(place.journal, size - place.chance.randint(1, 300))


def two_at_once(place: Place) -> None:
    first = place.start()
    place.moment(first)
    second = place.start()
    place.end(second)
    place.end(first)


def clock_jumps(place: Place) -> None:
    (place.home / "path").mkdir(exist_ok=True)
    (place.home / "path" / "sitecustomize.py").write_text(JUMPING)
    run = place.start()
    place.moment(run)
    kill(run)
    shutil.rmtree(place.home / "path")


def data_removed(place: Place) -> None:
    run = place.start()
    place.moment(run)
    data = place.home / "points.csv"
    kept = data.read_bytes()
    data.unlink()
    shutil.rmtree(place.home / "cache", ignore_errors=True)
    place.end(run)
    data.write_bytes(kept)


def scratch_removed(place: Place) -> None:
    run = place.start()
    place.moment(run)
    for folder in (place.home / "tmp").iterdir():
        shutil.rmtree(folder, ignore_errors=True)
    place.end(run)


def journal_removed(place: Place) -> None:
    run = place.start()
    place.moment(run)
    place.journal.unlink(missing_ok=True)
    place.end(run)


def dask_lost(what: str) -> Callable[[Place], None]:
    def fault(place: Place) -> None:
        file = place.home / f"cluster-{place.chance.random()}.json"
        base = [sys.executable, "-m", "distributed.cli.dask_"]
        said = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

        def begin(name: str, *words: str) -> subprocess.Popen[bytes]:
            command = [*base[:2], base[2] + name, "--scheduler-file", str(file), *words]
            return subprocess.Popen(command, cwd=place.home, start_new_session=True, **said)

        scheduler = begin("scheduler", "--port", "0", "--no-dashboard")
        hands = [begin("worker", "--nthreads", "1", "--no-dashboard") for _ in range(2)]
        until = time.monotonic() + PATIENCE
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        run = place.start("--backend", "dask", "--scheduler", address)
        place.moment(run)
        kill(scheduler if what == "scheduler" else hands[0], group=True)
        place.end(run)
        for each in (*hands, scheduler):
            kill(each, group=True)

    return fault


KINDS: dict[str, Callable[[Place], int | None]] = {
    "the parent killed": sent(signal.SIGKILL),
    "the group killed": sent(signal.SIGKILL, group=True),
    "a worker killed": workers_killed(1),
    "all workers killed": workers_killed(None),
    "workers killed again and again": workers_killed_again_and_again,
    "stopped for a while": stopped_for_a_while,
    "hung up": sent(signal.SIGHUP),
    "interrupted (Ctrl-C)": sent(signal.SIGINT, group=True),
    "terminated": sent(signal.SIGTERM),
    "the disk full": disk_full,
    "the journal torn": journal_torn,
    "two runs at once": two_at_once,
    "the clock jumps": clock_jumps,
    "the data removed": data_removed,
    "the scratch folder removed": scratch_removed,
    "the journal removed": journal_removed,
    "dask's scheduler lost": dask_lost("scheduler"),
    "a dask worker lost": dask_lost("worker"),
}
QUICK = ("the parent killed", "the journal torn")


# -- the campaign -----------------------------------------------------------------------------


class Differences(NamedTuple):
    """The numbers of rows that a trial log lacks, has with other values, and repeats."""

    lost: int
    wrong: int
    doubled: int


def differences(whole: Path, torn: Path) -> Differences:
    """Compare the trial log of a run with faults with that of the undisturbed run."""
    spent = ["fit_seconds", "eval_seconds"]
    first, second = (
        pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns=spent)
        for path in (whole, torn)
    )
    counts = second["trial_id"].value_counts()
    known = first.set_index("trial_id")
    found = second.drop_duplicates("trial_id").set_index("trial_id").reindex(columns=known.columns)
    both = known.index.intersection(found.index)
    wrong = (known.loc[both] != found.loc[both]).any(axis=1).sum() + len(found.index) - len(both)
    return Differences(len(known) - len(both), int(wrong), int((counts - 1).sum()))


def prepare(home: Path, repeats: int) -> Path:
    """Write the data, the card and the spec into a new folder."""
    home.mkdir()
    X, y = load_digits(return_X_y=True)
    table = pd.DataFrame(X[:600], columns=[f"x{i}" for i in range(64)])
    table.assign(digit=np.array(list("abcdefghij"))[y[:600]]).to_csv(
        home / "points.csv", index=False
    )
    (home / "points.yaml").write_text(CARD)
    (home / "points_run.yaml").write_text(SPEC.replace("REPEATS", str(repeats)))
    return home


def episode(home: Path, kind: str, whole: Place, *, times: int, seed: str) -> dict[str, object]:
    """Inject faults of one kind into a run, complete it, and return a row of the table."""
    shutil.copytree(whole.home, home, ignore=shutil.ignore_patterns("results", "tmp", "cache"))
    place = Place(home, random.Random(seed), whole.rows)
    # A kind may return how many faults it injected.
    faults = sum(KINDS[kind](place) or 1 for _ in range(times))
    code = place.end(place.start("--redo", "failed"))
    found = differences(whole.journal, place.journal)
    if code != 0 or any(found) or place.hung:
        print(f"{kind}, seed {seed}: exit {code}, {found}, {place.hung} hung", flush=True)
    else:
        shutil.rmtree(home)
    row: dict[str, object] = {"fault": kind, "faults": faults, "rows expected": whole.rows}
    return row | found._asdict() | {"hung": place.hung, "not finished": int(code != 0)}


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(KINDS), help="repeatable")
    given = parser.parse_args()
    kinds = given.only or (QUICK if given.quick else list(KINDS))
    rows: list[dict[str, object]] = []
    top = Path(tempfile.mkdtemp(prefix="ddr-faults-"))
    home = prepare(top / "whole", 2 if given.quick else 10)
    whole = Place(home, random.Random(0), 0)
    assert whole.end(whole.start()) == 0
    whole.rows = rows_in(whole.journal)
    until = time.monotonic() + 60 * given.minutes
    number = 0
    # Inject every kind once, and repeat while time remains.
    while number < len(kinds) or (time.monotonic() < until and not given.quick):
        kind, seed = kinds[number % len(kinds)], f"{given.seed}-{number}"
        times = 1 if given.quick else 3
        rows.append(episode(top / str(number), kind, whole, times=times, seed=seed))
        number += 1
        # Write the table after each episode, so that an interrupted campaign keeps it.
        table = pd.DataFrame(rows).groupby("fault", sort=False).sum()
        table.loc["all"] = table.sum()
        write(table.reset_index(), given, "faults")
    print(table.to_string())
    bad = int(table.loc["all"].drop(["faults", "rows expected"]).sum())
    if bad:
        print(f"{top} contains the folders of the runs that went wrong.")
    else:
        shutil.rmtree(top)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
