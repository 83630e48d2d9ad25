"""Setting and checking passwords under load: few hashes at a time (each takes 64 MiB), and limits on attempts.

All password operations use this module: pages and API, registration, login, confirmations. Their routes depend on
`PasswordTurn`, which is acquired before a thread is: waiting requests hold no thread.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Annotated, cast

from anyio.to_thread import run_sync
from fastapi import Depends, Request
from starlette.requests import ClientDisconnect

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, NameTaken, NotAuthenticated
from app.base.text import PLEASE_CORRECT
from app.models import User
from app.people import auth, email_confirmations
from app.web.html.guards import FormSender
from app.web.http.context import Server, ServerHere
from app.web.http.rate_limits import block_of, client_of, limits_of
from app.web.http.turns import Turns
from app.web.people.log_in import check_passwords_taken

#: Queued password operations in total: some seconds' work …
WAITING = 64
#: … and per address: a lecture hall, but not the whole queue.
WAITING_PER_ADDRESS = 48
#: Maximum age of a log-in that proves the identity of a user without a password.
FRESH_LOGIN = timedelta(minutes=15)
_FRESH_WORDS = "a quarter of an hour"


def password_turns(settings: Settings) -> Turns:
    """Return the semaphore for password hashing."""
    return Turns(
        settings.passwords_at_once,
        waiting_limit=WAITING,
        waiting_per_client=WAITING_PER_ADDRESS,
        message="Too many people are logging in at the moment. Nothing was changed; please try again in a moment.",
    )


async def password_turn(request: Request, server: ServerHere) -> AsyncIterator[None]:
    """Hold a turn for a password operation while the route runs; raise LimitReached or Busy."""
    limits, client = limits_of(request), client_of(request)
    await run_sync(limits.hit, limits.rules.passwords_address, client, server.clock())
    async with cast(Turns, request.app.state.password_turns).turn(client):
        if await request.is_disconnected():  # clients that gave up waiting cost no work
            raise ClientDisconnect
        yield


PasswordTurn = Annotated[None, Depends(password_turn, scope="function")]


def check_password(request: Request, server: Server, *, username: str, password: str) -> User:
    """Return the user with this password; raise NotAuthenticated, or LimitReached after too many wrong ones.

    Wrong passwords count per account and address, per account, and per address; right ones only per account, so that
    nobody else can use up the owner's limit. Only for routes with a `PasswordTurn`: concurrent attempts must not get
    past the limit.
    """
    check_passwords_taken(server.settings)
    limits, now, client = limits_of(request), server.clock(), client_of(request)
    name = username.strip().lower()[:320]
    rules = limits.rules
    counted = ((rules.failed_pair, f"{client} {name}"), (rules.failed_account, name), (rules.failed_address, client))
    for rule, key in (*counted, (rules.logins_account, name)):
        limits.check(rule, key, now)
    try:
        with reading(server.engine) as session:
            user = auth.authenticate(session, username, password)
    except NotAuthenticated:
        for rule, key in counted:
            limits.note(rule, key)
        raise
    limits.note(rules.logins_account, name)
    return user


def prove_again(sender: FormSender, password: str, name: str) -> None:
    """Verify again that a logged-in user is the owner of the account; raise InvalidForm for the field `name`, or
    LimitReached.

    Requires the password; without one, a recent log-in. Only for routes with a `PasswordTurn`.
    """
    server, user = sender.server, sender.user
    if not (server.settings.passwords and user.has_password):
        if server.clock() - sender.login.created_at > FRESH_LOGIN:
            raise InvalidForm(
                f"Log out and in again first: for this, you must have logged in within {_FRESH_WORDS}.",
                fields={name: "Log in again first."},
            )
        return
    try:
        check_password(sender.request, server, username=user.username, password=password)
    except NotAuthenticated:
        raise InvalidForm(PLEASE_CORRECT, fields={name: "This is not your password."}) from None


def register_account(request: Request, server: Server, account: auth.NewAccount) -> User:
    """Create an account; raise the errors of `auth.register_user`, or LimitReached.

    Invalid forms do not count. Only for routes with a `PasswordTurn`.
    """
    check_passwords_taken(server.settings)
    now = server.clock()
    with counted_registration(request, now), writing(server.engine) as session:
        user = auth.register_user(session, account, now, rules=server.settings)
        email_confirmations.send_link(session, user, server.settings, now)
    return user


@contextmanager
def counted_registration(request: Request, now: datetime) -> Iterator[None]:
    """Count a new account of this client, even if its name is taken, because that reveals something about others.

    Raises LimitReached before the account is created.
    """
    limits, client = limits_of(request), client_of(request)
    counted = ((limits.rules.registrations, client), (limits.rules.registrations_a_day, block_of(client)))
    for rule, key in counted:
        limits.check(rule, key, now)
    try:
        yield
    except NameTaken:
        for rule, key in counted:
            limits.note(rule, key)
        raise
    for rule, key in counted:
        limits.note(rule, key)
