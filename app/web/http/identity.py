"""Who is asking: an API token (`Authorization: Bearer evg_…`) or the cookie of a log-in; a wrong token is an error.

A token is for what its scopes say: GET and HEAD need `read`. Everything else needs `organise`, unless the route says
that it is for those who take part (`ApiSubmitter`: `submit`); so nobody gains by a route that forgot to say anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import Depends, Request, Response, Security
from fastapi.security import APIKeyCookie, HTTPBearer, SecurityScopes
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.base.api_links import API
from app.base.config import Settings
from app.base.db import reading
from app.base.errors import Forbidden, NotAuthenticated
from app.base.together import write_together
from app.models import ApiToken, LoginSession, TokenScope, User
from app.people import auth
from app.people.invitations import count_own
from app.web.http import csrf
from app.web.http.context import Server, server_of

SESSION_COOKIE = "evergold_session"
#: `last_used_at` of a token is kept to the minute: a write per request would be too dear.
_TOUCH_AFTER = timedelta(minutes=1)
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

# For the API's description only; what is sent is looked at below.
_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="An API token: `evg_…`")
_COOKIE = APIKeyCookie(
    auto_error=False,
    name=SESSION_COOKIE,
    scheme_name="session",
    description=f"The log-in of the pages; anything but reading needs the header {csrf.CSRF_HEADER} too.",
)


#: For routes that look at the scopes themselves.
ANY_SCOPE = "any"


class ScopeMissing(Forbidden):
    """details: needed, scopes."""

    code = "scope_missing"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Nobody known, or a user with the log-in session or the token by which we know. invitations: how many wait for an
    answer, for pages."""

    user: User | None = None
    login: LoginSession | None = None
    token: ApiToken | None = None
    invitations: int = 0


@dataclass(frozen=True, slots=True)
class Identified:
    """Who is asking, as it was looked up; error: that what they sent is not valid, for the routes to say."""

    visitor: Visitor = Visitor()
    error: NotAuthenticated | None = None


async def visitor_of(request: Request, wanted: SecurityScopes) -> Visitor:
    """Who is asking; raises NotAuthenticated for a token that is not valid, ScopeMissing for one not meant for this."""
    is_known, server = _identified_before(request) is not None or not _says_who(request), server_of(request)
    visitor = identify(request, server) if is_known else await run_in_threadpool(identify, request, server)
    _check_scopes(request, visitor, wanted.scopes)
    return visitor


def identify(request: Request, server: Server) -> Visitor:
    """Who is asking, whatever for; raises NotAuthenticated for a token that is not valid."""
    found = _identified_before(request)
    if found is None:
        with reading(server.engine) as session:
            found = look_up_visitor(request, server, session)
        note_use(server, found)
    if found.error is not None:
        raise found.error
    return found.visitor


def look_up_visitor(request: Request, server: Server, session: Session) -> Identified:
    """The same in a session that is open anyway: an error is for who needs to know. `note_use` is the caller's to call,
    once the session has ended: who writes while it holds a connection could wait for one for ever."""
    try:
        found = Identified(_identified(request, server, session))
    except NotAuthenticated as error:
        found = Identified(error=error)
    request.state.identified = found
    return found


def note_use(server: Server, identified: Identified) -> None:
    """Remember when a token was last used."""
    token, now = identified.visitor.token, server.clock()
    if token is not None and (token.last_used_at is None or now - token.last_used_at >= _TOUCH_AFTER):
        write_together(server.engine, lambda session: auth.note_token_use(session, token, now))


def _check_scopes(request: Request, visitor: Visitor, wanted: Sequence[str]) -> None:
    token, is_safe = visitor.token, request.method in _SAFE_METHODS
    if token is None:
        return
    if not is_safe and not request.url.path.startswith(f"{API}/"):
        raise Forbidden("Forms are for people who are logged in; programs use the web API.")
    if ANY_SCOPE in wanted:
        return
    needed = set(wanted) or {TokenScope.READ if is_safe else TokenScope.ORGANISE}
    missing = sorted(needed - auth.scopes_of(token))
    if missing:
        raise ScopeMissing(
            f"This token is not for that: it lacks the scope `{missing[0]}`. Your account page makes tokens.",
            needed=sorted(needed),
            scopes=token.scopes.split(),
        )


def known_visitor(request: Request) -> Visitor:
    """Who is asking, as far as that was found out already: error pages may come before."""
    found = _identified_before(request)
    return found.visitor if found else Visitor()


VisitorHere = Annotated[Visitor, Depends(visitor_of)]


async def api_visitor(
    request: Request,
    visitor: VisitorHere,
    _bearer: Annotated[object, Security(_BEARER)] = None,
    _cookie: Annotated[object, Security(_COOKIE)] = None,
) -> Visitor:
    """Who is asking the API; writes that rest on a cookie alone need the CSRF header."""
    _check_csrf(request, visitor)
    return visitor


def _check_csrf(request: Request, visitor: Visitor) -> None:
    if visitor.login is not None and request.method not in _SAFE_METHODS:
        csrf.check(request, request.headers.get(csrf.CSRF_HEADER), visitor.login.csrf_token)


ApiVisitor = Annotated[Visitor, Depends(api_visitor)]


async def api_user(visitor: ApiVisitor) -> User:
    """The user, for what anonymous visitors may not do."""
    return user_of(visitor)


def user_of(visitor: Visitor) -> User:
    """The same, where a route looks at the visitor itself."""
    if visitor.user is None:
        raise NotAuthenticated("This needs an API token: send `Authorization: Bearer evg_…`.")
    return visitor.user


ApiUser = Annotated[User, Depends(api_user)]
#: Whoever takes part, for what changes something of their own team.
ApiSubmitter = Annotated[User, Security(api_user, scopes=[TokenScope.SUBMIT])]
#: For what organisers and administrators do and see; who is one, the route asks.
ApiOrganiser = Annotated[User, Security(api_user, scopes=[TokenScope.ORGANISE])]


def submitter_of(request: Request, server: Server) -> User:
    """What `ApiSubmitter` is, for a thread that does all of a request: raises what that raises."""
    visitor = identify(request, server)
    _check_scopes(request, visitor, [TokenScope.SUBMIT])
    _check_csrf(request, visitor)
    return user_of(visitor)


def set_session_cookie(response: Response, secret: str, settings: Settings) -> None:
    """Log the browser in."""
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


def _says_who(request: Request) -> bool:
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
        return Visitor()
    is_page = not request.url.path.startswith(f"{API}/")
    return Visitor(login.user, login, invitations=count_own(session, login.user, now) if is_page else 0)


def _token_of(session: Session, header: str, now: datetime) -> ApiToken:
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise NotAuthenticated("The Authorization header has the form `Bearer evg_…`.")
    token = auth.find_token(session, secret.strip(), now)
    if token is None:
        raise NotAuthenticated("This API token is unknown, has expired or was revoked.")
    return token
