"""Authentication by an API token (`Authorization: Bearer evg_…`) or a login cookie; an invalid token is an error.

Tokens are limited by their scopes: GET and HEAD need `read`. Everything else needs `organise`, unless the route
declares that it is for participants (`ApiSubmitter`: `submit`); so a route that forgets to declare anything is never
too open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import Depends, Query, Request, Response, Security
from fastapi.security import APIKeyCookie, HTTPBearer, SecurityScopes
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.base.api_links import PROGRAMS
from app.base.config import Settings
from app.base.db import reading
from app.base.errors import Forbidden, NotAuthenticated
from app.base.together import write_together
from app.competitions.visibility import SeenAs, Viewer
from app.models import ApiToken, LoginSession, TokenScope, User
from app.people import auth
from app.people.account_blocks import Blocked, check_not_of_blocked
from app.people.auth import scopes_of
from app.people.invitations import count_own
from app.people.logins import SEEN_AFTER, note_seen
from app.people.second_factor import is_required
from app.web.http import csrf
from app.web.http.context import Server, server_of

SESSION_COOKIE = "evergold_session"
#: The page on which people manage their log-ins …
LOGINS = "/account/logins"
#: … and the addresses that need no second factor on servers that require one.
WITHOUT_SECOND = (LOGINS, "/logout")
#: `last_used_at` of a token is updated at most once a minute to avoid a write per request.
_TOUCH_AFTER = timedelta(minutes=1)
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: Schemes of the Authorization header; clients of Codabench use the second.
_SCHEMES = ("bearer", "token")

# For the API description only; the credentials are checked below.
_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="An API token: `evg_…`")
_COOKIE = APIKeyCookie(
    auto_error=False,
    name=SESSION_COOKIE,
    scheme_name="session",
    description=f"The log-in of the pages; requests that change something also need the header {csrf.CSRF_HEADER}.",
)


#: The scope of routes that check the scopes themselves.
ANY_SCOPE = "any"


class ScopeMissing(Forbidden):
    """The token lacks a required scope (details: needed, scopes)."""

    code = "scope_missing"


class SecondFactorNeeded(Forbidden):
    """The server requires a second factor of this user, who logged in without one."""

    code = "second_factor_needed"


@dataclass(frozen=True, slots=True)
class Visitor:
    """An anonymous visitor, or a user with the login session or token that identified them.

    invitations: number of pending invitations, for pages only.
    """

    user: User | None = None
    login: LoginSession | None = None
    token: ApiToken | None = None
    invitations: int = 0


@dataclass(frozen=True, slots=True)
class Identified:
    """The result of identification. error: the credentials were invalid; routes that need a user raise it."""

    visitor: Visitor = Visitor()
    error: NotAuthenticated | SecondFactorNeeded | Blocked | None = None


async def visitor_of(request: Request, wanted: SecurityScopes) -> Visitor:
    """Return the visitor; raise NotAuthenticated for an invalid token, ScopeMissing for one that lacks the scope."""
    is_known, server = _identified_before(request) is not None or not _has_credentials(request), server_of(request)
    visitor = identify(request, server) if is_known else await run_in_threadpool(identify, request, server)
    _check_scopes(request, visitor, wanted.scopes)
    return visitor


def identify(request: Request, server: Server) -> Visitor:
    """Return the visitor without checking scopes; raise NotAuthenticated for an invalid token."""
    found = _identified_before(request)
    if found is None:
        with reading(server.engine) as session:
            found = look_up_visitor(request, server, session)
        note_use(server, found)
    if found.error is not None:
        raise found.error
    return found.visitor


def look_up_visitor(request: Request, server: Server, session: Session) -> Identified:
    """Identify the visitor in an open session; return an authentication error instead of raising it.

    The caller has to call `note_use` after the session has ended: a write needs a second connection, and could wait for
    it for ever.
    """
    try:
        found = Identified(_identified(request, server, session))
    except (NotAuthenticated, SecondFactorNeeded, Blocked) as error:
        found = Identified(error=error)
    request.state.identified = found
    return found


def note_use(server: Server, identified: Identified) -> None:
    """Record the last use of a token or a login session."""
    token, login, now = identified.visitor.token, identified.visitor.login, server.clock()
    if login is not None and (login.seen_at is None or now - login.seen_at >= SEEN_AFTER):
        write_together(server.engine, lambda session: note_seen(session, login, now))
    if token is not None and (token.last_used_at is None or now - token.last_used_at >= _TOUCH_AFTER):
        write_together(server.engine, lambda session: auth.note_token_use(session, token, now))


def _check_scopes(request: Request, visitor: Visitor, wanted: Sequence[str]) -> None:
    token, is_safe = visitor.token, request.method in _SAFE_METHODS
    if token is None:
        return
    if not is_safe and not request.url.path.startswith(PROGRAMS):
        raise Forbidden("Forms are for people who are logged in; programs must use the web API.")
    if ANY_SCOPE in wanted:
        return
    needed = set(wanted) or {TokenScope.READ if is_safe else TokenScope.ORGANISE}
    missing = sorted(needed - auth.scopes_of(token))
    if missing:
        raise ScopeMissing(
            f"This token lacks the scope `{missing[0]}`. Create a token with it on your account page.",
            needed=sorted(needed),
            scopes=token.scopes.split(),
        )


def known_visitor(request: Request) -> Visitor:
    """Return the visitor as far as identified; error pages may be rendered before the identification."""
    found = _identified_before(request)
    return found.visitor if found else Visitor()


VisitorHere = Annotated[Visitor, Depends(visitor_of)]


async def api_visitor(
    request: Request,
    visitor: VisitorHere,
    _bearer: Annotated[object, Security(_BEARER)] = None,
    _cookie: Annotated[object, Security(_COOKIE)] = None,
) -> Visitor:
    """Return the visitor of an API route; writes authenticated by a cookie alone need the CSRF header."""
    _check_csrf(request, visitor)
    return visitor


def _check_csrf(request: Request, visitor: Visitor) -> None:
    if visitor.login is not None and request.method not in _SAFE_METHODS:
        csrf.check(request, request.headers.get(csrf.CSRF_HEADER), visitor.login.csrf_token)


ApiVisitor = Annotated[Visitor, Depends(api_visitor)]


async def api_user(visitor: ApiVisitor) -> User:
    """Return the logged-in user; raise NotAuthenticated for anonymous visitors."""
    return user_of(visitor)


def user_of(visitor: Visitor) -> User:
    """Return the user of a visitor or raise NotAuthenticated."""
    if visitor.user is None:
        raise NotAuthenticated("This needs an API token: send `Authorization: Bearer evg_…`.")
    return visitor.user


ApiUser = Annotated[User, Depends(api_user)]
#: A participant who changes their own team.
ApiSubmitter = Annotated[User, Security(api_user, scopes=[TokenScope.SUBMIT])]
#: The same, for routes that also need the token.
ApiSubmittingVisitor = Annotated[Visitor, Security(api_visitor, scopes=[TokenScope.SUBMIT])]
#: An organiser or administrator; the route itself checks their permissions.
ApiOrganiser = Annotated[User, Security(api_user, scopes=[TokenScope.ORGANISE])]


def submitter_of(request: Request, server: Server) -> User:
    """Do what `ApiSubmitter` does, for code that handles a whole request in one thread; raises the same errors."""
    visitor = identify(request, server)
    _check_scopes(request, visitor, [TokenScope.SUBMIT])
    _check_csrf(request, visitor)
    return user_of(visitor)


def set_session_cookie(response: Response, secret: str, settings: Settings) -> None:
    """Set the login cookie of a response."""
    response.set_cookie(
        SESSION_COOKIE,
        secret,
        max_age=settings.session_hours * 3600,
        httponly=True,
        samesite="lax",
        secure=settings.secure_cookies,
    )


def _identified_before(request: Request) -> Identified | None:
    found = getattr(request.state, "identified", None)
    return found if isinstance(found, Identified) else None


def _has_credentials(request: Request) -> bool:
    return "authorization" in request.headers or bool(request.cookies.get(SESSION_COOKIE))


def _identified(request: Request, server: Server, session: Session) -> Visitor:
    now = server.clock()
    header = request.headers.get("authorization")
    if header is not None:
        token = _token_of(session, header, now)
        return Visitor(token.user, token=token)
    secret = request.cookies.get(SESSION_COOKIE)
    login = auth.find_session(session, secret, now) if secret else None
    if login is None:
        if secret:
            check_not_of_blocked(session, LoginSession, secret)
        return Visitor()
    path = request.url.path
    if login.second_at is None and not path.startswith(WITHOUT_SECOND):
        wanted = server.settings.second_factor
        if wanted != "optional" and is_required(session, login.user, wanted):
            raise SecondFactorNeeded("This server requires a second factor: set one up on the page 'Logging in'.")
    is_page = not path.startswith(PROGRAMS)
    return Visitor(login.user, login, invitations=count_own(session, login.user, now) if is_page else 0)


def _token_of(session: Session, header: str, now: datetime) -> ApiToken:
    scheme, _, secret = header.partition(" ")
    if scheme.lower() not in _SCHEMES or not secret.strip():
        raise NotAuthenticated("The Authorization header must have the form `Bearer evg_…`.")
    token = auth.find_token(session, secret.strip(), now)
    if token is None:
        check_not_of_blocked(session, ApiToken, secret.strip())
        raise NotAuthenticated("This API token is unknown, has expired or was revoked.")
    return token


SeenAsParameter = Annotated[
    SeenAs | None,
    Query(
        alias="as",
        description="for organisers: show the page as participants or as people who are not logged in see it",
    ),
]


def viewer_as(visitor: Visitor, now: datetime, seen_as: SeenAs | None) -> Viewer:
    """Return the viewer; an anonymous one for the public view."""
    if seen_as is SeenAs.PUBLIC or visitor.user is None:
        return Viewer(None, now, seen_as)
    may_organise = visitor.token is None or TokenScope.ORGANISE in scopes_of(visitor.token)
    return Viewer(visitor.user, now, seen_as or (None if may_organise else SeenAs.PARTICIPANT))


async def page_viewer(request: Request, visitor: VisitorHere, seen_as: SeenAsParameter = None) -> Viewer:
    """Return the viewer of a page."""
    return viewer_as(visitor, server_of(request).clock(), seen_as)


async def api_viewer(request: Request, visitor: ApiVisitor, seen_as: SeenAsParameter = None) -> Viewer:
    """Return the viewer of an API route."""
    return viewer_as(visitor, server_of(request).clock(), seen_as)


ViewerHere = Annotated[Viewer, Depends(page_viewer)]
ApiViewer = Annotated[Viewer, Depends(api_viewer)]
