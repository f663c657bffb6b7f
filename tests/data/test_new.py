"""`ddr new data`: what it detects in a file, what it asks, and the card that it writes."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.io
from typer.testing import CliRunner

from ddr_cli.cli.app import app
from ddr_cli.data import load_dataset
from ddr_cli.data.new_card import look_at

N = 60


@pytest.fixture
def new(tmp_path, monkeypatch):
    """Return a function that runs `ddr new data` in an empty folder."""
    monkeypatch.setenv("DDR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DDR_DATA", "")
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(app, ["new", "data", *map(str, arguments)])

    return run


def table(**columns):
    """Return a table with a number, a text and a class; further columns come before the class."""
    kind = np.repeat(["ill", "well"], N // 2)
    base = {"dose": np.arange(N) * 0.37 % 5, "site": np.tile(["north", "south", "east"], N // 3)}
    return pd.DataFrame({**base, **columns, "state": kind})


def test_a_device_or_pipe_is_refused(new, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path in ("/dev/zero", "pipe.csv"):
        done = new(path, "--label", "0", "--yes")
        assert done.exit_code == 2
        assert path in done.output
        assert "a device or a pipe" in done.output


def test_features_in_other_units_are_reported(new, tmp_path):
    frame = pd.DataFrame(
        {
            "mm": [i * i for i in range(20)],
            "km": [i * i / 1e6 for i in range(20)],
            "label": list("ab") * 10,
        }
    )
    frame.to_csv(tmp_path / "units.csv", index=False)
    assert "a factor of up to 1,000,000" in new("units.csv", "--label", "label").output
    frame.assign(km=frame["mm"] * 2).to_csv(tmp_path / "same.csv", index=False)
    assert "a factor of" not in new("same.csv", "--label", "label").output


def test_one_row_is_no_data_set(new, tmp_path):
    (tmp_path / "one.csv").write_text("a,b,label\n1,2,x\n")
    done = new("one.csv", "--label", "label", "--yes")
    assert done.exit_code == 2
    assert "fewer than two rows" in done.output


def test_detected_settings_need_no_option(new, tmp_path):
    frame = table(
        sample_id=[f"s{i}" for i in range(N)],
        version=3,
        subject=np.arange(N) % 10,
        half=np.where(np.arange(N) % 2, "train", "test"),
    )
    frame.loc[::9, "dose"] = np.nan
    frame.to_csv(tmp_path / "My data (1).tsv", sep="\t", index=False)
    result = new("My data (1).tsv")
    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line for line in result.output.splitlines() if line}
    for topic, facts in (
        ("classes", ["state"]),
        ("groups", ["subject"]),
        ("categorical", ["site (3 values)"]),
        ("ignored", ["sample_id (an id)", "version (constant)"]),
        ("given", ["half"]),
        ("missing", ["7 values in dose"]),
    ):
        assert all(fact in lines[topic] for fact in facts)
    for part in (
        "My_data_1.yaml: 60 samples x 2 features; ill 30, well 30; 10 groups; 7 missing values.",
        "'dataset: ./My_data_1.yaml'",
        "also write 'preprocess: [impute, one_hot]'.",
        "ddr new spec my_spec --dataset ./My_data_1.yaml --reducer lda --reducer pca",
        "ddr embed ./My_data_1.yaml --reducer lfda --set preprocess=[impute,one_hot]",
    ):
        assert part in " ".join(result.output.split("\n"))
    dataset = load_dataset(tmp_path / "My_data_1.yaml")
    assert dataset.feature_names == ("dose", "site")
    assert (dataset.categorical, dataset.n_missing) == ((1,), 7)
    assert list(dataset.parts or ()) == ["half"]


def test_thousands_separators_are_named_as_the_reason_for_an_ignored_column(new, tmp_path):
    price = [f"{number:,}" for number in range(900, 900 + 40 * N, 40)]
    table(price=price).to_csv(tmp_path / "mine.csv", index=False)
    result = new("mine.csv")
    assert "price (numbers with thousands separators, such as 1,020" in result.output
    assert "remove the separators" in result.output


@pytest.fixture
def unclear(tmp_path):
    """A table with no column named class, but with row numbers, free text and odd values."""
    frame = table(
        note=[f"text {i}" for i in range(N)],
        order=np.arange(N),
        weight=["low" if i % 20 == 3 else f"{i / 7:.3f}" for i in range(N)],
    )
    frame = frame.rename(columns={"state": "first"})
    frame["second"] = np.tile([1, 2], N // 2)
    path = tmp_path / "unclear.csv"
    frame.to_csv(path, index=False)
    return path


def test_all_that_is_unclear_is_said_at_once(new, unclear):
    result = new(unclear)
    assert result.exit_code == 2
    flags = [line.split("    ")[0].strip() for line in result.output.splitlines()[1:3]]
    assert flags == ["--label second", "--set 'missing_values=[low]'"]
    assert "--yes" in result.output
    assert not unclear.with_suffix(".yaml").exists()


def test_yes_takes_what_is_proposed(new, unclear):
    result = new(unclear, "--yes")
    assert result.exit_code == 0, result.output
    assert "--label second" in result.output
    dataset = load_dataset(unclear.with_suffix(".yaml"))
    assert dataset.class_counts == {"1": 30, "2": 30}
    assert dataset.feature_names == ("dose", "site", "weight", "first")
    assert dataset.n_missing == 3
    (ignored,) = (line for line in result.output.splitlines() if "ignored" in line)
    assert "note (text with 60 different values), order (numbers the rows)" in ignored


def test_options_replace_questions(new, unclear):
    result = new(
        *(unclear, "--label", "first", "--set", "ignore=note", "--set", "feature=[order]"),
        *("--set", "categorical=[weight, second]", "--groups", "site"),
    )
    assert result.exit_code == 0, result.output
    dataset = load_dataset(unclear.with_suffix(".yaml"))
    assert dataset.feature_names == ("dose", "order", "weight", "second")
    assert dataset.categorical == (2, 3)
    assert dataset.group_names == ("east", "north", "south")


def test_a_word_for_a_missing_value_is_no_question(new, unclear):
    result = new(unclear, "--label", "second", "--set", "missing_values=low")
    assert result.exit_code == 0, result.output
    assert load_dataset(unclear.with_suffix(".yaml")).n_missing == 3


def test_hundreds_of_numbers_are_hardly_classes(new, tmp_path):
    table(price=np.arange(N) * 1.5 + 3).to_csv(tmp_path / "a.csv", index=False)
    result = new("a.csv", "--label", "price", "--set", "ignore=state")
    assert result.exit_code == 2
    assert "price has 60 different numbers" in result.output
    assert new("a.csv", "--label", "price", "--set", "ignore=state", "--yes").exit_code == 0


@pytest.mark.parametrize(
    ("flags", "unlabelled", "classes"),
    [
        (["--yes"], 20, {"0": 20, "1": 20}),
        (["--set", "unlabelled=true"], 20, {"0": 20, "1": 20}),
        (["--set", "unlabelled=false"], 0, {"-1": 20, "0": 20, "1": 20}),
    ],
)
def test_minus_one_is_asked_about(new, tmp_path, flags, unlabelled, classes):
    frame = table().assign(state=np.arange(N) % 3 - 1)
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert "--set unlabelled=true    (" in new("a.csv").output
    result = new("a.csv", *flags)
    assert result.exit_code == 0, result.output
    dataset = load_dataset(tmp_path / "a.yaml")
    assert (dataset.n_unlabelled, dataset.class_counts) == (unlabelled, classes)


def test_one_against_minus_one_are_two_classes(tmp_path):
    frame = table(y=np.arange(N) * 0.71 % 3)  # y looks like a class only by its name
    frame.assign(state=np.arange(N) % 2 * 2 - 1).to_csv(tmp_path / "a.csv", index=False)
    look = look_at(tmp_path / "a.csv", "csv", {})
    assert not look.unlabelled
    assert look.options["label"] == "state"


def test_arrays_are_found_by_their_shapes(new, tmp_path):
    X, y = np.arange(24.0).reshape(8, 3), np.arange(8) % 2
    np.savez(tmp_path / "a.npz", points=X, kind=y, who=np.arange(8) // 2)
    result = new("a.npz")
    assert result.exit_code == 2
    assert "--label kind or --label who" in result.output
    assert "accept all" not in result.output
    assert new("a.npz", "--label", "kind", "--groups", "who").exit_code == 0
    assert load_dataset(tmp_path / "a.yaml").X.shape == (8, 3)
    scipy.io.savemat(tmp_path / "b.mat", {"points": X.T, "kind": y})
    assert new("b.mat").exit_code == 0
    assert load_dataset(tmp_path / "b.yaml").X.shape == (8, 3)


def test_a_file_that_was_edited_names_the_remedy(new, tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    assert new("a.csv").exit_code == 0
    table().iloc[1:].to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(Exception, match=r"59 samples, not 60.*'ddr new data .*a\.yaml --force'"):
        load_dataset(tmp_path / "a.yaml")
    assert "--force" in new("a.yaml").output
    assert new("a.yaml", "--force").exit_code == 0
    assert load_dataset(tmp_path / "a.yaml").n_samples == 59


@pytest.mark.parametrize(("kind", "library"), [("xlsx", "openpyxl"), ("parquet", "pyarrow")])
def test_other_tables_are_looked_at_too(new, tmp_path, kind, library):
    pytest.importorskip(library)
    frame = table(subject=np.arange(N) % 10)
    if kind == "xlsx":
        frame.to_excel(tmp_path / "a.xlsx", index=False)
    else:
        frame.to_parquet(tmp_path / "a.parquet")
    result = new(f"a.{kind}")
    assert result.exit_code == 0, result.output
    dataset = load_dataset(tmp_path / "a.yaml")
    assert dataset.feature_names == ("dose", "site")
    assert (dataset.categorical, len(dataset.group_names or ())) == ((1,), 10)


def test_svmlight_is_told_from_a_table(new, tmp_path):
    (tmp_path / "a.txt").write_text("1 0:0.5 3:1\n2 1:4\n")
    assert new("a.txt").exit_code == 0
    assert load_dataset(tmp_path / "a.yaml").X.shape == (2, 4)


def test_a_table_of_another_country(new, tmp_path):
    frame = table().assign(state=np.tile(["grün", "blau"], N // 2))
    frame.to_csv(tmp_path / "a.csv", sep=";", decimal=",", index=False, encoding="cp1252")
    result = new("a.csv")
    assert result.exit_code == 0, result.output
    assert "text in cp1252, numbers with decimal commas" in result.output
    dataset = load_dataset(tmp_path / "a.yaml")
    assert dataset.class_counts == {"blau": N // 2, "grün": N // 2}
    np.testing.assert_array_equal(dataset.X[:, 0], table()["dose"])


@pytest.mark.parametrize(
    ("text", "flags", "says"),
    [
        ("", [], "no rows of data"),
        ("a,b,c\n", [], "no rows of data"),
        ("a,a,kind\n1,2,x\n3,4,y\n", [], "'a' occurs twice"),
        ("a,b,kind\n1,2,x\n3,4,y\n", ["--label", "kin"], "no column 'kin'. Did you mean"),
        ("1,2,x\n3,4,y\n", ["--set", "ignore=b"], "no names"),
    ],
)
def test_what_is_wrong_is_said_first(new, tmp_path, text, flags, says):
    (tmp_path / "a.csv").write_text(text)
    result = new("a.csv", *flags)
    assert result.exit_code == 2
    assert says in result.output


@pytest.fixture
def book(tmp_path):
    """Return a function that writes an Excel file with sheets of rows."""
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra excel")

    def write(**sheets):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for name, rows in sheets.items():
            sheet = made.create_sheet(name)
            for row in rows:
                sheet.append(list(row))
        made.save(tmp_path / "book.xlsx")

    return write


ROWS = [("dose", "site", "state"), *table().itertuples(index=False)]


def test_the_sheet_with_the_table_is_read_and_named(new, book):
    book(Notes=[("see the second sheet",)], Data=ROWS)
    result = new("book.xlsx")
    assert "sheet Data, the only one of 2 sheets" in result.output
    assert load_dataset("./book.yaml").X.shape == (N, 2)


def test_the_user_chooses_between_two_sheets(new, book):
    book(first=ROWS, second=ROWS[:20])
    result = new("book.xlsx", "--yes")
    assert result.exit_code == 2
    assert "--set sheet=first or --set sheet=second" in result.output
    assert "accept all" not in result.output
    assert "20 samples" not in new("book.xlsx", "--set", "sheet=first").output
    assert load_dataset("./book.yaml").n_samples == N


def test_names_are_found_below_merged_headings(new, book):
    book(Data=[("Trial of 2024", None, None), ("measured", None, "meta"), *ROWS])
    result = new("book.xlsx")
    assert "above the column names: Trial of 2024, measured, meta" in result.output
    assert "row 3" in result.output
    data = load_dataset("./book.yaml")
    assert (data.n_samples, data.class_counts) == (N, {"ill": 30, "well": 30})


def test_a_preamble_is_asked_about_and_skip_lines_counts_for_the_separator(new, tmp_path):
    text = "Export; of, the lab\nunits, cm\n" + table().to_csv(sep=";", index=False)
    (tmp_path / "a.csv").write_text(text)
    asked = new("a.csv")
    assert (asked.exit_code, "--set skip_lines=2" in asked.output) == (2, True)
    for words in (["--set", "skip_lines=2"], ["--yes", "--force"]):
        assert "line 3" in new("a.csv", *words).output
        assert load_dataset("./a.yaml").X.shape == (N, 2)


def test_rows_of_one_class_that_share_a_value_may_be_a_subject(new, tmp_path):
    table(code=np.arange(N) // 5).to_csv(tmp_path / "a.csv", index=False)
    asked = new("a.csv")
    assert (asked.exit_code, "--groups code or --set feature=code" in asked.output) == (2, True)
    assert "12 groups" in new("a.csv", "--yes").output
    assert "groups" not in new("a.csv", "--set", "feature=code", "--force").output
    # Both classes have these values, so they do not identify subjects.
    table(code=np.arange(N) % 12).to_csv(tmp_path / "b.csv", index=False)
    assert new("b.csv").exit_code == 0


def test_blank_rows_are_counted(new, tmp_path):
    lines = table().to_csv(index=False).splitlines()
    (tmp_path / "a.csv").write_text("\n".join([*lines[:10], ",,", "", *lines[10:]]) + "\n")
    assert "2 blank rows are ignored" in new("a.csv").output
