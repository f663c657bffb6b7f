"""A randomly changed spec is either loaded or refused with a position; nothing else is raised."""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddr_cli.core.errors import InputError
from ddr_cli.spec import Spec, expand, load_spec, parse_values, with_sweep

_PIECES = st.sampled_from(
    [
        *("", " ", "\n", "\n  ", "\n- ", "\t", ": ", "- ", ", ", "#", "'", '"', "{", "}", "[", "]"),
        *("|", ">", "&a ", "*a", "<<: ", "!!int ", "? ", "%", "---\n", "~", "true", "no", "-1"),
        *("0", "1e-3", ".inf", "1e400", "9" * 40, "ccdr", "none", "reducer.beta", "log", "\\0"),
        *("beta: ", "name: ", "mode: ", "label: x", "\x00", "\ufeff", "\u2028", "é", "\U0001f600"),
    ]
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**30)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["ccdr", "none", "knn", "digits", "landsat", "heat", "predefined", "error"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "beta", "log", "kind", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
_SLOW = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def _flow(value):
    return yaml.safe_dump(value, default_flow_style=True)


def _read(path, **options):
    try:
        spec = load_spec(path, **options)
    except InputError as error:
        str(error).encode()
        return
    again = Spec.from_resolved(spec.resolved())
    assert again == spec.model_copy(update={"path": None})
    if spec.split.repeats <= 100:
        assert expand(spec)


@pytest.fixture
def right(edit, folder):
    return (folder / edit()).read_text(encoding="utf-8")


@_SLOW
@given(cuts=st.lists(st.tuples(st.integers(0, 600), st.integers(0, 12), _PIECES), max_size=3))
def test_text_that_is_cut_and_pasted(right, folder, cuts):
    text = right
    for start, length, piece in cuts:
        text = text[:start] + piece + text[start + length :]
    (folder / "x.yaml").write_text(text, encoding="utf-8")
    _read(folder / "x.yaml")


@_SLOW
@given(raw=st.binary(max_size=60), start=st.integers(0, 500))
def test_bytes_that_are_overwritten(right, folder, raw, start):
    whole = right.encode()
    (folder / "x.yaml").write_bytes(whole[:start] + raw + whole[start + len(raw) :])
    _read(folder / "x.yaml")


def _paths(value, path=()):
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(found for key, item in inner for found in _paths(item, (*path, key)))]


@_SLOW
@given(data=st.data())
def test_values_that_are_replaced(right, folder, data):
    tree = yaml.safe_load(right)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path in _paths(tree) if path]))
        parent = tree
        for part in path[:-1]:
            parent = parent[part]
        parent[path[-1]] = data.draw(_VALUES)
    (folder / "x.yaml").write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")
    _read(folder / "x.yaml")


@_SLOW
@given(
    overrides=st.lists(
        st.builds(
            "{}{}{}".format,
            st.sampled_from(
                [
                    *("reducer.beta", "reducer.mode", "reducer.n_components", "sweep", "plot.x"),
                    *("sweep.reducer.beta", "split", "split.train", "dataset", "reducers", "x"),
                    *("classifier.n_neighbors", "title", "metrics", "preprocess", "reducer", "."),
                ]
            ),
            st.sampled_from(["=", "", "=="]),
            _VALUES.map(_flow) | st.text(max_size=8),
        ),
        max_size=3,
    )
)
def test_overrides_of_any_text(right, folder, overrides):
    (folder / "x.yaml").write_text(right, encoding="utf-8")
    _read(folder / "x.yaml", overrides=overrides)


@_SLOW
@given(text=st.text(max_size=12) | _VALUES.map(_flow))
def test_values_of_any_text(text):
    base = load_spec("digits_ccdr_beta")
    try:
        with_sweep(base, {"beta": parse_values(text)})
    except InputError as error:
        str(error).encode()
