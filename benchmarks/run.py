"""Run every benchmark and make the page of their tables: `make bench`, or `make bench QUICK=1`.

    python benchmarks/run.py [--quick] [--out FOLDER]

A benchmark that fails loses none of the others: the page is made of the tables that there are, and
the last line says what failed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    here, failed = Path(__file__).parent, []
    for script in [*sorted(here.glob("bench_*.py")), here / "page.py"]:
        began = time.monotonic()
        print(f"== {script.name}", flush=True)
        code = subprocess.run([sys.executable, str(script), *sys.argv[1:]], check=False).returncode
        print(f"== {script.name}: {time.monotonic() - began:.0f} s, exit {code}", flush=True)
        failed += [script.name] if code else []
    print(f"failed: {', '.join(failed)}" if failed else "all benchmarks ran")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
