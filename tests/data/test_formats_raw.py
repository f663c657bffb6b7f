"""Choosing and merging classes, joining files, and the registries."""

import numpy as np
import pytest
import scipy.sparse as sp

from ddr_cli.core.errors import InputError
from ddr_cli.core.parameters import parameter_model
from ddr_cli.data.dataset import keep_classes, merge_classes
from ddr_cli.data.formats import FORMATS, GENERATORS, RawData, concatenate_rows


def letters(labels="ABCADB", *, sparse=False):
    X = np.arange(2.0 * len(labels)).reshape(-1, 2)
    return RawData(
        sp.csr_array(X) if sparse else X,
        np.array(list(labels)),
        sizes=(4, len(labels) - 4),
        groups=np.arange(len(labels)),
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_kept_classes_keep_order_sizes_and_kind(sparse):
    raw = letters(sparse=sparse)
    kept = keep_classes(raw, ["A", "B"])
    assert kept.labels.tolist() == ["A", "B", "A", "B"]
    assert kept.sizes == (3, 1)
    assert kept.groups.tolist() == [0, 1, 3, 5]
    assert sp.issparse(kept.X) == sparse
    np.testing.assert_array_equal(sp.csr_array(kept.X).toarray()[:, 0], [0, 2, 6, 10])


@pytest.mark.parametrize("dtype", [int, float, str, np.uint8])
def test_labels_are_compared_as_text_whatever_their_type(dtype):
    raw = RawData(np.zeros((4, 1)), np.array([1, 2, 3, 1]).astype(dtype))
    assert len(keep_classes(raw, ["1", "3"]).labels) == 3


def test_merged_classes_remember_what_they_were():
    merged = merge_classes(letters(), {"A or C": ["A", "C"], "B": ["B"]})
    assert merged.labels.tolist() == ["A or C", "B", "A or C", "A or C", "B"]
    assert merged.subclasses.tolist() == ["A", "B", "C", "A", "B"]
    assert merged.sizes == (4, 1)


def test_a_class_in_two_groups_is_refused():
    with pytest.raises(InputError, match=r"'A' .*'one' and 'two'"):
        merge_classes(letters(), {"one": ["A", "B"], "two": ["C", "A"]})


def test_an_unknown_class_is_refused_with_the_nearest_one():
    raw = RawData(np.zeros((2, 1)), np.array(["setosa", "virginica"]))
    with pytest.raises(InputError, match=r"no class 'setossa'.*Did you mean 'setosa'"):
        keep_classes(raw, ["setossa"])


def test_stacked_parts_must_have_the_same_columns():
    one, two = (RawData(np.zeros((1, width)), np.zeros(1)) for width in (2, 3))
    with pytest.raises(InputError, match=r"File 2 .* 3 features, but file 1 has 2"):
        concatenate_rows([one, two])
    with pytest.raises(InputError, match="no file"):
        concatenate_rows([])
    with pytest.raises(InputError, match=r"File 1 .* no rows"):
        concatenate_rows([RawData(np.zeros((0, 2)), np.zeros(0))])


def test_stacked_sparse_parts_stay_sparse():
    part = letters(sparse=True)
    joined = concatenate_rows([part, part])
    assert isinstance(joined.X, sp.csr_array)
    assert joined.sizes == (6, 6)
    np.testing.assert_array_equal(joined.X.toarray()[6:], part.X.toarray())


@pytest.mark.parametrize("registry", [FORMATS, GENERATORS], ids=lambda registry: registry.kind)
def test_every_registered_piece_loads_and_states_its_options(registry):
    for entry in registry.entries():
        fields = parameter_model(entry.load()).model_fields
        given = {name for name, field in fields.items() if field.is_required()}
        assert given == ({"paths"} if registry is FORMATS else set())
        assert registry is FORMATS or "random_state" in fields
