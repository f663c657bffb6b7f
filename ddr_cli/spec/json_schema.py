"""The JSON Schemas of specs and cards, made from the models, with which editors check files.

They state the allowed content before its data set is known; `ddr plan` checks more.
"""

from __future__ import annotations

import ast
import inspect
import json
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticOmit

from ddr_cli.core.atomic import atomic_write
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.registry import Entry, shipped_yaml
from ddr_cli.data.cards import card_names
from ddr_cli.evaluation.metrics import metric_names, scorer_names
from ddr_cli.spec.components import ClassifierSpec, Component, MeasureSpec, ReducerSpec, StepSpec
from ddr_cli.spec.estimators import OWN_KEYS, registry_of
from ddr_cli.spec.model import KEYS, Spec

Schema = dict[str, Any]

FIRST_LINE = "# yaml-language-server: $schema=spec.schema.json"
"""With this, an editor finds the schema next to a spec."""

_CODE: Schema = {"type": "string", "pattern": ":"}
_NUMBERS: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
_RULES = dict.fromkeys(("log", "linear", "range"), _NUMBERS)
_VALUES: Schema = {"type": "array", "minItems": 1}


def schema_text(schema: Schema) -> str:
    """Return a schema as the text of a file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def write_schema(folder: Path) -> None:
    """Write the schema of specs to the path in the first line of a spec in a folder."""
    path = folder / "spec.schema.json"
    if not path.exists():
        atomic_write(path, schema_text(spec_schema()))


class _Generator(GenerateJsonSchema):
    """Describes fields by the text below them; omits titles and fields that no file can have."""

    def model_schema(self, schema: Any) -> Schema:
        made = super().model_schema(schema)
        # A model made from an estimator's signature has no source code to read.
        with suppress(OSError):
            for name, text in field_texts(schema["cls"]).items():
                if name in made["properties"]:
                    made["properties"][name]["description"] = text
        return made

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> NoReturn:  # noqa: ARG002
        raise PydanticOmit

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def field_texts(model: type[BaseModel]) -> dict[str, str]:
    """Return the text below each field of a model in the source code.

    pydantic can do this, too, but would read the source at every start of a program.
    """
    tree: Any = ast.parse(inspect.getsource(model))
    return {
        ast.unparse(field.target): ast.literal_eval(text.value)
        for field, text in pairwise(tree.body[0].body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


def model_schema(model: type[BaseModel], *, without: tuple[str, ...] = ()) -> Schema:
    """Return the schema of a model `without` some fields, which a file does not have."""
    schema: Schema = model.model_json_schema(schema_generator=_Generator)
    del schema["title"]
    for name in without:
        del schema["properties"][name]
    schema["required"] = [name for name in schema.get("required", ()) if name not in without]
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema}


def spec_schema(*, installed: bool = True) -> Schema:
    """Return the schema of a spec, with the names of all installed packages or only ours."""
    schema = model_schema(Spec, without=("name", "path", "suite"))
    properties, required = schema["properties"], ["dataset", "split", "reducers"]
    parameter = r"^((reducer|classifier)\.[A-Za-z_]\w*|split\.train)$"
    grid = {"anyOf": [_VALUES, _one_of(_RULES)]}
    swept = {"patternProperties": {parameter: grid}, "additionalProperties": False}
    # Keys that a file may write in another form than the record has.
    records = ReducerSpec, ClassifierSpec, MeasureSpec, StepSpec
    forms: dict[str, Schema] = {
        "dataset": _dataset(installed),
        **{record.section: _list(record, installed) for record in records},
        "sweep": {"type": "object", **swept},
        "labels": {"anyOf": [properties["labels"] | {"minItems": 1}, _one_of(_RULES)]},
        "metrics": {**_VALUES, "items": {"enum": [*metric_names(), *scorer_names()]}},
        "tune": {"anyOf": [{"const": "none"}, *properties["tune"]["anyOf"]]},
    }
    for name in KEYS:
        text = properties[name].pop("description")
        form = forms.get(name, properties[name])
        if name not in required and {"type": "null"} not in form.get("anyOf", ()):
            form = {"anyOf": [form, {"type": "null"}]}
        properties[name] = {"description": text, **form}
    del schema["$defs"]["PlotSpec"]["required"]
    for name in ("DatasetRef", "SuiteRef", *(record.__name__ for record in records)):
        del schema["$defs"][name]
    schema["$defs"]["grid"] = _one_of({"grid": grid, **_RULES})
    return {**schema, "required": required}


def _dataset(installed: bool) -> Schema:
    known = card_names() if installed else list(shipped_yaml("datasets"))
    name = {"anyOf": [{"enum": known}, {"type": "string", "pattern": r"[/:]|\.ya?ml$"}]}
    return {"anyOf": [name, {"type": "object", "properties": {"name": name}, "required": ["name"]}]}


def _list(record: type[Component], installed: bool) -> Schema:
    registry = registry_of(record.section)
    entries = [each for each in registry.entries() if installed or each.origin == "ddr"]
    names = {"anyOf": [{"enum": [entry.name for entry in entries]}, _CODE]}
    code = {"type": "object", "properties": {"name": _CODE}, "required": ["name"]}
    items = [names, *(_component(record, entry) for entry in entries), code]
    least = 0 if record is StepSpec else 1
    return {"type": "array", "minItems": least, "items": {"anyOf": items}}


def _component(record: type[Component], entry: Entry) -> Schema:
    """Return the schema of a mapping in a list: a name, parameters, and the list's own keys."""
    known, model = model_schema(record)["properties"], parameter_model(entry.load())
    schema = model_schema(model)
    given: dict[str, Any] = {}
    for name in model.model_fields:
        # A value that only Python can express, such as a function, has no schema: allow anything.
        form = schema["properties"].get(name, True)
        given[name] = form if record is StepSpec else {"anyOf": [form, {"$ref": "#/$defs/grid"}]}
    own = {key: known[key] for key in OWN_KEYS[record.section]}
    const = {"const": entry.name, "description": entry.summary}
    return {
        "type": "object",
        "properties": {"name": const, **own, **given},
        # A step must state these parameters; for other components, the spec's sweep may do so.
        "required": ["name", *(schema["required"] if record is StepSpec else [])],
        "additionalProperties": False,
    }


def _one_of(forms: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": forms,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }
