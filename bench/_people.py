"""Accounts of benchmarks, written into the database, since registering over HTTP needs a mail."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Engine, select

from app.base.db import writing
from app.models import User
from app.people.auth import create_token, start_session
from tests.world import add_user


def token_of(engine: Engine, username: str) -> str:
    """Add an account with a confirmed address, and return a token of it."""
    user = add_user(engine, username)
    with writing(engine) as session:
        return create_token(session, user, "bench", datetime.now(UTC))[1]


def cookie_of(engine: Engine, username: str) -> str:
    """Log in an existing account, and return its cookie."""
    with writing(engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        return start_session(session, user, datetime.now(UTC), 24)[1]
