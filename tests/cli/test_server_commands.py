"""Commands of the server where it is not installed: they end in one sentence; the list of their names is the registered
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer

import evergold.cli
from evergold.cli import run
from evergold.cli.parts import SERVER_COMMANDS, server_command, whole


def leaves(command: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every command with the top package that it is from."""
    parts = getattr(command, "commands", None)
    if parts is None:
        callback = command.callback
        yield name, getattr(callback, "__wrapped__", callback).__module__.partition(".")[0]
    for part, child in (parts or {}).items():
        yield from leaves(child, (*name, part))


FROM = dict(leaves(typer.main.get_command(whole())))


def test_the_names_are_those_that_the_server_registers() -> None:
    """Check that a group that is completely the server's is listed for all its commands."""
    origins: dict[str, set[str]] = {}
    for name, package in FROM.items():
        origins.setdefault(name[0], set()).add(package)
    servers = {name for name, package in FROM.items() if package == "app"}
    assert {name[0] if origins[name[0]] == {"app"} else " ".join(name) for name in servers} == SERVER_COMMANDS


def test_no_command_for_teams_is_taken_for_the_server_s() -> None:
    teams = [name for name, package in FROM.items() if package == "evergold"]
    assert len(teams) > 20
    assert [name for name in teams if server_command(name)] == []


@pytest.fixture
def without_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove all joined commands, as where only `evergold` is installed."""
    alone = typer.Typer(no_args_is_help=True)
    exports = typer.Typer()
    exports.command("participants")(lambda: None)
    exports.command("predictions")(lambda: None)
    alone.add_typer(exports, name="export")
    alone.command("status")(lambda: None)
    monkeypatch.setattr(evergold.cli, "cli", alone)
    monkeypatch.setattr(evergold.cli, "joined", tuple)


@pytest.mark.usefixtures("without_server")
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["serve"], "serve"),
        (["serve", "--port", "8321"], "serve"),
        (["apply", "--help"], "apply"),
        (["gold", "put", "demo/dev/idioms", "gold.csv"], "gold"),
        (["export", "yaml", "demo"], "export yaml"),
        (["account", "reset-link", "ada"], "account"),
    ],
)
def test_they_end_in_one_sentence(arguments: list[str], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 64
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.splitlines() == [
        f"Error: `evergold {name}` needs the server's package, which is not installed here: "
        "pip install 'evergold-server[web,worker,embedded]'"
    ]


@pytest.mark.usefixtures("without_server")
@pytest.mark.parametrize("arguments", [["sevre"], ["export", "xml"], ["status", "--fast"]])
def test_what_nobody_has_is_wrong_usage_as_ever(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 64
    assert "evergold-server" not in capsys.readouterr().err


def test_a_part_of_the_server_that_is_missing_is_said_as_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(**_: Any) -> None:
        raise ModuleNotFoundError("No module named 'sqlalchemy'", name="sqlalchemy.orm")

    monkeypatch.setattr(evergold.cli, "cli", fails)
    assert run(["apply"]) == 64
    assert capsys.readouterr().err.startswith("Error: sqlalchemy is not installed here, which `evergold apply` needs: ")


@pytest.mark.parametrize(("command", "module"), [("apply", "app.base.nothing"), ("status", "httpx")])
def test_what_is_missing_by_our_own_fault_is_not_hidden(
    command: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**_: Any) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(evergold.cli, "cli", fails)
    with pytest.raises(ModuleNotFoundError):
        run([command])
