"""pyproject.toml declares exactly the packages that are imported."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Functions whose first argument is the name of the module that they import.
_BY_NAME = ("import_module", "load_library", "load_module")


def _imported(path):
    """Return the top-level packages that a module imports, by statement or by name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {
        ast.unparse(node.targets[0]): node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(_BY_NAME):
            arguments = [named.get(ast.unparse(arg), arg) for arg in node.args[:1]]
            found |= {str(arg.value) for arg in arguments if isinstance(arg, ast.Constant)}
    return {name.partition(".")[0] for name in found}


def _named(requirements):
    names = {re.split(r"[^A-Za-z0-9._-]", requirement)[0] for requirement in requirements}
    return {re.sub(r"[-_.]+", "-", name).lower() for name in names}


def test_declared_equals_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    packages = {name for path in (ROOT / "ddr_cli").rglob("*.py") for name in _imported(path)}
    packages -= {"ddr_cli", *sys.stdlib_module_names}
    owners = packages_distributions()
    imported = _named([owner for name in packages for owner in owners.get(name, [name])])
    required = _named(project["dependencies"])
    # The packages that build the documentation are not part of ddr.
    optional = _named([name for extra in set(extras) - {"dev", "docs"} for name in extras[extra]])
    assert imported - optional == required
    assert optional - imported == set()


def test_the_documentation_names_our_distribution_and_its_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "ddr_cli").rglob("*.py")]
    texts = (path.read_text(encoding="utf-8") for path in pages)
    found = [each for text in texts for each in re.findall(r"'(\w+)\[([a-z0-9,]+)\]'", text)]
    assert {name for name, _ in found} == {project["name"]}
    extras = {extra for _, several in found for extra in several.split(",")}
    assert extras <= set(project["optional-dependencies"])
