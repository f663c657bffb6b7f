"""`ddr run`: run specs and write their tables and figures."""

from __future__ import annotations

from pathlib import Path

from ddr_cli.cli.options import (
    Backend,
    DataDir,
    Fresh,
    Jobs,
    MemoryLimit,
    Offline,
    Out,
    Overrides,
    Quiet,
    Repeats,
    RetryFailed,
    Scheduler,
    SpecNames,
    Timeout,
    memory_limit,
    sources,
)


def run(
    specs: SpecNames,
    overrides: Overrides = None,
    repeats: Repeats = None,
    out: Out = Path("results"),
    jobs: Jobs = 1,
    timeout: Timeout = None,
    memory: MemoryLimit = None,
    backend: Backend = "local",
    scheduler: Scheduler = None,
    fresh: Fresh = False,
    retry_failed: RetryFailed = False,
    data_dir: DataDir = None,
    offline: Offline = False,
    quiet: Quiet = False,
) -> None:
    """Run specs: repeated random splits, a journal of trials, a table and a figure each.

    An interrupted run is resumed by the same command; finished trials are not run again.
    """
    from ddr_cli.cli.running import RunSettings, run_and_show
    from ddr_cli.spec import load_spec

    loaded = [load_spec(name, overrides=overrides or (), repeats=repeats) for name in specs]
    settings = RunSettings(
        out=out,
        jobs=jobs,
        timeout=timeout,
        memory_limit=memory_limit(memory),
        backend=backend,
        scheduler=scheduler,
        fresh=fresh,
        retry_failed=retry_failed,
        sources=sources(data_dir, offline),
        quiet=quiet,
    )
    run_and_show(loaded, settings)
