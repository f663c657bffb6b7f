"""Fixtures that run `ddr` in a process of its own, or in this one where only its output matters."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def environment(tmp_path):
    """Return variables that give `ddr` an empty cache, no mirror and no downloads."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("DDR_")}
    return clean | {"DDR_CACHE": str(tmp_path / "cache"), "DDR_OFFLINE": "1", "COLUMNS": "100"}


@pytest.fixture
def work(tmp_path):
    """Return the empty folder in which `ddr` runs."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def ddr(work, environment):
    """Return a function that runs `ddr` in a process of its own."""

    def run(*words, **env):
        return subprocess.run(
            [sys.executable, "-m", "ddr_cli.cli.app", *words],
            cwd=work,
            env=environment | env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def ddr_here(work, environment, monkeypatch, capsys):
    """Return a function that runs `ddr` in this process, where its libraries are already loaded."""
    from ddr_cli.cli.app import main
    from ddr_cli.core.own_code import trusting

    monkeypatch.chdir(work)
    for name in set(os.environ) - set(environment):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["ddr", *words])
        # `--trust` applies to the whole process, so reset it after each command.
        with pytest.raises(SystemExit) as ended, trusting(False):
            main()
        code = ended.value.code
        assert isinstance(code, int)
        return subprocess.CompletedProcess(words, code, *capsys.readouterr())

    return run
