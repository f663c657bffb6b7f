"""k nearest neighbours: votes, both rules for ties, and one search for every k."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr_cli.evaluation.knn import KNNClassifier


@parametrize_with_checks([KNNClassifier(), KNNClassifier(n_neighbors=2, ties="smallest_label")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def by_definition(X, y, queries, k, ties):
    labels = []
    for query in queries:
        squared = ((X - query) ** 2).sum(axis=1)
        near = sorted(range(len(X)), key=lambda i: (squared[i], i))[:k]
        votes = Counter(y[i] for i in near)
        leaders = [label for label, count in votes.items() if count == max(votes.values())]
        nearest = next(y[i] for i in near if y[i] in leaders)
        labels.append(nearest if ties == "nearest" else min(leaders))
    return np.array(labels)


@pytest.fixture
def whole_numbers():
    # Samples on a small integer grid have many equal distances.
    generator = np.random.default_rng(3)
    X, queries = (generator.integers(0, 6, size=(n, 3)).astype(float) for n in (120, 150))
    return X, generator.integers(0, 4, size=120), queries


@pytest.mark.parametrize("ties", ["nearest", "smallest_label"])
@pytest.mark.parametrize("k", [1, 2, 4, 5, 11])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_equals_definition(whole_numbers, k, ties, container):
    X, y, queries = whole_numbers
    found = KNNClassifier(k, ties=ties).fit(container(X), y).predict(container(queries))
    np.testing.assert_array_equal(found, by_definition(X, y, queries, k, ties))


def test_smallest_label_is_scikit_learns_rule():
    generator = np.random.default_rng(0)
    X, queries = generator.standard_normal((200, 4)), generator.standard_normal((300, 4))
    y = generator.integers(0, 5, size=200)
    ours = KNNClassifier(6, ties="smallest_label").fit(X, y).predict(queries)
    theirs = KNeighborsClassifier(6, algorithm="brute").fit(X, y).predict(queries)
    np.testing.assert_array_equal(ours, theirs)
    assert (ours != KNNClassifier(6).fit(X, y).predict(queries)).any()


def test_tied_classes_are_settled_among_themselves():
    # The class of the nearest sample has too few votes to be among the tied classes.
    X, y = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 2, 1, 1, 2])
    assert KNNClassifier(5).fit(X, y).predict([[0.0]]) == [2]
    assert KNNClassifier(5, ties="smallest_label").fit(X, y).predict([[0.0]]) == [1]


def test_predict_many_equals_single_fits(whole_numbers):
    X, y, queries = whole_numbers
    settings = [
        {"n_neighbors": k, "ties": ties}
        for k in (7, 1, 15, 2)
        for ties in ("nearest", "smallest_label")
    ]
    many = KNNClassifier.predict_many(X, y, queries, settings)
    assert len(many) == len(settings)
    for setting, found in zip(settings, many, strict=True):
        alone = KNNClassifier(**setting).fit(X, y).predict(queries)
        np.testing.assert_array_equal(found, alone)


def test_predict_many_searches_once(whole_numbers, monkeypatch):
    import ddr_cli.evaluation.knn as module

    calls = []
    search = module.kneighbors

    def counted(*args, **kwargs):
        calls.append(args[1])
        return search(*args, **kwargs)

    monkeypatch.setattr(module, "kneighbors", counted)
    KNNClassifier.predict_many(*whole_numbers, [{"n_neighbors": k} for k in (1, 9, 4)])
    assert calls == [9]


def test_predict_many_of_nothing_and_of_a_wrong_setting(whole_numbers):
    assert KNNClassifier.predict_many(*whole_numbers, []) == []
    with pytest.raises(ValueError, match="n_neighbors=0 is not valid"):
        KNNClassifier.predict_many(*whole_numbers, [{"n_neighbors": 3}, {"n_neighbors": 0}])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 2.0}, "n_neighbors=2.0"),
        ({"n_neighbors": 4}, "n_neighbors=4, .* n_samples=3"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        KNNClassifier(**parameters).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize(("ties", "errors"), [("smallest_label", 193), ("nearest", 191)])
def test_raw_landsat(data_mirror, ties, errors):
    # 193 errors on 2000 samples are the paper's 9.65 %.
    train, test = (np.loadtxt(data_mirror / "landsat" / name) for name in ("sat.trn", "sat.tst"))
    classifier = KNNClassifier(5, ties=ties).fit(train[:, :-1], train[:, -1])
    assert np.sum(classifier.predict(test[:, :-1]) != test[:, -1]) == errors
