"""`ddr compare` on committed runs."""

import json
from pathlib import Path

import pandas as pd
import pytest

RESULTS = Path(__file__).parents[2] / "results"
IRIS, FACES, OBJECTS = (str(RESULTS / f"nmmp_{name}") for name in ("iris", "faces", "objects"))


def test_every_form_of_the_comparison_is_written(ddr_here, work):
    files = {
        ending: work / f"pairs.{ending}" for ending in ("json", "csv", "md", "tex", "png", "pdf")
    }
    flags = [text for path in files.values() for text in ("--save", str(path))]
    done = ddr_here(
        "compare",
        *(IRIS, FACES, OBJECTS, "--metric", "accuracy", "--against", "nmmp"),
        *("--methods", "NMMP,lda,baseline", "--classifier", "3-NN, ties to the nearest"),
        *("--equivalence", "0.02", *flags),
    )
    assert done.returncode == 0, done.stderr
    assert "Difference: method minus NMMP." in done.stdout
    assert "at most 2 percentage points" in " ".join(done.stdout.split())
    assert "LMNN" not in done.stdout
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert files["pdf"].read_bytes().startswith(b"%PDF")
    found = json.loads(files["json"].read_text(encoding="utf-8"))
    assert [pair["datasets"] for pair in found["pairs"]] == [3, 3, 3]
    assert found["equivalence"] == 0.02
    table = pd.read_csv(files["csv"])
    assert list(table["method"]) == ["baseline", "LDA"] * 3
    assert table["p_holm"].min() == pytest.approx(6 * table["p_value"].min())
    assert "| baseline | LDA | 3 |" in files["md"].read_text(encoding="utf-8")
    latex = files["tex"].read_text(encoding="utf-8")
    assert latex.count(r"\begin{tabular}") == 5


def test_json_on_standard_output_is_all_there_is(ddr_here):
    done = ddr_here("compare", IRIS, "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert {"metric", "methods", "differences", "pairs", "scores", "notes"} <= set(found)
    assert {row["against"] for row in found["differences"]} == {"baseline"}


def test_a_setting_is_asked_for_by_its_name(ddr_here):
    folder = str(RESULTS / "landsat_ccdr_beta")
    done = ddr_here("compare", folder, "--at", "beta=0.5")
    assert done.returncode == 0
    assert done.stdout.count("(β = 0.5)") == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--against", "x"), "No method is called 'x'"),
        (("--metric", "f1"), "no metric 'f1'"),
        (("--at", "beta"), "--at n_components=10"),
        (("--save", "ranks.gif"), "must end in .md"),
    ],
)
def test_a_mistake_is_one_sentence(ddr_here, words, says):
    done = ddr_here("compare", IRIS, *words)
    assert done.returncode == 2
    assert says in done.stderr
