"""Logging in: code shared by its pages, for every kind of proof."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import EvergoldError, Forbidden
from app.models import User
from app.people import auth, logins, second_factor
from app.web.html.guards import local_path
from app.web.html.rendering import render
from app.web.http import csrf
from app.web.http.context import Server, server_of
from app.web.http.identity import set_session_cookie

#: The address of the second step of a log-in, and the cookie with its secret.
SECOND, SECOND_COOKIE = "/login/second", "evergold_second"
#: The cookie that identifies a browser used for an earlier log-in; only sent to the log-in pages.
DEVICE_COOKIE = "evergold_device"


class PasswordsOff(Forbidden):
    """Log-in with passwords is switched off on this server."""

    code = "passwords_off"


class PasswordIsNotEnough(Forbidden):
    """The account has a second factor, which programs cannot send."""

    code = "second_factor_needed"


def check_passwords_taken(settings: Settings) -> None:
    """Raise PasswordsOff if people can log in only with providers."""
    if not settings.passwords:
        titles = " or ".join(title for _, title in log_in_ways(settings))
        raise PasswordsOff(f"This server takes no passwords: log in with {titles}. Scripts use API tokens.")


def log_in_ways(settings: Settings) -> list[tuple[str, str]]:
    """Return the name and the title of each provider, sorted by name."""
    return [(name, provider.title_of(name)) for name, provider in sorted(settings.providers.items())]


def log_in_page(
    request: Request, *, username: str = "", following: str = "", done: str = "", error: EvergoldError | None = None
) -> Response:
    """Return the page on which people choose how to log in."""
    settings: Settings = request.app.state.server.settings
    return render(
        request,
        "people/login.html",
        username=username,
        following=following,
        done=done,
        error=error,
        ways=log_in_ways(settings),
        passwords=settings.passwords,
    )


def proved_first(request: Request, server: Server, user: User, following: str, way: str) -> Response:
    """Log in a user whose first factor was verified, or continue with the second factor. way: the first factor, in
    words.
    """
    with writing(server.engine) as session:
        if not second_factor.has_second_factor(session, user):
            return start_log_in(request, session, user, (following, way))
        secret = second_factor.begin_step(session, user, following, way, server.clock())
    response = RedirectResponse(SECOND, 303)
    response.set_cookie(
        SECOND_COOKIE,
        secret,
        max_age=second_factor.STEP_MINUTES * 60,
        path="/login",
        httponly=True,
        samesite="lax",
        secure=server.settings.secure_cookies,
    )
    return response


def start_log_in(
    request: Request, session: Session, user: User, how: tuple[str, str], *, second: bool = False
) -> Response:
    """Log the user in with a new session, ignoring any cookie sent, and record the browser.

    how: where to continue, and how the user logged in, in words; second: a second factor was verified.
    """
    server = server_of(request)
    settings, now = server.settings, server.clock()
    following, way = how
    device = logins.device_words(request.headers.get("user-agent", ""))
    _, secret = auth.start_session(session, user, now, settings.session_hours, way=way, device=device, second=second)
    known = logins.note_device(session, user, request.cookies.get(DEVICE_COOKIE, ""), (way, device), settings, now)
    response = RedirectResponse(local_path(following), 303)
    set_session_cookie(response, secret, settings)
    response.set_cookie(
        DEVICE_COOKIE,
        known,
        max_age=logins.KNOWN_DAYS * 24 * 3600,
        path="/login",
        httponly=True,
        samesite="lax",
        secure=settings.secure_cookies,
    )
    response.delete_cookie(csrf.FORM_COOKIE)
    response.delete_cookie(SECOND_COOKIE, path="/login")
    return response


def check_password_is_enough(server: Server, user: User) -> None:
    """Raise PasswordIsNotEnough if a program sends the password of an account with a second factor."""
    with reading(server.engine) as session:
        if second_factor.has_second_factor(session, user):
            raise PasswordIsNotEnough("This account has a second factor: make an API token on its account page.")
