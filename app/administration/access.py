"""Check that an administrator acts; every use case of this room does so itself, whatever its callers checked."""

from __future__ import annotations

from app.base.errors import Forbidden
from app.models import User


def check_administrator(user: User | None) -> None:
    """Raise Forbidden unless an administrator acts. user: None for the server's command line."""
    if user is not None and not user.is_administrator:
        raise Forbidden("This is for the administrators of this server.")
