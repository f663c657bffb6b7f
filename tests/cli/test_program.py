"""The command-line program: names, help, messages and exit codes."""

import errno
import json
import os
import subprocess
import sys

import pandas as pd
import pytest
import typer

import ddr_cli
from ddr_cli.cli.app import app
from ddr_cli.spec import estimators

TINY = """
title: A tiny run
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 2, seed: 0}
reducers: [none, {name: pca, n_components: 2}]
classifiers: [{name: knn, n_neighbors: 3}, linear]
controls: []
"""


def assert_mistake(done, *, code=2):
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: ")


def test_every_command_is_in_the_help_and_has_its_own(ddr_here):
    listed = ddr_here("--help").stdout
    for command in typer.main.get_command(app).commands:
        assert f" {command} " in listed
        assert "Usage: " in ddr_here(command, "--help").stdout


def test_the_version_is_that_of_the_package(ddr_here):
    done = ddr_here("--version")
    assert done.returncode == 0
    assert done.stdout.startswith(f"ddr {ddr_cli.__version__}\n")
    for name in ("python", "sklearn", "numpy", "threadpoolctl"):
        assert f"{name}: " in done.stdout


def test_planning_and_the_files_of_a_run_load_no_more_than_they_need(tmp_path):
    heavy = ["sklearn.metrics", "scipy.stats._stats_py", "cvxpy", "jinja2"]
    for_files = ["pandas.core", "matplotlib"]
    code = (
        "import sys; from ddr_cli.cli.app import main\n"
        f"sys.argv = ['ddr', 'plan', 'nmmp_balance', '--out', {str(tmp_path)!r}]\n"
        "try: main()\n"
        "finally:\n"
        f" print([m for m in {heavy + for_files} if m in sys.modules])\n"
        " import ddr_cli.report.run_files\n"
        f" print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["[]", "[]"]


def test_plan_reports_the_mistakes_of_all_specs(ddr_here, work):
    (work / "right.yaml").write_text(TINY)
    (work / "wrong.yaml").write_text(TINY.replace("title:", "titel:"))
    done = ddr_here("plan", "wrong.yaml", "right.yaml", "landsat_ccdr_bta")
    assert_mistake(done)
    assert done.stdout == ""
    assert "wrong.yaml:2:1: titel: " in done.stderr
    assert "Did you mean 'title'?" in done.stderr
    assert "Did you mean 'landsat_ccdr_beta'?" in done.stderr
    assert ddr_here("plan", "right.yaml", "--set", "split.repeats=3").returncode == 0


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_wrong_spec_is_placed_and_nothing_runs(ddr_here, work, command):
    (work / "spec.yaml").write_text(TINY.replace("name: pca", "name: pka"))
    done = ddr_here(command, "spec.yaml")
    assert_mistake(done)
    assert "spec.yaml:5:" in done.stderr
    assert "'pca'" in done.stderr
    assert not (work / "results").exists()


@pytest.mark.parametrize("command", ["run", "plan"])
def test_two_files_that_share_a_result_folder_are_refused(ddr_here, work, command):
    (work / "other").mkdir()
    for name in ("tiny.yaml", "other/tiny.yaml"):
        (work / name).write_text(TINY)
    done = ddr_here(command, "tiny.yaml", "other/tiny.yaml")
    assert_mistake(done)
    assert "tiny.yaml and other/tiny.yaml" in done.stderr
    assert "rename" in done.stderr
    assert "--out" in done.stderr
    assert not (work / "results").exists()


def test_several_specs_are_planned_in_one_table(ddr_here, work):
    for name, repeats in (("one", 2), ("two", 5)):
        spec = TINY.replace("repeats: 2", f"repeats: {repeats}")
        (work / f"{name}.yaml").write_text(spec)
    found = json.loads(ddr_here("plan", "one.yaml", "two.yaml", "--json").stdout)
    assert [(each["name"], each["trials"], each["fits"]) for each in found] == [
        ("one", 8, 4),
        ("two", 20, 10),
    ]
    assert json.loads(ddr_here("plan", "one.yaml", "--json").stdout) == found[0]
    lines = [line.split() for line in ddr_here("plan", "one.yaml", "two.yaml").stdout.splitlines()]
    assert ["two", "iris", "20", "10", "0", "20", "unknown"] in lines
    assert ["2", "specs", "28", "14", "0", "28", "unknown"] in lines


@pytest.mark.parametrize(
    "words",
    [
        ("run", "no_such.yaml"),
        ("run", "."),
        ("plan", "landsat_ccdr_bta"),
        ("run", "digits_ccdr_beta", "--set", "reducer.betta=1"),
        ("sweep",),
        ("sweep", "digits_ccdr_beta", "--param", "gamma"),
        ("sweep", "digits_ccdr_beta", "--param", "beta", "--values", "0.1,zero"),
        ("report", "nowhere"),
        ("status", "nowhere"),
    ],
)
def test_a_mistake_is_one_message(ddr_here, words):
    assert_mistake(ddr_here(*words))


def test_a_mistake_ends_the_program_with_its_code(ddr):
    assert_mistake(ddr("run", "no_such.yaml"))


@pytest.mark.parametrize(
    ("refusal", "remedy"),
    [
        (MemoryError(), "ulimit -v"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "ulimit -v"),
        (ImportError("libgomp.so: failed to map segment from shared object"), "ulimit -v"),
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
    ],
)
def test_an_error_of_the_operating_system_is_one_message(ddr_here, monkeypatch, refusal, remedy):
    def load(*_, **__):
        raise RuntimeError from refusal

    monkeypatch.setattr("ddr_cli.spec.load_spec", load)
    done = ddr_here("plan", "digits_ccdr_beta")
    assert_mistake(done)
    assert remedy in done.stderr


def test_a_component_that_memory_keeps_out_is_no_mistake_of_the_spec(ddr_here, monkeypatch):
    def load(_):
        raise MemoryError

    monkeypatch.setattr("ddr_cli.core.registry.import_module", load)
    monkeypatch.delitem(sys.modules, "ddr_cli.reducers.lda", raising=False)
    estimators._factory.cache_clear()
    done = ddr_here("describe", "lda")
    assert_mistake(done)
    assert "ulimit -v" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="keeps a folder that a program is in")
def test_a_folder_that_is_gone_is_said(ddr_here, work):
    (work / "gone").mkdir()
    os.chdir(work / "gone")
    (work / "gone").rmdir()
    done = ddr_here("status")
    assert_mistake(done)
    assert "cd to another folder" in done.stderr


def test_an_option_that_is_not_there(ddr_here):
    done = ddr_here("run", "digits_ccdr_beta", "--job", "2")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_debug_shows_where(ddr):
    done = ddr("--debug", "run", "no_such.yaml")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_data_that_cannot_be_had(ddr_here, work):
    done = ddr_here("run", "landsat_ccdr_beta")
    assert_mistake(done, code=3)
    assert "FOLDER/landsat/sat.trn" in done.stderr
    assert "DDR_DATA" in done.stderr
    assert "digits_ccdr_beta" in done.stderr
    assert not (work / "results").exists()


def test_run_resume_status_report(ddr, ddr_here, work):
    (work / "tiny.yaml").write_text(TINY)
    first = ddr("run", "tiny.yaml")
    assert first.returncode == 0, first.stderr
    folder = work / "results" / "tiny"
    files = {"trials.csv", "summary.csv", "figure.svg", "figure.png", "manifest.json"}
    assert files <= {path.name for path in folder.iterdir()}
    journal = (folder / "trials.csv").read_bytes()
    drawn = (folder / "figure.svg").stat().st_mtime_ns

    second = ddr_here("run", "tiny.yaml")
    assert second.returncode == 0
    assert "are already done" in second.stdout
    assert (folder / "trials.csv").read_bytes() == journal
    assert (folder / "figure.svg").stat().st_mtime_ns == drawn

    (work / "tiny.yaml").write_text(TINY.replace("A tiny run", "Another title"))
    assert ddr_here("run", "tiny.yaml").returncode == 0
    assert "Another title" in (folder / "manifest.json").read_text()
    assert (folder / "figure.svg").stat().st_mtime_ns > drawn

    status = json.loads(ddr_here("status", "--json").stdout)
    assert [(each["name"], each["done"], each["remaining"]) for each in status] == [("tiny", 8, 0)]

    (folder / "figure.svg").unlink()
    report = ddr_here("report", "results")
    assert report.returncode == 0, report.stderr
    assert (folder / "figure.svg").exists()


def test_a_sweep_leaves_out_what_a_method_cannot_have(ddr_here, work):
    made = ddr_here("new", "spec", "mine", "--dataset", "iris", "--reducer", "lda")
    assert made.returncode == 0, made.stderr
    words = ("--param", "n_components", "--repeats", "2", "--set", "controls=[]")
    done = ddr_here("sweep", "mine.yaml", *words)
    assert done.returncode == 0, done.stderr
    assert "dim" in done.stdout
    # LDA's default grid goes up to 9; iris has three classes, so only 1 and 2 are run.
    assert "n_components 3 to 9" in " ".join(done.stdout.split())
    (folder,) = (work / "results").iterdir()
    assert (folder / "figure.png").exists()
    assert pd.read_csv(folder / "trials.csv").status.value_counts().to_dict() == {"ok": 4}


def test_plan_says_what_is_left_out(ddr_here, work):
    wide = TINY + "sweep: {reducer.n_components: [1, 2, 3, 4, 5]}\n"
    for name in ("one", "two"):
        (work / f"{name}.yaml").write_text(wide)
    for words in (["plan", "one.yaml"], ["plan", "one.yaml", "two.yaml"]):
        said = ddr_here(*words).stdout
        assert "pca supports at most 4" in said
        assert "n_components 5 will not run" in said
    assert "two: pca" in said


def test_one_bad_spec_does_not_keep_the_others_from_running(ddr_here, work):
    (work / "tiny.yaml").write_text(TINY)
    done = ddr_here("run", "landsat_ccdr", "tiny.yaml", "--repeats", "2")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert (work / "results" / "tiny" / "summary.csv").exists()
    assert "Specs that could not run: landsat_ccdr." in done.stderr


def test_if_no_spec_can_run_nothing_is_said_of_results(ddr_here, work):
    for name in ("one", "two"):
        (work / f"{name}.yaml").write_text(TINY)
    specs = ("run", "one.yaml", "two.yaml", "--repeats")
    assert ddr_here(*specs, "3").returncode == 0
    refused = ddr_here(*specs, "2")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Specs that could not run: one, two." in refused.stderr


def test_several_complete_runs_say_so_and_do_nothing(ddr_here, work):
    for name in ("one", "two"):
        (work / f"{name}.yaml").write_text(TINY)
    first = ddr_here("run", "one.yaml", "two.yaml", "--repeats", "2", "--memory-limit", "8GB")
    assert first.returncode == 0, first.stderr
    assert "2 specs in results" in first.stdout
    again = ddr_here("run", "one.yaml", "two.yaml", "--repeats", "2")
    assert again.returncode == 0
    assert again.stdout.startswith("Nothing to do: all ")
    assert again.stderr == ""


def test_a_wrong_option_ends_before_anything_is_made(ddr_here, work):
    (work / "tiny.yaml").write_text(TINY)
    done = ddr_here("run", "tiny.yaml", "--memory-limit", "4XB")
    assert_mistake(done)
    assert "--memory-limit 4XB" in done.stderr
    assert not (work / "results").exists()
