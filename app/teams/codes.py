"""Joining codes: the organisers of a class give one out, and everybody who enters it can take part.

A code has 60 random bits, so that guessing is hopeless under the limit on attempts; only its hash is stored, and it is
shown once. It can be replaced and ended at any time; participants who joined with it stay.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.base.text import hash_of_secret
from app.models import Competition, JoiningCode
from app.people.act import Act

#: Characters that are not confused with each other: Crockford's base 32.
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: Replacements in a typed code, such as zero for the letter O.
_READ_AS = str.maketrans({"O": "0", "I": "1", "L": "1", "-": None, " ": None})
_GROUPS, _GROUP_CHARACTERS = 3, 4
#: Maximum length of a typed code, with separators.
CODE_CHARACTERS = 40


def make_code(act: Act, competition: Competition) -> str:
    """Create a code and return it; the previous one ends. The caller checks the permission."""
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
    """Return the current code, whose text is not stored; None if there is none."""
    query = select(JoiningCode).where(JoiningCode.competition_id == competition.id, JoiningCode.ended_at.is_(None))
    return session.scalar(query.order_by(JoiningCode.id.desc()).limit(1))


def is_right_code(session: Session, competition: Competition, typed: str) -> bool:
    """Return whether this is the current code, ignoring spaces and case."""
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
