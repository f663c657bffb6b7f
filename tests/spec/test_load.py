"""Finding a spec: paths take precedence over names, and an unknown name gets a suggestion."""

import os
from pathlib import Path

import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.core.positions import DocumentError
from ddr_cli.core.registry import shipped_yaml
from ddr_cli.spec import Spec, load_spec, make_spec


@pytest.mark.usefixtures("folder")
def test_a_shipped_spec_is_found_by_its_name_from_any_folder():
    spec = load_spec("digits_ccdr_beta")
    assert spec.path == shipped_yaml("configs")["digits_ccdr_beta"]


def test_a_path_wins_over_a_name(edit):
    edit(name="digits_ccdr_beta")
    spec = load_spec("digits_ccdr_beta")
    assert (spec.title, spec.path) == ("CCDR on the digits", Path("digits_ccdr_beta"))


def test_a_folder_does_not_hide_a_shipped_spec(folder):
    (folder / "digits_ccdr_beta").mkdir()
    assert load_spec("digits_ccdr_beta").path == shipped_yaml("configs")["digits_ccdr_beta"]


def test_the_name_is_the_stem_and_paths_may_be_path_objects(edit, folder):
    assert load_spec(folder / edit(name="my.study.yml")).name == "my.study"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("digits_ccdr_bet", "Did you mean 'digits_ccdr_beta'?"),
        ("configs/digits_ccdr_beta.yaml", "is called 'digits_ccdr_beta'"),
        ("own_studdy.yaml", "Did you mean 'own_study.yaml'?"),
        ("own_study", "Did you mean 'own_study.yaml'?"),
        ("nope.yaml", "no spec at nope.yaml. 'ddr list"),
        ("deep/own_studdy.yaml", "no spec at deep/own_studdy.yaml"),
        (".", ". is a folder"),
        ("", ". is a folder"),
        ("a\0b", r"'a\x00b' is not the path"),
        ("x" * 5000, "is not the path"),
    ],
)
def test_a_miss_says_what_is_near(edit, asked, message):
    edit(name="own_study.yaml")
    with pytest.raises(InputError) as caught:
        load_spec(asked)
    assert message in str(caught.value)
    assert "ddr list configs" in str(caught.value)


def test_a_pipe_is_refused_instead_of_waited_for(folder):
    os.mkfifo(folder / "pipe")
    with pytest.raises(InputError, match="pipe is not a file"):
        load_spec("pipe")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(edit, folder):
    (folder / edit()).chmod(0)
    with pytest.raises(InputError, match=r"x\.yaml .*Permission denied"):
        load_spec("x.yaml")


def test_a_spec_without_a_file_takes_the_same_defaults():
    spec = make_spec(
        dataset="digits",
        reducers=({"name": "ccdr", "n_components": 9, "mode": "transductive"}, "none"),
        classifiers=["knn"],
        overrides=["classifier.n_neighbors=1"],
        repeats=4,
    )
    assert spec.name == "digits_ccdr_none"
    assert (spec.split.kind, spec.split.train, spec.split.repeats) == ("fraction", 0.5, 4)
    assert spec.classifiers[0].params["n_neighbors"] == 1
    assert Spec.from_resolved(spec.resolved()) == spec


def test_a_data_set_with_groups_is_split_by_them_by_default(tmp_path):
    (tmp_path / "t.csv").write_text("x,who,label\n" + "1,a,p\n2,b,q\n3,c,p\n4,d,q\n")
    (tmp_path / "t.yaml").write_text(
        "name: t\ntitle: T\nversion: 1\nfiles: [{path: t.csv}]\n"
        "format: {name: csv, label: label, groups: who}\nexpect: {samples: 4, groups: 4}\n"
    )
    spec = make_spec(dataset=str(tmp_path / "t.yaml"), reducers=["none"], classifiers=["knn"])
    assert (spec.split.kind, spec.split.train) == ("grouped", 0.5)


def test_a_data_set_with_its_own_split_is_resampled_by_default():
    spec = make_spec(dataset="landsat", reducers=["none"], classifiers=["linear"], name="mine")
    assert (spec.name, spec.split.kind) == ("mine", "resample")


def test_a_wrong_spec_without_a_file_names_the_keys():
    with pytest.raises(DocumentError) as caught:
        make_spec(dataset="iriss", reducers=["cdr"], classifiers=[], split={"kind": "fraction"})
    head, *lines = str(caught.value).splitlines()
    assert "'iriss_cdr'" in head
    assert sorted(line.split(":")[0].strip() for line in lines) == [
        "classifiers",
        "dataset",
        "reducers",
        "split.train",
    ]
