"""What cards may contain, and how mistakes in them are reported."""

import subprocess
import sys

import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import shipped_yaml
from ddr_cli.data import load_card

CARD = """\
name: toy
title: A toy
files:
  - path: toy.csv
format: {name: csv, label: 2}
expect:
  samples: 300
  classes: {no: 200, 1: 100}
"""

FILES = CARD[CARD.index("files:") : CARD.index("\nexpect:")]

# Their sources offer R files, password-protected archives or another layout.
NOT_TO_BE_DOWNLOADED = {"coffee", "colon", "golub", "mayonnaise", "nci60", "olive_oil", "shuttle"}
NOT_TO_BE_DOWNLOADED |= {"srbct", "strawberry", "vowel"}


def write(folder, text):
    path = folder / "toy.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", shipped_yaml("datasets"))
def test_shipped_card_is_complete(name):
    card = load_card(name)
    assert card.name == name
    assert card.shipped
    assert card.expect.samples == sum((card.expect.classes or {}).values())
    assert card.expect.features
    assert card.expect.fingerprint
    assert card.licence
    assert card.embedded or (card.home and card.citation)
    for variant in card.variants:
        assert card.expected(variant.options).fingerprint not in (None, card.expect.fingerprint)
    files = [file for layout in card.layouts for file in layout.files]
    assert all(file.urls for file in files) or name in NOT_TO_BE_DOWNLOADED


def test_landsat_states_its_predefined_split():
    assert load_card("landsat").predefined == (4435, 2000)
    assert load_card("iris").predefined is None


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("title: A toy", "titel: A toy", "toy.yaml:2:1", "Did you mean 'title'"),
        ("  samples: 300", "  smaples: 300", "toy.yaml:7:3", "Did you mean 'samples'"),
        ("  samples: 300", "  samples: many", "toy.yaml:7:12", "whole number"),
        ("  samples: 300", "  samples: 0", "toy.yaml:7:12", "equal to 1"),
        ("  - path: toy.csv", "  - path: ''", "toy.yaml:4:11", "non-empty"),
        ("title: A toy", "title: A toy\ntitle: B", "toy.yaml:3:1", "twice; .*line 2"),
        ("title: A toy", "title: [A", "toy.yaml:3:", "not valid YAML"),
        ("format: {name: csv, label: 2}", "", "toy.yaml:1:1", "both 'files' and 'format'"),
        ("files:", "generate: iris\nfiles:", "toy.yaml:1:1", "with 'generate', remove 'files'"),
        ("name: toy", "name: a/b", "toy.yaml:1:7", "pattern"),
        ("title: A toy", "title: A\nhome: &a [*a]", "toy.yaml:3:11", "the anchor .&a"),
        ("samples: 300", "samples: !!python/name:a b", "toy.yaml:7:12", "not supported here"),
        ("1: 100", "1: 100, 1: 2", "toy.yaml:8:30", "the key '1' is given twice"),
        ("{no: 200, 1: 100}", "{no: 0, 1: 0}", "toy.yaml:8:23", "'1' must be greater"),
        ("files:", "image_shape: [3]\nfiles:", "toy.yaml:3:14", "too few values"),
        ("expect:", "split: by_file\nexpect:", "toy.yaml:1:1", "role for each file"),
        ("expect:", "variants: [{options: {a: 1}, expect: {}}]\nexpect:", "toy.yaml:1:1", "'a'"),
        ("toy.csv", "../toy.csv\n    urls: ['http://x/y']", "toy.yaml:4:5", "<folder>/<file>"),
        ("name: csv", 'name: "sklearn.datasets:load_files"', "toy.yaml:5:", "refer to code"),
        ("toy.csv", "toy.csv\n    urls: ['file:///etc/x']", "toy.yaml:5:", "pattern"),
        ("name: csv", "name: cvs", "toy.yaml:5:16", "no format called 'cvs'. Did you mean 'csv'"),
        (FILES, "generate: irsi", "toy.yaml:3:11", "no generator .* Did you mean 'iris'"),
        (FILES, "generate: {name: openml, number: x}", "toy.yaml:3:34", "such as `number: 31`"),
        (FILES, "generate: openml", "toy.yaml:3:11", "such as `number: 31`"),
    ],
)  # fmt: skip
def test_mistake_is_reported_with_its_place(old, new, where, what, tmp_path):
    assert old in CARD
    with pytest.raises(InputError, match=what) as caught:
        load_card(write(tmp_path, CARD.replace(old, new, 1)))
    assert where in str(caught.value)


def test_all_mistakes_are_reported_at_once(tmp_path):
    text = CARD.replace("title", "titel").replace("samples", "smaples") + "name: toy\n"
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_card(path)
    head, *lines = str(caught.value).splitlines()
    assert str(path) in head
    assert [line.removeprefix(f"  {path}:").split(": ")[:2] for line in lines] == [
        ["1:1", "title"],
        ["2:1", "titel"],
        ["7:3", "expect.smaples"],
        ["9:1", "name"],
    ]


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just text\n"])
def test_file_that_is_no_card_is_refused(text, tmp_path):
    with pytest.raises(InputError, match="keys name, title"):
        load_card(write(tmp_path, text))


def test_binary_file_is_refused(tmp_path):
    path = tmp_path / "toy.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"1:1: .*0xff.*UTF-8"):
        load_card(path)


def test_classes_named_by_numbers_or_no_are_text(tmp_path):
    assert load_card(write(tmp_path, CARD)).expect.classes == {"no": 200, "1": 100}


def test_numbers_are_read_as_in_yaml_1_2(tmp_path):
    text = CARD.replace("{no: 200, 1: 100}", "{010: 1, 12:30: 2, 1e-3: 3, true: 4}")
    assert load_card(write(tmp_path, text)).expect.classes == {
        "010": 1,
        "12:30": 2,
        "1e-3": 3,
        "true": 4,
    }


def test_card_with_many_classes_is_read(tmp_path):
    classes = ", ".join(f"{i}: 1" for i in range(5_000))
    text = CARD.replace("{no: 200, 1: 100}", f"{{{classes}}}")
    assert len(load_card(write(tmp_path, text)).expect.classes or {}) == 5_000


def test_unknown_name_gets_the_nearest(tmp_path):
    with pytest.raises(InputError, match="Did you mean 'landsat'"):
        load_card("landsta")
    with pytest.raises(InputError, match="is not a file"):
        load_card("./landsat.yaml", base=tmp_path)


def test_path_wins_over_name(tmp_path, monkeypatch):
    (tmp_path / "iris.yaml").write_text(CARD.replace("name: toy", "name: iris"))
    monkeypatch.chdir(tmp_path)
    assert load_card("iris").shipped
    assert not load_card("iris.yaml").shipped
    assert load_card("./iris.yaml").expect.samples == 300
    assert load_card("iris.yaml", base=tmp_path).expect.samples == 300


def test_options_take_their_defaults_and_refuse_what_is_not_there():
    coil = load_card("coil20")
    assert coil.choose(None) == {"resize": "stride"}
    assert coil.choose({"resize": "bicubic"}) == {"resize": "bicubic"}
    with pytest.raises(InputError, match=r"no option 'resise'\. Did you mean 'resize'"):
        coil.choose({"resise": "bicubic"})
    with pytest.raises(InputError, match="Did you mean 'bicubic'"):
        coil.choose({"resize": "bicubik"})
    with pytest.raises(InputError, match="has no options"):
        load_card("landsat").choose({"resize": "bicubic"})


@pytest.mark.parametrize("value", ["400", 400.0, True])
def test_option_of_a_wrong_type_is_refused(value):
    with pytest.raises(InputError, match="whole number"):
        load_card("rings").choose({"n_samples": value})


def test_whole_number_serves_for_a_number():
    chosen = load_card("rings").choose({"noise_sd": 3})
    assert chosen["noise_sd"] == 3.0
    assert type(chosen["noise_sd"]) is float


def test_third_party_card_is_found_by_its_entry_point(tmp_path):
    path = write(tmp_path, CARD)
    (tmp_path / "their_package.py").write_text(f"CARD = {str(path)!r}\n")
    info = tmp_path / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ddr.datasets]\ntheirs = their_package:CARD\n")
    code = (
        "from ddr_cli.data import card_names, load_card;"
        "assert card_names()[-1] == 'theirs';"
        "print(load_card('theirs').title)"
    )
    environment = {"PYTHONPATH": str(tmp_path), "PATH": ""}
    output = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "A toy"
