"""The campaign of faults: a small one, and that it sees what would be lost."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import bench_faults  # type: ignore[import-not-found]

    return bench_faults


def test_a_run_that_is_killed_and_whose_journal_is_torn_loses_nothing(
    faults: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # A short name: sockets of the run's processes are below it, and their paths may have 107 signs.
    folder = tmp_path_factory.mktemp("f")
    whole = faults.Place(faults.prepare(folder / "whole", 1), random.Random(0), 0)
    assert whole.end(whole.start()) == 0
    whole.rows = faults.rows_in(whole.journal)
    found = faults.episode(folder / "torn", "the journal torn", whole, times=1, seed="0")
    assert found["rows expected"] == 8
    assert not any(found[name] for name in ("lost", "wrong", "doubled", "hung", "not finished"))


def test_the_page_states_the_campaign_s_numbers() -> None:
    table = pd.read_csv(ROOT / "results" / "benchmarks" / "faults.csv").set_index("fault")
    found = table.loc["all"]
    # Nothing lost: the sentence holds as it stands.
    assert not found.drop(["faults", "rows expected"]).any()
    page = " ".join((ROOT / "docs" / "resume.md").read_text(encoding="utf-8").split())
    said = (
        f"{found['faults']} faults of {len(table) - 1} kinds over {found['rows expected']:,} rows"
    )
    assert said in page


def test_what_is_lost_wrong_and_doubled_is_counted(faults: ModuleType, tmp_path: Path) -> None:
    head = "trial_id,error,status,fit_seconds,eval_seconds\n"
    rows = [f"{name},0.{name},ok,1,1\n" for name in "123"]
    for name, lines in {
        "whole": rows,
        "same": [rows[2], rows[0], rows[1].replace(",1,1", ",9,9")],
        "torn": [rows[0], rows[0], rows[1].replace("0.2", "0.3")],
        "more": [*rows, "4,0.4,ok,1,1\n"],
    }.items():
        (tmp_path / name).write_text(head + "".join(lines))
    whole = tmp_path / "whole"
    assert faults.differences(whole, tmp_path / "same") == (0, 0, 0)
    assert faults.differences(whole, tmp_path / "torn") == (1, 1, 1)
    assert faults.differences(whole, tmp_path / "more") == (0, 1, 0)
