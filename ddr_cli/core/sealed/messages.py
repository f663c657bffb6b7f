"""The answers of a sealed process: messages of JSON and the bytes of arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from scipy import sparse

_RECORDS = {
    "Traits": "ddr_cli.reducers.registry",
    "AuthorCheck": "ddr_cli.reducers.registry",
    "EvaluatorTraits": "ddr_cli.evaluation.evaluators",
    "Scale": "ddr_cli.core.registry",
    "Checked": "ddr_cli.engine.contracts",
    "ContractResult": "ddr_cli.engine.contracts",
}
_MOST_BYTES = 2**24  # limit of the JSON of an answer


class UnreadableError(Exception):
    """The received message is not valid for a sealed process."""


class Unknown:
    """The value cannot be sent; `dtype` is its type, or the type of its entries."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"<{self.dtype}>"


def send(
    to: Connection, value: Any, number_of: Callable[[Any], int | None], **more: object
) -> None:
    """Send a value; objects that `number_of` knows are sent as their numbers."""
    arrays: list[Any] = []
    tree = _encoded(value, arrays, number_of)
    heads = [(array.dtype.str, array.shape) for array in arrays]
    to.send_bytes(json.dumps({"value": tree, "arrays": heads, **more}).encode())
    for array in arrays:
        if array.nbytes:
            content: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            to.send_bytes(content)


def receive(of: Connection, object_of: Callable[[int], Any]) -> tuple[Any, dict[str, Any]]:
    """Return a value and its message; `object_of` returns objects by their number.

    Raises UnreadableError, or EOFError or OSError if the process has ended.
    """
    head = of.recv_bytes(_MOST_BYTES)
    try:
        message = json.loads(head)
        arrays = [_array(of, np.dtype(dtype), shape) for dtype, shape in message["arrays"]]
        return _decoded(message["value"], arrays, object_of), message
    except (EOFError, OSError, UnreadableError):
        raise
    except Exception as error:  # untrusted code may have sent the message
        raise UnreadableError(f"{type(error).__name__}: {error}") from error


def _array(of: Connection, dtype: np.dtype[Any], shape: list[int]) -> Any:
    if dtype.kind not in "biuf":
        raise UnreadableError(f"an array of {dtype}")
    array = np.empty(tuple(shape), dtype)
    # An incompletely filled array would expose old memory, which may contain labels.
    if array.nbytes and of.recv_bytes_into(array.reshape(-1).view(np.uint8)) != array.nbytes:
        raise UnreadableError("an incomplete array")
    return array


def _encoded(value: Any, arrays: list[Any], number_of: Callable[[Any], int | None]) -> Any:
    def inner(items: Any) -> list[Any]:
        return [_encoded(item, arrays, number_of) for item in items]

    if (number := number_of(value)) is not None:
        return {"object": number}
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays.append(np.asarray(value))
        return {"array": len(arrays) - 1}
    if sparse.issparse(value):
        rows: Any = value.tocsr()  # type: ignore[attr-defined]
        return {"sparse": inner([rows.data, rows.indices, rows.indptr, rows.shape])}
    name = type(value).__name__
    if type(value).__module__ == _RECORDS.get(name):
        return {"record": name, "fields": inner(getattr(value, f) for f in _fields(type(value)))}
    if isinstance(value, tuple):
        return {"tuple": inner(value)}
    if isinstance(value, list):
        return inner(value)
    if isinstance(value, dict):
        return {"dict": inner(value.items())}
    return {"unknown": str(getattr(value, "dtype", name))}


def _fields(record: type) -> list[str]:
    return list(signature(record).parameters)


def _decoded(tree: Any, arrays: list[Any], object_of: Callable[[int], Any]) -> Any:
    def inner(items: Any) -> list[Any]:
        return [_decoded(item, arrays, object_of) for item in items]

    if isinstance(tree, list):
        return inner(tree)
    if not isinstance(tree, dict):
        return tree
    match tree:
        case {"object": number}:
            return object_of(number)
        case {"array": number}:
            return arrays[number]
        case {"sparse": parts}:
            *rows, shape = inner(parts)
            found: Any = sparse.csr_array(tuple(rows), shape=shape)
            # An index outside the shape would crash the code that uses the matrix.
            found.check_format(full_check=True)
            return found
        case {"record": name, "fields": values}:
            return getattr(import_module(_RECORDS[name]), name)(*inner(values))
        case {"tuple": items}:
            return tuple(inner(items))
        case {"dict": items}:
            return dict(inner(items))
        case {"unknown": kind}:
            return Unknown(str(kind))
    raise UnreadableError(f"{list(tree)}")
