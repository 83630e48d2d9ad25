"""Every thing has one address: folders document what they contain, and modules that texts name exist."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.processes import REPOSITORY

PACKAGES = ("app", "evergold", "workers")
FOLDERS = sorted(
    path.parent.relative_to(REPOSITORY)
    for package in ("app", "evergold")
    for path in (REPOSITORY / package).rglob("__init__.py")
    if "build" not in path.parts
)
#: What is imported from the folder itself: the tables, the task types, what teams use, the groups of commands.
MORE_THAN_A_DOCSTRING = {
    "app/cli",
    "app/declarations/check",
    "app/models",
    "evergold/cli",
    "evergold/client",
    "evergold/scoring",
    "evergold/scoring/tables",
    "evergold/scoring/tasks",
}
#: Written as modules are: groups of entry points, files of a user and of a server, a place in a competition.
NO_MODULES = {
    "evergold.commands",
    "evergold.tasks",
    "evergold.db",
    "evergold.json",
    "demo/evaluation/idiom-detection",
    "evergold/credentials.json",
    "workers.key",
    "workers.key.retired",
}
WORDS = REPOSITORY / "requirements" / "words.py"
TEXTS = [
    *sorted(REPOSITORY.glob("*.md")),
    *sorted((REPOSITORY / "docs").rglob("*.md")),
    *sorted(
        path
        for folder in (*PACKAGES, "tests", "bench", "demo", "migrations", "requirements")
        for path in (REPOSITORY / folder).rglob("*.py")
        if "build" not in path.parts
    ),
]


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_a_folder_says_what_lives_there_and_has_nothing_else_in_its_init(folder: Path) -> None:
    tree = ast.parse((REPOSITORY / folder / "__init__.py").read_text(encoding="utf-8"))
    text = ast.get_docstring(tree)
    assert text, "a sentence about what lives there, and what does not"
    assert len(text.split()) >= 5
    assert (len(tree.body) > 1) is (folder.as_posix() in MORE_THAN_A_DOCSTRING)


@pytest.mark.parametrize("package", ["app", "evergold"])
def test_every_folder_with_modules_is_a_package(package: str) -> None:
    folders = {path.parent for path in (REPOSITORY / package).rglob("*.py") if "build" not in path.parts}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


@pytest.mark.parametrize("package", ["app", "evergold", "workers"])
def test_a_module_is_read_in_one_go(package: str) -> None:
    sources = [path for path in (REPOSITORY / package).rglob("*.py") if "build" not in path.parts]
    lines = {str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8").count("\n") for path in sources}
    assert {name: count for name, count in lines.items() if count > 600} == {}


def test_no_module_lies_flat_in_app() -> None:
    assert [path.name for path in (REPOSITORY / "app").glob("*.py")] == ["__init__.py"]


def test_modules_that_texts_name_are_there() -> None:
    """Report all missing modules at once: a test for each text would take longer than to read it."""
    gone = {path.relative_to(REPOSITORY).as_posix(): list(names_gone(path)) for path in TEXTS}
    assert {path: names for path, names in gone.items() if names} == {}


def names_gone(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    dotted = re.findall(r"`((?:app|evergold|workers)(?:\.\w+)+)(?=[`( ])", text)
    yield from (name for name in dotted if name not in NO_MODULES and not is_there(name))
    files = re.findall(r"`((?:app|evergold|workers|scoring|migrations|bench|demo)/[\w/.-]*\w)`", text)
    yield from (name for name in files if name not in NO_MODULES and not (REPOSITORY / name).exists())


def test_types_of_everything_in_python_are_checked() -> None:
    """Check all except configuration: `make types` reads what `files` names."""
    checked = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["files"]
    tracked = subprocess.run(["git", "ls-files", "*.py"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert [name for name in tracked.stdout.split() if not name.startswith(tuple(checked))] == []


def test_pages_help_and_docstrings_use_the_words_of_the_glossary() -> None:
    done = subprocess.run([sys.executable, WORDS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_word_that_is_none_of_the_house_is_noticed(tmp_path: Path) -> None:
    """Check a word on a page, in a docstring and in the help of an option; not in a tag or an expression."""
    page, command = tmp_path / "app" / "templates" / "page.html", tmp_path / "app" / "cli" / "command.py"
    for path in (page, command):
        path.parent.mkdir(parents=True)
    page.write_text('<p title="told">{{ asked }}{# said #}</p>\n<p>Score it anew.</p>\n', encoding="utf-8")
    command.write_text('def run(x=Option(help="Take it. Say why.")):\n    """What it is."""\n', encoding="utf-8")
    copy = tmp_path / "requirements" / WORDS.name
    copy.parent.mkdir()
    copy.write_bytes(WORDS.read_bytes())
    done = subprocess.run([sys.executable, copy], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines()[:-1] == [
        "app/cli/command.py:1: 'Say' in a help text",
        "app/cli/command.py:2: the docstring starts with 'What': What it is.",
        "app/templates/page.html:2: 'anew' on a page",
    ]


def test_a_name_that_is_not_there_is_noticed() -> None:
    assert is_there("app.base.errors.NotFound")
    assert not is_there("app.errors")
    assert not is_there("app.base.errors.Nothing")


@cache
def is_there(name: str) -> bool:
    """Return whether it is a module, or something in one, by its first name there."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        path = REPOSITORY.joinpath(*parts[:length])
        if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
            return length == len(parts) or _has(module, parts[length])
    return False


def _has(module: str, name: str) -> bool:
    spec = importlib.util.find_spec(module)
    assert spec
    assert spec.origin
    source = Path(spec.origin).read_text(encoding="utf-8")
    return bool(re.search(rf"^\s*(?:async def |def |class |from \S+ import .*)?\b{name}\b", source, re.MULTILINE))
