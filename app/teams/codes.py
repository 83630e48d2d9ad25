"""Joining codes: the organisers of a class give one out, and everybody who types it takes part.

A code has 60 random bits, so that the limit on tries makes guessing hopeless; only its hash is stored, and it is shown
once. It can be replaced and ended at any time; those who joined by it stay.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.base.text import hash_of_secret
from app.models import Competition, JoiningCode
from app.people.act import Act

#: Letters and digits that nobody confuses: Crockford's base 32.
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: Characters read as others, such as the letter O as zero.
_READ_AS = str.maketrans({"O": "0", "I": "1", "L": "1", "-": None, " ": None})
_GROUPS, _GROUP_CHARACTERS = 3, 4
#: Longest text that is looked up, with separators.
CODE_CHARACTERS = 40


def make_code(act: Act, competition: Competition) -> str:
    """Create a code and return it; the one before ends. The caller checks the right to it."""
    _end(act.session, competition, act.now)
    groups = ("".join(secrets.choice(_ALPHABET) for _ in range(_GROUP_CHARACTERS)) for _ in range(_GROUPS))
    code = "-".join(groups)
    made_by = act.user.id if act.user else None
    hashed = hash_of_secret(_plain(code))
    act.session.add(JoiningCode(competition_id=competition.id, secret_hash=hashed, made_by_id=made_by, made_at=act.now))
    act.session.flush()
    act.record("registration.code", f"competition {competition.name}")
    return code


def end_code(act: Act, competition: Competition) -> bool:
    """End the code; return False if there is none."""
    if not _end(act.session, competition, act.now):
        return False
    act.record("registration.end_code", f"competition {competition.name}")
    return True


def open_code(session: Session, competition: Competition) -> JoiningCode | None:
    """Return the code that holds, without its text, which nobody has."""
    query = select(JoiningCode).where(JoiningCode.competition_id == competition.id, JoiningCode.ended_at.is_(None))
    return session.scalar(query.order_by(JoiningCode.id.desc()).limit(1))


def is_right_code(session: Session, competition: Competition, typed: str) -> bool:
    """Return whether this is the code that holds, however it is spaced, and in capitals or not."""
    found = open_code(session, competition)
    return found is not None and secrets.compare_digest(found.secret_hash, hash_of_secret(_plain(typed)))


def _plain(typed: str) -> str:
    return typed[:CODE_CHARACTERS].strip().upper().translate(_READ_AS)


def _end(session: Session, competition: Competition, now: datetime) -> bool:
    # Locked, so that of two organisers who make a code at once one replaces the other's.
    session.execute(select(Competition.id).where(Competition.id == competition.id).with_for_update())
    open_ones = JoiningCode.competition_id == competition.id, JoiningCode.ended_at.is_(None)
    ended = update(JoiningCode).where(*open_ones).values(ended_at=now).returning(JoiningCode.id)
    return session.execute(ended).first() is not None
