"""The commands and their modules: a command line loads only the module that it needs.

Help lists all commands with the first lines of their descriptions, without building them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.models import CommandInfo, TyperInfo

from evergold.cli.examples import EXAMPLES, example_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


#: As typed; a group covers all commands in it. A test compares them with what the server registers.
SERVER_COMMANDS = frozenset(
    {
        "account",
        "admin",
        "allowance",
        "life",
        "apply",
        "audit",
        "backup",
        "check",
        "check-host",
        "climbers",
        "doctor",
        "environments",
        "export codabench",
        "export yaml",
        "gold",
        "history",
        "import",
        "init",
        "migrate",
        "models",
        "plan",
        "registrations",
        "restore",
        "role",
        "row",
        "runs",
        "selfcheck",
        "serve",
        "set",
        "standings",
        "storage",
        "sweep",
        "undo",
        "web",
        "worker",
        "workers",
    }
)
INSTALL_SERVER = "pip install 'evergold-server[web,worker,embedded]'"


def server_command(arguments: Sequence[str]) -> str | None:
    """Return the server's command with which a command line begins; None if it begins with none of them."""
    names = (" ".join(arguments[:length]) for length in (2, 1))
    return next((name for name in names if name in SERVER_COMMANDS), None)


#: In the order of the help, each with the commands that it alone defines: the server adds some to `export`.
MODULES: dict[str, tuple[str, ...]] = {
    "account": ("register", "login", "logout"),
    "submissions": ("submit",),
    "validate": ("validate",),
    "choices": ("choose", "withdraw"),
    "cards": ("card",),
    "look": ("competitions", "board", "ranking", "cite", "status", "submissions"),
    "team": ("registration", "team"),
    "questions": ("questions",),
    "own_data": ("my-data", "consent", "delete-account"),
    "score": ("score",),
    "compare": ("compare",),
    "tasks": ("tasks",),
    "baseline": ("baseline",),
    "probe": ("probe",),
    "power": ("power",),
    "split": ("split",),
    "exports": (),
    "invitations": ("invitations",),
    "judging": ("judge",),
    "announce": ("announce",),
    "webhook": ("webhook",),
    "rescore": ("rescorings", "rescore"),
}
#: A distribution with an entry point of this group adds its commands: a Typer application each.
COMMANDS_GROUP = "evergold.commands"


@dataclass(frozen=True)
class Entry:
    """A command, or a group of commands, as help lists it."""

    name: str
    help: str
    panel: str


class Commands(typer.core.TyperGroup):
    """The group of all commands, loaded on demand."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [entry.name for entry in entries()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        module = next((module for module, names in MODULES.items() if cmd_name in names), None)
        found = built(commands_in(module) if module else whole(), cmd_name).get(cmd_name)
        if found is None:
            self.commands = built(whole())  # for suggesting the nearest name
        else:
            _add_examples(found, cmd_name)
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Format plain help: drawing boxes takes longer than anything else."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for entry in entries():
            panels.setdefault(entry.panel, []).append((entry.name, entry.help))
        width = max(len(entry.name) for entry in entries())
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl([(name.ljust(width), words) for name, words in rows])


def _add_examples(command: Any, name: str) -> None:
    for part, inner in getattr(command, "commands", {}).items():
        _add_examples(inner, f"{name} {part}")
    if name in EXAMPLES:
        command.epilog = f"Example: {example_of(name)}"


@cache
def joined() -> tuple[EntryPoint, ...]:
    """Return the entry points with which other distributions add commands."""
    from importlib.metadata import entry_points  # imports the mail parser that it is built on: a tenth of the start

    return tuple(entry_points(group=COMMANDS_GROUP))


@cache
def whole() -> typer.Typer:
    """Return the application with all commands."""
    found = _typer()
    for module in MODULES:
        found.add_typer(commands_in(module))
    for entry_point in joined():
        found.add_typer(entry_point.load())
    return found


def _typer() -> typer.Typer:
    found = typer.Typer(add_completion=False)
    found.callback()(lambda: None)  # a group, even with a single command
    return found


def commands_in(module: str) -> typer.Typer:
    commands: typer.Typer = import_module(f"evergold.cli.{module}").commands
    return commands


@cache
def built(application: typer.Typer, name: str = "") -> dict[str, Any]:
    """Return the runnable commands of an application by name. name: build only this one; "": all."""
    wanted = _typer()
    for info in _listed(application):
        if name in ("", _name_of(info)):
            if isinstance(info, CommandInfo):
                wanted.registered_commands.append(info)
            else:
                wanted.registered_groups.append(info)
    group: Any = typer.main.get_command(wanted)
    return dict(group.commands)


# ---------------------------------------------------------------------------------------------------------------- help


def entries() -> list[Entry]:
    """List every command and group, in order."""
    return list({entry.name: entry for entry in _entries(whole())}.values())


def _entries(application: typer.Typer) -> Iterator[Entry]:
    for info in _listed(application):
        if isinstance(info, CommandInfo):
            words, hidden, panel = info.help or info.callback.__doc__, info.hidden, _text(info.rich_help_panel)
        else:
            inner = info.typer_instance.info if info.typer_instance else TyperInfo()
            words, hidden = _text(info.help) or _text(inner.help), False
            panel = _text(info.rich_help_panel) or _text(inner.rich_help_panel)
        if not hidden:
            yield Entry(_name_of(info), _first_line(words), panel)


def _listed(application: typer.Typer) -> Iterator[CommandInfo | TyperInfo]:
    """Yield the commands and the named groups; an unnamed group is replaced by its contents."""
    yield from application.registered_commands
    for group in application.registered_groups:
        if _name_of(group):
            yield group
        elif group.typer_instance is not None:
            yield from _listed(group.typer_instance)


def _name_of(info: CommandInfo | TyperInfo) -> str:
    if isinstance(info, CommandInfo):
        return info.name or getattr(info.callback, "__name__", "").replace("_", "-")
    return _text(info.name) or _text(info.typer_instance.info.name if info.typer_instance else "")


def _text(value: Any) -> str:
    """Return the value if it is text, else "": typer has placeholders for missing texts."""
    return value if isinstance(value, str) else ""


def _first_line(words: str | None) -> str:
    return " ".join((words or "").strip().partition("\n\n")[0].split())
