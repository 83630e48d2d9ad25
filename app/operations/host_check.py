"""Checks which of the separations promised in docs/running.md hold on this machine, by trying as each user.

Files are opened in a child process of the user in question, so that everything counts: modes, groups, parent folders,
access control lists. Without root, only the current user can be checked; other results are unknown.
"""

from __future__ import annotations

import json
import os
import pwd
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

#: Time that a command may take to start, on a slow machine.
STARTING_SECONDS = 60


class Answer(StrEnum):
    HOLDS = "holds"
    BROKEN = "broken"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Separation:
    """A promise in plain words. answer: whether it holds; advice: what to do if not."""

    promise: str
    answer: Answer
    advice: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Users:
    """The user ids of the server's parts. other: a user unrelated to this server."""

    web: int
    worker: int
    sweep: int
    other: int


@dataclass(frozen=True, slots=True)
class Places:
    """The paths to protect."""

    database: Path | None  # SQLite's file
    storage: Path
    sealed: Path
    mail: Path
    key: Path
    gold: Path
    vectors: Path


def user_number(name: str) -> int:
    """Return the user id of an account given by name or number. Raises KeyError."""
    return int(name) if name.isdigit() else pwd.getpwnam(name).pw_uid


def check_host(users: Users, places: Places, program: Path, group: int | None = None) -> list[Separation]:
    """Check every promise and return the results.

    program: the command `evergold`; group: the id of EVERGOLD_FILES_GROUP, to which web, worker and sweep belong.
    """
    return [
        *_different_users(users),
        *_workers_alone(users, places, group),
        *_nobody_else(users, places),
        *_everybody_runs(users, program),
        *_everybody_works(users, places, group),
        _database(places),
    ]


def _different_users(users: Users) -> Iterator[Separation]:
    for one, other in (("web", "worker"), ("web", "sweep"), ("worker", "sweep")):
        same = getattr(users, one) == getattr(users, other)
        advice = "processes of one user can read each other's memory and files: give each its own user" if same else ""
        yield Separation(f"{one} and {other} run as different users", Answer.BROKEN if same else Answer.HOLDS, advice)


def _workers_alone(users: Users, places: Places, group: int | None) -> Iterator[Separation]:
    secret = {"the workers' key": places.key, "plain gold": places.gold, "vectors of gold": places.vectors}
    for name, path in secret.items():
        for part in ("web", "sweep"):
            yield _cannot_read(f"{part} cannot read {name}", getattr(users, part), path, group, keeper="the worker")


def _nobody_else(users: Users, places: Places) -> Iterator[Separation]:
    private = {
        "uploads": places.storage,
        "sealed files": places.sealed,
        "mail that became files": places.mail,
        "the workers' key": places.key,
        "plain gold": places.gold,
        "the database's file": places.database,
    }
    for name, path in private.items():
        if path is not None:
            yield _cannot_read(f"other users of this machine cannot read {name}", users.other, path, None)


def _everybody_runs(users: Users, program: Path) -> Iterator[Separation]:
    for part in ("web", "worker", "sweep"):
        promise, user = f"{part} can run `evergold`", getattr(users, part)
        if os.geteuid() not in (0, user):
            yield Separation(promise, Answer.UNKNOWN, "run this as root")
        elif _starts(program, user):
            yield Separation(promise, Answer.HOLDS)
        else:
            advice = f"{program}: user {user} needs to read it, its Python, and the folders above them, such as /opt"
            yield Separation(promise, Answer.BROKEN, advice)


def _starts(program: Path, user: int) -> bool:
    """Return True if this user can run the command, with an empty environment."""
    own, groups = _groups_of(user)
    is_root = os.geteuid() == 0
    try:
        ended = subprocess.run(  # noqa: S603  # our own command
            [program, "--version"],
            cwd="/",
            env={"PATH": os.defpath},
            capture_output=True,
            timeout=STARTING_SECONDS,
            check=False,
            user=user if is_root else None,
            group=own if is_root else None,
            extra_groups=groups if is_root else None,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def _everybody_works(users: Users, places: Places, group: int | None) -> Iterator[Separation]:
    """Check that the separations do not prevent the server from working."""
    needs = (
        ("web", users.web, "store uploads", places.storage, True),
        ("worker", users.worker, "read uploads", places.storage, False),
        ("worker", users.worker, "store what it seals", places.sealed, True),
        ("web", users.web, "store sealed gold", places.sealed, True),
        ("sweep", users.sweep, "clear up uploads", places.storage, True),
        ("worker", users.worker, "read its key", places.key, False),
    )
    for part, user, deed, path, writes in needs:
        promise = f"{part} can {deed}"
        if path == places.key and _is_missing(path):
            yield Separation(
                promise, Answer.BROKEN, f"there is no {path}: `evergold gold keygen`, as the worker's user"
            )
            continue
        if not path.exists():
            continue
        found = _possible(user, [path], group)
        if found is None:
            yield Separation(promise, Answer.UNKNOWN, "run this as root")
        elif found[str(path)][1 if writes else 0]:
            yield Separation(promise, Answer.HOLDS)
        else:
            yield Separation(promise, Answer.BROKEN, f"{path}: see EVERGOLD_FILES_GROUP, and the folders above it")


def _database(places: Places) -> Separation:
    promise = "web, worker and sweep do not share one file as their database"
    if places.database is None:
        return Separation(promise, Answer.HOLDS)
    return Separation(
        promise,
        Answer.BROKEN,
        "the database is SQLite, a single file that each of them can overwrite; use PostgreSQL",
    )


def _cannot_read(promise: str, user: int, path: Path, group: int | None, keeper: str = "its own user") -> Separation:
    if os.geteuid() in (0, user) and not path.exists():
        return Separation(promise, Answer.HOLDS, f"there is no {path} now")
    found = _possible(user, [path], group)
    if found is None:
        return Separation(promise, Answer.UNKNOWN, "run this as root")
    if any(found[str(path)]):
        return Separation(promise, Answer.BROKEN, f"{path}: give it to {keeper} alone, with mode 0600 (a folder: 0700)")
    return Separation(promise, Answer.HOLDS)


def _is_missing(path: Path) -> bool:
    """Return True if nothing exists there; False if this user may not look."""
    try:
        path.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


def _possible(user: int, paths: Sequence[Path], group: int | None) -> dict[str, list[bool]] | None:
    """Return for each path whether this user can read and write it; None if this process may not act as that user."""
    if os.geteuid() not in (0, user):
        return None
    reader, writer = os.pipe()
    child = os.fork()  # no exec: that user need not be able to run this Python
    if child == 0:
        try:
            if os.geteuid() == 0:
                _become(user, group)
            document = json.dumps({str(path): [_reads(path), _writes(path)] for path in paths})
            os.write(writer, document.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    found: dict[str, list[bool]] = json.loads(text)
    return found


def _become(user: int, group: int | None) -> None:
    """Switch this process to the user permanently."""
    own, groups = _groups_of(user)
    os.setgroups([*groups, *([group] if group is not None else [])])
    os.setgid(own)
    os.setuid(user)


def _reads(path: Path) -> bool:
    try:
        if path.is_dir():
            os.listdir(path)
        else:
            os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def _writes(path: Path) -> bool:
    try:
        return os.access(path, os.W_OK | (os.X_OK if path.is_dir() else 0))
    except OSError:
        return False


def _groups_of(user: int) -> tuple[int, list[int]]:
    """Return the primary group and all groups of the account; for an id without an account, only the id itself."""
    try:
        account = pwd.getpwuid(user)
    except KeyError:
        return user, []
    return account.pw_gid, os.getgrouplist(account.pw_name, account.pw_gid)
