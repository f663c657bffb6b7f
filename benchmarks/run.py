"""Run all benchmarks and generate docs/speed.md.

    python benchmarks/run.py [--quick] [--out FOLDER]

`make bench` and `make bench QUICK=1` run this script. If a benchmark fails, the others still run,
the page has the tables that exist, and the last line names the failed scripts.
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
    print(f"failed: {', '.join(failed)}" if failed else "all benchmarks succeeded")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
