"""What grows without a decision is named."""

from collections import Counter
from pathlib import Path

import pytest

ROWS = {
    "files": {"capability": "files", "where": "ddr_cli/core", "budget": "10"},
    "errors": {"capability": "errors", "where": "ddr_cli/core/errors.py", "budget": "5"},
    "all": {"capability": "all", "where": "", "commands": "1", "options": "2", "records": "0"},
}
FOUND = {
    "ddr_cli/core/errors.py": Counter(code=6, commands=2, options=2),
    "ddr_cli/core/atomic.py": Counter(code=9),
}


@pytest.fixture
def size(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    import size

    return size


def test_a_capability_above_its_budget_needs_a_changed_line(size):
    totals, wrong = size.measured(ROWS, FOUND)
    assert wrong == []
    assert {name: total["code"] for name, total in totals.items()} == {
        "files": 9,
        "errors": 6,
        "all": 15,
    }
    names = [each.partition(":")[0] for each in size.above_budget(ROWS, totals, ROWS)]
    assert names == ["errors", "all"]
    before = ROWS | {"errors": ROWS["errors"] | {"budget": "4"}, "all": {}}
    assert [*size.above_budget(ROWS, totals, before)] == []
    # Without git, nothing is known about the branch.
    assert [*size.above_budget(ROWS, totals, None)] == []


def test_a_folder_without_a_line_and_a_file_that_is_gone_are_named(size):
    rows = ROWS | {"gone": {"capability": "gone", "where": "ddr_cli/gone.py", "budget": "0"}}
    _, wrong = size.measured(rows, FOUND | {"ddr_cli/core/new/one.py": Counter(code=1)})
    assert [each.split()[0] for each in wrong] == ["ddr_cli/gone.py", "ddr_cli/core/new/one.py:"]
