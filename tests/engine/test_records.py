import getpass
import json
import platform
import socket
from pathlib import Path

import pytest

from ddr_cli import __version__
from ddr_cli.core.errors import InputError
from ddr_cli.engine import read_manifest, run_status
from ddr_cli.engine.status import RunStatus
from ddr_cli.rows import manifest as records
from ddr_cli.spec import Spec


@pytest.mark.usefixtures("installed")
def test_a_manifest_says_what_was_run_and_how(make_spec, run):
    spec = make_spec(reducers=["none", "faulty"])
    folder = run(spec, timeout=60.0).folder
    manifest = read_manifest(folder)
    assert Spec.from_resolved(manifest.spec) == spec.model_copy(update={"path": None})
    assert manifest.data is not None
    assert manifest.data.name == "iris"
    assert manifest.data.fingerprint.startswith("sha256:")
    assert (manifest.seed, manifest.planned) == (0, 12)
    (environment,) = manifest.environments
    assert environment.versions["ddr"] == __version__
    assert environment.packages == {"ddr-test-plugin": "1.0"}
    assert environment.blas[0]["architecture"] in records.kernels_of(environment)
    assert environment.simd == records.here().simd
    assert environment.cores
    (session,) = manifest.sessions
    assert (session.outcome, session.timeout, session.environment) == ("finished", 60.0, 0)
    assert session.data == "embedded"
    assert session.finished
    assert session.started <= session.finished
    assert session.cpu_seconds > 0
    assert session.wall_seconds > 0
    assert (session.trials_ended, session.trials_failed) == (12, 0)


@pytest.mark.parametrize(
    "other",
    [{"git": {"commit": "0" * 40, "dirty": False}}, {"packages": {"p": "1"}}, {"cpu": "Abacus"}],
)
def test_a_session_names_its_own_environment(make_spec, run, other):
    def after(repeats):
        split = {"kind": "fraction", "train": 0.5, "repeats": repeats}
        path = run(make_spec(reducers=["none"], split=split)).folder / "manifest.json"
        return path, json.loads(path.read_text())

    path, found = after(1)
    (here,) = found["environments"]
    path.write_text(json.dumps(found | {"environments": [here | other]}))
    path, found = after(2)
    assert found["environments"] == [here | other, here]
    assert [each["environment"] for each in found["sessions"]] == [0, 1]
    # Back in an environment that is not the last one.
    found["environments"].reverse()
    found["sessions"][0]["environment"], found["sessions"][1]["environment"] = 1, 0
    path.write_text(json.dumps(found))
    _, found = after(3)
    assert found["environments"] == [here, here | other]
    assert [each["environment"] for each in found["sessions"]] == [1, 0, 0]


def test_days_are_in_order_of_time():
    parts = {"spec": {}, "planned": 0, "environments": []}
    manifests = [
        records.Manifest(
            **parts, sessions=[records.SessionRecord(started=f"2026-11-{day}T00:00:00Z")]
        )
        for day in range(30, 9, -1)
    ]
    assert records.days_of(manifests) == "2026-11-10 to 2026-11-30"
    assert records.days_of(manifests[:1]) == "2026-11-30"


def test_blas_libraries_have_one_order_in_whichever_they_were_loaded(monkeypatch):
    found = [
        {"user_api": "blas", "internal_api": "openblas", "version": version, "filepath": "x"}
        for version in ("0.3.29", "0.3.31.dev")
    ]
    orders = []
    for libraries in (found, found[::-1]):
        monkeypatch.setattr("threadpoolctl.threadpool_info", lambda libraries=libraries: libraries)
        orders.append(records._blas())
    assert len(orders[0]) == 2
    assert orders[0] == orders[1]


def test_a_manifest_names_nobody_and_no_place(make_spec, run):
    folder = run(make_spec(reducers=["none"])).folder
    text = (folder / "manifest.json").read_text()
    assert str(folder.parent) not in text
    assert str(Path.home()) + "/" not in text
    assert socket.gethostname() not in text
    values = [v for v in _leaves(json.loads(text)) if isinstance(v, str)]
    assert not [value for value in values if value.startswith("/")]
    assert getpass.getuser() not in values


def _leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"spec": {}}'])
def test_a_damaged_manifest_is_one_clear_sentence(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(InputError, match="is damaged"):
        run_status(tmp_path)


def test_a_system_need_not_list_its_processors(monkeypatch):
    def refuse(*_, **__):
        raise OSError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert records._cpu_model() == (platform.processor() or None)


@pytest.mark.parametrize(
    ("done", "running", "state"),
    [(1, True, "running"), (1, False, "not running"), (2, False, "complete")],
)
def test_a_status_says_whether_the_run_goes_on(done, running, state):
    status = RunStatus(
        name="small", trials=2, done=done, failures={}, running=running, seconds_left=None
    )
    assert str(status) == f"small: {done} of 2 trials done, 0 failed, {2 - done} to do ({state})"


def test_a_lost_manifest_is_written_anew(make_spec, run):
    spec = make_spec(reducers=["none"])
    folder = run(spec).folder
    (folder / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"no manifest\.json"):
        run_status(folder)
    assert run(spec).skipped == 6
    assert run_status(folder).done == 6
