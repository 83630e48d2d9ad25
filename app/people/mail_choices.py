"""Preferences for mails other than those about the account, and the links in mails that switch one kind off.

A link is signed with a salt of its recipient's: for as long as the row exists it can do what they could do on their
account page, and reveals nothing to others. Mails about passwords and addresses are always sent.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Collection
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.base.addresses import public_address
from app.base.batches import in_batches
from app.base.config import Settings
from app.base.errors import NotFound
from app.models import MailChoice, User

#: Rows read or created per statement: SQLite limits its number of parameters.
_AT_ONCE = 200


class MailKind(StrEnum):
    """Kinds of mail that can be switched off."""

    ANNOUNCEMENTS = "announcements"
    RESULTS = "results"


def wants(choice: MailChoice | None, kind: MailKind) -> bool:
    """True if somebody with this row, or None without one, gets mails of this kind."""
    if choice is None:
        return kind is MailKind.ANNOUNCEMENTS
    return choice.announcements if kind is MailKind.ANNOUNCEMENTS else choice.results


def choice_of(session: Session, user: User) -> MailChoice | None:
    """Return the user's row, if there is one."""
    return session.get(MailChoice, user.id)


def choose(session: Session, user: User, wanted: dict[MailKind, bool]) -> None:
    """Store the user's choice for these kinds."""
    [row] = rows_of(session, [user.id]).values()
    for kind, is_wanted in wanted.items():
        setattr(row, kind.value, is_wanted)
    session.flush()


def choices_of(session: Session, user_ids: Collection[int]) -> dict[int, MailChoice]:
    """Return existing rows by user id."""
    found: dict[int, MailChoice] = {}
    for some in in_batches(sorted(user_ids), _AT_ONCE):
        rows = session.scalars(select(MailChoice).where(MailChoice.user_id.in_(some)))
        found |= {row.user_id: row for row in rows}
    return found


def rows_of(session: Session, user_ids: Collection[int]) -> dict[int, MailChoice]:
    """Return a row for each user, creating missing ones; concurrent creation is allowed."""
    missing = set(user_ids) - choices_of(session, user_ids).keys()
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    for some in in_batches(sorted(missing), _AT_ONCE):
        values = [
            {"user_id": one, "announcements": True, "results": False, "salt": secrets.token_hex(16)} for one in some
        ]
        session.execute(insert(MailChoice).values(values).on_conflict_do_nothing())
    return choices_of(session, user_ids)


def unsubscribe_address(choice: MailChoice, kind: MailKind, settings: Settings) -> str:
    """Return the link that switches off mails of this kind for the owner of the row."""
    return public_address(settings, f"/mail/unsubscribe?link={choice.user_id}.{kind}.{_signature(choice, kind)}")


def find_link(session: Session, link: str) -> tuple[User, MailKind]:
    """Return user and kind of mail for a link. Raises NotFound."""
    user_id, _, rest = link.partition(".")
    kind, _, signature = rest.partition(".")
    is_number = user_id.isascii() and user_id.isdigit() and len(user_id) < 10
    row = session.get(MailChoice, int(user_id)) if is_number else None
    known = next((one for one in MailKind if one == kind), None)
    if row is not None and known is not None:
        expected = _signature(row, known).encode()
        if hmac.compare_digest(expected, signature.encode(errors="replace")):
            return session.get_one(User, row.user_id), known
    raise NotFound("This link is incomplete, or not one of ours. Your account page has the same switch.")


def _signature(choice: MailChoice, kind: MailKind) -> str:
    return hmac.new(choice.salt.encode(), f"unsubscribe {choice.user_id} {kind}".encode(), hashlib.sha256).hexdigest()
