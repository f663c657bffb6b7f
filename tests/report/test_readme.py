"""The README and the pages say what the committed results say, and link to what is there."""

import ast
import json
import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from ddr_cli.papers.schema import load_paper

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# These are made when the site is built.
MADE = {"methods.md", "spec.md", "pieces.md", "commands.md", "card.md"}


def test_the_verdict_counts_are_the_reports():
    counts = (ROOT / "results" / "report" / "verdict_counts.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    assert all(table in page for table in counts.strip().split("\n\n"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_links_to_is_there(page):
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", page.read_text(encoding="utf-8"))
    lost = [link for link in links if not (page.parent / link).exists()]
    assert [link for link in lost if Path(link).name not in MADE] == []


@pytest.fixture(scope="module")
def verdicts():
    return json.loads((ROOT / "results" / "verdicts.json").read_text(encoding="utf-8"))


def _means(run, metric="accuracy"):
    rows = pd.read_csv(ROOT / "results" / run / "summary.csv")
    return rows[rows["metric"] == metric].set_index("reducer_label")


def test_the_five_findings_are_what_the_committed_results_say(verdicts):
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    # 1. CCDR
    assert verdicts["ccdr"]["claims"]["gain"] == {"own": "holds", "resplits": "fails"}
    # 2. NMMP
    above = [
        verdict
        for name, verdict in verdicts["nmmp"]["parts"].items()
        if name.endswith("-nmmp-baseline") and "much" not in name
    ]
    assert [each["own"] for each in above] == ["holds"] * 6
    clear = sum(each["resplits"] == "holds" for each in above)
    assert f"on {('no', 'one', 'two', 'three', 'four', 'five', 'six')[clear]} of them" in readme
    # 3. SSDE
    bounds = _means("ssde_centroid_scale")
    means = bounds.loc[bounds["reducer.n_components"] == 20, "mean"]
    assert means.max() - means.min() > 0.2
    # 4. LFDA
    assert verdicts["lfda"]["claims"]["all-four"]["own"] == "holds"
    # 5. Discriminative Projections
    table = load_paper("dp").artefact("table1")
    printed = [each for each in table.printed if each.value and not each.reading]
    numbers = verdicts["dp"]["numbers"]
    assert not [
        each.id for each in printed if "reproduced" in numbers[f"table1.{each.id}"].values()
    ]
    assert max(each.value.value for each in printed if each.row == "OHSUMED") < 0.704
    assert (
        max(each.value.value for each in printed if "lpp" in each.id and each.row != "OHSUMED")
        < 0.55
    )
    assert _means("dp_mushroom").loc["original", "mean"] > 0.99
    assert _means("dp_mushroom_first").loc["original", "mean"] < 0.55


def test_the_scripts_for_slurm_are_right_as_far_as_can_be_seen_without_it():
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    (python,) = [text for text in re.findall(r"```python\n(.*?)```", page, re.S) if "SLURM" in text]
    (array,) = (text for text in re.findall(r"```text\n(.*?)```", page, re.S) if "#SBATCH" in text)
    subprocess.run(["bash", "-n"], input=array, text=True, check=True)
    (call,) = (
        each
        for each in ast.walk(ast.parse(python))
        if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "SLURMCluster"
    )
    options = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
    slurm = pytest.importorskip("dask_jobqueue.slurm", reason="dask-jobqueue is not installed")
    job = slurm.SLURMJob(scheduler="tcp://here:1", name="worker", **options).job_script()
    subprocess.run(["bash", "-n"], input=job, text=True, check=True)
    assert "#SBATCH -p normal" in job
    assert "--nthreads 1" in job


def test_the_picture_of_the_architecture_has_the_floors_of_the_import_contract():
    picture = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'^    "(ddr_cli\.[^"]+)",$', contract, re.M)
    shown = re.findall(r'class="name" x="34" [^>]*>([^<]+)<', picture)
    assert shown == [layer.replace("ddr_cli.", "") for layer in layers]
