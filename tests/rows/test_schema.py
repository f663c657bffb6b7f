"""The tables have the columns that their schemas state."""

from pathlib import Path

import ddr_cli
from ddr_cli.engine import make_plan
from ddr_cli.rows.schema import BOARD, DESCRIBING, OPTIONAL, OUTCOME, PLAN, ROWS, SUMMARY
from ddr_cli.spec import load_spec

RESULTS = Path(__file__).parents[2] / "results"
RUN = "fair_landsat"


def fixed(columns):
    """Return the columns that are no parameters, of which each component has its own."""
    return {name for name in columns if not name.startswith(("reducer.", "classifier."))}


def test_a_plan_a_row_and_a_summary_have_the_columns_of_their_schemas():
    plan = make_plan(load_spec(RUN))
    lines = {name for line in plan.lines.values() for name in line}
    assert fixed(lines) <= PLAN.keys()
    results = ddr_cli.Results(RESULTS / RUN)
    assert fixed(results.trials.columns) - {*plan.spec.metrics} <= ROWS.keys()
    assert fixed(results.summary.columns) <= SUMMARY.keys()
    assert {*DESCRIBING, *OPTIONAL, *OUTCOME} == ROWS.keys()


def test_a_leaderboard_has_the_columns_of_its_schema():
    assert {*ddr_cli.leaderboard("lite", out=RESULTS).table} == BOARD.keys()
