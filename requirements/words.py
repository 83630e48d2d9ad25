"""Checks the words of the house in docstrings, command help and pages: how a docstring begins, and words that none
of them uses (docs/glossary.md).

`python requirements/words.py [ROOM …]` lists every finding by file and line and exits with 1 if there is one.
"""
# ruff: noqa: T201 - it prints its findings: that is all it does

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("app", "evergold", "workers")
#: A docstring starts with a verb or with the thing itself.
START = re.compile(r"(Of|What|Whose|Who|Whoever|Which|The same|As|Where|For|How|Whether|So|That|Those)\b")
#: Words that hide the subject or the thing.
WORD = re.compile(
    r"\b(tells?|told|telling|says?|said|saying|asks?|asked|asking|hears?|heard|whoever|whomever|anew"
    r"|so many|no longer meant|put back|takes? back|taken back|throws? away|thrown away)\b",
    re.IGNORECASE,
)
#: Right uses, by file and word in lower case, each with the reason.
EXCEPTIONS = {
    ("app/operations/health.py", "says"): "the name of a field",
    ("app/templates/messages/questions.html", "ask"): "people ask the organisers a question",
    ("app/templates/teams/page.html", "ask"): "people ask a captain for a link",
    ("app/web/http/turns.py", "ask"): "the name of a parameter",
    ("app/web/messages/pages.py", "ask"): "people ask the organisers a question",
    ("app/web/messages/api.py", "ask"): "people ask the organisers a question",
    ("evergold/cli/choices.py", "ask"): "the command asks for confirmation",
    ("evergold/cli/questions.py", "ask"): "people ask the organisers a question",
}
#: Folders whose typer commands have help texts.
COMMANDS = ("app/cli", "evergold/cli")
#: Visible text of a template: what is left without its tags, expressions and comments.
NOT_TEXT = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)


class Finding(NamedTuple):
    """One place to mend."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{name_of(self.path)}:{self.line}: {self.text}"


def python_findings(path: Path) -> Iterator[Finding]:
    """Docstrings of a Python file that begin with words of the list, or have some; and help texts that have some."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if name_of(path).startswith(COMMANDS):
        yield from help_findings(path, tree)
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        text = ast.get_docstring(node)
        if not text:
            continue
        line = node.body[0].lineno
        if start := START.match(text):
            yield Finding(path, line, f"the docstring starts with '{start[0]}': {text.splitlines()[0][:80]}")
        for at, word in words_in(path, text):
            yield Finding(path, line + at, f"'{word}' in a docstring")


def help_findings(path: Path, tree: ast.Module) -> Iterator[Finding]:
    """Words of the list in the help of arguments, options and groups of commands."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.keyword) or node.arg != "help":
            continue
        for part in ast.walk(node.value):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                for at, word in words_in(path, part.value):
                    yield Finding(path, part.lineno + at, f"'{word}' in a help text")


def template_findings(path: Path) -> Iterator[Finding]:
    """Visible words of a template that stand on the list."""
    text = path.read_text(encoding="utf-8")
    visible = NOT_TEXT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for at, word in words_in(path, visible):
        yield Finding(path, 1 + at, f"'{word}' on a page")


def words_in(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Words of the list in a text, each with the number of lines above it, without the exceptions of the file."""
    for word in WORD.finditer(text):
        if (name_of(path), word[0].lower()) not in EXCEPTIONS:
            yield text.count("\n", 0, word.start()), word[0]


def name_of(path: Path) -> str:
    """The path below the repository, as exceptions name it."""
    return path.relative_to(ROOT).as_posix()


def findings(rooms: Sequence[str]) -> list[Finding]:
    """All findings below these folders, in the order of files and lines."""
    found: list[Finding] = []
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*")):
            if "build" in path.parts:
                continue
            if path.suffix == ".py":
                found += python_findings(path)
            elif path.suffix == ".html":
                found += template_findings(path)
    return found


def main(rooms: Sequence[str]) -> int:
    """Print the findings; 1 if there are any."""
    found = findings(rooms or ROOMS)
    for finding in found:
        print(finding)
    if found:
        print(f"{len(found)} findings: docs/glossary.md and CONTRIBUTING.md say which words to use.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
