"""A sample of mutants of what computes, judges and keeps results: which do tests let pass.

    python benchmarks/mutants.py [--count 300] [--seed 0] [--areas engine verdicts evaluation]

mutmut makes the mutants (every place, one change: an argument dropped, a comparison turned round, a
value that is None). Each runs in a copy of the repository and of a process in which the tests were
collected, first against the tests that pass through its line, the fastest first, then against those
that start processes, where it may run too; up to so many `--seconds` of either. What was judged by
hand (the column `judged`) is carried over. An interrupted run goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import gc
import inspect
import json
import os
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
from coverage import Coverage
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

WIDER = {
    "engine": ["tests/cli"],
    "verdicts": ["tests/report", "tests/cli/test_compare.py"],
    "evaluation": ["tests/comparison", "tests/data", "tests/engine"],
}
AREAS = {
    "engine": [
        "tests/engine",
        "tests/test_api.py",
        "tests/cli/test_score.py",
        "tests/cli/test_fit.py",
    ],
    "verdicts": ["tests/verdicts", "tests/papers", "tests/report/test_tables.py"],
    "evaluation": ["tests/evaluation", "tests/engine/test_versions.py"],
}
TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "build" / "mutants"
TREE = BUILD / "tree"
TABLE = TOP / "results" / "benchmarks" / "mutants.csv"
WORKERS = "ddr_cli/engine/local.py"
IDENTITY = ["file", "function", "before", "after"]


class Visitor(MutationVisitor):
    """mutmut's, which leaves decorated functions out for a reason of its own that is none here."""

    def _skip_node_and_children(self, node: libcst.CSTNode) -> bool:
        return not isinstance(node, libcst.FunctionDef) and super()._skip_node_and_children(node)


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a module's functions and methods."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and not inner.co_name.startswith("<"):
            yield inner
            if not inner.co_flags & inspect.CO_OPTIMIZED:  # a class's body
                yield from codes(inner)


def changed(old: str, new: str, path: str) -> tuple[CodeType, CodeType] | None:
    """Return the function that differs, None if what differs is evaluated outside of functions."""
    pairs = zip(codes(compile(old, path, "exec")), codes(compile(new, path, "exec")), strict=True)
    functions = [
        pair for pair in pairs if pair[0] != pair[1] and pair[0].co_flags & inspect.CO_OPTIMIZED
    ]
    if len(functions) != 1 or functions[0][0].co_freevars != functions[0][1].co_freevars:
        return None
    return functions[0]


def mutants_of(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield where a module's mutants are; of a text only that with XX around it."""
    wrapper = MetadataWrapper(libcst.parse_module(path.read_text(encoding="utf-8")))
    visitor = Visitor(mutation_operators, IgnoredCode(set(), set(), set()))
    module = wrapper.visit(visitor)
    places = wrapper.resolve(PositionProvider)
    for found in visitor.mutations:
        text = isinstance(found.original_node, libcst.SimpleString)
        if not text or "XX" in found.mutated_node.value:
            yield path, module, found, places[found.original_node].start.line


def draw(count: int, seed: int, areas: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the mutants that a seed chooses among all that differ inside of a function."""
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
    """Make the copy in which the mutants are written; committed results are linked."""
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


class Runner:
    """A pytest plugin that runs collected tests once a mutant instead of once."""

    def __init__(
        self, name: str, mutants: list[dict[str, Any]], limits: tuple[float, float]
    ) -> None:
        self.name, self.mutants, self.limits = name, mutants, limits
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run what was collected once a mutant."""
        known = BUILD / f"{self.name}.json"
        if not known.exists():
            self._in_a_copy(lambda: known.write_text(json.dumps(self._trace(session.items))), 3600)
        reached = json.loads(known.read_text())
        items = {item.nodeid: item for item in session.items}
        for mutant in self.mutants:
            chosen = choose(mutant, reached, self.limits)
            tests = [items[name] for name in chosen if name in items]
            ended = BUILD / f"{self.name}.ended"
            ended.unlink(missing_ok=True)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            if tests:
                self._in_a_copy(lambda: ended.write_text(json.dumps(self._try(mutant, tests))), 600)  # noqa: B023
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
        """Do something in a copy of this process, and end it and its own after `patience`."""
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

    @staticmethod
    def _trace(items: list[pytest.Item]) -> dict[str, Any]:
        """Return each test's seconds, who starts processes, and who passes through which line."""
        launched, seconds, now = set(), {}, ""
        popen = subprocess.Popen.__init__

        def noting(*args: Any, **kwargs: Any) -> None:
            launched.add(now)
            popen(*args, **kwargs)

        subprocess.Popen.__init__ = noting  # type: ignore[method-assign]
        measured = Coverage(data_file=None, include=[f"{TREE}/ddr_cli/*"])
        measured.start()
        for index, item in enumerate(items):
            now = item.nodeid
            measured.switch_context(now)
            begun = time.process_time()
            following = items[index + 1] if index + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            seconds[now] = time.process_time() - begun
        measured.stop()
        data = measured.get_data()
        lines = {
            str(Path(path).relative_to(TREE)): data.contexts_by_lineno(path)
            for path in data.measured_files()
        }
        submitting = (TREE / WORKERS).read_text(encoding="utf-8")
        first = submitting.split("def submit(")[0].count("\n") + 1
        for line in range(first, first + 12):
            launched.update(lines.get(WORKERS, {}).get(line, ()))
        return {"seconds": seconds, "launched": sorted(launched), "lines": lines}

    def _try(self, mutant: dict[str, Any], items: list[pytest.Item]) -> str:
        """Return the first test that fails with a mutant."""
        path = TREE / mutant["file"]
        old = path.read_text(encoding="utf-8")
        functions = changed(old, mutant["source"], str(path))
        assert functions is not None
        path.write_text(mutant["source"], encoding="utf-8")
        try:
            for function in gc.get_objects():
                if isinstance(function, FunctionType) and same(function.__code__, functions[0]):
                    function.__code__ = functions[1]
            for index, item in enumerate(items):
                following = items[index + 1] if index + 1 < len(items) else None
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    break
        finally:
            path.write_text(old, encoding="utf-8")
        return self.failed


def same(one: CodeType, other: CodeType) -> bool:
    """Return whether two are of the same place in a file."""
    return (one.co_filename, one.co_qualname, one.co_firstlineno) == (
        other.co_filename,
        other.co_qualname,
        other.co_firstlineno,
    )


def choose(
    mutant: dict[str, Any], reached: dict[str, Any], limits: tuple[float, float]
) -> list[str]:
    """Return the tests to run: through the line, then where processes are started."""
    seconds, launched = reached["seconds"], set(reached["launched"])
    lines = reached["lines"].get(mutant["file"], {})
    statements = [
        node.lineno
        for node in ast.walk(ast.parse((TREE / mutant["file"]).read_text(encoding="utf-8")))
        if isinstance(node, ast.stmt) and node.lineno <= mutant["line"] <= (node.end_lineno or 0)
    ]
    first = max(statements, default=mutant["line"])
    through = {name for n in range(first, mutant["line"] + 1) for name in lines.get(str(n), ())}
    chosen: list[str] = []
    starting = launched if mutant["area"] == "engine" else through & launched
    for names, limit in zip((through - launched, starting), limits, strict=True):
        spent = 0.0
        # What passes through the line and starts processes comes before what only starts them.
        for name in sorted(names, key=lambda name: (name not in through, seconds.get(name, 0))):
            spent += seconds.get(name, 0)
            if name and spent < limit:
                chosen.append(name)
    return chosen


def main() -> None:
    """Draw the mutants, run the tests of each, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS))
    parser.add_argument(
        "--seconds",
        type=float,
        nargs=2,
        default=(40, 15),
        help="of tests in one process, in several",
    )
    parser.add_argument("--survivors", action="store_true", help="only these, by more tests")
    given = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    drawn = BUILD / f"drawn-{given.count}-{given.seed}.json"
    if not drawn.exists():
        drawn.write_text(json.dumps([*draw(given.count, given.seed, list(AREAS))]))
        copy_tree()
    mutants = json.loads(drawn.read_text())
    record = BUILD / "done.jsonl"
    done = [json.loads(line) for line in record.open()] if record.exists() else []
    ended = {tuple(one[key] for key in IDENTITY): one["outcome"] for one in done}
    os.chdir(TREE)
    os.environ["PYTHONPATH"], os.environ["PYTHONDONTWRITEBYTECODE"] = str(TREE), "1"
    sys.path.insert(0, str(TREE))
    sys.dont_write_bytecode = True
    for area in given.areas:
        wanted = ("survived", "not reached") if given.survivors else (None,)
        left = [one for one in mutants if one["area"] == area]
        left = [one for one in left if ended.get(tuple(one[key] for key in IDENTITY)) in wanted]
        if left and not os.fork():
            flags = ["-q", "-s", "-p", "no:xdist", "-p", "no:cacheprovider"]
            tests, name = (WIDER, f"{area}-wider") if given.survivors else (AREAS, area)
            pytest.main([*flags, *tests[area]], plugins=[Runner(name, left, given.seconds)])
            os._exit(0)
        if left:
            os.wait()
    table = pd.read_json(record, lines=True).drop(columns=["source"])
    table = table.drop_duplicates(IDENTITY, keep="last")
    if TABLE.exists():
        judged = pd.read_csv(TABLE).set_index(IDENTITY)["judged"]
        table["judged"] = [
            judged.get(key) for key in zip(*(table[c] for c in IDENTITY), strict=True)
        ]
    else:
        table["judged"] = None
    table.sort_values(["file", "line", "after"]).to_csv(TABLE, index=False, lineterminator="\n")
    print(table.groupby(["area", "outcome"]).size().unstack(fill_value=0))


if __name__ == "__main__":
    main()
