"""Guards of administrators' routes: to everybody else, pages do not exist and the API returns 403."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends

from app.administration.access import check_administrator
from app.base.errors import NotFound
from app.models import User
from app.web.html.guards import FormSender, PageUserVisit, SentUpload, form_guard, upload_guard
from app.web.http.identity import ApiOrganiser
from app.web.http.visit import ApiOrganiserVisit, UserVisit


def _check_page(user: User) -> None:
    if not user.is_administrator:
        raise NotFound("Page not found.")


async def admin_page_visit(visit: PageUserVisit) -> UserVisit:
    """Visit a page of administrators; raise NotFound for everybody else who is logged in."""
    _check_page(visit.user)
    return visit


def admin_form_of(page: str = "") -> Callable[..., Awaitable[FormSender]]:
    """Return the guard of a form, which returns the administrator who sent it; raise NotFound for everybody else.

    page: path template, as for `form_guard`.
    """

    async def admin_form(sender: FormSender = Depends(form_guard(page))) -> FormSender:  # noqa: B008, FAST002 - a local
        _check_page(sender.user)
        return sender

    return admin_form


def admin_upload_of(page: str = "") -> Callable[..., Awaitable[SentUpload]]:
    """Return the guard of a form with a file; it checks the same as the guard of `admin_form_of`."""

    async def admin_upload(upload: SentUpload = Depends(upload_guard(page))) -> SentUpload:  # noqa: B008, FAST002
        _check_page(upload.user)
        return upload

    return admin_upload


async def admin_api_visit(visit: ApiOrganiserVisit) -> UserVisit:
    """Visit an API route of administrators; raise Forbidden for everybody else."""
    check_administrator(visit.user)
    return visit


async def admin_api_user(user: ApiOrganiser) -> User:
    """Return the administrator who sent an API request; raise Forbidden for everybody else."""
    check_administrator(user)
    return user


AdminVisit = Annotated[UserVisit, Depends(admin_page_visit)]
ApiAdminVisit = Annotated[UserVisit, Depends(admin_api_visit)]
ApiAdmin = Annotated[User, Depends(admin_api_user)]
