"""YAML with positions: how scalars are read, where they are, and what is refused."""

from pathlib import Path

import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.core.positions import DocumentError
from ddr_cli.core.yaml_loader import dump, parse, parse_value, read_document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("-1.5e+2", -150.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("0.80", 0.8),
        ("7", 7),
        ("-7", -7),
        ("010", 10),
        ("0x1f", 31),
        ("0o17", 15),
        ("true", True),
        ("False", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("2020-01-01", "2020-01-01"),
        ("'1e-3'", "1e-3"),
        ("1e", "1e"),
        ("e5", "e5"),
        ("ccdr", "ccdr"),
    ],
)
def test_scalars_follow_the_core_schema_of_yaml_1_2(text, value):
    found = parse(f"a: {text}\n".encode(), "x.yaml").data["a"]
    assert found == value
    assert type(found) is type(value)


def test_places_of_keys_and_values_are_their_lines_and_columns():
    document = parse(b"a: 1\nb:\n  - {c: 2, d: [3, 4]}\n", "x.yaml")
    values = {path: document.place(path).text for path in document.places}
    assert values == {
        (): "x.yaml:1:1",
        ("a",): "x.yaml:1:4",
        ("b",): "x.yaml:3:3",
        ("b", 0): "x.yaml:3:5",
        ("b", 0, "c"): "x.yaml:3:9",
        ("b", 0, "d"): "x.yaml:3:15",
        ("b", 0, "d", 0): "x.yaml:3:16",
        ("b", 0, "d", 1): "x.yaml:3:19",
    }
    assert document.place(("b", 0, "d"), key=True).text == "x.yaml:3:12"
    assert document.place(("b", 0, "missing")).text == "x.yaml:3:5"


def test_columns_count_characters_not_bytes():
    document = parse("{ä: ü, b: 1}".encode(), "x.yaml")
    assert document.place(("b",)).text == "x.yaml:1:11"


def test_a_byte_order_mark_and_windows_line_ends_are_fine():
    document = parse(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n", "x.yaml")
    assert document.data == {"a": 1, "b": 2}
    assert document.place(("b",), key=True).text == "x.yaml:2:1"


def test_aliases_are_followed_and_stand_where_they_are_used():
    document = parse(b"a: &a {b: 1, c: {d: 2}}\ne: [*a, &x 3, *x]\n", "x.yaml")
    assert document.data["e"] == [document.data["a"], 3, 3]
    assert document.data["e"][0] is not document.data["a"]
    assert document.place(("e", 0, "c", "d")).text == "x.yaml:2:5"


def test_repeated_keys_are_problems_with_both_positions_and_the_first_counts():
    document = parse(b"a: 1\nb: {c: 1, 'c': 2}\na: 3\n", "x.yaml")
    assert document.data == {"a": 1, "b": {"c": 1}}
    inner, outer = map(str, document.problems)
    assert inner.startswith("x.yaml:2:11: b.c: ")
    assert "line 2, column 5" in inner
    assert outer.startswith("x.yaml:3:1: a: ")
    assert "line 1, column 1" in outer


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"\ta: 1", "1:1: a tab ... spaces"),
        (b"a:\n\tb: 1", "2:1: a tab ... spaces"),
        (b"a: 1\n b: 2", "2:3: ... not valid YAML: mapping values"),
        (b"a: [1, 2", "1:9: ... not valid YAML: ... ',' or ']'"),
        (b"a: 1\n---\nb: 2", "2:1: ... second document"),
        (b"a: *x", "1:4: a: ... '&x'"),
        (b"a: .inf", "1:4: a: '.inf' ... finite"),
        (b"a: 1e999", "1:4: a: '1e999' ... finite"),
        (b"a: [.nan]", "1:5: a: '.nan' ... finite"),
        (b"a: 99999999999999999999", "1:4: a: '99999999999999999999' ... too large"),
        (b"a: !b [1]", "1:4: a: ... tag '!b'"),
        (b"a: !!python/object:os.system b", "1:4: a: ... 2002:python/object:os.system'"),
        (b"~: 2", "1:1: a key ... in quotes"),
        (b"a: {[b]: 2}", "1:5: a: a key ... in quotes"),
        (b'a: "\\0"', "1:4: a: '\\x00'"),
        (b"a: \x01", "1:4: ... U+0001"),
        (b"a: \xff", "1:4: ... 0xff ... as UTF-8"),
        (b"a: 1\nb: caf\xe9", "2:7: ... 0xe9 ... as UTF-8"),
        ("a: 1".encode("utf-16"), "1:1: ... 0xff ... as UTF-8"),
        (b"#" * (2**20 + 1), "1:1: ... larger than 1048576 bytes"),
    ],
)
def test_what_is_not_yaml_or_fits_no_spec_is_refused(raw, told):
    with pytest.raises(InputError) as caught:
        parse(raw, "x.yaml")
    _, line = str(caught.value).split("\n  ")
    assert [part for part in f"x.yaml:{told}".split(" ... ") if part not in line] == []


def _bomb():
    lines = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 18)]
    return "\n".join(["a0: &a0 [x]", *lines])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_bomb(), id="aliases of aliases"),
        pytest.param("a: &a [*a]", id="alias of itself"),
        pytest.param('a: "\\UFFFFFFFF"', id="escape that is no character"),
        pytest.param('a: "\\uD800"', id="half a character"),
        pytest.param("[" * 10_000, id="deep flow"),
        pytest.param("- " * 10_000, id="deep block"),
        pytest.param("{a: " * 10_000, id="deep mapping"),
        pytest.param("[" + "x," * 60_000 + "]", id="long list"),
        pytest.param("&a " * 20_000, id="anchors"),
    ],
)
def test_hostile_documents_end_soon_in_one_clear_error(text):
    with pytest.raises(InputError, match=r"^1 problem in x\.yaml:\n  x\.yaml:\d+:\d+: "):
        parse(text.encode(), "x.yaml")


def test_of_many_problems_the_first_are_told():
    with pytest.raises(DocumentError) as raised:
        parse(b"a: 1\n" * 40_000, "x.yaml")
    assert str(raised.value).startswith("100 problems or more")
    assert "x.yaml:101:1" in str(raised.value).splitlines()[-1]


def test_keys_that_are_numbers_stand_for_their_text():
    document = parse(b"{1: a, 010: b, 1e-3: c, true: d, no: e}", "x.yaml")
    assert document.data == {"1": "a", "010": "b", "1e-3": "c", "true": "d", "no": "e"}
    assert document.place(("010",)).text == "x.yaml:1:13"
    repeated = parse(b"{1: a, '1': b}", "x.yaml")
    (problem,) = map(str, repeated.problems)
    assert problem.startswith("x.yaml:1:8: 1: ")
    assert "column 2" in problem
    with pytest.raises(DocumentError, match="1:2: a key"):
        parse(b"{~: a}", "x.yaml")


def test_a_file_is_called_by_its_path_from_here(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "x.yaml").write_text("a: 1\n")
    (tmp_path / "here" / "y.yaml").write_text("a: 1\n")
    monkeypatch.chdir(tmp_path / "here")
    assert read_document(tmp_path / "x.yaml").source == str(tmp_path / "x.yaml")
    assert read_document(tmp_path / "here" / "y.yaml").source == "y.yaml"
    with pytest.raises(InputError, match=r"z\.yaml .*No such file"):
        read_document(Path("z.yaml"))


@pytest.mark.parametrize(
    ("text", "value"), [("-1", -1), ("[a, 1e-3]", ["a", 0.001]), ("no", "no"), ("", None)]
)
def test_a_word_of_the_command_line_is_a_value(text, value):
    assert parse_value(text) == value


@pytest.mark.parametrize("text", ["[a", "{a: 1, a: 2}", "a: *b", "\udcff\x00"])
def test_a_word_that_is_no_value_is_refused_in_one_line(text):
    with pytest.raises(InputError, match=r"\.$") as caught:
        parse_value(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["1e-3", "1e5", "no", "12:30", "0o17", "010", "<<", "~", "", "1.5", ".inf", "a: b"]
)
def test_text_that_is_written_reads_as_text(text):
    value = {text: [text, 1.5, None, True]}
    assert parse(dump(value).encode(), "x.yaml").data == value
