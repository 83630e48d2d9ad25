"""Accounts of benchmarks, written into the database: to register over HTTP takes a mail that nobody here receives."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Engine

from app.base.db import writing
from app.people.auth import create_token
from tests.world import add_user


def token_of(engine: Engine, username: str) -> str:
    """Add an account with a confirmed address, and return a token of it."""
    user = add_user(engine, username)
    with writing(engine) as session:
        return create_token(session, user, "bench", datetime.now(UTC))[1]
