"""Folds of samples and of groups, compared with scikit-learn's; splits from a file."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupShuffleSplit,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.split_file import read_split_file
from ddr_cli.evaluation.splits import make_split

LABELS = np.repeat([0, 1, 2], [53, 31, 17])
# Groups of very different sizes, each with samples of several classes.
GROUPS = np.random.default_rng(0).choice(12, size=len(LABELS), p=np.arange(1, 13) / 78)


def splits(n, kind, **options):
    return [make_split(kind, LABELS, index=i, groups=GROUPS, **options) for i in range(n)]


def counts(labels):
    return np.bincount(labels, minlength=3).tolist()


@pytest.mark.parametrize("folds", [2, 5, 17])
def test_folds_of_points_have_scikit_learns_class_counts(folds):
    theirs = StratifiedKFold(folds, shuffle=True, random_state=0).split(LABELS, LABELS)
    wanted = [counts(LABELS[test]) for _, test in theirs]
    for repeat in (0, 1):
        ours = [
            make_split("kfold", LABELS, index=repeat * folds + fold, folds=folds)
            for fold in range(folds)
        ]
        assert [counts(LABELS[split.test]) for split in ours] == wanted
        assert sorted(np.concatenate([split.test for split in ours])) == list(range(len(LABELS)))


@pytest.mark.parametrize("kind", ["kfold", "grouped"])
def test_repeats_of_folds_differ(kind):
    hashes = [split.hash for split in splits(20, kind, folds=4)]
    assert len({frozenset(hashes[i : i + 4]) for i in range(0, 20, 4)}) == 5


@pytest.mark.parametrize("folds", [2, 5, 12])
def test_folds_of_groups_divide_none_and_test_each_point_once(folds):
    drawn = splits(folds, "grouped", folds=folds)
    for split in drawn:
        assert not set(GROUPS[split.train]) & set(GROUPS[split.test])
    assert sorted(np.concatenate([split.test for split in drawn])) == list(range(len(LABELS)))


def unevenness(tests):
    """Return the standard deviation of a class's fraction over the folds, averaged over classes."""
    table = np.array([counts(LABELS[test]) for test in tests]) / np.bincount(LABELS)
    return table.std(axis=0).mean()


def test_folds_of_groups_are_about_as_even_as_scikit_learns():
    ours, theirs = [], []
    for repeat in range(20):
        drawn = [
            make_split("grouped", LABELS, index=4 * repeat + i, groups=GROUPS, folds=4)
            for i in range(4)
        ]
        ours.append(unevenness([split.test for split in drawn]))
        splitter = StratifiedGroupKFold(4, shuffle=True, random_state=repeat)
        theirs.append(
            unevenness([test for _, test in splitter.split(LABELS, LABELS, groups=GROUPS)])
        )
    assert np.mean(ours) < 1.25 * np.mean(theirs)


def test_classes_of_whole_groups_are_spread_over_the_folds():
    # 20 patients of 5 samples, each healthy or ill.
    patients = np.repeat(np.arange(20), 5)
    ill = (patients % 2).astype(int)
    for fold in range(5):
        split = make_split("grouped", ill, index=fold, folds=5, groups=patients)
        assert counts(ill[split.test])[:2] == [10, 10]


def test_each_group_is_left_out_as_by_scikit_learn():
    theirs = list(LeaveOneGroupOut().split(LABELS, LABELS, groups=GROUPS))
    ours = splits(12, "grouped", folds="leave_one_out")
    for split, (train, test) in zip(ours, theirs, strict=True):
        assert split.train.tolist() == train.tolist()
        assert split.test.tolist() == test.tolist()


def test_a_share_of_the_groups_is_as_many_as_scikit_learn_draws():
    for share in (0.25, 0.5, 0.8):
        (train, _), *_ = GroupShuffleSplit(1, train_size=share).split(LABELS, groups=GROUPS)
        drawn = splits(20, "grouped", train=share)
        for split in drawn:
            assert not set(GROUPS[split.train]) & set(GROUPS[split.test])
            wanted = len(set(GROUPS[train]))
            assert abs(len(set(GROUPS[split.train])) - wanted) <= (share == 0.8)
        assert len({split.hash for split in drawn}) > 15


def test_every_training_part_has_all_classes():
    # Class 1 is in two of ten groups. One draw in five would put both into the test set.
    groups = np.repeat(np.arange(10), 4)
    rare = np.isin(np.arange(40), [0, 4]).astype(int)
    for index in range(40):
        split = make_split("grouped", rare, index=index, groups=groups, train=0.5)
        assert set(rare[split.train]) == {0, 1}


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("kfold", {}, "needs 'folds'"),
        ("kfold", {"folds": 5, "train": 0.5}, "from 'folds'; omit 'train'"),
        ("kfold", {"folds": 18}, "Class c has 17 samples, .* choose 17 folds"),
        ("fraction", {"folds": 5, "train": 0.5}, "'fraction' does not use 'folds'"),
        ("grouped", {}, "needs either 'folds' .*or 'train'"),
        ("grouped", {"folds": 5, "train": 0.5}, "needs either 'folds' .*or 'train'"),
        ("grouped", {"train": 3}, "between 0 and 1.*, but train is 3"),
        ("grouped", {"train": 0.01}, "0 of 12 groups"),
        ("grouped", {"folds": 13}, "12 groups.* 13 folds"),
        ("grouped", {"folds": 5, "groups": None}, "'toy' has no groups.*name the column"),
        ("grouped", {"folds": "leave_one_out", "groups": LABELS * 0}, "only one group"),
        (
            "grouped",
            {"folds": "leave_one_out", "groups": LABELS, "group_names": ["p", "q", "r"]},
            "Only group p contains class a",
        ),
    ],
)
def test_impossible_folds_are_refused(kind, options, message):
    with pytest.raises(InputError, match=message):
        make_split(kind, LABELS, dataset="toy", class_names="abc", **{"groups": GROUPS, **options})


def test_a_file_of_splits_is_read(tmp_path):
    path = tmp_path / "splits.csv"
    path.write_text('first,second\ntrain,test\ntrain,\n"",train\ntest, train\n\n')
    given = read_split_file(path)
    assert given.n_rows == 4
    assert given.fewest_train == 2
    assert [[rows.tolist() for rows in split] for split in given.splits] == [
        [[0, 1], [3]],
        [[2, 3], [0]],
    ]
    before = given.sha256
    path.write_text("a\ntrain\ntest\n")
    assert read_split_file(path).sha256 != before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n", "names of the splits"),
        ("train\ntest\n", "line 1 must contain the names"),
        (",a\n0,train\n1,test\n", r"line 1: column 1 has no name; .*to_csv\(..., index=False\)"),
        ("a\ntrain\ntset\n", "line 3, column 'a': 'tset'"),
        ("a,b\ntrain,test\ntest\n", "line 3 has 1 cells, but line 1 has 2"),
        ("a,b\ntrain,test\ntest,test\n", "the column 'b' marks no row as 'train'"),
    ],
)
def test_a_wrong_file_of_splits_is_refused(tmp_path, text, message):
    path = tmp_path / "splits.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_split_file(path)
