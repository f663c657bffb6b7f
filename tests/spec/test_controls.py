"""Controls add reducers with as many components as the spec's methods, and trials of their own."""

import pytest

from ddr_cli.core.positions import DocumentError
from ddr_cli.spec import Spec, expand, load_spec

SPEC = """\
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 2}
controls: [none, pca, random_projection, full_features, shuffled_labels]
reducers: [{name: lda, n_components: 2}]
classifiers: [{name: knn, n_neighbors: 3}]
sweep: {}
metrics: [error]
"""
CONTROLS = "controls: [none, pca, random_projection, full_features, shuffled_labels]"
LDA = "[{name: lda, n_components: 2}]"


def _load(edit, *changes):
    return load_spec(edit(*changes, text=SPEC))


def _trials(spec):
    """Return the trials of one split: reducer, n_components, classifier and control."""
    return [
        " ".join(
            str(part)
            for part in (
                cell.reducer.name,
                cell.reducer.params.get("n_components", ""),
                cell.evaluator.name,
                cell.control,
            )
            if part
        )
        for cell in expand(spec)
        if cell.split.index == 0
    ]


def test_every_control_is_there_beside_the_method(edit):
    assert _trials(_load(edit)) == [
        "lda 2 knn",
        "none knn",
        "none random_forest",
        "pca 2 knn",
        "random_projection 2 knn",
        "lda 2 knn shuffled_labels",
    ]


def test_projections_have_each_width_of_the_methods(edit):
    both = "[{name: lda, n_components: 1}, {name: mfa, n_components: 3}, {name: nca}]"
    reducers = _load(edit, (LDA, both), (CONTROLS, "controls: [pca]")).reducers
    widths = [item.params["n_components"] for item in reducers if item.name == "pca"]
    assert widths == [1, 3, 2]
    assert len({item.label for item in reducers}) == len(reducers)


def test_a_sweep_and_a_grid_are_the_controls_too(edit):
    swept = _load(edit, ("sweep: {}", "sweep: {reducer.n_components: [1, 2, 4]}"))
    assert [t for t in _trials(swept) if t.startswith(("pca", "lda"))] == [
        *("lda 1 knn", "lda 2 knn", "pca 1 knn", "pca 2 knn", "pca 4 knn"),
        *("lda 1 knn shuffled_labels", "lda 2 knn shuffled_labels"),
    ]
    grid = _load(edit, (LDA, "[{name: lda, n_components: {grid: [1, 2]}}]"))
    assert [t for t in _trials(grid) if t.startswith("random")] == [
        "random_projection 1 knn",
        "random_projection 2 knn",
    ]


def test_projections_are_no_wider_than_the_data(edit):
    spec = _load(edit, (LDA, "[{name: ccdr, n_components: 9}]"))
    assert {"pca 4 knn", "random_projection 4 knn"} <= set(_trials(spec))


def test_a_control_does_not_repeat_an_item_of_the_spec(edit):
    own = "[lda, none, {name: pca, n_components: 1}]"
    trials = _trials(_load(edit, (LDA, own), ("n_neighbors: 3}]", "n_neighbors: 3}, svc]")))
    assert trials.count("none knn") == 1
    assert "pca 2 knn" not in trials
    # The random forest only runs on all features; the spec's classifiers run on every reducer.
    assert [t for t in trials if "forest" in t] == ["none random_forest"]
    assert "lda 2 svc" in trials


def test_only_what_learns_from_labels_gets_shuffled_ones(edit):
    trials = _trials(_load(edit, (LDA, "[lda, lpp, isomap]")))
    assert [t for t in trials if "shuffled" in t] == ["lda 2 knn shuffled_labels"]


def test_the_error_on_training_points_stands_beside_shuffled_labels(edit):
    assert _load(edit).metrics == ("error", "training_error")
    assert _load(edit, (", shuffled_labels", "")).metrics == ("error",)


@pytest.mark.parametrize(
    ("reducers", "more", "expected"),
    [
        ("[lda, lfda]", "", 5),
        ("[lda]", "", 0),
        ("[lda]", "\ntune: {folds: 3}", 5),
        ("[lda, lfda]", "\npaper: {name: lfda, artefact: toys}", 0),
    ],
)
def test_controls_are_the_default_of_a_comparison(edit, reducers, more, expected):
    spec = _load(edit, (CONTROLS + "\n", ""), (LDA, reducers), ("[error]", f"[error]{more}"))
    assert len(spec.controls) == expected


def test_controls_can_be_switched_off(edit):
    tuned = ("metrics: [error]", "metrics: [error]\ntune: {folds: 3}")
    off = _load(edit, (CONTROLS, "controls: []"), tuned)
    assert {cell.reducer.name for cell in expand(off)} == {"lda"}
    assert _load(edit, (CONTROLS + "\n", "")).controls == ()


def test_tuned_projections_choose_among_the_methods_widths(edit):
    grids = (
        "[{name: lda, n_components: {grid: [1, 2]}}, {name: ccdr, n_components: {grid: [2, 3]}}]"
    )
    spec = _load(edit, (LDA, grids), ("metrics: [error]", "metrics: [error]\ntune: {folds: 3}"))
    (pca,) = (item for item in spec.reducers if item.name == "pca")
    assert pca.grids == {"n_components": (1, 2, 3)}
    # At its defaults, a projection has the methods' own value, not the first value of a grid.
    (lda, *_) = spec.reducers
    assert pca.params["n_components"] == lda.params["n_components"] == 2
    strong = [cell for cell in expand(spec) if cell.evaluator.name == "random_forest"]
    assert {cell.tuning for cell in strong} == {None}


def test_the_strong_classifier_suits_the_number_of_points(edit):
    digits = ("iris", "digits")
    assert "none gradient_boosting" in _trials(_load(edit, digits))
    assert "none random_forest" in _trials(_load(edit, digits, ("sweep: {}", "labels: [2, all]")))


def test_the_resolved_spec_makes_the_same_trials(edit):
    spec = _load(edit)
    again = Spec.from_resolved(spec.resolved())
    assert again.resolved() == spec.resolved()
    assert expand(again) == expand(spec)


@pytest.mark.parametrize("dataset", ["newsgroups_rec", "./own.yaml"])
def test_sparse_samples_get_a_classifier_that_takes_them(edit, tmp_path, dataset):
    card = "name: own\ntitle: Own\nfiles: [{path: own.svm}]\nformat: libsvm\n"
    (tmp_path / "own.yaml").write_text(card)
    spec = _load(edit, ("iris", dataset), (", pca, random_projection", ""))
    assert "none logistic_regression" in _trials(spec)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([("full_features", "full_feature")], "3:42: controls: ... mean 'full_features'"),
        (
            [
                ("classifiers: [{name: knn, n_neighbors: 3}]", "measures: [separability]"),
                ("metrics: [error]\n", ""),
            ],
            "3:42: controls: 'full_features' ... classifiers",
        ),
        (
            [("n_neighbors: 3}", "n_neighbors: 3, only_on: lsa}")],
            "5:52: classifier.only_on: ... mean 'lda'",
        ),
    ],
)
def test_a_wrong_control_has_its_place(edit, changes, told):
    with pytest.raises(DocumentError) as caught:
        load_spec(edit(*changes, text=SPEC))
    line = str(caught.value).splitlines()[1]
    assert [part for part in f"x.yaml:{told}".split(" ... ") if part not in line] == []
