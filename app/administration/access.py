"""Checks that the acting user is an administrator; every use case of this package does so itself."""

from __future__ import annotations

from app.base.errors import Forbidden
from app.models import User


def check_administrator(user: User | None) -> None:
    """Raise Forbidden unless the user is an administrator. user: None for the server's command line."""
    if user is not None and not user.is_administrator:
        raise Forbidden("This is for the administrators of this server.")
