"""Checks the subject of a commit: `python requirements/subject.py MESSAGE_FILE`, run by the commit-msg hook.

At most 72 characters, a capital first, no full stop, and a verb in the imperative: "Refuse late files", neither
"Refuses", "Refused" nor "Refusing".
"""
# ruff: noqa: T201 - it prints its findings: that is all it does

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

CHARACTERS = 72
#: Subjects that git writes itself, or that a rebase takes away.
BY_GIT = re.compile(r"(Merge|Revert|fixup!|squash!|amend!) ")
#: Endings of other forms of verbs, and verbs that end like them in the imperative.
OTHER_FORM = re.compile(r"(?i)\w{2,}(?:ed|ing|[^s]s)$")
IMPERATIVE = frozenset(
    {"bring", "embed", "exceed", "feed", "focus", "need", "proceed", "seed", "shed", "speed", "string"}
)


def faults(subject: str) -> list[str]:
    """Return what is wrong with the subject, in words; empty if nothing is."""
    if BY_GIT.match(subject):
        return []
    verb = subject.split(" ", 1)[0].rstrip(":,")
    found = []
    if len(subject) > CHARACTERS:
        found.append(f"{len(subject)} characters; at most {CHARACTERS}")
    if not subject[:1].isupper():
        found.append("the first letter is no capital")
    if subject.endswith("."):
        found.append("a full stop at the end")
    if OTHER_FORM.match(verb) and verb.lower() not in IMPERATIVE:
        found.append(f"{verb!r} is no imperative")
    return found


def main(arguments: Sequence[str]) -> int:
    """Check the first line of the file; exit code 1 if something is wrong with it."""
    (path,) = arguments
    subject = next(iter(Path(path).read_text(encoding="utf-8").splitlines()), "")
    found = faults(subject)
    for fault in found:
        print(f"Subject of the commit: {fault}.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
