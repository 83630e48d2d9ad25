"""The choice of a backend: one that works is used; others report what to install or set."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import REPOSITORY
from tests.workers.sandbox.conftest import Place
from workers.sandbox import Ended, SandboxUnavailable, backends, find_backend
from workers.sandbox.bubblewrap import usr_python
from workers.sandbox.doctor import advice_of, can_run, examine

#: Advice for whatever refuses namespaces of users.
PROFILE = "seccomp profile of the service program-worker"
COMMAND = [sys.executable, "-m", "evergold.cli"]


@pytest.fixture
def other_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command `bwrap` that comes first on PATH, still to be written."""
    path = tmp_path / "bin" / "bwrap"
    path.parent.mkdir()
    for part in (path.parent, *path.parent.parents):
        if part.stat().st_uid == os.geteuid() and part != Path("/"):
            part.chmod(part.stat().st_mode | 0o711)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    return path


def written(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_strictest_form_that_works_is_used(bare: Path) -> None:
    backend = find_backend()
    assert (backend.name, backend.has_proc, backend.has_lock) == ("bubblewrap", True, True)
    assert find_backend() is backend, "it is tried once"


@pytest.mark.parametrize(
    ("refused", "form"),
    [
        (("--proc",), (False, True)),
        (("--disable-userns",), (True, False)),
        (("--proc", "--disable-userns"), (False, False)),
    ],
)
def test_what_a_machine_refuses_is_left_out_and_programs_run_all_the_same(
    place: Place, other_bubblewrap: Path, refused: tuple[str, ...], form: tuple[bool, bool]
) -> None:
    """A bubblewrap that refuses parts, as in containers, and else is the real one."""
    real = shutil.which("bwrap", path=os.defpath + ":/usr/local/bin")
    checks = "\n".join(
        f'case " $* " in *" {word} "*) echo "bwrap: {word} refused" >&2; exit 1;; esac' for word in refused
    )
    written(other_bubblewrap, f'{checks}\nexec {real} "$@"')
    backend = find_backend()
    assert (backend.has_proc, backend.has_lock) == form
    outcome = place.run("import os; print(os.path.exists('/proc/self'))")
    assert (outcome.ended, outcome.stdout.decode()) == (Ended.FINISHED, f"{form[0]}\n"), outcome.stderr.decode()
    finding = next(one for one in examine() if one.part == "sandbox")
    assert finding.is_good
    assert "refused" in finding.words


def test_a_failure_is_believed_for_a_while_and_no_longer(
    bare: Path, other_bubblewrap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = other_bubblewrap.with_name("counted")
    counted.touch()
    counted.chmod(0o666)
    written(other_bubblewrap, f"echo tried >> {counted}; echo 'bwrap: no user namespaces today' >&2; exit 1")
    for _ in range(3):
        with pytest.raises(SandboxUnavailable, match="no user namespaces today"):
            find_backend()
    assert counted.read_text().split() == 4 * ["tried"], "each form once"
    monkeypatch.setattr(backends, "FAILED_SECONDS", -1.0)
    with pytest.raises(SandboxUnavailable):
        find_backend()
    assert len(counted.read_text().split()) == 8


def test_root_that_cannot_become_another_user_has_no_backend(bare: Path) -> None:
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        pytest.skip("needs root, and setpriv of util-linux")
    code = "from workers.sandbox import find_backend; print(find_backend())"
    command = [setpriv, "--bounding-set=-setuid", sys.executable, "-c", code]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "SandboxUnavailable: this worker is root and cannot become user 65534" in done.stderr
    assert "start the worker as an ordinary user" in done.stderr


def test_python_of_sandboxes_lies_below_usr(tmp_path: Path) -> None:
    assert usr_python("").startswith("/usr/")
    elsewhere = tmp_path / "python3"
    elsewhere.symlink_to(usr_python(""))
    assert usr_python(str(elsewhere)) == str(elsewhere), "a link to it will do"
    other = tmp_path / "other"
    other.touch()
    with pytest.raises(SandboxUnavailable, match="EVERGOLD_SANDBOX_PYTHON"):
        usr_python(str(other))


def test_doctor_tells_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", str(tmp_path / "environments"))
    findings = examine()
    assert not can_run(findings)
    found = {one.part: one for one in findings}
    assert "apt-get install bubblewrap" in found["bubblewrap"].advice
    assert "evergold environments build" in found["default environment"].advice
    assert "EVERGOLD_SANDBOX_CONTAINERS" in found["images"].advice
    monkeypatch.setenv("EVERGOLD_SANDBOX_BACKEND", "none")
    assert "EVERGOLD_SANDBOX_BACKEND" in examine()[0].advice


def test_doctor_refuses_an_old_bubblewrap(other_bubblewrap: Path) -> None:
    written(other_bubblewrap, "echo bubblewrap 0.4.1")
    finding = examine()[0]
    assert (finding.is_good, finding.advice) == (False, "install bubblewrap 0.8 or later")
    assert finding.words == f"{other_bubblewrap} is older than 0.8"


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (
            "bwrap: No permissions to create new namespace, likely because …",
            PROFILE,
        ),
        (
            "bwrap: Creating new namespace failed: Operation not permitted",
            PROFILE,
        ),
        ("bwrap: setting up uid map: Permission denied", PROFILE),
        ("this worker is root and cannot become user 65534 (…)", "this worker is root and cannot become user"),
        ("python3: error while loading shared libraries: libpython3.12.so.1.0: …", "EVERGOLD_SANDBOX_PYTHON"),
        ("something else", "docs/running.md"),
    ],
)
def test_each_failure_has_its_advice(words: str, advice: str) -> None:
    assert advice in advice_of(words)


def test_commands_build_list_and_examine(bare: Path, tmp_path: Path) -> None:
    """Run the commands as an operator types them, in another process."""
    environment = {**os.environ, "EVERGOLD_ENVIRONMENTS_DIR": str(bare.parent), "EVERGOLD_DATA_DIR": str(tmp_path)}
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# nothing\n")

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    built = call("environments", "build", "--requirements", str(requirements))
    assert (built.returncode, built.stderr) == (0, "")
    assert built.stdout.split("\t")[0] == bare.name
    listed = json.loads(call("environments", "list", "--json").stdout)
    assert [one["digest"] for one in listed["environments"]] == [bare.name]
    missing = call("environments", "build", "--requirements", "nowhere.txt")
    assert (missing.returncode, missing.stderr) == (1, "Error: There is no file nowhere.txt.\n")
    other = call("environments", "build", "--requirements", str(requirements), "--python", "1.5")
    assert (other.returncode, other.stdout) == (1, "")
    assert "there is no Python 1.5 here" in other.stderr
    examined = call("doctor", "sandbox", "--json")
    assert examined.returncode == 1, "the default environment is not built"
    parts = {one["part"]: one["is_good"] for one in json.loads(examined.stdout)["parts"]}
    assert parts["sandbox"] is True
    assert parts["default environment"] is False
    assert "FAILS  default environment: not here" in call("doctor", "sandbox").stdout
