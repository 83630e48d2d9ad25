"""Erases the name of a user from the audit log; the actions, times and objects are kept.

Entries have names in few places, all known here: the actor, subjects such as `user ada`, details under certain keys. An
address is replaced wherever it occurs, because it is unique to the user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Text, cast, or_, select, update
from sqlalchemy.orm import Session

from app.models import AuditEntry

#: Details whose values are user names or addresses, alone or in lists.
PEOPLE = frozenset(
    {"address", "annotator", "by", "invited_by", "members", "owner", "to", "user", "username", "users", "whom"}
)
#: Details whose values are names of teams.
TEAMS = frozenset({"after", "asked", "asking", "before", "into", "merged", "name", "team"})
#: Details of a person's own actions that describe the person: a log-in with a provider, the name of a token.
_OWN = {"identity": ("subject",), "token": ("name",), "passkey": ("name",)}


@dataclass(frozen=True, slots=True)
class Erased:
    """A user whose name is erased. teams: old and new name, by team id; questions: ids of the user's questions."""

    user_id: int
    username: str
    email: str
    neutral: str
    teams: Mapping[int, tuple[str, str]]
    questions: frozenset[int]


def erase_names(session: Session, person: Erased) -> int:
    """Replace the user's names in every entry; return the number of changed entries. Only while erasing an account."""
    details = cast(AuditEntry.details, Text)
    wanted = [person.username, person.email, *(old for old, _ in person.teams.values())]
    as_stored = {text for one in wanted for text in (json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1])}
    may_name = or_(
        AuditEntry.actor_id == person.user_id,
        AuditEntry.actor == person.username,
        AuditEntry.subject == f"user {person.username}",
        AuditEntry.subject.endswith(f" of {person.username}", autoescape=True),
        AuditEntry.action.startswith("question."),
        *(details.contains(text, autoescape=True) for text in sorted(as_stored)),
    )
    columns = AuditEntry.id, AuditEntry.actor_id, AuditEntry.actor, AuditEntry.action, AuditEntry.subject
    changed = 0
    for row in session.execute(select(*columns, AuditEntry.details).where(may_name)).all():
        before = {"actor": row.actor, "subject": row.subject, "details": row.details}
        after = {
            "actor": person.neutral if row.actor_id == person.user_id or row.actor == person.username else row.actor,
            "subject": _subject(row.subject, person),
            "details": _details(row, person),
        }
        if after != before:
            session.execute(
                update(AuditEntry)
                .where(AuditEntry.id == row.id)
                .values(**after)
                .execution_options(synchronize_session=False)
            )
            changed += 1
    return changed


def _subject(subject: str, person: Erased) -> str:
    if subject == f"user {person.username}":
        return f"user {person.neutral}"
    return subject.removesuffix(f" of {person.username}") + (
        f" of {person.neutral}" if subject.endswith(f" of {person.username}") else ""
    )


def _details(row: Any, person: Erased) -> dict[str, Any]:
    teams = dict(person.teams.values()) if _is_about_teams(row, person) else {}
    details = {key: _value(key, value, person, teams) for key, value in row.details.items()}
    if (team_id := row.details.get("team_id")) in person.teams:  # under any former name
        details |= {key: person.teams[team_id][1] for key in TEAMS if isinstance(details.get(key), str)}
    is_own = row.actor_id == person.user_id or row.subject == f"user {person.username}"
    thing = row.action.partition(".")[0]
    if is_own:
        details |= {key: "" for key in _OWN.get(thing, ()) if key in details}
    if thing == "question" and details.get("question") in person.questions:
        details |= {key: "" for key in ("title",) if key in details}
    return details


def _is_about_teams(row: Any, person: Erased) -> bool:
    """Return whether the entry is about a team, because other things may have the same names."""
    thing = row.action.partition(".")[0]
    return row.details.get("team_id") in person.teams or thing in ("team", "merge", "row", "allowance", "run")


def _value(key: str, value: Any, person: Erased, teams: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_value(key, one, person, teams) for one in value]
    if isinstance(value, dict):
        return {inner: _value(inner, one, person, teams) for inner, one in value.items()}
    if not isinstance(value, str):
        return value
    if key in PEOPLE and value == person.username:
        return person.neutral
    if key in TEAMS and value in teams:
        return teams[value]
    return value.replace(person.email, person.neutral)
