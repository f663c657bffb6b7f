"""The table format (Excel, Parquet, Feather, ARFF) reads the same columns as csv."""

import numpy as np
import pandas as pd
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.data import files
from ddr_cli.data.formats import tables as frames
from ddr_cli.data.formats.tables import read_table

TABLE = pd.DataFrame(
    {
        "size": [0.1, np.nan, 3.0, 4.0],
        "count": [1, 2, 3, 4],
        "site": ["north", "south", None, "north"],
        "fold": ["train", "test", "train", None],
        "who": [7, 7, 8, 8],
        "state": [1, 2, 1, 2],
    }
)
ARFF = """@relation toy
@attribute size numeric
@attribute count numeric
@attribute site {north,south}
@attribute fold {train,test}
@attribute who numeric
@attribute state {1,2}
@data
0.1,1,north,train,7,1
?,2,south,test,7,2
3.0,3,?,train,8,1
4,4,north,?,8,2
"""


def written(folder, kind):
    path = folder / f"toy.{kind}"
    if kind == "arff":
        path.write_text(ARFF)
    elif kind == "xlsx":
        pytest.importorskip("openpyxl")
        TABLE.to_excel(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        getattr(TABLE, f"to_{kind}")(path)
    return path


@pytest.mark.parametrize("kind", ["xlsx", "parquet", "feather", "arff"])
def test_every_kind_of_table_gives_the_same_arrays(tmp_path, kind):
    raw = read_table(
        [written(tmp_path, kind)],
        label="state",
        groups="who",
        parts=["fold"],
        categorical=["site"],
        categories="codes",
        missing="keep",
    )
    nan = np.nan
    np.testing.assert_array_equal(raw.X, [[0.1, 1, 0], [nan, 2, 1], [3, 3, nan], [4, 4, 0]])
    assert raw.feature_names == ("size", "count", "site")
    assert (raw.categorical, raw.labels.tolist()) == ((2,), [1, 2, 1, 2])
    assert raw.groups is not None
    assert raw.groups.tolist() == [7, 7, 8, 8]
    assert raw.parts is not None
    assert raw.parts["fold"].tolist() == ["train", "test", "train", ""]


def test_a_missing_library_names_its_extra(tmp_path, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("ddr_cli.core.extras.import_module", missing)
    for ending, extra in (("xlsx", "excel"), ("parquet", "parquet"), ("feather", "parquet")):
        with pytest.raises(InputError, match=rf"pip install '.+\[{extra}\]'"):
            read_table([tmp_path / f"x.{ending}"])


def test_what_can_not_be_read_is_said(tmp_path):
    (tmp_path / "a.arff").write_text("@relation a\n@attribute t string\n@data\nx\n")
    (tmp_path / "b.arff").write_text("nothing of the kind")
    for name, says in (
        ("a.arff", "as CSV"),
        ("b.arff", "not a readable .arff file"),
        ("gone.arff", "No such file"),
        ("c.doc", "must end in .xlsx"),
    ):
        with pytest.raises(InputError, match=says):
            read_table([tmp_path / name])


@pytest.mark.parametrize("kind", ["xlsx", "parquet"])
def test_a_small_file_that_unpacks_to_much_is_not_read(tmp_path, monkeypatch, kind):
    path = written(tmp_path, kind)
    for module in (frames, files):
        monkeypatch.setattr(module, "UNPACKED_LIMIT", 100)
    with pytest.raises(InputError, match="unpacks to"):
        read_table([path], label="state")


def test_a_folder_is_no_table(tmp_path):
    (tmp_path / "a.parquet").mkdir()
    with pytest.raises(InputError, match="a folder"):
        read_table([tmp_path / "a.parquet"])


def test_a_sheet_is_named(tmp_path):
    pytest.importorskip("openpyxl")
    TABLE[["count", "state"]].to_excel(tmp_path / "toy.xlsx", sheet_name="Day 1", index=False)
    raw = read_table([tmp_path / "toy.xlsx"], sheet="Day 1", label="state")
    assert raw.X.tolist() == [[1], [2], [3], [4]]
    with pytest.raises(InputError, match="no sheet 'Day 2'; the sheets are Day 1"):
        read_table([tmp_path / "toy.xlsx"], sheet="Day 2", label="state")
