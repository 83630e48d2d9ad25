"""Logging in: what the pages for it share, whichever way somebody proves who they are."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from app.base.config import Settings
from app.base.db import writing
from app.base.errors import EvergoldError, Forbidden
from app.models import User
from app.people import auth
from app.web.html.guards import local_path
from app.web.html.rendering import render
from app.web.http import csrf
from app.web.http.context import Server
from app.web.http.identity import set_session_cookie


class PasswordsOff(Forbidden):
    """This server takes no passwords."""

    code = "passwords_off"


def check_passwords_taken(settings: Settings) -> None:
    """Raise PasswordsOff where people log in with providers alone."""
    if not settings.passwords:
        titles = " or ".join(title for _, title in log_in_ways(settings))
        raise PasswordsOff(f"This server takes no passwords: log in with {titles}. Scripts use API tokens.")


def log_in_ways(settings: Settings) -> list[tuple[str, str]]:
    """Return name and title of the providers, in the order of the settings."""
    return [(name, provider.title_of(name)) for name, provider in settings.providers.items()]


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


def logged_in(server: Server, user: User, following: str) -> Response:
    """Log the user in with a new session, whatever cookie was sent."""
    with writing(server.engine) as session:
        _, secret = auth.start_session(session, user, server.clock(), server.settings.session_hours)
    response = RedirectResponse(local_path(following), 303)
    set_session_cookie(response, secret, server.settings)
    response.delete_cookie(csrf.FORM_COOKIE)
    return response
