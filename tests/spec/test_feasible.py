"""Settings that cannot be fitted, by the card, are left out of a sweep and otherwise refused."""

from __future__ import annotations

import pytest

from ddr_cli.core.positions import DocumentError
from ddr_cli.spec import expand, left_out, load_spec

SPEC = """\
dataset: iris
split: {kind: per_class, train: 10, repeats: 2}
preprocess: []
reducers:
  - {name: lda, n_components: 2}
  - pca
classifiers: [knn]
sweep: {}
controls: []
"""


def _sweep(values):
    return "sweep: {}", f"sweep: {{reducer.n_components: {values}}}"


def _widths(path):
    found: dict[str, set[object]] = {}
    for cell in expand(load_spec(path)):
        found.setdefault(cell.reducer.name, set()).add(cell.reducer.params["n_components"])
    return found


def test_a_shared_sweep_is_clipped_to_what_each_reducer_offers(edit):
    path = edit(_sweep("{range: [1, 6, 1]}"), text=SPEC)
    assert _widths(path) == {"lda": {1, 2}, "pca": {1, 2, 3, 4}}
    lda, pca = left_out(load_spec(path))
    assert all(words in lda for words in ("lda", "at most 2", "3 classes", "n_components 3 to 6"))
    assert all(words in pca for words in ("pca", "at most 4", "4 features", "5 and 6"))


def test_nothing_is_said_where_nothing_is_left_out(edit):
    path = edit(_sweep("[1, 2]"), text=SPEC)
    assert left_out(load_spec(path)) == []
    assert _widths(path) == {"lda": {1, 2}, "pca": {1, 2}}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            [("n_components: 2", "n_components: 3")],
            "5:31: reducer.n_components: ... is 3 ... lda ... at most 2 ... 3 classes",
        ),
        (
            [("n_components: 2", "n_components: {grid: [1, 2, 3, 5]}")],
            "5:31: reducer.n_components: ... has 3 and 5 ... lda ... at most 2",
        ),
        (
            [_sweep("[3, 4]")],
            "8:31: sweep.reducer.n_components: ... at least 3 ... lda ... at most 2",
        ),
        (
            [("preprocess: []", "preprocess: [{name: pca, n_components: 2}]"), _sweep("[3]")],
            "8:31: sweep.reducer.n_components: ... is 3 ... at most 2 ... (2 features, 3 classes)",
        ),
        (
            [("pca", "{name: mds, n_components: 40}"), ("lda, n_components: 2", "none")],
            "6:31: reducer.n_components: ... is 40 ... mds ... at most 29 ... 30 training samples",
        ),
        (
            [("{name: lda, n_components: 2}", "{name: ccdr, n_components: 9, beta: 0}")],
            "5:32: reducer.n_components: ... is 9 ... ccdr ... at most 2",
        ),
    ],
)
def test_an_item_that_cannot_be_fitted_is_refused(edit, changes, told):
    with pytest.raises(DocumentError) as caught:
        load_spec(edit(*changes, text=SPEC))
    first = str(caught.value).splitlines()[1]
    assert [part for part in f"x.yaml:{told}".split(" ... ") if part not in first] == []
    assert caught.value.exit_code == 2


def test_a_transductive_reducer_has_the_test_points_too(edit):
    item = "{name: mds, n_components: 40, mode: transductive}"
    load_spec(edit(("{name: lda, n_components: 2}", item), text=SPEC))


def test_too_many_dimensions_are_refused_where_they_stand(edit):
    text = SPEC.replace("iris", "mushroom")
    with pytest.raises(DocumentError, match=r"5:\d+: .* is 2.* lda .* at most 1 "):
        load_spec(edit(text=text))


@pytest.mark.parametrize(("dataset", "most"), [("iris", 2), ("digits", 9), ("mushroom", 1)])
def test_methods_of_the_class_means_are_asked_for_all_dimensions_by_default(edit, dataset, most):
    named = "lda\n  - olda\n  - rda\n  - {name: shrinkage_lda, n_components: 1}"
    text = SPEC.replace("{name: lda, n_components: 2}", named).replace("iris", dataset)
    spec = load_spec(edit(text=text))
    widths = {item.name: item.params["n_components"] for item in spec.reducers}
    assert [widths[name] for name in ("lda", "olda", "rda", "shrinkage_lda")] == [most] * 3 + [1]


def test_a_method_that_does_not_support_sparse_data_is_refused(edit):
    texts = SPEC.replace("iris", "newsgroups_rec").replace("  - pca", "  - none\n  - mds")
    path = edit(("[knn]", "[knn, gradient_boosting]"), text=texts)
    with pytest.raises(DocumentError) as caught:
        load_spec(path)
    mds, boosting = (line.strip() for line in str(caught.value).splitlines()[1:])
    assert mds.startswith("x.yaml:7:5: reducers: mds does not support sparse")
    assert boosting.startswith(
        "x.yaml:8:20: classifiers: gradient_boosting does not support sparse"
    )
    dense = texts.replace("preprocess: []", "preprocess: [{name: svd, n_components: 50}]")
    load_spec(edit(("[knn]", "[knn, gradient_boosting]"), text=dense))


def test_other_swept_parameters_decide_too(edit):
    """Without the geometric term, CCDR has at most one dimension fewer than classes."""
    sweep = ("sweep: {}", "sweep: {reducer.beta: [0, 1]}")
    path = edit(("{name: lda, n_components: 2}", "{name: ccdr, n_components: 9}"), sweep, text=SPEC)
    cells = [cell for cell in expand(load_spec(path)) if cell.reducer.name == "ccdr"]
    assert {cell.reducer.params["beta"] for cell in cells} == {1.0}
    (line,) = left_out(load_spec(path))
    assert all(words in line for words in ("ccdr", "at most 2", "n_components 9"))
