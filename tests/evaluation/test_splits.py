"""Splits: sizes, strata, and random streams that depend only on seed, data set and index."""

import numpy as np
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.splits import (
    SPLITS,
    inner_keys,
    label_places,
    make_split,
    method_seed,
    split_hash,
    split_labelled,
)

LABELS = np.repeat([0, 1, 2], [50, 30, 20])
OWN = (np.arange(60), np.arange(60, 100))
GROUPS = np.arange(100) % 7


def draw(kind, *, labels=LABELS, index=0, seed=0, dataset="toy", train=None, own=OWN):
    given = {"resample": None, "per_class": 5, "fraction": 0.8, "labelled": 10}
    return make_split(
        kind,
        labels,
        index=index,
        seed=seed,
        dataset=dataset,
        predefined=own,
        train=given.get(kind) if train is None else train,
        folds=5 if kind in ("kfold", "grouped") and train is None else None,
        groups=GROUPS,
    )


@pytest.mark.parametrize("kind", SPLITS)
def test_parts_are_disjoint_and_complete(kind):
    split = draw(kind)
    assert sorted([*split.train, *split.test]) == list(range(100))
    assert split.name == ("predefined" if kind == "predefined" else f"{kind}-0")
    assert split.hash == split_hash(split.train, split.test)


@pytest.mark.parametrize(
    ("kind", "train", "counts"),
    [
        ("resample", None, [30, 18, 12]),
        ("per_class", 5, [5, 5, 5]),
        ("fraction", 0.8, [40, 24, 16]),
        ("fraction", 0.29, [14, 9, 6]),  # exact counts 14.5, 8.7, 5.8: the larger remainders go up
        ("labelled", 10, [5, 3, 2]),
        ("labelled", 3, [1, 1, 1]),  # exact counts 1.5, 0.9, 0.6: every class gets one
    ],
)
def test_class_counts_in_training_part(kind, train, counts):
    split = draw(kind, train=train)
    assert np.bincount(LABELS[split.train]).tolist() == counts


def test_rare_class_keeps_one_training_point_and_total_stays_exact():
    labels = np.repeat([0, 1, 2], [1000, 2, 1])
    split = draw("labelled", labels=labels, train=5)
    assert np.bincount(labels[split.train]).tolist() == [3, 1, 1]


@pytest.mark.parametrize("share", [0.07, 0.14, 0.29, 0.57, 0.58])
def test_fraction_is_not_lost_to_rounding(share):
    # share * 100 is an ulp below or above the intended whole number.
    assert len(draw("fraction", train=share).train) == round(share * 100)


@pytest.mark.parametrize(
    "kind", ["resample", "per_class", "fraction", "labelled", "kfold", "grouped"]
)
def test_seed_dataset_and_index_each_give_another_split(kind):
    hashes = {
        draw(kind).hash,
        draw(kind, seed=1).hash,
        draw(kind, dataset="other").hash,
        draw(kind, index=1).hash,
    }
    assert len(hashes) == 4
    assert draw(kind).hash == draw(kind).hash


def test_label_names_change_nothing():
    named = np.array(["a", "b", "c"])[LABELS]
    assert draw("fraction", labels=named) == draw("fraction")


def test_every_point_is_drawn_equally_often():
    trained = np.zeros(100)
    for index in range(400):
        trained[draw("fraction", train=0.3, index=index).train] += 1
    # The count of a sample is Binomial(400, 0.3), with a standard deviation of 9.2. The most
    # extreme of 100 counts stays within five of them.
    assert np.abs(trained - 120).max() < 46


def test_indices_of_one_point_are_uncorrelated_between_splits():
    drawn = np.zeros((300, 100))
    for index in range(300):
        drawn[index, draw("fraction", train=0.5, index=index).train] = 1
    following = np.mean(drawn[1:, 0] == drawn[:-1, 0])
    assert 0.35 < following < 0.65


GOLDEN = {
    "predefined": "0b0329b057ce0d97",
    "resample": "a76db3294e752871",
    "per_class": "4aa37e9f3d3ea6c1",
    "fraction": "0a25f7dd7be641f1",
    "labelled": "8412d7a97a31144f",
    "kfold": "d704ceacacc7fd98",
    "grouped": "aa4596afbe6ae70d",
    "given": "0b0329b057ce0d97",
    "whole": "4a7e3b11c60a0023",
}


@pytest.mark.parametrize("kind", SPLITS)
def test_golden_hash(kind):
    # Another hash would mean other splits in every result: no platform or library may cause this.
    assert draw(kind, index=3, seed=7, dataset="landsat").hash == GOLDEN[kind]


def test_golden_split():
    split = make_split("per_class", [0, 0, 0, 0, 1, 1, 1, 1], train=2, dataset="toy")
    assert split.train.tolist() == [0, 3, 6, 7]


def test_golden_method_seed():
    assert [method_seed(0, "landsat", index) for index in range(3)] == [
        1537682142,
        3397025610,
        788509350,
    ]
    assert method_seed(1, "landsat", 0) != method_seed(0, "landsat", 0)
    assert method_seed(0, "iris", 0) != method_seed(0, "landsat", 0)


def test_golden_keys_of_inner_folds():
    assert [int(inner_keys(0, "landsat", index)(1)[0]) for index in range(3)] == [
        3017390919702094047,
        11788836435806046637,
        14922408587701823622,
    ]


def test_hash_tells_where_the_parts_meet_and_ignores_the_integer_type():
    assert split_hash([0, 1], [2]) != split_hash([0], [1, 2])
    assert split_hash([0, 1], [2]) != split_hash([1, 0], [2])
    assert split_hash(np.array([0, 1], dtype=np.int16), [2]) == split_hash([0, 1], [2])


def test_predefined_keeps_the_order_of_the_data_set():
    split = make_split("predefined", [0, 1, 0, 1], predefined=([3, 0], [2, 1]))
    assert split.train.tolist() == [3, 0]
    assert split.test.tolist() == [2, 1]


def test_resample_leaves_out_points_of_neither_part():
    split = make_split("resample", [0, 1] * 4, predefined=([0, 1, 2, 3], [6, 7]))
    assert sorted([*split.train, *split.test]) == [0, 1, 2, 3, 6, 7]
    assert len(split.train) == 4


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("predefined", {"own": None}, "'toy' has no predefined"),
        ("resample", {"own": None}, "'toy' has no predefined"),
        ("resample", {"train": 10}, "omit 'train'"),
        ("per_class", {"train": 20}, "class 2 has only 20; set 'train' to at most 19, or"),
        ("per_class", {"train": 2.5}, "1 or more, but train is 2.5"),
        ("per_class", {"train": True}, "1 or more, but train is True"),
        ("fraction", {"train": 1.0}, "between 0 and 1, but train is 1.0"),
        ("fraction", {"train": 0.01}, "puts 1 of 100 samples"),
        ("fraction", {"train": 0.999}, "puts 100 of 100 samples"),
        ("labelled", {"train": 2}, "gives 3 to 99 training samples"),
        ("labelled", {"train": 100}, "gives 3 to 99 training samples"),
        ("fraction", {"seed": -1}, "0 or more"),
        ("predefined", {"own": ([0, 1], [1, 2])}, "lists a row twice"),
        ("predefined", {"own": ([0, 1], [100])}, "does not exist"),
        ("predefined", {"own": ([0, 1], [])}, "empty training or test set"),
    ],
)
def test_an_impossible_split_is_refused(kind, options, message):
    with pytest.raises(InputError, match=message):
        draw(kind, **options)


@pytest.mark.parametrize("kind", ["per_class", "fraction", "labelled"])
def test_missing_size_is_said(kind):
    with pytest.raises(InputError, match=f"'{kind}' needs 'train'"):
        make_split(kind, LABELS)


def test_the_points_of_few_labels_are_among_those_of_many():
    y = np.repeat([0, 1, 2], [30, 20, 10])
    split = make_split("fraction", y, train=0.5, dataset="d")
    places = label_places(y, split.train, seed=0, dataset="d", index=0)
    chosen = [set(split.train[places < budget]) for budget in (1, 2, 5)]
    assert chosen[0] < chosen[1] < chosen[2]
    for budget, rows in zip((1, 2, 5), chosen, strict=True):
        assert np.bincount(y[list(rows)]).tolist() == [budget] * 3
    assert not np.array_equal(places, label_places(y, split.train, seed=0, dataset="d", index=1))
    assert not np.array_equal(places, label_places(y, split.train, seed=1, dataset="d", index=0))


@pytest.mark.parametrize("kind", ["fraction", "kfold", "grouped", "resample", "given"])
def test_points_without_a_label_train_and_leave_the_others_parts_alone(kind):
    y = np.array([0, 1, -1] * 20)
    groups = np.repeat(np.arange(12), 5)
    labelled = np.flatnonzero(y >= 0)
    own = (np.arange(30), np.arange(30, 60))
    size = {"kfold": {"folds": 4}, "fraction": {"train": 0.5}, "grouped": {"train": 0.5}}
    how = size.get(kind, {})
    kept = {}
    if kind in ("resample", "given"):
        place = np.cumsum(y >= 0) - 1
        kept = {"predefined": tuple(place[part[y[part] >= 0]] for part in own)}
    found = split_labelled(kind, y, predefined=own, groups=groups, **how)
    alone = make_split(kind, y[labelled], groups=groups[labelled], **how, **kept)
    np.testing.assert_array_equal(found.test, labelled[alone.test])
    n = len(alone.train)
    np.testing.assert_array_equal(found.train[:n], labelled[alone.train])
    extra = found.train[n:]
    assert (y[extra] == -1).all()
    with_tested = np.isin(groups[y == -1], groups[found.test]).sum() if kind == "grouped" else 0
    assert len(extra) == (10 if kind == "given" else 20 - with_tested)
    if kind == "grouped":
        assert not set(groups[extra]) & set(groups[found.test])
