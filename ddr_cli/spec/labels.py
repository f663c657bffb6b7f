"""The names under which the items of a spec are shown: unique, and telling."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ddr_cli.spec.components import Component
from ddr_cli.spec.reading import Reader


def unique_labels(
    reader: Reader, components: Sequence[Component], swept: Collection[str]
) -> list[str]:
    """Return one label per item.

    The default is the name; items that share it get the parameters in which they differ, as in
    ``ccdr (heat)`` and ``ccdr (binary)``.

    Parameters
    ----------
    reader : Reader
        Collects the problems: an item that is listed twice, a label that is given twice.
    components : sequence of Component
        The items of one list.
    swept : collection of str
        Swept parameters, which tell no item from another.
    """
    _refuse_repeats(reader, components)
    labels = [item.label or _default_label(item, components, swept) for item in components]
    for i, (item, label) in enumerate(zip(components, labels, strict=True)):
        if label not in labels[:i]:
            continue
        if item.label:
            reader.problem((*item.path, "label"), f"the label '{label}' is used twice.")
        else:
            labels[i] = next(
                numbered
                for n in range(2, len(labels) + 2)
                if (numbered := f"{label} #{n}") not in labels
            )
    return labels


def _refuse_repeats(reader: Reader, components: Sequence[Component]) -> None:
    seen: list[tuple[Any, ...]] = []
    for item in components:
        identity = (item.name, item.mode, item.params)
        if identity in seen:
            reader.problem(
                item.path, f"{item.name} is listed twice with the same parameters; drop one."
            )
        seen.append(identity)


def _default_label(item: Component, components: Sequence[Component], swept: Collection[str]) -> str:
    namesakes = [other for other in components if other.name == item.name]
    facts = [{**other.params, "mode": other.mode} for other in namesakes]
    telling = [
        name
        for name in {**item.params, "mode": item.mode}
        if name not in swept and any(fact.get(name) != facts[0].get(name) for fact in facts)
    ]
    own = {**item.params, "mode": item.mode}
    told = ", ".join(_told(name, own[name]) for name in telling)
    return f"{item.name} ({told})" if told else item.name


def _told(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name}={value:g}" if isinstance(value, int | float) else f"{name}={value}"
