"""The JSON Schema of suites."""

from ddr_cli.spec.schema import DIALECT, Schema, described, section_of
from ddr_cli.spec.tune import TuneSpec
from ddr_cli.suite.definition import Suite, SuiteData, Track


def suite_schema() -> Schema:
    """Return what a suite's file may hold."""
    schema = section_of(Suite, optional=("name", "path"))
    for name in ("name", "path"):
        del schema["properties"][name]
    for model in (SuiteData, Track, TuneSpec):
        for name, text in described(model).items():
            schema["$defs"][model.__name__]["properties"][name]["description"] = text
    return {"$schema": DIALECT, **schema}
