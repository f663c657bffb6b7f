import csv
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ddr_cli.cli.app import app as main_app
from ddr_cli.cli.report import report as report_command
from ddr_cli.comparison.summary import summary_of
from ddr_cli.core.errors import InputError
from ddr_cli.papers.record import regressions
from ddr_cli.papers.report import check_report, count_text, write_report
from ddr_cli.papers.tables import counts as counted
from ddr_cli.papers.verdicts import both
from ddr_cli.report import Format
from ddr_cli.report.run_files import write_run
from ddr_cli.show.html import table as html_table
from ddr_cli.show.latex import latex
from ddr_cli.show.markdown import markdown
from ddr_cli.show.page import Grid

CCDR = {
    "name": "ccdr",
    "mode": "transductive",
    "params": {"n_components": 14, "n_neighbors": 4, "beta": 0.5},
}
CLASSIFIERS = [{"name": "knn", "params": {"n_neighbors": 3}}, {"name": "linear"}]
BETAS = [0.01, 0.1, 0.5, 1.0, 10.0]


def _beta_error(trial):
    """Return 8.6 % for k-NN at beta = 0.5 on the predefined split, else about 9.7 %."""
    if trial.index is not None:
        return 0.097 + (trial.index - 4.5) / 10_000
    return 0.086 if (trial.classifier, trial.params["reducer.beta"]) == ("knn", 0.5) else 0.097


def _dots_error(trial):
    if trial.index is not None:
        return 0.09 + trial.index / 10_000
    return {"none": 0.0965, "ccdr": 0.0815}[trial.reducer] if trial.classifier == "knn" else 0.227


@pytest.fixture(scope="module")
def written(tmp_path_factory, make_spec, write_results):
    """Return a results folder with a complete, a partial and a foreign run, after a report."""
    results = tmp_path_factory.mktemp("made") / "results"
    beta = make_spec(
        "landsat_ccdr_beta",
        reducers=[CCDR],
        classifiers=CLASSIFIERS,
        sweep={"reducer.beta": BETAS},
        repeats=10,
        log=True,
        paper={"name": "ccdr", "artefact": "fig2"},
        title="Error against <beta>",
    )
    write_results(results, beta, _beta_error)
    dots = make_spec(
        "landsat_ccdr", reducers=[{"name": "none"}, CCDR], classifiers=CLASSIFIERS, repeats=10
    )
    write_results(results, dots, _dots_error)
    k = make_spec(
        "landsat_ccdr_k",
        reducers=[CCDR],
        classifiers=CLASSIFIERS,
        sweep={"reducer.n_neighbors": [3, 4, 5]},
        repeats=10,
    )
    write_results(results, k, lambda *_: 0.09, keep=12)
    mine = make_spec("mine", reducers=[CCDR], repeats=3, predefined=False, title="My own")
    write_results(results, mine, lambda *_: 0.05)
    return results, write_report(results)


def _files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_derived_file_is_written(written):
    results, outcome = written
    names = set(_files(results))
    for run in ("landsat_ccdr_beta", "landsat_ccdr", "landsat_ccdr_k", "mine"):
        assert {f"{run}/summary.csv", f"{run}/figure.svg", f"{run}/figure.png"} <= names
    for ending in ("csv", "md", "tex"):
        assert f"report/tables/ccdr_fig2.{ending}" in names
        assert f"report/tables/ccdr_claims.{ending}" in names
    assert {
        "report/figures/ccdr_fig2_landsat_ccdr_beta.svg",
        "report/index.html",
        "verdicts.json",
    } <= names
    assert outcome.page == results / "report" / "index.html"
    assert {str(path.relative_to(results)) for path in outcome.files} == {
        name for name in names if not name.endswith(("trials.csv", "manifest.json"))
    }


def test_deleting_and_reporting_again_brings_back_every_byte(written, tmp_path):
    results, _ = written
    before = _files(results)
    copy = tmp_path / "elsewhere"
    shutil.copytree(results, copy)
    for path in copy.rglob("*"):
        if path.is_file() and path.name not in ("trials.csv", "manifest.json"):
            path.unlink()
    write_report(copy)
    assert _files(copy) == before


def _append(path, text):
    path.write_bytes(path.read_bytes() + text)


def _first_row_is_wrong(path):
    lines = path.read_text().split("\n")
    cells = lines[1].split(",")
    cells[lines[0].split(",").index("error")] = "0.5"
    path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]))


def test_nothing_is_written_again_if_nothing_has_changed(written, tmp_path):
    results = tmp_path / "results"
    shutil.copytree(written[0], results, copy_function=shutil.copyfile)  # does not keep the times
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*") if path.is_file()}
    outcome = write_report(results)
    assert {path.parent.name for path in outcome.unchanged} >= {"mine", "landsat_ccdr_k"}
    assert set(outcome.unchanged) >= set(results.glob("*/figure.svg"))
    assert {path: path.stat().st_mtime_ns for path in before} == before
    said = _run(results).stdout
    assert f"{len(outcome.unchanged)} figures unchanged" in said


@pytest.mark.parametrize(
    ("change", "name", "brings_back"),
    [
        (Path.unlink, "figure.png", True),
        (Path.unlink, "figure.svg", True),
        (lambda path: _append(path, b"edited"), "figure.png", True),
        (lambda path: _append(path, b"<!-- edited -->"), "figure.svg", True),
        (lambda path: path.write_bytes(path.read_bytes()[9:]), "figure.svg", True),
        (_first_row_is_wrong, "trials.csv", False),
    ],
)
def test_a_figure_is_drawn_again_if_it_or_a_row_has_changed(
    written, tmp_path, change, name, brings_back
):
    results = tmp_path / "results"
    shutil.copytree(written[0], results)
    folder, before = results / "mine", _files(results)
    change(folder / name)
    outcome = write_report(results)
    others = {path for path in results.glob("*/figure.svg") if path.parent != folder}
    assert folder / "figure.svg" not in outcome.unchanged
    assert set(outcome.unchanged) >= others
    after = _files(results)
    assert (after == before) is brings_back
    assert (after["mine/figure.svg"] == before["mine/figure.svg"]) is brings_back
    assert (after["report/index.html"] == before["report/index.html"]) is brings_back


def test_a_changed_control_makes_its_files_again(tmp_path, make_spec, write_results):
    spec = make_spec("mine", reducers=[CCDR, {"name": "lda"}], repeats=3, predefined=False)
    folder = write_results(tmp_path, spec, lambda _: 0.1, on_shuffled=0.6)
    names = ("summary.csv", "figure.svg")
    write_run(summary_of(folder))
    before = {name: (folder / name).read_bytes() for name in names}
    path = folder / "controls.csv"
    path.write_text(path.read_text().replace(",0.6,", ",0.7,"))
    assert _run(tmp_path).exit_code == 0
    assert all((folder / name).read_bytes() != before[name] for name in names)
    assert "0.7" in (folder / "summary.csv").read_text()


def test_other_code_draws_every_figure_again(written, tmp_path, monkeypatch):
    results = tmp_path / "results"
    shutil.copytree(written[0], results)
    monkeypatch.setattr("ddr_cli.report.run_files.code_digest", lambda: "another version")
    assert write_report(results).unchanged == ()


def test_the_table_holds_printed_ours_and_verdict(written):
    results, _ = written
    text = (results / "report/tables/ccdr_fig2.csv").read_text(encoding="utf-8")
    (row,) = csv.DictReader(text.splitlines())
    assert float(row["printed"]) == 0.086
    assert float(row["own_mean"]) == 0.086
    assert (row["own_n"], row["own_verdict"]) == ("1", "reproduced")
    assert float(row["resplits_mean"]) == pytest.approx(0.097)
    assert (row["resplits_n"], row["resplits_verdict"]) == ("10", "differs (higher)")
    assert float(row["resplits_difference"]) == pytest.approx(0.011)
    assert row["own_setting"] == "β = 0.5"
    markdown = (results / "report/tables/ccdr_fig2.md").read_text(encoding="utf-8")
    assert "| CCDR, k-NN at β = 0.5 | 0.086 (8.6 %) | 8.60 % | +0.00" in markdown
    assert "| (reproduced: calibration) |" in markdown
    latex = (results / "report/tables/ccdr_fig2.tex").read_text(encoding="utf-8")
    assert r"CCDR, k-NN at $\beta$ = 0.5 & 0.086 (8.6 \%) & 8.60 \% & +0.00" in latex
    assert r"\toprule" in latex


def test_claims_are_given_two_verdicts(written):
    (paper,) = written[1].assessment.papers
    found = {own.id: (own.verdict, over.verdict) for own, over in both(paper.of("claims"))}
    assert found["fig2-knn-half"] == ("holds", "fails")
    assert found["gain"] == ("holds", "fails")
    assert found["fig4-knn"] == ("not run", "not run")
    assert found["benefit"] == ("not run", "not run")


def test_the_counts_are_those_of_the_verdicts(written):
    numbers, claims = written[1].assessment.counts()
    (result,) = written[1].assessment.papers
    for counts, what in ((numbers, "numbers"), (claims, "claims")):
        views = [counted(result.verdicts, what, view) for view in ("own", "resplits")]
        assert list(counts.index) == [result.paper.short]
        found = {name: [int(n) for n in counts[name].iloc[0].split(" / ")] for name in counts}
        for place, view in enumerate(views):
            assert {name: pair[place] for name, pair in found.items() if pair[place]} == dict(view)
    # Two numbers are calibration, because 8.6 % was used to choose the weights.
    assert numbers["reproduced"].iloc[0].startswith("0 / ")
    assert numbers["calibration"].iloc[0] == "2 / 0"


def test_the_file_holds_a_table_for_numbers_and_one_for_claims(written):
    text = (written[0] / "report" / "verdict_counts.md").read_text(encoding="utf-8")
    assert text == count_text(written[1].assessment)
    assert text.count("| CCDR | ") == 2


class _Page(HTMLParser):
    """Collects the visible text, the ids and the internal links, and checks the nesting."""

    VOID = frozenset({"meta", "br", "img", "link", "hr", "input"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if values.get("id"):
            self.ids.append(values["id"])
        if tag == "a" and values["href"].startswith("#"):
            self.links.append(values["href"][1:])
        if values.get("src") or tag == "link":
            self.outside.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "svg", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def page(written):
    return _Page(written[1].page.read_text(encoding="utf-8"))


def test_the_page_is_whole_and_needs_no_other_file(page, written):
    assert page.open == []
    assert page.outside == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.links) <= set(page.ids)
    html = written[1].page.read_text(encoding="utf-8")
    assert html.count("<svg ") == 4
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


@pytest.mark.parametrize(
    "sentence",
    [
        "Fig. 2: Error against β",
        "(reproduced: calibration) 9.70 ± 0.03 % (n = 10) +1.10 ± 0.03 ▲ differs (higher)",
        "ddr run landsat_ccdr_table1",
        "landsat_ccdr_k: 12 of 66 trials done",
        ": 15.5 %; the claim requires at least 10 %",
        "Other runs My own",
    ],
)
def test_the_page_says(page, sentence):
    assert sentence in page.text


def test_the_page_escapes_what_a_spec_says(written):
    html = written[1].page.read_text(encoding="utf-8")
    assert "<beta>" not in html


def test_a_partial_run_gives_no_number_and_no_verdict(page):
    after = page.text.split("Fig. 4: Error against the number k of graph neighbours")[-1]
    table = after.split("Section V-D: Intrinsic dimension")[0]
    assert "12 of 66 trials done" in table
    assert "reproduced" not in table
    assert "9.00 %" not in table


def test_one_paper_leaves_other_runs_and_the_counts_out(written, tmp_path):
    copy = tmp_path / "results"
    for name in ("landsat_ccdr", "mine"):
        shutil.copytree(written[0] / name, copy / name)
    done = _run(copy, "--paper", "ccdr", "--format", "html")
    assert done.exit_code == 0, done.output
    names = set(_files(copy))
    assert "My own" not in (copy / "report" / "index.html").read_text(encoding="utf-8")
    assert not any(name.endswith(".tex") for name in names)
    assert "report/verdict_counts.md" not in names
    _run(copy, "--paper", "ccdr", "--format", "markdown")
    assert "report/verdict_counts.md" not in set(_files(copy))


def test_one_form_of_tables_writes_no_page(written, tmp_path):
    results = tmp_path / "results"
    shutil.copytree(written[0] / "landsat_ccdr", results / "landsat_ccdr")
    outcome = write_report(results, format=Format.latex)
    assert {path.suffix for path in outcome.files} == {".tex", ".json"}
    assert outcome.page is None


def test_the_form_pdf_writes_every_figure_of_runs_and_papers(written, tmp_path):
    results = tmp_path / "results"
    shutil.copytree(written[0] / "landsat_ccdr", results / "landsat_ccdr")
    done = _run(results, "--format", "pdf")
    assert done.exit_code == 0, done.output
    pictures = sorted(results.rglob("*.pdf"))
    assert results / "landsat_ccdr" / "figure.pdf" in pictures
    assert any(path.parent == results / "report" / "figures" for path in pictures)
    assert all(path.read_bytes().startswith(b"%PDF") for path in pictures)
    assert not list(results.rglob("index.html"))


@pytest.mark.parametrize(
    ("paper", "message"), [("cddr", "Did you mean 'ccdr'"), ("ccdr", "has no runs of ccdr")]
)
def test_a_paper_without_results_is_one_clear_message(
    tmp_path, make_spec, write_results, paper, message
):
    write_results(tmp_path, make_spec("mine", reducers=[CCDR], repeats=2), lambda *_: 0.1)
    with pytest.raises(InputError, match=message):
        write_report(tmp_path, paper=paper)


def test_a_run_of_no_paper_is_reported_alone(tmp_path, make_spec, write_results):
    folder = write_results(tmp_path, make_spec("mine", reducers=[CCDR], repeats=2), lambda *_: 0.1)
    names = ["figure.svg", "figure.png", "summary.csv"]
    assert [path.name for path in write_run(summary_of(folder))] == names
    table = (folder / "summary.csv").read_bytes()
    (folder / "summary.csv").write_text("edited")
    write_run(summary_of(folder))
    assert (folder / "summary.csv").read_bytes() == table
    text = _Page(write_report(tmp_path).page.read_text(encoding="utf-8")).text
    assert "Runs" in text
    assert "At a glance" not in text


def test_no_partly_written_file_remains(written):
    assert not list(written[0].rglob("*.part"))


# -- the record and --check ------------------------------------------------------------------


def _record(own="reproduced", claim=None):
    def both(verdict):
        return {"own": verdict, "resplits": "not applicable"}

    claims = {} if claim is None else {"c": both(claim)}
    return {"ccdr": {"numbers": {"fig2.a": both(own)}, "claims": claims, "parts": {}}}


@pytest.mark.parametrize(
    ("recorded", "now", "count"),
    [
        (_record(), _record(), 0),
        (_record(), _record(own="not testable"), 0),
        (_record(own="not testable"), _record(), 0),
        (_record(), _record(own="differs (lower)"), 1),
        (_record(), _record(own="not run"), 1),
        (_record(own="differs (lower)"), _record(own="not run"), 1),
        (_record(own="differs (lower)"), _record(), 0),
        (_record(), {}, 2),
        ({}, _record(own="differs (lower)"), 0),
        (_record(), {"ccdr": {"numbers": {}, "claims": {}, "parts": {}}}, 0),
        (_record(), _record(own="close"), 1),
        (_record(claim="holds"), _record(claim="fails"), 1),
        (_record(claim="holds"), _record(claim="undecided"), 1),
        (_record(claim="undecided"), _record(claim="holds"), 0),
        (_record(claim="undecided"), _record(claim="fails"), 1),
    ],
)
def test_the_number_of_lost_verdicts(recorded, now, count):
    assert len(regressions(recorded, now)) == count


def test_another_papers_loss_is_not_this_ones():
    assert regressions(_record(), {}, paper="nmmp") == []


app = typer.Typer()
app.command()(report_command)


def _run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_the_command_checks_against_the_record(written, tmp_path):
    results = tmp_path / "results"
    shutil.copytree(written[0], results)
    before = _files(results)
    done = _run(results, "--check")
    assert done.exit_code == 0
    assert _files(results) == before

    record = json.loads((results / "verdicts.json").read_text(encoding="utf-8"))
    record["ccdr"]["parts"]["fig2-knn-minimum"]["resplits"] = "holds"
    (results / "verdicts.json").write_text(json.dumps(record), encoding="utf-8")
    done = _run(results, "--check")
    assert done.exit_code == 1
    assert "fig2-knn-minimum (re-splits)" in done.output

    (results / "verdicts.json").write_text('{"ccdr": {"numbers": {"a": {"own": "fine"}}}}')
    with pytest.raises(InputError, match=r"verdicts.json"):
        check_report(results)
    (results / "verdicts.json").unlink()
    done = _run(results, "--check")
    assert isinstance(done.exception, InputError)
    assert "no recorded verdicts" in str(done.exception)


def test_the_command_shows_the_verdicts(written, tmp_path):
    results = tmp_path / "results"
    shutil.copytree(written[0], results)
    done = _run(results, "--format", "csv")
    assert done.exit_code == 0, done.output
    output = re.sub(r"\s+", " ", re.sub("[│┃]", "", done.output))
    assert "reproduced" in output
    assert "the paper's setting / re-splits" in output
    assert re.search("Other runs .* mine 3 of 3", output)
    assert "up to date" in output
    assert len(done.output.splitlines()) < 60
    full = _run(results, "--format", "csv", "--full")
    assert "printed numbers" in full.output
    assert len(full.output.splitlines()) > len(done.output.splitlines()) + 20


def test_runs_that_can_not_be_read_are_named_and_left_out(tmp_path, make_spec, write_results):
    damage = {"empty": b"", "foreign": b"a,b\n1,2\n", "damaged": b"{", "fine": None}
    for name, content in damage.items():
        folder = write_results(tmp_path, make_spec(name, reducers=[CCDR], repeats=2), lambda _: 0.1)
        if content is not None:
            file = "manifest.json" if name == "damaged" else "trials.csv"
            (folder / file).write_bytes(content)
    (tmp_path / "verdicts.json").write_text("{}")
    for arguments in ([], ["--check"]):
        done = _run(tmp_path, *arguments)
        assert done.exit_code == 1, done.output
        for name in ("empty", "foreign", "damaged"):
            assert str(tmp_path / name) in done.stderr
    done = CliRunner().invoke(main_app, ["status", str(tmp_path)])
    assert done.exit_code == 1, done.output
    assert "fine: 3 of 3" in done.stdout
    for name in ("foreign", "damaged"):
        assert f"Skipped: {tmp_path / name}" in done.stderr
    assert (tmp_path / "fine" / "summary.csv").is_file()
    assert "fine" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "verdicts.json").read_text() == "{}"
    (tmp_path / "fine" / "manifest.json").unlink()
    assert isinstance(_run(tmp_path).exception, InputError)


def test_runs_of_ones_own_get_a_report_about_them(tmp_path, make_spec, write_results):
    reducers = [CCDR, {"name": "./mine.py:Mine"}]
    for name, failed in (("good", []), ("bad", ["resample-3"])):
        spec = make_spec(name, reducers=reducers, repeats=5)
        write_results(
            tmp_path, spec, lambda made: 0.1 * len(made.reducer) / 4, failed_splits=failed
        )
    done = _run(tmp_path)
    assert done.exit_code == 0, done.output
    assert str(tmp_path / "report" / "index.html") in done.output.replace("\n", "")
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    for words in (done.output, page):
        assert "good: error rate" in words
        assert "Difference: method minus CCDR" in words
        assert "bad: failures" in words
        assert "failed: ValueError: made up" in words
        assert "--reasons" in words
    assert "The papers" not in page
    assert "verdict" not in page.partition("<body>")[2]


# -- forms of tables -------------------------------------------------------------------------


def test_cells_are_escaped_in_every_form():
    import pandas as pd

    frame = pd.DataFrame({"a|b": ["5 % ± 1"], "c_d": ["x | y & β"]})
    table = Grid(frame, "A title", ("A note.",))
    lines = markdown([table]).splitlines()
    assert lines[4] == "| 5 % ± 1 | x \\| y & β |"
    assert (lines[0], lines[-1]) == ("### A title", "A note.")
    broken = Grid(frame.replace("5 % ± 1", "5 %\n± 1\n"))
    assert markdown([broken]) == markdown([Grid(frame)])
    assert r"5 \% $\pm$ 1 & x $|$ y \& $\beta$" in latex(table)
    assert r"c\_d" in latex(table)
    assert latex(table).startswith("% A title\n% A note.\n")
    assert '<th scope="row">5 % ± 1</th><td class="number">x | y &amp; β</td>' in html_table(table)
