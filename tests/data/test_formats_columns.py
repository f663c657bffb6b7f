"""Tables with one sample per column, and groups and parts given as words in CSV files."""

import numpy as np
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.data.formats.tables import read_csv, read_sample_columns

SPECTRA = """Wavenumber,pork_1_runA ,pork_1_runB,beef_2_runA
900,0.1,0.2,0.3
905,1,2,-3e-1
"""


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text, encoding="latin-1")
    return path


def test_a_column_is_a_sample_with_the_class_and_group_of_its_title(tmp_path):
    path = written(tmp_path, SPECTRA)
    raw = read_sample_columns([path, path], label="^([a-z]+)_", groups="^(.+)_run")
    np.testing.assert_array_equal(raw.X[:3], [[0.1, 1], [0.2, 2], [0.3, -0.3]])
    assert raw.labels.tolist() == ["pork", "pork", "beef"] * 2
    assert raw.groups.tolist() == ["pork_1", "pork_1", "beef_2"] * 2
    assert raw.feature_names == ("900", "905")
    assert raw.sizes == (3, 3)


def test_columns_of_calls_and_surplus_ones_are_no_samples(tmp_path):
    chip = "what\tid\t7\tcall\t8\tcall\t8\ngène\tg1\t-5\tA\t6\tP\t\nother\tg2\t1\tA\t2\tA\t\n"
    raw = read_sample_columns(
        [written(tmp_path, chip)], separator="tab", names=2, ignore="call", encoding="latin-1"
    )
    np.testing.assert_array_equal(raw.X, [[-5, 1], [6, 2]])
    assert (raw.labels.tolist(), raw.feature_names) == ([7, 8], ("g1", "g2"))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (SPECTRA.replace("0.2", "x"), {}, "line 2, column 'pork_1_runB': 'x'"),
        (SPECTRA, {"separator": "tab"}, "separator"),
        (SPECTRA, {"ignore": ".*"}, "empty or ignored"),
        (SPECTRA, {"label": "(lamb)"}, "does not match the file name 'pork_1_runA'"),
        (SPECTRA, {"label": "lamb"}, "needs 1 group"),
    ],
)
def test_mistakes_are_reported_with_their_position(text, options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_sample_columns([written(tmp_path, text)], **options)


def test_files_must_have_the_same_features(tmp_path):
    other = written(tmp_path, SPECTRA.replace("905", "910"), "other.csv")
    with pytest.raises(InputError, match=r"other\.csv: the features differ"):
        read_sample_columns([written(tmp_path, SPECTRA), other])


def test_a_group_is_found_in_a_longer_name_and_parts_in_other_words(tmp_path):
    text = "x,y,who,part\n1,a,anna.1,0\n2,b,anna.2,1\n3,a,ben.1,\n"
    raw = read_csv(
        [written(tmp_path, text)],
        label="y",
        groups="who",
        group_pattern="^([a-z]+)[.]",
        parts=["part"],
        part_values={"0": "train", "1": "test"},
    )
    assert raw.groups.tolist() == ["anna", "anna", "ben"]
    assert raw.parts["part"].tolist() == ["train", "test", ""]
