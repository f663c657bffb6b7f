"""Tables in LaTeX: their cells, and the page that pdflatex generates."""

from __future__ import annotations

import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from ddr_cli.comparison.compare import compare
from ddr_cli.comparison.summary import summary_of
from ddr_cli.report.comparison_tables import comparison_tables
from ddr_cli.show.latex import latex
from ddr_cli.show.markdown import markdown
from ddr_cli.show.page import Grid
from ddr_cli.show.terminal import terminal

RESULTS = Path(__file__).parents[2] / "results"


def rows_of(text):
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    return [line.removesuffix(r" \\").split(" & ") for line in body.strip().splitlines()]


def test_a_minus_is_a_minus_sign():
    frame = pd.DataFrame({"method": ["x-1: -2.5 points", "b_1"], "difference": ["-2.47", "+30.7"]})
    text = latex(Grid(frame))
    assert rows_of(text) == [["x-1: $-$2.5 points", "$-$2.47"], [r"b\_1", "+30.7"]]
    assert r"\begin{tabular}{@{}lr@{}}" in text


def test_special_characters_of_latex_are_escaped():
    text = r"50 % & a_b #1 $x$ {y} ~ ^ \z | < >"
    written = latex(Grid(pd.DataFrame({"a": [text]})))
    (row,) = rows_of(written.replace(r"\&", "AND"))
    assert row == [
        r"50 \% AND a\_b \#1 \$x\$ \{y\} \textasciitilde{} \textasciicircum{} "
        r"\textbackslash{}z $|$ $<$ $>$"
    ]


def test_the_best_and_those_not_distinguished_from_it_are_bold():
    tables = [*comparison_tables(compare([summary_of(RESULTS / "landsat_ccdr_table1_tuned")]))]
    written = "".join(map(latex, tables))
    bold = [[row[0] for row in rows_of(latex(table)) if "textbf" in row[1]] for table in tables[:2]]
    assert bold == [["no reduction, k-NN"], ["no reduction, k-NN, tuned", "PCA, k-NN, tuned"]]
    for fact in (
        "20 re-splits of 4,435 training and 2,000 test samples",
        "correction for 3 comparisons",
    ):
        assert fact in written
    assert "**9.71 ± 0.68**" in markdown([tables[1]])


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_a_typical_comparison_fits_the_page(tmp_path, make_spec, write_results):
    dims = make_spec(
        "dims",
        reducers=[
            {"name": name, "params": {"n_components": dim}, "label": f"{name} (n_components={dim})"}
            for name in ("pca", "random_projection", "lmnn")
            for dim in (1, 2)
        ],
        predefined=False,
        repeats=4,
    )
    folder = write_results(tmp_path / "results", dims, lambda trial: 0.1 + 0.01 * len(trial.split))
    tables = [Grid(pd.DataFrame({"a": [r"50 % & a_b #1 $x$ {y} ~ ^ \z | < > – † ≈ β μ → ≤"]}))]
    for each in ("nmmp_iris", "fair_landsat", "rivals_segment", folder):
        tables += comparison_tables(compare([summary_of(RESULTS / each)]))
    body = "\n\n".join(latex(table) for table in tables)
    body += latex(tables[-1], ["Four splits, 50 % of the samples"])
    assert r"\caption{" in body
    assert r"Four splits, 50 \% of the samples.}" in body
    page = r"\documentclass{article}\usepackage{booktabs}\setlength{\parindent}{0pt}"
    (tmp_path / "page.tex").write_text(f"{page}\\begin{{document}}\n{body}\n\\end{{document}}\n")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert not re.findall(r"Overfull \\hbox.*", done.stdout)
    assert (tmp_path / "page.pdf").is_file()


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_word_of_a_table_is_broken_in_a_terminal(width):
    (table,) = comparison_tables(compare([summary_of(RESULTS / "nmmp_iris")]))
    file = StringIO()
    Console(file=file, width=width, markup=False, highlight=False).print(terminal(table, width))
    shown = file.getvalue()
    assert max(map(len, shown.splitlines())) <= width
    texts = [*table.frame.columns[1:], *table.frame.to_numpy().ravel()]
    words = {word for text in texts for word in str(text).split()}
    assert words <= set(shown.replace("│", " ").replace("┃", " ").split())
