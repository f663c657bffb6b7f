"""Draw random mutants of ddr's code and find those that the tests do not detect.

    python benchmarks/mutants.py [--count 300] [--seed 0] [--areas engine papers evaluation]

mutmut creates the mutants. Each is one change in one place: a dropped argument, an inverted
comparison, a value replaced by None. pytest collects the tests once. For each mutant, a fork of
that process runs tests that execute the mutant's line, in the fork or in a process that they start.
It selects the fastest tests, up to `--seconds` in total, and stops at the first failure. A copy of
the repository contains the mutant. The script keeps the column `judged`, which is filled in by
hand. The same command resumes an interrupted run.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import difflib
import gc
import inspect
import json
import mmap
import os
import py_compile
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import libcst
import pandas as pd
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

WIDER = {
    "engine": ["tests/report", "tests/comparison", "tests/figures/test_embeddings.py"],
    "papers": ["tests/report", "tests/cli/test_compare.py"],
    "evaluation": ["tests/comparison", "tests/data", "tests/engine"],
}
AREAS = {
    "engine": ["tests/engine", "tests/cli", "tests/test_api.py"],
    "papers": ["tests/papers", "tests/report/test_tables.py"],
    "evaluation": ["tests/evaluation", "tests/engine/test_versions.py"],
}
TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "build" / "mutants"
TREE = BUILD / "tree"
TABLE = TOP / "results" / "benchmarks" / "mutants.csv"
IDENTITY = ["file", "function", "before", "after"]
# Every Python process that a test starts runs this code first. It records the executed lines of an
# area with the number of the current test, because a process may serve several tests. It writes
# each line at once, because the process may be killed. If a test filled the disk, the line is lost.
TRACER = """
import contextlib, mmap, os, sys, threading
area, now, noted = os.environ["MUTANTS_AREA"], os.environ["MUTANTS_NOW"], set()
with open(now, "r+b") as file:
    test = mmap.mmap(file.fileno(), 8)
lines = os.open(os.environ["MUTANTS_LINES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def within(frame, event, argument):
    one = (test[:], frame.f_code.co_filename, frame.f_lineno)
    if one not in noted:
        noted.add(one)
        with contextlib.suppress(OSError):
            os.write(lines, f"{int(one[0])} {one[2]} {one[1]}\\n".encode())
    return within

def trace(frame, event, argument):
    return within(frame, event, argument) if frame.f_code.co_filename.startswith(area) else None

threading.settrace(trace)
sys.settrace(trace)
"""


class Visitor(MutationVisitor):
    """mutmut's visitor, but without its rule to skip decorated functions."""

    def _skip_node_and_children(self, node: libcst.CSTNode) -> bool:
        return not isinstance(node, libcst.FunctionDef) and super()._skip_node_and_children(node)


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects of a module's functions and methods."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and not inner.co_name.startswith("<"):
            yield inner
            if not inner.co_flags & inspect.CO_OPTIMIZED:  # the body of a class
                yield from codes(inner)


def changed(old: str, new: str, path: str) -> tuple[CodeType, CodeType] | None:
    """Return the one function that differs, old and new, or None if other code differs."""
    pairs = zip(codes(compile(old, path, "exec")), codes(compile(new, path, "exec")), strict=True)
    functions = [
        pair for pair in pairs if pair[0] != pair[1] and pair[0].co_flags & inspect.CO_OPTIMIZED
    ]
    if len(functions) != 1 or functions[0][0].co_freevars != functions[0][1].co_freevars:
        return None
    return functions[0]


def mutants_of(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield a module's mutants and their lines; of strings, only those with XX around the text."""
    wrapper = MetadataWrapper(libcst.parse_module(path.read_text(encoding="utf-8")))
    visitor = Visitor(mutation_operators, IgnoredCode(set(), set(), set()))
    module = wrapper.visit(visitor)
    places = wrapper.resolve(PositionProvider)
    for found in visitor.mutations:
        text = isinstance(found.original_node, libcst.SimpleString)
        if not text or "XX" in found.mutated_node.value:
            yield path, module, found, places[found.original_node].start.line


def draw(count: int, seed: int, areas: list[str]) -> Iterator[dict[str, Any]]:
    """Yield random mutants among those that change a single function."""
    modules = [path for area in areas for path in sorted((TOP / "ddr_cli" / area).glob("*.py"))]
    everything = [one for path in modules for one in mutants_of(path)]
    print(f"{len(everything):,} mutants in {len(modules)} modules")
    random.Random(seed).shuffle(everything)
    for path, module, found, line in everything:
        if not count:
            return
        new = module.deep_replace(found.original_node, found.mutated_node).code
        try:
            functions = changed(module.code, new, str(path))
        except (SyntaxError, ValueError):
            continue
        if functions is None:
            continue
        lines = list(difflib.ndiff(module.code.splitlines(), new.splitlines()))
        count -= 1
        yield {
            "area": path.parent.name,
            "file": str(path.relative_to(TOP)),
            "line": line,
            "function": functions[0].co_qualname,
            "before": " ".join(one[2:].strip() for one in lines if one[0] == "-"),
            "after": " ".join(one[2:].strip() for one in lines if one[0] == "+"),
            "source": new,
        }


def copy_tree() -> None:
    """Copy the repository, so that mutants can be written; link the committed results."""
    shutil.rmtree(TREE, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=TOP, check=True, capture_output=True, text=True,
    ).stdout.split("\n")  # fmt: skip
    for name in filter(None, listed):
        if not name.startswith("results/") and (TOP / name).is_file():
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, TREE / name)
    (TREE / "results").symlink_to(TOP / "results")
    # Check by hash: a mutant may have the size and the modification time of the original.
    checked = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(TREE, quiet=1, invalidation_mode=checked)


class Runner:
    """A pytest plugin that runs the collected tests once per mutant."""

    def __init__(self, name: str, mutants: list[dict[str, Any]], seconds: float) -> None:
        self.name, self.mutants, self.seconds = name, mutants, seconds
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        known = BUILD / f"{self.name}.json"
        if not known.exists():
            self._in_a_copy(lambda: known.write_text(json.dumps(self._trace(session.items))), 3600)
        reached = json.loads(known.read_text())
        items = {item.nodeid: item for item in session.items}
        for mutant in self.mutants:
            chosen = choose(mutant, reached, self.seconds)
            tests = [items[name] for name in chosen if name in items]
            if not tests and "outcome" in mutant:
                continue
            ended = BUILD / f"{self.name}.ended"
            ended.unlink(missing_ok=True)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            if tests:
                path = TREE / mutant["file"]
                old, patience = path.read_text(encoding="utf-8"), 60 + 3 * self.seconds
                try:
                    self._in_a_copy(
                        lambda: ended.write_text(json.dumps(self._try(mutant, tests))),  # noqa: B023
                        patience,
                    )
                finally:
                    path.write_text(old, encoding="utf-8")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            by = json.loads(ended.read_text()) if ended.exists() else "hangs or ends the process"
            mutant["outcome"] = "not reached" if not tests else "killed" if by else "survived"
            mutant["by"] = by if tests else ""
            mutant["tests"] = len(tests)
            mutant["cpu_seconds"] = round(after.ru_utime - before.ru_utime, 1)
            with (BUILD / "done.jsonl").open("a") as file:
                file.write(json.dumps({**mutant, "source": ""}) + "\n")
            print(
                f"{mutant['outcome']:12} {mutant['file']}:{mutant['line']} {mutant['after'][:60]}"
            )
        return True

    @staticmethod
    def _in_a_copy(work: Any, patience: float) -> None:
        """Call `work` in a fork, and kill the fork's process group after `patience` seconds."""
        child = os.fork()
        if not child:
            try:
                os.setsid()
                os.dup2(os.open(BUILD / "output.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 1)
                os.dup2(1, 2)
                work()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        end = time.monotonic() + patience
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
            time.sleep(0.02)
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            return

    def _trace(self, items: list[pytest.Item]) -> dict[str, Any]:
        """Return the seconds of each passing test, and the tests that execute each line."""
        seconds = {}
        now, lines, tracer = (BUILD / name for name in ("now", "lines.txt", "sitecustomize.py"))
        now.write_text(f"{0:8}")
        lines.unlink(missing_ok=True)
        tracer.write_text(TRACER)
        os.environ["MUTANTS_AREA"] = str(TREE / "ddr_cli" / self.mutants[0]["area"])
        os.environ["MUTANTS_NOW"], os.environ["MUTANTS_LINES"] = str(now), str(lines)
        os.environ["PYTHONPATH"] = f"{BUILD}{os.pathsep}{TREE}"
        tracing: dict[str, Any] = {}
        exec(TRACER, tracing)
        with now.open("r+b") as file:
            number = mmap.mmap(file.fileno(), 8)
        for index, item in enumerate(items):
            number[:] = f"{index:8}".encode()
            begun, self.failed = time.monotonic(), ""
            sys.settrace(tracing["trace"])
            following = items[index + 1] if index + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if not self.failed:
                seconds[item.nodeid] = round(time.monotonic() - begun, 3)
        sys.settrace(None)
        through: dict[str, dict[int, list[str]]] = {}
        for one in sorted(set(lines.read_text().splitlines())):
            index, line, path = one.split(" ", 2)
            name = str(Path(path).relative_to(TREE))
            through.setdefault(name, {}).setdefault(int(line), []).append(items[int(index)].nodeid)
        return {"seconds": seconds, "lines": through}

    def _try(self, mutant: dict[str, Any], items: list[pytest.Item]) -> str:
        """Return the first test that fails with a mutant, or an empty string."""
        path = TREE / mutant["file"]
        old = path.read_text(encoding="utf-8")
        functions = changed(old, mutant["source"], str(path))
        assert functions is not None
        path.write_text(mutant["source"], encoding="utf-8")
        for function in gc.get_objects():
            if isinstance(function, FunctionType) and same(function.__code__, functions[0]):
                function.__code__ = functions[1]
        for index, item in enumerate(items):
            following = items[index + 1] if index + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                break
        return self.failed


def same(one: CodeType, other: CodeType) -> bool:
    """Return whether two code objects come from the same place in a file."""
    return (one.co_filename, one.co_qualname, one.co_firstlineno) == (
        other.co_filename,
        other.co_qualname,
        other.co_firstlineno,
    )


def choose(mutant: dict[str, Any], reached: dict[str, Any], limit: float) -> list[str]:
    """Return the tests that execute the mutant's line, the fastest first, up to the limit."""
    seconds = reached["seconds"]
    lines = reached["lines"].get(mutant["file"], {})
    statements = [
        node.lineno
        for node in ast.walk(ast.parse((TREE / mutant["file"]).read_text(encoding="utf-8")))
        if isinstance(node, ast.stmt) and node.lineno <= mutant["line"] <= (node.end_lineno or 0)
    ]
    first = max(statements, default=mutant["line"])
    through = {name for n in range(first, mutant["line"] + 1) for name in lines.get(str(n), ())}
    chosen, spent = [], 0.0
    for name in sorted(through & set(seconds), key=seconds.__getitem__):
        spent += seconds[name]
        if not chosen or spent < limit:
            chosen.append(name)
    return chosen


def main() -> None:
    """Draw the mutants, run the tests of each, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS))
    parser.add_argument("--seconds", type=float, default=40, help="limit on a mutant's tests")
    parser.add_argument("--survivors", action="store_true", help="rerun the undetected mutants")
    parser.add_argument("--tests", nargs="+", help="run these tests in their present state")
    given = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    drawn = BUILD / f"drawn-{'-'.join(given.areas)}-{given.count}-{given.seed}.json"
    if not drawn.exists():
        drawn.write_text(json.dumps([*draw(given.count, given.seed, given.areas)]))
        copy_tree()
    mutants = json.loads(drawn.read_text())
    record = BUILD / "done.jsonl"
    done = [json.loads(line) for line in record.open()] if record.exists() else []
    ended = {tuple(one[key] for key in IDENTITY): one["outcome"] for one in done}
    for mutant in mutants:
        if outcome := ended.get(tuple(mutant[key] for key in IDENTITY)):
            mutant["outcome"] = outcome
    os.chdir(TREE)
    os.environ["PYTHONPATH"], os.environ["PYTHONDONTWRITEBYTECODE"] = str(TREE), "1"
    sys.path.insert(0, str(TREE))
    sys.dont_write_bytecode = True
    for area in given.areas:
        wanted = ("survived", "not reached") if given.survivors else (None,)
        left = [one for one in mutants if one["area"] == area and one.get("outcome") in wanted]
        if left and not os.fork():
            flags = ["-q", "-s", "-p", "no:xdist", "-p", "no:cacheprovider"]
            tests = given.tests or (WIDER if given.survivors else AREAS)[area]
            name = f"{area}-now" if given.tests else f"{area}-wider" if given.survivors else area
            if given.tests:
                shutil.copytree(TOP / "tests", TREE / "tests", dirs_exist_ok=True)
                (BUILD / f"{name}.json").unlink(missing_ok=True)
            pytest.main([*flags, *tests], plugins=[Runner(name, left, given.seconds)])
            os._exit(0)
        if left:
            os.wait()
    table = pd.read_json(record, lines=True).drop(columns=["source"])
    table = table.drop_duplicates(IDENTITY, keep="last")
    if TABLE.exists():
        known = pd.read_csv(TABLE, keep_default_na=False)  # a mutant may be "None"
        judged = known[[*IDENTITY, "judged"]]
        table = table.merge(judged, how="left", on=IDENTITY)
        table = pd.concat([table, known[~known["area"].isin(table["area"])]])
    table.sort_values(["file", "line", "after"]).to_csv(TABLE, index=False, lineterminator="\n")
    print(table.groupby(["area", "outcome"]).size().unstack(fill_value=0))


if __name__ == "__main__":
    main()
