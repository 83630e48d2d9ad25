"""The commands and the modules that they are in: a command line loads the one that it needs.

Help names them all and says the first lines of what they do, and builds none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: In the order of the help, each with the commands that are its own alone: to `export` the server adds some.
MODULES: dict[str, tuple[str, ...]] = {
    "account": ("register", "login", "logout"),
    "submissions": ("submit",),
    "validate": ("validate",),
    "score": ("score",),
    "compare": ("compare",),
    "power": ("power",),
    "tasks": ("tasks",),
    "baseline": ("baseline",),
    "probe": ("probe",),
    "look": ("competitions", "board", "cite", "status"),
    "choices": ("choose", "withdraw"),
    "team": ("registration", "team"),
    "cards": ("card",),
    "exports": (),
    "judging": ("judge",),
    "announce": ("announce",),
    "questions": ("questions",),
    "rescore": ("rescorings", "rescore"),
    "split": ("split",),
}
#: Whoever installs a distribution with an entry point of this group adds its commands: a Typer application each.
COMMANDS_GROUP = "evergold.commands"


@dataclass(frozen=True)
class Entry:
    """A command, or a group of some, as help lists it."""

    name: str
    help: str
    panel: str


class Commands(typer.core.TyperGroup):
    """The group of all commands, loaded as they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [entry.name for entry in entries()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        module = next((module for module, names in MODULES.items() if cmd_name in names), None)
        application = _application(module) if module else whole()
        found = built(application).get(cmd_name)
        if found is None:
            self.commands = built(whole())  # to say what is nearest
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Plain: drawing boxes takes longer than anything else."""
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


@cache
def joined() -> tuple[EntryPoint, ...]:
    """What other distributions add."""
    from importlib.metadata import entry_points  # with what reads mail, of which it is made: a tenth of a start

    return tuple(entry_points(group=COMMANDS_GROUP))


@cache
def whole() -> typer.Typer:
    """Every command there is."""
    found = _typer()
    for module in MODULES:
        found.add_typer(_commands_in(module))
    for entry_point in joined():
        found.add_typer(entry_point.load())
    return found


@cache
def _application(module: str) -> typer.Typer:
    found = _typer()
    found.add_typer(_commands_in(module))
    return found


def _typer() -> typer.Typer:
    found = typer.Typer(add_completion=False)
    found.callback()(lambda: None)  # a group, whatever it holds
    return found


def _commands_in(module: str) -> typer.Typer:
    commands: typer.Typer = import_module(f"evergold.cli.{module}").commands
    return commands


def built(application: typer.Typer) -> dict[str, Any]:
    """Its commands by name, ready to run."""
    group: Any = typer.main.get_command(application)
    return dict(group.commands)


# ---------------------------------------------------------------------------------------------------------------- help


def entries() -> list[Entry]:
    """Every command and group, in order."""
    return list({entry.name: entry for entry in _entries(whole())}.values())


def _entries(application: typer.Typer) -> Iterator[Entry]:
    for command in application.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        if not command.hidden:
            yield Entry(name, _first_line(command.help or command.callback.__doc__), _text(command.rich_help_panel))
    for group in application.registered_groups:
        inner = group.typer_instance
        if inner is None:
            continue
        if name := _text(group.name) or _text(inner.info.name):
            words = _text(group.help) or _text(inner.info.help)
            yield Entry(name, _first_line(words), _text(group.rich_help_panel) or _text(inner.info.rich_help_panel))
        else:
            yield from _entries(inner)


def _text(value: Any) -> str:
    """What was given; typer has placeholders for what was not."""
    return value if isinstance(value, str) else ""


def _first_line(words: str | None) -> str:
    return " ".join((words or "").strip().partition("\n\n")[0].split())
