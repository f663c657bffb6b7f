"""The csv format: its options, and errors with file, line and column."""

import gzip

import numpy as np
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.data.formats.table_columns import MISSING_CATEGORY
from ddr_cli.data.formats.tables import read_csv


@pytest.fixture
def write(tmp_path):
    def put(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return put


@pytest.mark.parametrize(
    ("separator", "text"),
    [
        ("comma", "1,2.5,a\n3, 4 ,b\n"),
        ("tab", "1\t2.5\ta\n3\t4\tb\n"),
        ("semicolon", "1;2.5;a\n3;4;b\n"),
        ("|", "1|2.5|a\n3|4|b\n"),
        ("whitespace", "  1 2.5\ta \n\n3   4 b"),
        (" ", "1 2.5 a\n3 4 b\n"),
    ],
)
def test_every_separator_gives_the_same_table(write, separator, text):
    raw = read_csv([write(text)], separator=separator)
    np.testing.assert_array_equal(raw.X, [[1, 2.5], [3, 4]])
    assert raw.labels.tolist() == ["a", "b"]
    assert raw.X.dtype == np.float64
    assert raw.feature_names is None
    assert raw.sizes == (2,)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_blank_lines_and_byte_order_mark_change_nothing(tmp_path, newline):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbf" + newline.join(["", "1,a", "", "2,b", "", ""]).encode())
    raw = read_csv([path])
    assert raw.X.ravel().tolist() == [1, 2]


def test_quoted_cells_may_hold_the_separator_and_line_ends(write):
    raw = read_csv([write('1, "a, b"\n\n2,"c\nd"\n3,"a, b"\n')])
    assert raw.labels.tolist() == ["a, b", "c\nd", "a, b"]
    assert raw.X.ravel().tolist() == [1, 2, 3]


def test_between_blanks_a_quotation_mark_is_an_ordinary_character(write):
    raw = read_csv([write('1 "a\n2 b\n3 "a\n4 b"\n')], separator="whitespace")
    assert raw.labels.tolist() == ['"a', "b", '"a', 'b"']
    assert raw.X.ravel().tolist() == [1, 2, 3, 4]


def test_gzip_is_known_by_content_and_equals_plain_text(tmp_path, write):
    text = "0.1,1e-3,a\n.3,4,b\n"
    packed = tmp_path / "packed.csv"
    packed.write_bytes(gzip.compress(text.encode(), mtime=0))
    plain, unpacked = read_csv([write(text)]), read_csv([packed])
    np.testing.assert_array_equal(plain.X, unpacked.X)
    np.testing.assert_array_equal(plain.labels, unpacked.labels)


def test_numbers_are_read_to_the_nearest_double(write):
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    text = "".join(f"{value!r},a\n" for value in values.tolist())
    assert read_csv([write(text)]).X.ravel().tolist() == values.tolist()


@pytest.mark.parametrize("label", [0, -3, "kind"])
def test_label_by_name_or_index_and_ignored_columns(write, label):
    path = write("kind,id,size\nbig,x7,9\nsmall,x8,1\n")
    raw = read_csv([path], header=True, label=label, ignore=["id"])
    assert raw.labels.tolist() == ["big", "small"]
    assert raw.feature_names == ("size",)
    np.testing.assert_array_equal(raw.X, [[9], [1]])


def test_names_stand_in_for_a_header_and_comments_and_first_lines_are_passed_over(write):
    path = write("made by hand\nand proud\n# not this\n1,2,x # nor this\n3,4,y\n")
    raw = read_csv([path], skip_lines=2, comment="#", names=["a", "b", "c"], label="c")
    assert raw.feature_names == ("a", "b")
    np.testing.assert_array_equal(raw.X, [[1, 2], [3, 4]])


def test_rows_of_several_files_follow_each_other(write):
    raw = read_csv([write("1,a\n2,b\n", "one"), write("3,a\n", "two")])
    assert raw.X.ravel().tolist() == [1, 2, 3]
    assert raw.sizes == (2, 1)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["6.0000", "10"], [6, 10]),
        (["1.5", "2"], [1.5, 2.0]),
        (["01", "A"], ["01", "A"]),
        (["inf", "1"], ["inf", "1"]),
    ],
)
def test_labels_are_numbers_only_when_all_are(write, cells, expected):
    raw = read_csv([write("".join(f"1,{cell}\n" for cell in cells))])
    assert raw.labels.tolist() == expected


def test_categories_become_sorted_indicator_columns_in_place(write):
    path = write("h,colour,w,class\n1,red,5,a\n2,blue,6,b\n3,red,7,a\n", "one")
    more = write("h,colour,w,class\n4,Green,8,b\n", "two")
    raw = read_csv([path, more], header=True, categorical=["colour"])
    assert raw.feature_names == ("h", "colour=Green", "colour=blue", "colour=red", "w")
    np.testing.assert_array_equal(
        raw.X, [[1, 0, 0, 1, 5], [2, 0, 1, 0, 6], [3, 0, 0, 1, 7], [4, 1, 0, 0, 8]]
    )


def test_all_columns_categorical_without_names(write):
    raw = read_csv([write("y,1,p\nx,1,q\n")], label=-1, categorical="all")
    assert raw.feature_names == ("x0=x", "x0=y", "x1=1")
    np.testing.assert_array_equal(raw.X, [[0, 1, 1], [1, 0, 1]])


GAPS = "1,red,a\n?,blue,a\n2,?,b\n2,blue,b\n5,blue,b\n"


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("drop_rows", [[1, 0, 1], [2, 1, 0], [5, 1, 0]]),
        ("keep", [[1, 0, 0, 1], [np.nan, 0, 1, 0], [2, 1, 0, 0], [2, 0, 1, 0], [5, 0, 1, 0]]),
    ],
)
def test_missing_values_do_what_is_chosen(write, missing, expected):
    raw = read_csv([write(GAPS)], categorical=[1], missing=missing)
    values = ["blue", "red"] if missing == "drop_rows" else [MISSING_CATEGORY, "blue", "red"]
    assert raw.feature_names == ("x0", *(f"x1={value}" for value in values))
    np.testing.assert_array_equal(raw.X, expected)
    assert raw.sizes == (len(expected),)


def test_categories_as_codes_keep_their_gaps(write):
    raw = read_csv([write(GAPS)], categorical=[1], categories="codes", missing="keep")
    np.testing.assert_array_equal(raw.X, [[1, 1], [np.nan, 0], [2, np.nan], [2, 0], [5, 0]])
    assert (raw.feature_names, raw.categorical) == (("x0", "x1"), (1,))
    text = write("p,a\n?,b\n")
    raw = read_csv([text], categorical="all", categories="codes", missing="category")
    assert raw.X.tolist() == [[1], [0]]


def test_dropped_rows_leave_no_category_behind(write):
    raw = read_csv([write("1,red,a\n?,blue,a\n")], categorical=[1], missing="drop_rows")
    assert raw.feature_names == ("x0", "x1=red")


def test_missing_columns_can_be_dropped(write):
    raw = read_csv([write("1,?,4,a\n2,3,5,b\n")], missing="drop_columns")
    np.testing.assert_array_equal(raw.X, [[1, 4], [2, 5]])


def test_missing_category_is_a_value_of_its_own(write):
    raw = read_csv([write("p,a\n?,b\n")], categorical="all", missing="category")
    assert raw.feature_names == (f"x0={MISSING_CATEGORY}", "x0=p")
    np.testing.assert_array_equal(raw.X, [[0, 1], [1, 0]])


def test_numeric_codes_can_mean_missing(write):
    raw = read_csv([write("-999,1,a\n4,-999,b\n6,3,b\n")], missing_values=["-999"], missing="keep")
    np.testing.assert_array_equal(raw.X, [[np.nan, 1], [4, np.nan], [6, 3]])


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "no rows of data"),
        ("\n \n", {}, "no rows of data"),
        ("", {"header": True}, "column names"),
        ("a,b\n", {"header": True}, "no rows of data"),
        ("1,2,a\n1,2\n", {}, "line 2 has 2 cells, not 3"),
        ("1,2,a\n\n1,2,3,b\n", {}, "line 3 has 4 cells, not 3"),
        ("1,2,a\n1,x,b\n", {}, r"line 2, column 1 \(from 0\): 'x'"),
        ("u,v,w\n1,inf,b\n", {"header": True}, "line 2, column 'v': 'inf'"),
        ("u,v,w\n1,2,b\n", {}, "line 1.*`header: true`"),
        ("1,,a\n", {}, r"line 1, column 1 \(from 0\): .*`missing`"),
        ("1,?\n", {}, "label"),
        ("1,?,a\n?,2,b\n", {"missing": "drop_rows"}, "All rows"),
        ("1,?,a\n?,2,b\n", {"missing": "drop_columns"}, "All columns"),
        ("1,?,a\n2,?,b\n", {"missing": "keep"}, "'x1' is empty"),
        ("?,a\n", {"missing": "category"}, "missing numbers .*'x0'"),
        ("1,2,a\n", {"label": 3}, "columns 0 to 2, not 3"),
        ("1,2,a\n", {"label": "c", "header": False}, "'c'.*no names"),
        ("aa,bb,cc\n1,2,x\n", {"header": True, "label": "bbb"}, "Did you mean 'bb'"),
        ("a,a,b\n1,2,x\n", {"header": True}, "'a' occurs twice"),
        ("1,2,x\n", {"names": ["a", "b"]}, "3 columns.*names 2"),
        ("1,2,x\n", {"categorical": [2]}, "column 2 .*categorical"),
        ("x\ny\n", {}, "none is a feature"),
        ('1,"a\n2,b\n', {}, "EOF inside string"),
        ("1,a\n", {"separator": "coma"}, "Did you mean 'comma'"),
        ("1,a\n", {"encoding": "utf-99"}, "not utf-99 text"),
    ],
)
def test_refusals_say_where_and_what_to_do(write, text, options, message):
    with pytest.raises(InputError, match=message):
        read_csv([write(text)], **options)


def test_second_file_must_have_the_first_ones_columns(write):
    paths = [write("a,b\n1,x\n", "one"), write("b,a\nx,1\n", "two")]
    with pytest.raises(InputError, match="two, line 1: the column names differ"):
        read_csv(paths, header=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"1,a\n" * 999, mtime=0)[:-9], "damaged gzip file"),
        (b"\x1f\x8bnothing", "damaged gzip file"),
        (b"1,\xff\xfe\n", "encoding"),
    ],
)
def test_damaged_files_are_refused(tmp_path, content, message):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_csv([path])


def test_missing_file_and_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        read_csv([tmp_path / "none.csv"])
    with pytest.raises(InputError, match="a folder"):
        read_csv([tmp_path])


def test_a_column_named_by_its_name_means_that_there_is_a_header(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,kind,b\n1,x,2\n3,y,4\n")
    raw = read_csv([path], label="kind")
    assert raw.feature_names == ("a", "b")
    assert raw.labels.tolist() == ["x", "y"]


def test_groups_and_parts_are_no_features(write):
    path = write("a,who,cut,b,y\n1,p2,train,5,x\n2,p1,,6,x\n3,p2,test,7,z\n")
    raw = read_csv([path], label="y", groups="who", parts=["cut"])
    assert raw.feature_names == ("a", "b")
    np.testing.assert_array_equal(raw.X, [[1, 5], [2, 6], [3, 7]])
    assert raw.groups is not None
    assert raw.groups.tolist() == ["p2", "p1", "p2"]
    assert raw.parts is not None
    assert raw.parts["cut"].tolist() == ["train", "", "test"]


@pytest.mark.parametrize(
    ("cells", "message"),
    [("1,?,train,x", "line 2, column 'who'"), ("1,p,Train,x", "line 2, column 'cut': 'Train'")],
)
def test_a_wrong_group_or_part_is_refused(write, cells, message):
    with pytest.raises(InputError, match=message):
        read_csv([write(f"a,who,cut,y\n{cells}\n")], label="y", groups="who", parts=["cut"])


def test_one_column_has_one_use(write):
    with pytest.raises(InputError, match="`label`, `groups` and `parts`"):
        read_csv([write("a,who,y\n1,p,x\n")], label="y", groups="y")
