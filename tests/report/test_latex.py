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
from ddr_cli.report.table import Table, together

RESULTS = Path(__file__).parents[2] / "results"


def rows_of(latex):
    body = latex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    return [line.removesuffix(r" \\").split(" & ") for line in body.strip().splitlines()]


def as_seen(cell):
    """Return a cell with spaces instead of phantoms, and with plain signs."""
    room = re.sub(r"\\phantom\{([^}]*)\}", lambda found: " " * len(found[1]), cell)
    return room.replace("$-$", "-").replace(r"$\pm$", "±").replace("$<$", "<")


def test_points_are_aligned_and_a_minus_is_a_minus_sign():
    frame = pd.DataFrame(
        {
            "method": ["x-1: -2.5 points", "b_1", "c"],
            "mean ± sd": ["12.41 ± 1.22", "9.9 ± 10.5", ""],
            "difference": ["-2.47", "+30.7", ""],
            "95 % interval": ["-4.26 to -0.67", "+25.82 to +35.59", ""],
            "p": ["0.0096", "< 0.001", "1"],
        }
    )
    latex = Table(frame).latex()
    rows = rows_of(latex)
    assert [row[0] for row in rows] == ["x-1: $-$2.5 points", r"b\_1", "c"]
    for place in range(1, 5):
        cells = [as_seen(row[place]) for row in rows if row[place]]
        # In right-aligned cells, decimal points align if equally many characters follow them.
        assert len({len(cell) - cell.rfind(".") for cell in cells if "." in cell}) == 1
        assert "-" not in re.sub(r"\$-\$", "", "".join(row[place] for row in rows))
    means = [as_seen(row[1]) for row in rows if row[1]]
    assert len({len(cell) - cell.find(".") for cell in means}) == 1
    assert as_seen(rows[2][4]) == "1     "
    assert re.search(r"\\begin\{tabular\}\{@\{\}lrrrr@\{\}\}", latex)


def test_special_characters_of_latex_are_escaped():
    text = r"50 % & a_b #1 $x$ {y} ~ ^ \z | < >"
    latex = Table(pd.DataFrame({"a": [text]})).latex()
    (row,) = rows_of(latex.replace(r"\&", "AND"))
    assert row == [
        r"50 \% AND a\_b \#1 \$x\$ \{y\} \textasciitilde{} \textasciicircum{} "
        r"\textbackslash{}z $|$ $<$ $>$"
    ]


def test_the_best_and_those_not_distinguished_from_it_are_bold():
    tables = [*comparison_tables(compare([summary_of(RESULTS / "landsat_ccdr_table1_tuned")]))]
    latex = together(tables, [])
    assert len(set(re.findall(r"\\begingroup(\S*)", latex))) == 1
    bold = [
        [row[0] for row in rows_of(table.latex()) if "textbf" in row[1]] for table in tables[:2]
    ]
    assert bold == [["no reduction, k-NN"], ["no reduction, k-NN, tuned", "PCA, k-NN, tuned"]]
    for fact in (
        "20 re-splits of 4,435 training and 2,000 test samples",
        "correction for 3 comparisons",
    ):
        assert fact in latex
    assert "**9.71 ± 0.68**" in tables[1].markdown()


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
    tables = [Table(pd.DataFrame({"a": [r"50 % & a_b #1 $x$ {y} ~ ^ \z | < > – † ≈ β μ → ≤"]}))]
    for each in ("nmmp_iris", "fair_landsat", "rivals_segment", folder):
        tables += comparison_tables(compare([summary_of(RESULTS / each)]))
    body = "\n\n".join(table.latex() for table in tables)
    body += tables[-1].latex(["Four splits, 50 % of the samples"])
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
    Console(file=file, width=width, markup=False, highlight=False).print(table.terminal(width))
    shown = file.getvalue()
    assert max(map(len, shown.splitlines())) <= width
    texts = [*table.frame.columns[1:], *table.frame.to_numpy().ravel()]
    words = {word for text in texts for word in str(text).split()}
    assert words <= set(shown.replace("│", " ").replace("┃", " ").split())
