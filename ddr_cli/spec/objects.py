"""Converts a spec of arrays and estimator objects to one that YAML could express."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ddr_cli.core import own_code
from ddr_cli.core.own_code import copies_of, hash_of, importable_name, is_code, offer, offering
from ddr_cli.data.arrays import held_in_memory, make_dataset
from ddr_cli.data.dataset import Dataset
from ddr_cli.spec.estimators import PREFIXES, is_plain, registry_of, value_source


@contextmanager
def in_words(spec: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a spec that YAML could express; the names in it are valid within the block.

    A data set is identified by its content. An object is replaced by the name of its class, in the
    registry or its module, with its parameters; only an object without such a name, or with
    parameters that a spec can't express, is copied to the worker processes. Its code already runs
    in this program, so it needs no further trust.
    """
    with ExitStack() as stack:
        stack.enter_context(own_code.trusting(allowed=False))
        send = stack.enter_context(offering())
        words = dict(spec)
        data = words.get("dataset")
        if isinstance(data, tuple) and len(data) == 2:
            data = make_dataset(*data)
        if isinstance(data, Dataset):
            words["dataset"] = stack.enter_context(held_in_memory(data))
        for section in PREFIXES:
            if isinstance(words.get(section), Sequence) and not isinstance(words[section], str):
                words[section] = [_item(section, item) for item in words[section]]
        send()
        yield words


def _item(section: str, item: Any) -> Any:
    """Return an item of a list with its object replaced by a name and the object's parameters."""
    component = item.get("name") if isinstance(item, Mapping) else item
    if component is None or isinstance(component, str):
        return item
    given = {} if component is item else {key: item[key] for key in item if key != "name"}
    return {**_component(section, component), **given}


def _component(section: str, component: Any) -> dict[str, Any]:
    is_class = isinstance(component, type)
    factory = component if is_class else type(component)
    if not is_class and not hasattr(component, "get_params"):
        params: dict[str, Any] | None = None
    else:
        params = {} if is_class else dict(component.get_params(deep=False))
    if params is None or not is_plain(params):
        copies = copies_of(component)
        return {"name": offer(copies, hash_of(component))}
    target = f"{factory.__module__}:{factory.__qualname__}"
    offered = (e.name for e in registry_of(section).entries() if e.target == target)
    name = next(offered, None) or importable_name(factory)
    if name is None:
        return {"name": offer(factory, hash_of(factory)), **params}
    if is_code(name):
        own_code.trust(own_code.source_of(name))
    for parameter, value in params.items():
        own_code.trust(value_source(name, parameter, value))
    return {"name": name, **params}
