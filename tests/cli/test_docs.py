"""docs/cli.md has every command with every option, and nothing that there is not."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from evergold.cli import run
from evergold.cli.examples import EXAMPLES, example_of
from evergold.cli.output import Code
from evergold.cli.parts import MODULES, built, commands_in, entries, whole

DOCS = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


def commands(command: Any, name: str = "evergold") -> Iterator[tuple[str, Any]]:
    """Yield every command that can be run, with its whole name."""
    parts = getattr(command, "commands", None)
    if parts is None:
        yield name, command
    for part, child in (parts or {}).items():
        yield from commands(child, f"{name} {part}")


COMMANDS = dict(commands(typer.main.get_command(whole())))
SECTIONS = dict(re.findall(r"^## (evergold .+?)\n(.*?)(?=^## |^---|\Z)", DOCS.read_text(), re.MULTILINE | re.DOTALL))


def options_of(command: Any) -> set[str]:
    declared = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return {option for option in declared if option.startswith("--")} - {"--help"}


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    assert set(SECTIONS) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_options_in_the_table_are_those_of_the_command(name: str) -> None:
    rows = "".join(line for line in SECTIONS[name].splitlines() if line.startswith("| `--"))
    assert set(re.findall(r"`(--[a-z-]+)", rows)) == options_of(COMMANDS[name])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_says_what_it_does(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    undocumented = [p.opts for p in command.params if p.opts[0].startswith("--") and not p.help]
    assert not undocumented


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_it_can_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that files and folders in it exist; nothing is run."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split(example_of(name.removeprefix("evergold ")))
    arguments = words[len(name.split()) :]
    for argument in arguments:
        if "." in Path(argument).name and "://" not in argument:
            place = tmp_path / argument.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    read = [argument.replace("/etc/", f"{tmp_path}/etc/") for argument in arguments]
    for folder in ("SemEval_2022_Task2", "sharedtask-data", "AStitchInLanguageModels", "ncimp", "gold"):
        (tmp_path / folder).mkdir(exist_ok=True)
    COMMANDS[name].make_context(name, read)


def test_examples_stand_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("submit", "team create"):
        assert run([*name.split(), "--help"]) == Code.OK
        assert example_of(name)[:40] in " ".join(capsys.readouterr().out.split())
    assert set(EXAMPLES) == {name.removeprefix("evergold ") for name in COMMANDS}


def test_every_exit_code_is_documented() -> None:
    documented = re.findall(r"^\| (\d+) \|", DOCS.read_text(), re.MULTILINE)
    assert [int(code) for code in documented] == [code.value for code in Code]


def test_help_and_team_commands_load_neither_database_nor_scoring_code() -> None:
    code = (
        "import sys\n"
        "from evergold.cli import run\n"
        "run(['--help']); run(['status', '--server', 'http://127.0.0.1:9'])\n"
        "heavy = {'sqlalchemy', 'alembic', 'celery', 'kombu', 'numpy', 'scipy', 'torch', 'fastapi'}\n"
        "print(sorted((heavy | {'evergold.scoring'}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


def modules_after(*arguments: str) -> set[str]:
    """Return the modules that a process has imported after carrying out this command line."""
    code = f"import sys; from evergold.cli import run; run({list(arguments)}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


def test_help_draws_no_boxes_and_builds_no_command() -> None:
    assert not {"rich", "pydantic", "httpx"} & modules_after("--help")


def test_a_command_loads_neither_the_others_nor_the_server_s() -> None:
    found = modules_after("tasks", "--help")
    assert "evergold.cli.tasks" in found
    assert not {"evergold.cli.look", "evergold.cli.rescore", "app", "app.cli"} & found


def test_each_module_has_the_commands_that_are_listed_for_it() -> None:
    for module, names in MODULES.items():
        assert not names or set(names) == set(built(commands_in(module))), module
    assert [name for names in MODULES.values() for name in names] == [
        entry.name for entry in entries() if entry.name in {name for names in MODULES.values() for name in names}
    ]


def test_help_lists_every_command_with_its_first_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == Code.OK
    out = " ".join(capsys.readouterr().out.split())
    for name, command in built(whole()).items():
        assert f"{name} {' '.join(command.help.split())[:20]}" in out


def test_a_name_that_is_nearly_right_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scor"]) == Code.USAGE
    assert "Did you mean 'score'" in capsys.readouterr().err
