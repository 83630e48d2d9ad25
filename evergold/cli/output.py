"""Output of the command line: tables and colours on a terminal, plain lines or JSON elsewhere.

Data go to stdout, messages about them to stderr. The exit codes are documented in docs/cli.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergold.moments import deadline_words, moment_words

if TYPE_CHECKING:
    from evergold.scoring.errors import InvalidFile

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


class Code(IntEnum):
    """Exit codes. Wrong usage has a code of its own, so that 2 always means that a file was rejected."""

    OK = 0
    ERROR = 1
    REJECTED = 2
    REFUSED = 3
    FAILED = 4
    NETWORK = 5
    GOLD = 6
    USAGE = 64
    INTERRUPTED = 130


class CommandError(Exception):
    """An error as a sentence, with the exit code; `document` is its form under --json.

    lines: shown below the sentence for people, such as the problems of a file.
    """

    def __init__(
        self,
        message: str,
        code: Code = Code.ERROR,
        *,
        name: str = "error",
        details: Mapping[str, Any] | None = None,
        lines: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.lines = tuple(lines)
        self.document = {"error": {"code": name, "message": message, "details": dict(details or {})}}


#: Packages that add commands may append functions that explain their exceptions; None for other exceptions.
EXPLAINED: list[Callable[[Exception], CommandError | None]] = []


def say(text: str) -> None:
    """Print a line of data to stdout."""
    typer.echo(text)


def remark(text: str) -> None:
    """Print a message to stderr."""
    typer.echo(text, err=True)


def complain(text: str) -> None:
    """Print an error to stderr."""
    typer.echo(f"{typer.style('Error:', fg=typer.colors.RED)} {text}", err=True)


def print_json(document: object) -> None:
    """Print one JSON document to stdout."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def event_words(moment: str) -> str:
    """Format the moment of an event, as the server gives it: `8 Dec 2026, 00:00 UTC`."""
    return moment_words(datetime.fromisoformat(moment))


def local_deadline(moment: str) -> str:
    """Format a declared moment, with this machine's clock: `Mon 7 Dec 2026, 12:00 AoE (8 Dec, 01:00 your time)`."""
    there = datetime.fromisoformat(moment)
    return deadline_words(there, there.astimezone().tzinfo)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = ()) -> None:
    """Print a table on a terminal; elsewhere lines with tabs, the headings first. numbers: right-aligned columns."""
    rows = [[_one_line(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in [columns, *rows]:
            say("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # Text: the teams' text is never markup
    Console().print(table)


def print_problems(problems: Sequence[Mapping[str, Any]], omitted: int) -> None:
    """Print the problems of a file, by line; without a terminal one sentence per line."""
    if sys.stdout.isatty():
        print_table(
            ["Line", "Column", "Problem"],
            [(_place(problem), problem.get("column") or "", problem["message"]) for problem in problems],
            numbers=["Line"],
        )
    else:
        for problem in problems:
            say(problem["sentence"])
    if omitted:
        say(f"… and {omitted} more.")


def invalid_file(error: InvalidFile, title: str, code: Code, name: str) -> CommandError:
    """Return an error that lists every problem of a file below the title."""
    problems = [problem.as_dict() for problem in error.problems]
    lines = [f"  {problem['sentence']}" for problem in problems]
    if error.omitted:
        lines.append(f"  … and {error.omitted} more.")
    details = {"problems": problems, "problems_omitted": error.omitted}
    return CommandError(f"{title}.", code, name=name, details=details, lines=lines)


def _one_line(text: str) -> str:
    """Remove line ends, and control characters that could manipulate a terminal, except what a script needs."""
    from evergold.scoring.characters import can_be_name

    line = " ".join(text.split())
    return line if line.isprintable() or can_be_name(line) else "".join(c if c.isprintable() else " " for c in line)


def _place(problem: Mapping[str, Any]) -> str:
    line = "" if problem.get("line") is None else str(problem["line"])
    return f"{problem['file']}:{line}" if problem.get("file") else line


#: Headings of the help, in its order: `evergold --help` lists them as their first commands come.
SUBMITTING = "Submitting"
READING = "Boards and results"
TOGETHER = "Your registration and team"
LOCAL = "On your own machine"
PREPARING = "Declaring a competition"
WHILE_IT_RUNS = "While it runs"
RUNNING = "Running a server"


def count(number: int, what: str) -> str:
    """Format a count with its noun: `1 error`, `2 errors`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def ask(question: str, option: str) -> str:
    """Prompt on the terminal; without one, raise an error that names the option."""
    if not sys.stdin.isatty():
        raise CommandError(f"Not running in a terminal: pass {option}.", Code.USAGE)
    answer: str = typer.prompt(question, err=True)
    return answer


def read_password(from_stdin: bool, *, confirm: bool) -> str:
    """Prompt for a password on the terminal, or read it from the first line of stdin."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise CommandError("Not running in a terminal: pass --password-stdin.", Code.USAGE)
    password: str = typer.prompt("Password", hide_input=True, confirmation_prompt=confirm, err=True)
    return password


def read_text(place: str | Path) -> str:
    """Return the text of a file, or of stdin for `-`."""
    try:
        return sys.stdin.read() if place == "-" else Path(place).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise CommandError(f"{place} is not a text file in UTF-8.") from None
