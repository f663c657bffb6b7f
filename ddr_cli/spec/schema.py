"""The JSON Schemas of specs and cards, made from the models, for editors to check by.

They say what a file may hold before anything is known of its data set; `ddr validate` says more.
"""

from __future__ import annotations

import ast
import inspect
import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticOmit

from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.registry import Entry, shipped_yaml
from ddr_cli.data.card import Card
from ddr_cli.data.cards import card_names
from ddr_cli.evaluation.metrics import metric_names, scorer_names
from ddr_cli.spec.estimators import MODES, PREFIXES, registry_of
from ddr_cli.spec.model import (
    Control,
    EmbeddingsSpec,
    PaperRef,
    PlotSpec,
    Spec,
    SplitSpec,
    TuneSpec,
)

Document = Literal["spec", "card"]
Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

FIRST_LINE = "# yaml-language-server: $schema=spec.schema.json"
"""By which an editor finds the schema beside a spec."""

_TEXT: Schema = {"type": "string", "minLength": 1}
_CODE: Schema = {"type": "string", "pattern": ":"}
_THREE_NUMBERS: Schema = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 3,
    "maxItems": 3,
}
_RULES = dict.fromkeys(("log", "linear", "range"), _THREE_NUMBERS)
_VALUES: Schema = {"type": "array", "minItems": 1}


def schema_of(document: Document, *, installed: bool = True) -> Schema:
    """Return the schema of a document; a spec's has the names of all packages, or ours alone."""
    schema = _spec(installed) if document == "spec" else _model(Card)
    return {"$schema": DIALECT, **schema}


def schema_text(schema: Schema) -> str:
    """Return a schema as the text of a file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def write_schema(folder: Path) -> None:
    """Write the schema of specs where the first line of a spec in a folder names it."""
    path = folder / "spec.schema.json"
    if not path.exists():
        with clear_messages(path):
            atomic_write(path, schema_text(schema_of("spec")))


class _Generator(GenerateJsonSchema):
    """Leaves out what no file can hold, such as a function, and titles that repeat the keys."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> NoReturn:  # noqa: ARG002
        raise PydanticOmit

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def described(model: type[BaseModel]) -> dict[str, str]:
    """Return what the source says below each field of a model.

    pydantic can do so, too, but reads the source whenever a program starts.
    """
    tree: Any = ast.parse(inspect.getsource(model))
    return {
        ast.unparse(field.target): ast.literal_eval(text.value)
        for field, text in pairwise(tree.body[0].body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


def _model(model: type[BaseModel], *, optional: tuple[str, ...] = ()) -> Schema:
    schema: Schema = model.model_json_schema(schema_generator=_Generator)
    del schema["title"]
    schema["required"] = [name for name in schema.get("required", ()) if name not in optional]
    return schema


def section_of(model: type[BaseModel], *, optional: tuple[str, ...] = ()) -> Schema:
    """Return the schema of a model with what the source says below its fields."""
    schema = _model(model, optional=optional)
    for name, text in described(model).items():
        if name in schema["properties"]:
            schema["properties"][name]["description"] = text
    return schema


def _spec(installed: bool) -> Schema:
    properties = {
        "title": {"type": "string"},
        "description": {"type": "string"},
        "paper": section_of(PaperRef),
        "dataset": _dataset(installed),
        "split": section_of(SplitSpec),
        **{section: _list(section, installed) for section in PREFIXES},
        "controls": {"type": "array", "items": {"enum": list(get_args(Control))}},
        "sweep": {
            "type": "object",
            "patternProperties": {
                r"^((reducer|classifier)\.[A-Za-z_]\w*|split\.train)$": {
                    "anyOf": [_VALUES, _one_of(_RULES)]
                }
            },
            "additionalProperties": False,
        },
        "labels": {
            "anyOf": [
                {
                    "type": "array",
                    "minItems": 1,
                    "items": {"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 1}]},
                },
                _one_of(_RULES),
            ]
        },
        "metrics": {
            "type": "array",
            "minItems": 1,
            "items": {"enum": [*metric_names(), *scorer_names()]},
        },
        "tune": {"anyOf": [{"const": "none"}, section_of(TuneSpec)]},
        "plot": section_of(PlotSpec, optional=("x", "y")),
        "embeddings": section_of(EmbeddingsSpec),
    }
    required = ["dataset", "split", "reducers"]
    texts = described(Spec)
    for name, schema in properties.items():
        # A key with nothing after it is as good as absent.
        forms = schema if name in required else {"anyOf": [schema, {"type": "null"}]}
        properties[name] = {"description": texts[name], **forms}
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        "$defs": {"grid": _one_of({"grid": {"anyOf": [_VALUES, _one_of(_RULES)]}, **_RULES})},
    }


def _dataset(installed: bool) -> Schema:
    known = card_names() if installed else list(shipped_yaml("datasets"))
    name = {"anyOf": [{"enum": known}, {"type": "string", "pattern": r"[/:]|\.ya?ml$"}]}
    return {"anyOf": [name, {"type": "object", "properties": {"name": name}, "required": ["name"]}]}


def _list(section: str, installed: bool) -> Schema:
    registry = registry_of(section)
    entries = [each for each in registry.entries() if installed or each.origin == "ddr"]
    names = {"anyOf": [{"enum": [entry.name for entry in entries]}, _CODE]}
    code = {"type": "object", "properties": {"name": _CODE}, "required": ["name"]}
    least = 0 if section == "preprocess" else 1
    items = [names, *(_component(section, entry) for entry in entries), code]
    return {"type": "array", "minItems": least, "items": {"anyOf": items}}


def _component(section: str, entry: Entry) -> Schema:
    """Return what a mapping in a list may hold: a name, parameters, the list's own keys."""
    own: dict[str, Schema] = {"name": {"const": entry.name, "description": entry.summary}}
    if section != "preprocess":
        own["label"] = _TEXT
    if section == "reducers":
        own["mode"] = {"enum": list(MODES)}
    if section == "classifiers":
        own["only_on"] = {"type": "string"}
    model = parameter_model(entry.load())
    schema = _model(model)
    given: dict[str, Schema] = {}
    for name in model.model_fields:
        # What is given in Python only, such as a function, is not left out as a whole.
        parameter = schema.get("properties", {}).get(name, {})
        choices = [parameter] if section == "preprocess" else [parameter, {"$ref": "#/$defs/grid"}]
        given[name] = {"anyOf": choices} if parameter else {}
    required = schema["required"] if section == "preprocess" else []
    return {
        "type": "object",
        "properties": {**own, **given},
        "required": ["name", *required],
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
