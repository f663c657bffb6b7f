"""Label budgets and training sizes in a spec."""

import pytest

from ddr_cli.core.positions import DocumentError
from ddr_cli.spec import expand, load_spec, with_sweep

SPEC = """\
dataset: iris
split: {kind: per_class, train: 20, repeats: 3}
reducers: [lda, none]
classifiers: [{name: knn, n_neighbors: 1}]
labels: [1, 5, all]
controls: []
"""
SWEPT = SPEC.replace("train: 20, ", "").replace(
    "labels: [1, 5, all]", "sweep: {split.train: [10, 40]}"
)


def _problem(path):
    with pytest.raises(DocumentError) as caught:
        load_spec(path)
    assert caught.value.exit_code == 2
    (line,) = str(caught.value).split("\n  ")[1:]
    return line


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("[0, 5]", "5:10: labels: ... 1 or more ... not 0"),
        ("[1, -5]", "5:13: labels: ... 1 or more ... not -5"),
        ("[1, al]", "5:13: labels: ... 'al' ... mean 'all'"),
        ("[2.5]", "5:10: labels: ... whole number ... 2.5"),
        ("[]", "5:9: labels: ... at least one number"),
        ("5", "5:9: labels: ... list ... [1, 2, 5, 10, all]"),
        ("[1, 21]", "5:13: labels: 21 ... 20 ... 'setosa'"),
        ("[1]\nmeasures: [topology]", "5:9: labels: 'measures' ... remove one"),
        ("[1, 2]\nembeddings: {points: 50}", "6:13: embeddings: ... 'labels' ... remove one"),
        ("[1, 2]\nplot: {x: reducer}", "6:11: plot.x: x must be"),
    ],
)
def test_wrong_labels(edit, labels, told):
    line = _problem(edit(text=SPEC.replace("[1, 5, all]", labels)))
    assert [part for part in f"x.yaml:{told}".split(" ... ") if part not in line] == []


@pytest.mark.parametrize(
    ("split", "sizes", "told"),
    [
        ("kind: per_class", "[10, 50]", "'train' asks for 50 ... at most 49"),
        ("kind: per_class", "[0.5, 10]", "'per_class' needs 'train' ... per class"),
        ("kind: fraction", "[0.5, 1.5]", "'fraction' needs 'train' ... between 0 and 1"),
        ("kind: fraction", "[a]", "number ... is 'a'"),
        ("kind: fraction", "[]", "no values"),
    ],
)
def test_wrong_sizes(edit, split, sizes, told):
    text = SWEPT.replace("kind: per_class", split).replace("[10, 40]", sizes)
    line = _problem(edit(text=text))
    assert line.startswith("x.yaml:5:")
    assert [
        part for part in f"sweep.split.train: ... {told}".split(" ... ") if part not in line
    ] == []


def test_a_size_is_needed_where_none_is_swept(edit):
    text = SWEPT.replace("split.train: [10, 40]", "classifier.n_neighbors: [1, 3]")
    assert "split.train: the split kind 'per_class' needs 'train'" in _problem(edit(text=text))


def test_labels_are_the_axis_and_logarithmic(edit):
    spec = load_spec(edit(text=SPEC))
    assert (spec.plot.x, spec.plot.log) == ("labels", True)
    assert spec.labels == (1, 5, "all")
    assert [cell.labels for cell in expand(spec)[::2]] == [1, 5, None] * 3
    one = load_spec(edit(text=SPEC), overrides=["labels=[5]"])
    assert (one.plot.x, one.labels) == ("reducer", (5,))
    without = load_spec(edit(text=SPEC), overrides=["labels=null"])
    assert without.labels == ()


def test_a_rule_may_make_the_labels(edit):
    spec = load_spec(edit(text=SPEC), overrides=["labels={range: [2, 8, 3]}"])
    assert spec.labels == (2, 5, 8)


def test_a_given_size_ends_the_sweep_over_sizes(edit):
    swept = load_spec(edit(text=SWEPT))
    assert swept.plot.x == "split.train"
    assert len(expand(swept)) == 2 * 3 * 2
    given = load_spec(edit(text=SWEPT), overrides=["split.train=20"])
    assert (given.split.train, given.sweep) == (20, {})


def test_sizes_are_swept_of_any_spec(edit):
    swept = with_sweep(load_spec(edit(text=SPEC)), {"split.train": [10, 40]})
    assert swept.name == "x_sweep_split_train"
    assert swept.plot.x == "split.train"
    names = dict.fromkeys(cell.split.name for cell in expand(swept))
    assert list(names)[::3] == ["per_class-10-0", "per_class-40-0"]
    back = with_sweep(swept, {"classifier.n_neighbors": [1, 3]} | {"split.train": [30]})
    assert back.sweep["split.train"] == (30,)


def test_swept_sizes_are_read_again(edit):
    spec = load_spec(edit(text=SWEPT))
    assert type(spec).from_resolved(spec.resolved()).resolved() == spec.resolved()
