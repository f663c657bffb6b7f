import csv
import gzip
import os

import pandas as pd
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.rows.log import (
    Rows,
    UnreadableLogError,
    one_line,
    parameter_text,
    read_trials,
)
from ddr_cli.rows.schema import DESCRIBING, OUTCOME

PARAMETERS = ("classifier.n_neighbors", "reducer.beta", "reducer.flag", "reducer.mode")
METRICS = ("error",)
COLUMNS = (*DESCRIBING, *PARAMETERS, *METRICS, *OUTCOME)


def opened(folder, *parameters):
    """Return the rows of a folder, with a plan of ten trials that have these parameters."""
    planned = {f"{n:016x}": {"control": ""} for n in range(10)}
    # The outcomes of these trials give their cells.
    return Rows(
        folder, lambda: {"": dict.fromkeys(parameters or PARAMETERS, "")} | planned, METRICS
    )


def row(number, status="ok", **more):
    return {
        "trial_id": f"{number:016x}",
        "dataset": "iris",
        "split": f"resample-{number}",
        "split_hash": "0" * 16,
        "reducer": "ccdr",
        "classifier": "knn",
        "reducer.beta": "0.5",
        "classifier.n_neighbors": "5",
        "error": 0.1 + number,
        "status": status,
        "fit_seconds": 0.25,
        "eval_seconds": 0.125,
        **more,
    }


def write(folder, rows):
    with opened(folder) as log:
        append(log, *rows)
    return folder / "trials.csv"


def append(log, *rows):
    log.append({row["trial_id"]: row for row in rows})


def test_columns_are_in_the_documented_order(tmp_path):
    columns = (
        *("trial_id", "dataset", "split", "split_hash", "reducer", "classifier"),
        *("reducer_label", "classifier_label", "control"),
        *("classifier.n_neighbors", "reducer.beta", "reducer.flag", "reducer.mode"),
        *("error", "status", "reason", "fit_seconds", "eval_seconds"),
    )
    assert opened(tmp_path).columns == columns == COLUMNS


def test_rows_come_back_typed(tmp_path):
    write(
        tmp_path,
        [
            row(0, **{"reducer.flag": "True", "reducer.mode": "transductive"}),
            row(1, **{"reducer.beta": "", "classifier.n_neighbors": "", "reducer.flag": "False"}),
            row(2, **{"reducer.beta": "None", "reducer.flag": ""}),
        ],
    )
    table = read_trials(tmp_path)
    assert list(table.columns) == list(COLUMNS)
    assert table["error"].tolist() == [0.1, 1.1, 2.1]
    assert table["classifier.n_neighbors"].dtype == "Int64"
    assert table["classifier.n_neighbors"].isna().tolist() == [False, True, False]
    assert table["reducer.beta"].dtype == "float64"
    assert table["reducer.beta"].isna().tolist() == [False, True, True]
    assert table["reducer.flag"].dtype == "boolean"
    assert table["reducer.mode"].tolist()[0] == "transductive"
    assert table["reason"].tolist() == ["", "", ""]
    assert table["fit_seconds"].tolist() == [0.25] * 3


def test_a_float_survives_to_the_last_bit(tmp_path):
    value = 1 / 3 + 1e-17
    write(tmp_path, [row(0, error=value)])
    assert read_trials(tmp_path)["error"][0] == value


@pytest.mark.parametrize(
    "reason",
    ['a "quoted", comma', "two\nlines", "a\r\nb", "tab\there", "nul\0byte", "é ß λ", "\ud800"],
)
def test_any_reason_stays_on_its_row(tmp_path, reason):
    path = write(tmp_path, [row(0, "failed", reason=reason), row(1)])
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    assert [len(line) for line in lines] == [len(COLUMNS)] * 3
    assert path.read_bytes().count(b"\n") == 3
    assert len(read_trials(tmp_path)) == 2


@pytest.mark.parametrize(
    "text", ["=1+1", "-2+3+cmd|'/C calc'!A0", "'=1", " @x", "-2", "'x' is none"]
)
def test_a_formula_is_none_in_the_file_and_comes_back(tmp_path, text):
    path = write(tmp_path, [row(0, reason=text, **{"reducer.mode": text, "error": -0.5})])
    with path.open(newline="") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert text in cells if text in ("-2", "'x' is none") else f"'{text}" in cells
    read = read_trials(tmp_path).loc[0]
    assert [read["reason"], str(read["reducer.mode"]), read["error"]] == [text, text, -0.5]
    # Other columns cause the trial log to be written again.
    with opened(tmp_path, *PARAMETERS, "reducer.new") as log:
        assert text in next(iter(log.rows)).values()


@pytest.mark.parametrize("torn", [b"abc", b'0000000000000007,"iri', b"\0" * 100, b"x,y\0\0\0\n"])
def test_a_torn_last_line_is_not_read_and_cut_off(tmp_path, torn):
    path = write(tmp_path, [row(0), row(1)])
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert len(read_trials(tmp_path)) == 2
    assert path.read_bytes() == whole + torn
    with opened(tmp_path) as log:
        assert len(log.status) == 2
        append(log, row(2))
    assert path.read_bytes().startswith(whole)
    assert read_trials(tmp_path)["trial_id"].tolist() == [f"{n:016x}" for n in range(3)]


@pytest.mark.parametrize("length", range(0, 60, 7))
def test_a_journal_cut_anywhere_in_its_header_begins_anew(tmp_path, length):
    path = write(tmp_path, [])
    path.write_bytes(path.read_bytes()[:length])
    write(tmp_path, [row(0)])
    assert len(read_trials(tmp_path)) == 1


def test_every_cut_of_the_last_row_loses_that_row_alone(tmp_path):
    path = write(tmp_path, [row(0), row(1)])
    whole = path.read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(start, len(whole)):
        path.write_bytes(whole[:end])
        assert len(read_trials(tmp_path)) == 1, end
    path.write_bytes(whole)
    assert len(read_trials(tmp_path)) == 2


def test_a_damaged_middle_is_named(tmp_path):
    path = write(tmp_path, [row(0), row(1), row(2)])
    lines = path.read_text().splitlines(keepends=True)
    lines[2] = "only,three,cells\n"
    path.write_text("".join(lines))
    with pytest.raises(InputError, match=r"line 3: .* 3 cells"):
        read_trials(tmp_path)


def _second_line(line):
    return lambda whole: whole.replace(whole.split(b"\n")[2], line)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_second_line(b""), "line 3: .* empty"),
        (_second_line(b"<<<<<<< HEAD"), "line 3: .*unfinished merge"),
        (
            lambda whole: whole.replace(b"resample-1", b"resampl\0-1"),
            "line 3: .* not text",
        ),
        (
            lambda whole: whole.replace(b"resample-1", b"resample\xff1"),
            "line 3: .* not text",
        ),
        (lambda whole: whole.replace(b"resample-1", b'"resample-1'), "line 3: a quotation mark"),
        (lambda whole: whole.replace(b",ok,", b"\x1b,ok,"), "line 2: .* not a number"),
        (lambda whole: whole.replace(b",", b";"), "spreadsheet program wrote"),
        (lambda whole: b"\xef\xbb\xbf" + whole, "spreadsheet program wrote"),
    ],
)
def test_a_change_by_hand_is_named(tmp_path, change, says):
    path = write(tmp_path, [row(0), row(1), row(2)])
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=says):
        read_trials(tmp_path)


def test_quotes_and_other_line_ends_are_read(tmp_path):
    path = write(tmp_path, [row(0), row(1)])
    before = read_trials(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").replace(b"iris", b'"iris"'))
    pd.testing.assert_frame_equal(read_trials(tmp_path), before)


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: whole.decode().encode("utf-16"),
        lambda whole: whole.replace(b"\n", b"\r"),
        gzip.compress,
        lambda whole: bytes(range(256)) + whole,
        lambda whole: whole.partition(b",")[2].replace(b"\n", b""),
        lambda whole: whole.replace(b"\n", b",status\n", 1),
    ],
)
def test_a_file_that_is_no_trial_log_is_never_overwritten(tmp_path, change):
    path = write(tmp_path, [row(0)])
    path.write_bytes(content := change(path.read_bytes()))
    with pytest.raises(UnreadableLogError, match="not a trial log"):
        opened(tmp_path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "header",
    ["a,b", *(",".join(c for c in COLUMNS if c != gone) for gone in ("control", "status"))],
)
def test_another_csv_is_not_taken_for_a_journal(tmp_path, header):
    (tmp_path / "trials.csv").write_text(header + "\n")
    with pytest.raises(InputError, match="not a trial log"):
        opened(tmp_path)
    assert (tmp_path / "trials.csv").read_text() == header + "\n"


def test_the_last_row_of_a_trial_counts_and_settling_keeps_it_alone(tmp_path):
    path = tmp_path / "trials.csv"
    with opened(tmp_path) as log:
        append(log, row(2), row(0, "failed"), row(1))
        append(log, row(0))
        assert log.status[f"{0:016x}"] == "ok"
        assert read_trials(tmp_path)["status"].tolist() == ["ok"] * 3
        log.settle([f"{n:016x}" for n in range(3)])
        assert path.read_text().count("\n") == 4
        append(log, row(3))
    table = read_trials(tmp_path)
    assert table["trial_id"].tolist() == [f"{n:016x}" for n in range(4)]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["controls.csv", "trials.csv"]


def test_new_parameter_columns_leave_the_old_rows_as_they_were(tmp_path):
    write(tmp_path, [row(0)])
    with opened(tmp_path, "reducer.beta", "classifier.alpha", "classifier.n_neighbors") as log:
        append(log, row(1, **{"classifier.alpha": "0.5"}))
    table = read_trials(tmp_path)
    assert table["reducer.beta"].tolist() == [0.5, 0.5]
    assert table["classifier.alpha"].isna().tolist() == [True, False]


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path, monkeypatch):
    path = write(tmp_path, [row(0)])
    whole = path.read_bytes()
    real_write = os.write

    def half(descriptor, data):
        if len(data) > 50:
            return real_write(descriptor, bytes(data[:50]))
        raise OSError(28, "No space left on device")

    with opened(tmp_path) as log:
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(InputError, match="No space left"):
            append(log, row(1))
        assert path.read_bytes() == whole
        monkeypatch.undo()
        append(log, row(1))
    assert len(read_trials(tmp_path)) == 2


def test_rows_are_on_the_disk_before_the_run_goes_on(tmp_path, monkeypatch):
    path, synced = write(tmp_path, []), []
    with opened(tmp_path) as log:
        monkeypatch.setattr(os, "fsync", lambda _: synced.append(path.read_bytes().count(b"\n")))
        append(log, row(0))
        append(log, row(1), row(2))
    assert synced == [2, 4]


def test_a_missing_journal_is_one_clear_sentence(tmp_path):
    with pytest.raises(InputError, match=r"no trials\.csv"):
        read_trials(tmp_path)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "None"), (True, "True"), (4, "4"), (0.1, "0.1"), ("heat", "heat"), ([1, 2], "[1, 2]")],
)
def test_parameter_text(value, text):
    assert parameter_text(value) == text


def test_one_line_is_short_and_on_one_line():
    assert one_line("  a\n\n b\t c ") == "a b c"
    assert len(one_line("x" * 10_000)) == 500
