"""No content of a stranger's results folder is executed in the terminal, the page or on disk."""

import io
import json
import os
import shutil

import pandas as pd
import pytest

from ddr_cli.comparison.compare import compare
from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import summarize
from ddr_cli.core.errors import InputError
from ddr_cli.core.spreadsheet import as_cell, from_cell
from ddr_cli.engine import run_spec
from ddr_cli.papers.report import write_report
from ddr_cli.report.chart import page_chart
from ddr_cli.report.run_files import write_run
from ddr_cli.report.run_tables import run_table
from ddr_cli.rows.embeddings import read_embeddings
from ddr_cli.rows.folder import locked
from ddr_cli.rows.log import Rows
from ddr_cli.show.csv import csv
from ddr_cli.show.page import Grid
from ddr_cli.spec import make_spec


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    spec = make_spec(
        name="theirs",
        dataset="iris",
        split={"kind": "fraction", "train": 0.5, "repeats": 2},
        reducers=["none", {"name": "lda", "n_components": 1}],
        classifiers=["knn"],
        controls=[],
        embeddings={"points": 30},
    )
    return run_spec(spec, out=tmp_path_factory.mktemp("theirs")).folder


def changed(run, folder, change):
    shutil.copytree(run, folder / "theirs")
    path = folder / "theirs" / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    return folder / "theirs"


@pytest.mark.parametrize(
    "text",
    ["\x1b[31mred\x1b]0;t\x07", "\x9b31m", "[bold]x[/nope]", "$\\bad{$", "=cmd|' /C calc'!A0"],
)
def test_a_label_is_text(run, tmp_path, text, capsys):
    def relabel(manifest):
        manifest["spec"]["title"] = text
        manifest["spec"]["reducers"][0]["label"] = text

    summary = summarize(load_run(changed(run, tmp_path, relabel)))
    write_run(summary)
    table = (summary.run.folder / "summary.csv").read_text()
    assert not any(line.partition("iris,none,")[2].startswith("=") for line in table.splitlines())
    from ddr_cli.cli.options import console, print_table

    print_table(console(), run_table(summary))
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "k-NN" in shown


def test_a_figure_has_its_own_ids_and_no_code_on_the_page():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'viewBox="0 0 9 9"><title>&lt;b&gt;</title><desc>&lt;i&gt;</desc>'
        '<defs><path id="a" d="M 0 0 L 1.26123 1"/></defs>'
        '<use xlink:href="#a" x="1" y="2" style="fill: #0072b2"/>'
        '<use xlink:href="#a" x="3" y="2" style="fill: #0072b2"/>'
        "<text>&lt;script&gt; 1.26123</text></svg>"
    )
    chart = page_chart(7, svg)
    assert (chart.title, chart.description) == ("<b>", "<i>")
    assert "<b>" not in chart.body
    assert "<script>" not in chart.body
    assert chart.body.count("#c7-0") == 2
    # Each style is stated once, with a colour for a dark page; only numbers in tags are shortened.
    assert chart.body.count("light-dark(#0072b2,") == 1
    assert 'd="M 0 0 L 1.261 1"' in chart.body
    assert "1.26123</text>" in chart.body


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(planned=-5),
        lambda m: m.update(planned=10**400),
        lambda m: m["spec"].update(metrics=["same_class"]),
        lambda m: m["spec"].update(sweep={"reducer.beta": [1, "a", None]}),
        lambda m: m["spec"].update(labels=[1, "all"]),
        lambda m: m["spec"].update(reducers=None),
        lambda m: m.update(spec="x"),
    ],
)
def test_a_manifest_that_lies_is_one_sentence(run, tmp_path, change):
    with pytest.raises(InputError, match=r"damaged|has no column"):
        summarize(load_run(changed(run, tmp_path, change)))


def test_sizes_that_are_not_there_are_not_taken(run, tmp_path):
    folder = changed(run, tmp_path, lambda m: m.update(sizes={"fraction": {}}))
    assert load_run(run).sizes("fraction") == (75, 75)
    assert load_run(folder).sizes("fraction") is None


def test_an_embedding_without_rows_has_a_figure(run, tmp_path):
    folder = tmp_path / "theirs"
    shutil.copytree(run, folder)
    header, *_ = (folder / "trials.csv").read_text().splitlines()
    (folder / "trials.csv").write_text(f"{header}\n")
    write_report(tmp_path)
    assert "lda" in (tmp_path / "report" / "index.html").read_text().casefold()


def test_an_embedding_that_leads_nowhere_is_one_sentence(run, tmp_path):
    folder = tmp_path / "theirs"
    shutil.copytree(run, folder)
    (folder / "embeddings" / "x.json").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"x\.json is damaged .* Delete"):
        list(read_embeddings(folder))


def test_a_folder_that_links_to_itself_is_one_sentence(tmp_path):
    (tmp_path / "theirs").symlink_to("theirs")
    with pytest.raises(InputError, match="theirs"):
        compare([tmp_path / "theirs"])


def test_nothing_is_written_through_a_link(run, tmp_path):
    folder, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.mkdir()
    shutil.copytree(run, folder / "theirs")
    (folder / "report").symlink_to(elsewhere, target_is_directory=True)
    (folder / "theirs" / "summary.csv").symlink_to(elsewhere / "mine.csv")
    with pytest.raises(InputError, match="is a link"):
        write_report(folder)
    assert not list(elsewhere.iterdir())


FORMULAS = [
    "-2+3+cmd|' /C calc'!A0",
    "=1",
    " =1",
    "\n=1",
    "\t1",
    "\r1",
    "@x",
    "+x",
    "-x",
    "\N{FULLWIDTH EQUALS SIGN}1",
]


@pytest.mark.parametrize("text", [*FORMULAS, "'=1", "''=1"])
def test_no_text_is_a_spreadsheet_s_formula(text):
    frame = pd.DataFrame({text: [text, "x"], "b": [-1.0, 2.5]})
    written = pd.read_csv(io.StringIO(csv(Grid(frame))), skip_blank_lines=False)
    head, cell = written.columns[0], written.iloc[0, 0]
    assert head == cell == f"'{text}"
    assert from_cell(cell) == text
    assert written["b"].tolist() == [-1.0, 2.5]


@pytest.mark.parametrize("text", ["-1.5 to 2", "-1e-05", "+3", "-inf", "'x' is none", "a=b", ""])
def test_numbers_and_other_texts_stay_what_they_are(text):
    assert as_cell(text) == text == from_cell(text)


@pytest.mark.parametrize("name", ["", "run.lock", "trials.csv", "embeddings", "previous"])
def test_a_run_writes_through_no_link(tmp_path, run, name):
    folder, elsewhere = tmp_path / "results" / "theirs", tmp_path / "elsewhere"
    shutil.copytree(run, elsewhere)
    folder.parent.mkdir()
    if name:
        shutil.copytree(run, folder)
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(elsewhere / name)
    before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="is a link"), locked(folder):
        pass
    assert before == {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["trials.csv", "run.lock", "embeddings/x.json"])
def test_a_pipe_in_a_results_folder_is_not_read(tmp_path, run, name):
    folder = tmp_path / "theirs"
    shutil.copytree(run, folder)
    (folder / name).unlink(missing_ok=True)
    (folder / name).parent.mkdir(exist_ok=True)
    os.mkfifo(folder / name)
    reading = {
        "trials.csv": lambda: Rows(folder, dict, ()),
        "run.lock": locked(folder).__enter__,
    }
    with pytest.raises(InputError, match="a device or a pipe"):
        reading.get(name, lambda: list(read_embeddings(folder)))()
