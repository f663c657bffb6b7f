"""Run the same trials under several BLAS kernels and library versions, and count rows that differ.

    python benchmarks/processors.py [--lowest PYTHON] [--kernels ...] [--page]

Each run is the suite processors.yaml, and the first two splits of some papers' specs, in a process
of its own under build/processors/; a repeated call resumes. The first kernel with these libraries
is the reference. `--page` only writes the table of docs/reproducibility.md from the CSV file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tables import folder, options, with_table, write

PAGE = Path("docs/reproducibility.md")
NAME = "processors"
SUITE = "benchmarks/processors.yaml"
SPECS = ("nmmp_balance", "nmmp_iris", "dp_mushroom", "landsat_ccdr_beta", "lfda_resplits_segment")
SPLITS = 2
KERNELS = ("SkylakeX", "Haswell", "Nehalem")
# OpenBLAS takes a name that it doesn't know for none.
NEEDS = {
    "SkylakeX": "avx512f",
    "Zen": "avx2",
    "Haswell": "avx2",
    "Sandybridge": "avx",
    "Nehalem": "sse4_2",
}
SHARE = 0.001  # of the rows of iterative methods may differ, and none of the others
ITERATIVE = ("lmnn", "logistic_projection", "mcml", "nca", "rfm", "sde", "slle", "ssde")
# A row's times differ in any case.
_TIMES = ("fit_seconds", "eval_seconds", "tune_seconds")


def runnable(kernels: list[str]) -> list[str]:
    """Return the kernels that this processor can run."""
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text(encoding="utf-8").split()) if info.is_file() else set()
    here = [name for name in kernels if NEEDS[name] in flags]
    print(f"Kernels: {', '.join(here)} (of {', '.join(kernels)})", file=sys.stderr)
    return here


def run(python: str, kernel: str, out: Path, jobs: int) -> None:
    """Run the suite and the specs with one kernel and one Python."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = os.environ | threads | {"OPENBLAS_CORETYPE": kernel, "PYTHONWARNINGS": "ignore"}
    common = ["--quiet", "--jobs", str(jobs), "--out", str(out)]
    specs = [*SPECS, "--repeats", str(SPLITS), "--allow-failed"]
    for words in (["suite", "run", SUITE], ["run", *specs]):
        print(f"{out.name}: {words[0]}", file=sys.stderr)
        done = subprocess.run([python, "-m", "ddr_cli", *words, *common], env=environment)
        if done.returncode > 1:
            sys.exit(done.returncode)


def rows_of(out: Path) -> pd.DataFrame:
    """Return all rows below a folder as text, by trial."""
    paths = sorted(path for name in ("trials", "controls") for path in out.rglob(f"{name}.csv"))
    rows = pd.concat(
        [
            pd.read_csv(path, dtype=str, keep_default_na=False).assign(folder=path.parent.name)
            for path in paths
        ]
    )
    return rows.drop(columns=[*_TIMES], errors="ignore").set_index("trial_id").fillna("")


def compared(name: str, reference: pd.DataFrame, other: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield, for each method, how many rows of two runs differ, and by how much."""
    both = reference.index.intersection(other.index)
    columns = reference.columns.intersection(other.columns)
    first, second = reference.loc[both, columns], other.loc[both, columns]
    differs = (first != second).any(axis=1)
    errors = [pd.to_numeric(rows["error"], errors="coerce") for rows in (first, second)]
    gaps = (errors[0] - errors[1]).abs().fillna(0) * 100
    for method, rows in first.groupby("reducer"):
        own = differs[rows.index]
        yield {
            "run": name,
            "method": method,
            "iterative": method in ITERATIVE,
            "rows": len(rows),
            "differ": int(own.sum()),
            "other error": int((gaps[rows.index] > 0).sum()),
            "points": round(float(gaps[rows.index].max()), 2),
            "where": " ".join(sorted(set(rows.loc[own, "folder"]))),
        }


def table(found: pd.DataFrame) -> pd.DataFrame:
    """Return the page's table: all runs, methods with a closed solution and iterative ones."""
    rows = []
    for (name, iterative), part in found.groupby(["run", "iterative"], sort=False):
        worst = part[part["differ"] > 0]
        rows.append(
            {
                "compared with the reference": name,
                "methods": "iterative" if iterative else "closed solution",
                "rows": int(part["rows"].sum()),
                "differ": int(part["differ"].sum()),
                "another error": int(part["other error"].sum()),
                "largest difference (points)": f"{part['points'].max():.2f}",
                "which": ", ".join(
                    f"{row['method']} on {row['where']}" for row in worst.to_dict("records")
                ),
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--lowest", help="a Python with the lowest allowed versions")
    parser.add_argument("--kernels", nargs="+", default=KERNELS, choices=NEEDS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="only write the page's table")
    given = parser.parse_args()
    if not given.page:
        kernels = runnable(list(given.kernels))
        runs = {kernel: (sys.executable, kernel) for kernel in kernels}
        if given.lowest:
            kernel = kernels[min(1, len(kernels) - 1)]
            runs[f"{kernel}, lowest versions"] = given.lowest, kernel
        if len(runs) < 2:
            sys.exit("There is nothing to compare: name another kernel, or --lowest PYTHON.")
        rows = {}
        for name, (python, kernel) in runs.items():
            out = Path("build/processors") / name.replace(", ", "-").replace(" ", "-")
            run(python, kernel, out, given.jobs)
            rows[name] = rows_of(out)
        reference, *others = rows
        counts = [line for name in others for line in compared(name, rows[reference], rows[name])]
        write(counts, given, NAME)
    found = pd.read_csv(folder(given) / f"{NAME}.csv", keep_default_na=False)
    shown = table(found)
    print(shown.to_string(index=False))
    if given.out is None and not given.quick:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_table(text, "rows", shown), encoding="utf-8")
    most = np.where(shown["methods"] == "iterative", SHARE * shown["rows"], 0)
    sys.exit(bool((shown["differ"] > most).any()))


if __name__ == "__main__":
    main()
