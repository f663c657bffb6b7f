"""The README and the pages match the committed results and link to existing files."""

import ast
import json
import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from ddr_cli.data.cards import load_card
from ddr_cli.papers.schema import load_paper

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# These pages are generated when the site is built.
MADE = {"spec.md", "pieces.md", "commands.md", "card.md"}


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


def _percent(value):
    return f"{100 * value:.2f} %"


@pytest.fixture(scope="module")
def readme():
    return " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def test_the_finding_on_ccdr(readme, verdicts):
    assert verdicts["ccdr"]["claims"]["gain"] == {"own": "holds", "resplits": "fails"}
    rows = _means("landsat_ccdr", "error").query("classifier_label == '3-NN'")
    (none, after), (none_over, after_over) = (
        rows.loc[rows["split"] == split, "mean"].loc[["no reduction", "CCDR"]]
        for split in ("predefined", "resample")
    )
    fall = f"{100 * (1 - after / none):.1f} %"
    assert f"from {_percent(none)} to {_percent(after)}, a relative reduction of {fall}" in readme
    assert f"{_percent(none_over)} without CCDR and {_percent(after_over)} with CCDR" in readme
    assert set(rows.loc[rows["split"] == "resample", "n"]) == {50}


def test_the_finding_on_nmmp(readme, verdicts):
    words = ("no", "one", "two", "three", "four", "five", "six")
    above = [
        verdict
        for name, verdict in verdicts["nmmp"]["parts"].items()
        if name.endswith("-nmmp-baseline") and "much" not in name
    ]
    assert [each["own"] for each in above] == ["holds"] * 6
    clear = sum(each["resplits"] == "holds" for each in above)
    assert f"On {words[clear]} of the six data sets, the 95 % interval of the difference" in readme
    gains = []
    for name in ("iris", "balance", "faces", "objects", "usps", "news"):
        means = _means(f"nmmp_{name}").query("`classifier.ties` == 'smallest_label'")["mean"]
        gains.append(100 * (means["NMMP"] - means["baseline"]))
    assert f"by {min(gains):.1f} to {max(gains):.1f} percentage points" in readme
    printed = load_paper("nmmp").artefact("table4").printed
    own = {each.id: verdicts["nmmp"]["numbers"][f"table4.{each.id}"]["own"] for each in printed}
    counted = [own[each.id] for each in printed if each.is_counted("own")]
    used = len(own) - len(counted)
    assert f"prints {len(own)} numbers, and we used {used} of these numbers" in readme
    reproduced = counted.count("reproduced")
    assert f"We reproduce {reproduced} of the {len(counted)} numbers in Table 4" in readme


def test_the_finding_on_ssde(readme):
    bounds = _means("ssde_centroid_scale").query("`reducer.n_components` == 20")
    low, high = 100 * bounds["mean"].min(), 100 * bounds["mean"].max()
    assert f"{low:.1f} % to {high:.1f} %, depending on the bound" in readme
    assert set(bounds["n"]) == {3}


def test_the_finding_on_lfda(readme, verdicts):
    assert verdicts["lfda"]["claims"]["all-four"]["own"] == "holds"
    marks = [each for each in load_paper("lfda").artefact("marks").marks if each.is_counted("own")]
    assert len(marks) == 4
    found = [verdicts["lfda"]["numbers"][f"marks.{each.id}"]["own"] for each in marks]
    assert found.count("reproduced") == 2
    assert "four ratings that we did not use to choose thresholds, we reproduce two" in readme


def test_the_finding_on_discriminative_projections(readme, verdicts):
    table = load_paper("dp").artefact("table1")
    printed = [each for each in table.printed if each.value and not each.reading]
    numbers = verdicts["dp"]["numbers"]
    assert f"reproduce none of the {len(printed)} numbers in Table 1" in readme
    assert not [
        each.id for each in printed if "reproduced" in numbers[f"table1.{each.id}"].values()
    ]
    ohsumed = [each.value.value for each in printed if each.row == "OHSUMED"]
    assert f"{100 * min(ohsumed):.2f} to {100 * max(ohsumed):.2f} %" in readme
    assert max(ohsumed) < 0.7042
    sizes = load_card("ohsumed").expect.classes.values()
    assert _percent(max(sizes) / sum(sizes)) in readme


def test_the_finding_of_the_leaderboard(readme):
    table = pd.read_csv(ROOT / "results" / "report" / "suite_lite" / "leaderboard.csv")
    table = table.query("track == 'inductive' and classifier == 'knn' and tuned")
    best = table.set_index("place").loc[1]
    without = table.set_index("method").loc["none", "mean"]
    # The README must contain this sentence word for word.
    sentence = (
        f"of {len(table)} methods and {best['datasets']} data sets, `{best['method']}` ranks "
        f"first (95 % interval of the rank: {best['rank_low']:g} to {best['rank_high']:g}). "
        f"With tuning and a 3-NN classifier, `{best['method']}` has a mean error of "
        f"{_percent(best['mean'])}, compared with {_percent(without)} without reduction."
    )
    assert sentence in readme


def test_the_limits_of_a_cluster_are_those_of_the_table():
    page = " ".join((ROOT / "docs" / "cluster.md").read_text(encoding="utf-8").split())
    table = pd.read_csv(ROOT / "results" / "benchmarks" / "cluster.csv").set_index("workers")
    one, two = table.loc[1], table.loc[2]
    rates = one["trials per second"], two["trials per second"]
    for text in (
        f"{one['ms of ddr per trial']:.1f} ms of CPU time",
        f"{one['ms of the scheduler per trial']:.1f} ms in the scheduler",
        f"at most {one['limit in trials per second']:.0f} trials per second",
        f"each trial takes {one['ms of a trial'] / 1000:.2f} s",
        f"require {one['limit in workers']:.0f} workers if",
        f"one worker completed {rates[0]:.1f} trials per second",
        f"two workers completed {rates[1]:.1f}",
        f"{rates[1] / rates[0]:.2f} times as many",
    ):
        assert text in page


def test_the_scripts_for_slurm_are_right_as_far_as_can_be_seen_without_it():
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    python = (ROOT / "docs" / "examples" / "slurm.py").read_text(encoding="utf-8")
    (array,) = (text for text in re.findall(r"```bash\n(.*?)```", page, re.S) if "#SBATCH" in text)
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
    floors = contract.partition("layers = [")[2].partition("]")[0]
    layers = re.findall(r'"(ddr_cli\.[^"]+)"', floors)
    shown = re.findall(r'class="name" x="34" [^>]*>([^<]+)<', picture)
    assert shown == [layer.replace("ddr_cli.", "") for layer in layers]
