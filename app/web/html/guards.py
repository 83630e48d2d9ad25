"""Guards of page routes: who may see a page, and whether a submitted form came from our own pages.

`PageUser` and `PageUserVisit` are for pages behind the login; every POST needs `SentForm`, a `form_guard` or an
`upload_guard`: `app.web.pages` fails to start if a POST has none. `form_again` shows a rejected form again.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar, cast
from urllib.parse import quote

from anyio.to_thread import run_sync
from fastapi import Depends, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, BeforeValidator, ConfigDict
from sqlalchemy.orm import Session

from app.base.api_links import PROGRAMS
from app.base.errors import EvergoldError, Forbidden, LimitReached, NotFound
from app.models import LoginSession, User
from app.people.act import UserAct
from app.web.html.rendering import check_form
from app.web.http import csrf
from app.web.http.context import Server, server_of
from app.web.http.errors import expected_error, headers_of
from app.web.http.identity import LOGINS, SESSION_COOKIE, Visitor, VisitorHere
from app.web.http.visit import UserVisit, user_visit_of

#: A checkbox: any value means ticked.
Ticked = Annotated[bool, BeforeValidator(bool)]


class PageForm(BaseModel):
    """Base of page forms: values as typed, so that wrong ones can be shown again; undeclared fields are ignored."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


HOME = "/"
#: A competition of ten phases with ten tasks has this many fields in its rules form.
_FIELDS_LIMIT = 5_000

P = ParamSpec("P")
Answer = TypeVar("Answer", bound=Response | Awaitable[Response])


class LogInFirst(Exception):
    """Raised when the user is not logged in. back: address to return to after the log-in; was_sent: a submitted form
    was lost.
    """

    def __init__(self, back: str, *, was_sent: bool = False) -> None:
        super().__init__(back)
        self.back = back
        self.was_sent = was_sent


async def to_login(request: Request, error: Exception) -> Response:
    """Handle `LogInFirst` by redirecting to the login page."""
    first = cast(LogInFirst, error)
    return RedirectResponse(f"/login?next={quote(first.back)}{'&done=expired' if first.was_sent else ''}", 303)


async def to_second_factor(request: Request, error: Exception) -> Response:
    """Handle `SecondFactorNeeded` by redirecting people to the page where they set one up; programs get the error."""
    if request.url.path.startswith(PROGRAMS):
        return await expected_error(request, error)
    return RedirectResponse(f"{LOGINS}?done=needed", 303)


async def to_blocked(request: Request, error: Exception) -> Response:
    """Handle `Blocked` by showing the reason once; the browser forgets the ended session."""
    response = await expected_error(request, error)
    if SESSION_COOKIE in request.cookies:
        response.delete_cookie(SESSION_COOKIE)
    return response


def local_path(path: str) -> str:
    """Return the path if it is local, else the home page, so that login links cannot redirect to other sites."""
    is_local = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_local else HOME


# -------------------------------------------------------------------------------------------------------------- pages


async def logged_in(request: Request, visitor: VisitorHere) -> User:
    """Return the logged-in user; raise LogInFirst."""
    if visitor.user is None:
        raise LogInFirst(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
    return visitor.user


PageUser = Annotated[User, Depends(logged_in)]


async def page_user_visit(request: Request, user: PageUser) -> AsyncIterator[UserVisit]:
    """Visit a page that requires a log-in."""
    with user_visit_of(request, user) as visit:
        yield visit


PageUserVisit = Annotated[UserVisit, Depends(page_user_visit, scope="function")]

# -------------------------------------------------------------------------------------------------------------- forms


async def sent_fields(request: Request) -> dict[str, str]:
    """Return all text fields of a form, including fields that organisers define."""
    async with request.form(max_fields=_FIELDS_LIMIT) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


SentFields = Annotated[dict[str, str], Depends(sent_fields)]


async def own_form(request: Request, visitor: VisitorHere) -> None:
    """Raise ForgedRequest unless the form came from our own pages; only for the few forms that need no log-in."""
    fields = await sent_fields(request)
    check_form(request, fields.get(csrf.FORM_FIELD))


OwnForm = Depends(own_form)


@dataclass(frozen=True, slots=True)
class FormSender:
    """A logged-in user who sent a form of our pages, with their log-in: what a page that writes works with."""

    request: Request
    server: Server
    user: User
    login: LoginSession

    def act(self, session: Session) -> UserAct:
        """Begin what the form changes, in the transaction of this session."""
        return self.server.act(session, self.user)


_GUARDS: set[Callable[..., Any]] = set()


def form_guard(page: str = "") -> Callable[..., Awaitable[FormSender]]:
    """Return the guard of a POST, which returns the sender of the form, or raises LogInFirst or ForgedRequest.

    page: path template of the page with the form; empty if the form is sent to its own address.
    """

    async def sent_form(request: Request, visitor: VisitorHere) -> FormSender:
        user, login = _logged_in(request, visitor, page)
        await own_form(request, visitor)
        return FormSender(request, server_of(request), user, login)

    _GUARDS.add(sent_form)
    return sent_form


SentForm = Annotated[FormSender, Depends(form_guard())]


@dataclass(frozen=True, slots=True)
class SentUpload(FormSender):
    """A form with a file that has not been read yet. fields: those before the file, once `check` has received them."""

    fields: dict[str, str] = field(default_factory=dict)

    def check(self, fields: Mapping[str, str]) -> None:
        """Check and store the fields that come before the file; raise ForgedRequest."""
        self.fields.update({name: text for name, text in fields.items() if name != csrf.FORM_FIELD})
        check_form(self.request, fields.get(csrf.FORM_FIELD))


def upload_guard(page: str = "") -> Callable[..., Awaitable[SentUpload]]:
    """Return the guard of a POST whose body is stored while it arrives; it checks the first field, the CSRF token."""

    async def sent_upload(request: Request, visitor: VisitorHere) -> SentUpload:
        user, login = _logged_in(request, visitor, page)
        return SentUpload(request, server_of(request), user, login)

    _GUARDS.add(sent_upload)
    return sent_upload


UploadHere = Annotated[SentUpload, Depends(upload_guard())]


def is_guarded(dependant: Dependant) -> bool:
    """Return True if a route, or one of its dependencies, has one of the guards of forms."""
    return dependant.call in _GUARDS or any(is_guarded(part) for part in dependant.dependencies)


def is_own_form(dependant: Dependant) -> bool:
    """Return True if a route, or one of its dependencies, has `OwnForm`."""
    return dependant.call is own_form or any(is_own_form(part) for part in dependant.dependencies)


def _logged_in(request: Request, visitor: Visitor, page: str) -> tuple[User, LoginSession]:
    if visitor.user is None or visitor.login is None:
        raise LogInFirst(page.format_map(request.path_params) or request.url.path, was_sent=True)
    return visitor.user, visitor.login


# --------------------------------------------------------------------------------------------------------- once more


def form_again(
    page: Callable[..., Response], *errors: type[EvergoldError]
) -> Callable[[Callable[P, Answer]], Callable[P, Answer]]:
    """Return a decorator that shows `page` again, with the submitted values and the error's status, after an error.

    errors: those handled; default: all except NotFound and Forbidden. The page receives `error` and those of the
    route's parameters that it names. A page with a visit is shown as the sender of the form, since forms cannot be
    sent while viewing as somebody else.
    """
    parameters = inspect.signature(page).parameters
    shown = errors or (EvergoldError,)
    passed_on = () if errors else (NotFound, Forbidden)

    def page_with(error: EvergoldError, sent: Mapping[str, Any]) -> Response:
        known = dict(sent)
        sender = next((value for value in sent.values() if isinstance(value, FormSender)), None)
        request: Request = sender.request if sender else sent["request"]
        with ExitStack() as until_shown:
            if sender and "visit" in parameters:
                known["visit"] = until_shown.enter_context(user_visit_of(request, sender.user))
            response = page(**{name: value for name, value in known.items() if name in parameters}, error=error)
        response.status_code = error.status
        if isinstance(error, LimitReached):  # when to try again
            response.headers.update(headers_of(error, server_of(request).clock()))
        return response

    def decorate(route: Callable[P, Answer]) -> Callable[P, Answer]:
        @wraps(route)
        async def received(**sent: Any) -> Response:
            try:
                return cast(Response, await route(**sent))  # type: ignore[call-arg, misc]  # FastAPI names them
            except passed_on:
                raise
            except shown as error:
                return await run_sync(page_with, error, sent)

        @wraps(route)
        def answered(**sent: Any) -> Response:
            try:
                return route(**sent)  # type: ignore[call-arg, return-value]  # so here
            except passed_on:
                raise
            except shown as error:
                return page_with(error, sent)

        return cast(Callable[P, Answer], received if inspect.iscoroutinefunction(route) else answered)

    return decorate
