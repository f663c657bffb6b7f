"""The program of a sealed process: it creates one object and calls its methods."""

from __future__ import annotations

import inspect
import os
import pickle
import sys
import time
import types
import warnings
from collections.abc import Mapping
from dataclasses import is_dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ddr_cli.core import own_code
from ddr_cli.core.embedding import refuse_labels
from ddr_cli.core.errors import InputError, message_of, traceback_of
from ddr_cli.core.parameters import constrained_choices
from ddr_cli.core.processes import begin, end_with_parent
from ddr_cli.core.sealed.messages import send

METHODS = (
    *("fit", "fit_transform", "transform", "predict", "predict_proba", "decision_function"),
    *("predict_many", "predict_training", "predict_mapped", "score_many", "with_width"),
)
"""The methods of an object that other processes may call."""

BOUNDS = ("Gt", "Ge", "Lt", "Le")
"""The bounds of an annotation that other processes know."""


def serve(connection: Connection, environment: Mapping[str, str]) -> None:
    """Process the requests of the other end one after another until it disconnects."""
    begin(environment)
    own_code.trust()
    with own_code.in_this_process():
        _answer(connection)


def _answer(connection: Connection) -> None:
    end_with_parent()
    np.random.seed()  # noqa: NPY002  copies of one process would draw the same numbers
    server = _Server(connection)
    cpu = time.process_time()
    while True:
        try:
            verb, arguments = pickle.loads(connection.recv_bytes())
        except EOFError:
            return
        value, error = None, None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            try:
                value = getattr(server, verb)(*arguments)
            except BaseException as failure:  # a component that calls sys.exit has only failed
                told = message_of(failure), traceback_of(failure, __file__)
                error = [type(failure).__name__, *told]
        before, cpu = cpu, time.process_time()
        rest = {
            "error": error,
            "warnings": [[w.category.__name__, str(w.message)] for w in caught],
            "cpu_seconds": cpu - before,
        }
        send(connection, value, server.number_of, **rest)


class _Server:
    """The requests that a sealed process can answer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._objects: list[Any] = []

    def number_of(self, value: Any) -> int | None:
        """Return the number of an object that was created here, else None."""
        return next((i for i, each in enumerate(self._objects) if each is value), None)

    def fork(self) -> int:
        """Start a copy of this process, which serves another connection; return its number."""
        handle = recv_handle(self._connection)
        with warnings.catch_warnings():
            # Python 3.12 warns if a process with threads forks; importing a component may start
            # some.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            self._connection.close()
            _answer(Connection(handle))
            os._exit(0)
        os.close(handle)
        return pid

    def wait(self, pid: int) -> int:
        """Wait for a copy of this process, and return its exit code."""
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def run(self, target: str, *arguments: Any) -> Any:
        """Call a function of `ddr`."""
        module, _, name = target.partition(":")
        return getattr(import_module(module), name)(*arguments)

    def describe(self, name: str) -> dict[str, Any]:
        """Return the properties that a class has before any object is created."""
        factory = own_code.load_code(name)
        refuse_labels(factory, own_code.display_name(name))
        init = inspect.getattr_static(factory, "__init__") if inspect.isclass(factory) else factory
        parameters = inspect.signature(init).parameters
        try:
            holder = factory if is_dataclass(factory) else init
            hints = get_type_hints(holder, include_extras=True) if parameters else {}
        except (TypeError, NameError) as error:
            raise InputError(
                f"The signature of {own_code.display_name(name)} can't be read: {error}."
            ) from error
        return {
            "name": getattr(factory, "__name__", "it"),
            "doc": inspect.getdoc(factory),
            "parameters": [
                [each.name, _annotation(hints.get(each.name, Any)), each.default]
                if each.default is not each.empty
                else [each.name, _annotation(hints.get(each.name, Any))]
                for each in parameters.values()
                if each.name != "self" and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
            ],
            "methods": [each for each in METHODS if hasattr(factory, each)],
            "has": [
                each
                for each in ("__ddr_traits__", "__sklearn_tags__", "_parameter_constraints")
                if hasattr(factory, each)
            ],
            "choices": constrained_choices(factory),
            "scale": getattr(factory, "scale", None),
            "version": getattr(factory, "version", 1),
        }

    def construct(self, name: str, params: Mapping[str, Any]) -> None:
        """Create an object, which shows whether its parameters are accepted."""
        own_code.load_code(name)(**params)

    def make(self, name: str, params: Mapping[str, Any]) -> None:
        """Create the object that later requests use."""
        self._objects = [own_code.load_code(name)(**params)]

    def call(self, number: int, method: str, args: Any, kwargs: Any) -> Any:
        """Return what a method of an object returns; an estimator gets a number of its own."""
        value = getattr(self._objects[number], method)(*args, **kwargs)
        if hasattr(value, "transform") and self.number_of(value) is None:
            self._objects.append(value)
        return value

    def call_class(self, name: str, method: str, args: Any) -> Any:
        """Return what a class method returns."""
        return getattr(own_code.load_code(name), method)(*args)

    def attribute(self, name: str) -> Any:
        """Return an attribute of the fitted object, in a list; without it, an empty list."""
        return [getattr(self._objects[0], name)] if hasattr(self._objects[0], name) else []

    def tags(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts of scikit-learn's tags that `ddr` uses."""
        tags = own_code.load_code(name)(**params).__sklearn_tags__()
        inputs = tags.input_tags
        return {"kind": tags.estimator_type, "sparse": inputs.sparse, "allow_nan": inputs.allow_nan}

    def declared(self, name: str, params: Mapping[str, Any], method: str, *args: Any) -> Any:
        """Return the properties that an object has before it is fitted."""
        return getattr(own_code.load_code(name)(**params), method)(*args)

    def max_components(self, name: str, params: Mapping[str, Any], *sizes: int) -> int:
        """Return the largest n_components of an object's traits."""
        return int(own_code.load_code(name)(**params).__ddr_traits__().max_components(*sizes))


def _annotation(hint: Any) -> Any:
    """Return an annotation as JSON, or None if JSON cannot express it."""
    if hint in (int, float, bool, str):
        return hint.__name__
    if hint in (None, type(None)):
        return "None"
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return ["Literal", list(inner)]
    if origin is Annotated:
        base, names = _annotation(inner[0]), [type(bound).__name__ for bound in inner[1:]]
        if base is None or not set(names) <= set(BOUNDS):
            return base
        bounds = [getattr(b, name.lower()) for b, name in zip(inner[1:], names, strict=True)]
        return ["Annotated", base, dict(zip(names, bounds, strict=True))]
    kinds = {Union: "Union", types.UnionType: "Union", list: "list", tuple: "tuple"}
    if origin in kinds:
        parts = ["..." if each is ... else _annotation(each) for each in inner]
        return None if None in parts else [kinds[origin], *parts]
    return None


def main() -> None:
    """Serve the connection whose number is the program's argument."""
    serve(Connection(int(sys.argv[1])), dict(os.environ))


if __name__ == "__main__":
    main()
