"""Environments: built from a real package, found again, seen inside, and never changed."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.workers.sandbox.conftest import LIMITS, Place
from workers.sandbox import Ended, Environment, Outcome, Program, SandboxUnavailable, run
from workers.sandbox.building import CannotBuild, build_environment, find_interpreter, identity_of
from workers.sandbox.environments import (
    DeclaredEnvironment,
    default_environment,
    environments_folder,
    find_environment,
    list_environments,
    read_environment,
)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for environments, which the user of sandboxes can reach; pytest's own are closed."""
    with tempfile.TemporaryDirectory(prefix="evergold-environments-") as name:
        monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", name)
        yield Path(name)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A package with a module and a command."""
    path = tmp_path / "made_up-1.0-py3-none-any.whl"
    info = "made_up-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("made_up.py", "def main():\n    print('the command')\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/entry_points.txt", "[console_scripts]\nmade-up = made_up:main\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def call(place: Place, environment: Path, code: str, command: tuple[str, ...] = ()) -> Outcome:
    place.write({"program/score.py": code})
    program = Program(place.program, command or ("python3", "$program/score.py"))
    return run(program, place.gold, place.submission, Environment(environment), LIMITS)


def test_packages_are_there_inside_and_their_commands_too(place: Place, folder: Path, wheel: Path) -> None:
    wanted = DeclaredEnvironment((f"made-up @ file://{wheel}", "# a comment", ""))
    built = build_environment(wanted)
    outcome = call(place, built, "import made_up, sys; print(made_up.__file__, sys.prefix)")
    version = f"python{sys.version_info[0]}"
    assert outcome.ended is Ended.FINISHED, outcome.stderr.decode()
    assert outcome.stdout.decode().startswith(f"/opt/environment/lib/{version}")
    assert outcome.stdout.decode().endswith(" /opt/environment\n")
    assert call(place, built, "", ("made-up",)).stdout == b"the command\n"
    assert (find_environment(wanted), build_environment(wanted)) == (built, built)
    assert [one.digest for one in list_environments()] == [built.name]
    assert environments_folder() == folder


def test_nothing_of_an_environment_can_be_changed(place: Place, folder: Path, wheel: Path) -> None:
    built = build_environment(DeclaredEnvironment((f"made-up @ file://{wheel}",)))
    for path in built.rglob("*"):
        assert path.is_symlink() or path.is_dir() or not path.stat().st_mode & 0o222, path
        assert path.is_symlink() or path.stat().st_mode & 0o444 == 0o444, path
    outcome = call(
        place, built, "import made_up, os\nos.chmod(made_up.__file__, 0o777)\nopen(made_up.__file__, 'w').write('x')"
    )
    assert b"Read-only file system: '/opt/environment/lib/" in outcome.stderr
    assert outcome.ended is Ended.FAILED


def test_another_python_is_copied_and_found_where_it_was(place: Place, folder: Path, wheel: Path) -> None:
    """Check that its own packages are left out; removing it later changes nothing (here: it is not visible inside)."""
    python = Path(sys.base_prefix, "bin", "python3")
    wanted = DeclaredEnvironment((f"made-up @ file://{wheel}",), str(python))
    built = build_environment(wanted)
    outcome = call(place, built, "import made_up, json, sys; print(sys.version.split()[0], sys.base_prefix)")
    assert outcome.stdout.decode() == f"{sys.version.split()[0]} {sys.base_prefix}\n", outcome.stderr.decode()
    described = read_environment(built)
    assert described.python == f"cpython-{sys.version.split()[0]}"
    if not python.resolve().is_relative_to("/usr"):
        assert described.base == str(Path(sys.base_prefix).resolve())
        assert not list(built.glob("base/lib/python*/site-packages/*"))
    assert find_environment(wanted) == built != build_environment(DeclaredEnvironment(wanted.requirements))


def test_same_declaration_whatever_its_order_blanks_and_comments() -> None:
    one = DeclaredEnvironment(("numpy==1.26", "pandas  # tables", "", "# all"), "3.7")
    assert one.digest == DeclaredEnvironment(("pandas", "numpy==1.26"), "3.7").digest
    assert one.digest not in {
        DeclaredEnvironment(one.requirements).digest,
        DeclaredEnvironment(("pandas", "numpy==1.27"), "3.7").digest,
    }


def test_digest_is_of_versions_and_of_hashes_where_there_is_no_version() -> None:
    one = "numpy==1.26.4 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\npandas==2.0\n    # via -r asked.txt\n"
    other = "pandas==2.0 \\\n    --hash=sha256:cc\nnumpy==1.26.4\n"
    assert identity_of(one) == identity_of(other) == "numpy==1.26.4\npandas==2.0"
    two = "made-up @ file:///a.whl \\\n    --hash=sha256:aa\n"
    assert identity_of(two) != identity_of(two.replace("aa", "bb"))


def test_default_environment_is_pinned_to_versions() -> None:
    lines = default_environment().lines
    assert all("==" in line for line in lines)
    names = {line.partition("==")[0] for line in lines}
    assert {"numpy", "scipy", "pandas", "scikit-learn", "pyyaml"} <= names


def test_what_cannot_be_built_says_why(folder: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotBuild, match=r"there is no Python 1\.5 here: install one, so that `python1\.5` is found"):
        build_environment(DeclaredEnvironment((), "1.5"))
    with pytest.raises(CannotBuild, match="(?s)failed:.*made-up"):
        build_environment(DeclaredEnvironment((f"made-up @ file://{wheel}.gone",)))
    assert [path.name for path in folder.iterdir()] == ["declared"], "nothing half-built is left"
    if os.geteuid() == 0:
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", str(closed / "environments"))
        with pytest.raises(CannotBuild, match=f"may not enter {closed}: set EVERGOLD_ENVIRONMENTS_DIR"):
            build_environment(DeclaredEnvironment(()))


def test_an_environment_whose_python_was_replaced_is_used_no_more(folder: Path) -> None:
    """The signature would name a Python that is gone; a copied one cannot be replaced."""
    built = build_environment(DeclaredEnvironment(()))
    described = read_environment(built)
    assert described.base == ""
    path = built / "environment.json"
    path.chmod(0o644)
    path.write_text(json.dumps(asdict(replace(described, stamp="1 2"))))
    with pytest.raises(SandboxUnavailable, match=r"has changed since the environment .* was built"):
        find_environment(DeclaredEnvironment(()))


@pytest.mark.skipif(shutil.which("python2.7") is None, reason="no Python 2.7 here")
def test_python_2_7_runs_with_packages_of_its_own(place: Place, folder: Path) -> None:
    try:
        find_interpreter("2.7")
    except CannotBuild as error:
        pytest.skip(str(error))
    built = build_environment(DeclaredEnvironment((), "2.7"))
    outcome = call(place, built, "import sys; print sys.version_info[:2]", ("python", "$program/score.py"))
    assert outcome.stdout == b"(2, 7)\n", outcome.stderr.decode()
