"""Making and checking passwords without being worn down: one hash at a time (each takes 64 MiB), and limits on tries.

Every way in goes through here: pages and API, registering, logging in, confirming who one is.
"""

from __future__ import annotations

import threading

from fastapi import Request

from app.base.db import reading, writing
from app.base.errors import NameTaken, NotAuthenticated
from app.models import User
from app.people import auth
from app.web.http.context import Server
from app.web.http.rate_limits import client_of, limits_of

#: Held by whoever makes or checks a password's hash.
one_hash_at_a_time = threading.BoundedSemaphore(1)


def check_password(request: Request, server: Server, *, username: str, password: str) -> User:
    """The user with this password; raises NotAuthenticated, or LimitReached after too many wrong ones.

    Counted per account and address, per account, and per address; only failures count, looked up while nobody else
    hashes, so that many tries at once do not get past the limit.
    """
    limits, now, client = limits_of(request), server.clock(), client_of(request)
    name = username.strip().lower()[:320]
    rules = limits.rules
    counted = ((rules.failed_pair, f"{client} {name}"), (rules.failed_account, name), (rules.failed_address, client))
    with one_hash_at_a_time:
        for rule, key in counted:
            limits.check(rule, key, now)
        try:
            with reading(server.engine) as session:
                return auth.authenticate(session, username, password)
        except NotAuthenticated:
            for rule, key in counted:
                limits.note(rule, key)
            raise


def register_account(
    request: Request, server: Server, *, username: str, email: str, password: str, display_name: str
) -> User:
    """A new account; raises what `auth.register_user` raises, or LimitReached. A form with mistakes does not count."""
    limits, now, client = limits_of(request), server.clock(), client_of(request)
    with one_hash_at_a_time:
        limits.check(limits.rules.registrations, client, now)
        try:
            with writing(server.engine) as session:
                user = auth.register_user(
                    session, username=username, email=email, password=password, display_name=display_name, now=now
                )
        except NameTaken:  # counts: it tells something about others
            limits.note(limits.rules.registrations, client)
            raise
        limits.note(limits.rules.registrations, client)
    return user
