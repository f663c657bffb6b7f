"""The page on resuming states the numbers in the table of injected faults."""

from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_states_the_campaign_s_numbers():
    table = pd.read_csv(ROOT / "results" / "benchmarks" / "faults.csv").set_index("fault")
    found = table.loc["all"]
    # The page says that no row was lost, wrong or duplicated.
    assert not found.drop(["faults", "rows expected"]).any()
    page = " ".join((ROOT / "docs" / "resume.md").read_text(encoding="utf-8").split())
    assert f"{found['faults']} faults of {len(table) - 1} kinds" in page
    assert f"{found['rows expected']:,} rows" in page
