"""The second step of a log-in: a code from an authenticator app, a passkey, or a recovery code."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Form, Request, Response
from pydantic import Field

from app.base.db import reading, writing
from app.base.errors import EvergoldError, LimitReached, NotAuthenticated
from app.models import User
from app.people import second_factor
from app.people.passkeys import request_options
from app.web.html.guards import OwnForm, PageForm, form_again
from app.web.html.rendering import render
from app.web.http.context import Server, ServerHere
from app.web.http.rate_limits import limits_of
from app.web.http.routers import page_router
from app.web.people.clients import site_of
from app.web.people.log_in import SECOND, SECOND_COOKIE, start_log_in

router = page_router()


class CodeForm(PageForm):
    """A code from an authenticator app, or a recovery code."""

    code: str = Field("", max_length=100, repr=False)


class AnswerForm(PageForm):
    """The browser's response for a passkey, as JSON."""

    answer: str = Field("", max_length=20_000, repr=False)


@router.get(SECOND)
def read_second(request: Request) -> Response:
    return _second_page(request)


def _second_page(request: Request, error: EvergoldError | None = None) -> Response:
    server, site = cast(Server, request.app.state.server), site_of(request)
    with reading(server.engine) as session:
        step = second_factor.find_step(session, request.cookies.get(SECOND_COOKIE, ""), server.clock())
        factors = second_factor.factors_of(session, session.get_one(User, step.user_id))
    known = [one.credential for one in factors.passkeys]
    options = request_options(site, step.challenge, known) if known and site else ""
    return render(request, "people/second.html", may_store=False, factors=factors, options=options, error=error)


@router.post(SECOND, dependencies=[OwnForm])
@form_again(_second_page, NotAuthenticated, LimitReached)
def send_code(request: Request, server: ServerHere, form: Annotated[CodeForm, Form()]) -> Response:
    return _proved(request, server, code=form.code)


@router.post(f"{SECOND}/passkey", dependencies=[OwnForm])
@form_again(_second_page, NotAuthenticated, LimitReached)
def send_passkey(request: Request, server: ServerHere, form: Annotated[AnswerForm, Form()]) -> Response:
    return _proved(request, server, answer=form.answer)


def _proved(request: Request, server: Server, *, code: str = "", answer: str = "") -> Response:
    """Verify the second factor and log in. An attempt counts for this log-in first, and for the account if it fails."""
    limits, now, cookie = limits_of(request), server.clock(), request.cookies.get(SECOND_COOKIE, "")
    with reading(server.engine) as session:
        key = str(second_factor.find_step(session, cookie, now).user_id)
    limits.check(limits.rules.failed_second, key, now)
    with writing(server.engine) as session:  # committed even if the code is wrong
        step = second_factor.take_try(session, cookie, now)
        how = step.following, step.way
    try:
        with writing(server.engine) as session:
            if answer:
                user = second_factor.prove_passkey(session, step, answer, site_of(request), now)
            else:
                user = second_factor.prove_code(session, step, code, server.settings, now)
            return start_log_in(request, session, user, how, second=True)
    except NotAuthenticated:
        limits.note(limits.rules.failed_second, key)
        raise
