"""Checks the words of the house: how docstrings begin, and words that neither code nor pages use (docs/glossary.md).

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
#: Visible text of a template: what is left without its tags, expressions and comments.
NOT_TEXT = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)


class Finding(NamedTuple):
    """One place to mend."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.text}"


def docstring_findings(path: Path) -> Iterator[Finding]:
    """Docstrings of a Python file that begin, or go on, with words of the list."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        text = ast.get_docstring(node)
        if not text:
            continue
        line = node.body[0].lineno
        if start := START.match(text):
            yield Finding(path, line, f"the docstring starts with '{start[0]}': {text.splitlines()[0][:80]}")
        for word in WORD.finditer(text):
            yield Finding(path, line + text.count("\n", 0, word.start()), f"'{word[0]}' in a docstring")


def template_findings(path: Path) -> Iterator[Finding]:
    """Visible words of a template that stand on the list."""
    text = path.read_text(encoding="utf-8")
    visible = NOT_TEXT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for word in WORD.finditer(visible):
        yield Finding(path, 1 + visible.count("\n", 0, word.start()), f"'{word[0]}' on a page")


def findings(rooms: Sequence[str]) -> list[Finding]:
    """All findings below these folders, in the order of files and lines."""
    found: list[Finding] = []
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*")):
            if "build" in path.parts:
                continue
            if path.suffix == ".py":
                found += docstring_findings(path)
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
