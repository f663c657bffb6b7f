"""`ddr describe NAME --dimension` prints the intrinsic dimension of each class."""

import numpy as np
import pytest

from ddr_cli.data import load_dataset
from ddr_cli.evaluation.intrinsic_dimension import estimate_dimension

IRIS = load_dataset("iris")


@pytest.fixture
def mine(work, ddr_here):
    """Make a data set of three classes: on a line, in a cube, and with too few samples."""
    rng = np.random.default_rng(0)
    points = {
        "line": np.outer(rng.random(80), np.ones(4)) + 5,
        "cube": np.hstack([rng.random((80, 3)), np.zeros((80, 1))]),
        "few": rng.random((12, 4)) - 9,
    }
    lines = [
        ",".join([*map(str, row.tolist()), name]) for name, rows in points.items() for row in rows
    ]
    (work / "mine.csv").write_text("\n".join(["a,b,c,d,kind", *lines]) + "\n")
    card = ["--format", "csv", "--label", "kind", "--set", "header=true"]
    made = ddr_here("new", "data", "mine.csv", *card)
    assert made.returncode == 0, made.stderr
    return points


def cells(text):
    """Return the rows of the table, by their first cell."""
    rows = ([cell.strip() for cell in line.strip("│ ").split("│")] for line in text.splitlines())
    return {row[0]: row[1:] for row in rows if len(row) > 2}


def shown(graph, points):
    found = estimate_dimension(points, graph=graph, random_state=0)
    low, high = found.dimensions.min(), found.dimensions.max()
    return f"{found.dimension:.1f} ({low:.1f} to {high:.1f})"


def test_each_class_is_estimated_by_both_graphs(ddr_here):
    done = ddr_here("describe", "iris", "--dimension")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("iris (data set)")
    table = cells(done.stdout)
    for code, name in enumerate(IRIS.target_names):
        own = IRIS.X[code == IRIS.y]
        assert table[name] == ["50", shown("gmst", own), shown("knn", own)]
    assert "median (and range)" in done.stdout


def test_a_class_too_small_has_a_reason_and_the_others_their_estimates(ddr_here, mine):
    done = ddr_here("describe", "mine.yaml", "--dimension")
    assert done.returncode == 0, done.stderr
    table = cells(done.stdout)
    assert table["few"] == ["12", "-", "-"]
    assert "few: A dimension estimate needs 20 " in done.stdout
    for name in ("line", "cube"):
        assert table[name] == ["80", shown("gmst", mine[name]), shown("knn", mine[name])]
    assert float(table["line"][1].split()[0]) == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ccdr", "--dimension"], "not a data set, but --dimension needs one"),
        (["irsi", "--dimension"], "Unknown name 'irsi'. Did you mean 'iris'?"),
    ],
    ids=" ".join,
)
def test_a_mistake_is_said_in_one_sentence(ddr_here, words, message):
    done = ddr_here("describe", *words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert message in done.stderr


def test_data_that_is_not_there_is_said(ddr_here):
    done = ddr_here("describe", "landsat", "--dimension")
    assert done.returncode == 3
    assert "FOLDER/landsat/sat.trn" in done.stderr
