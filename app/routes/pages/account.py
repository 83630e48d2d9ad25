"""The account page: who I am, and my API tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from app import auth
from app.db import reading, writing
from app.errors import InvalidForm
from app.models import User
from app.routes.identity import VisitorHere
from app.routes.pages.login import to_login
from app.routes.pages.rendering import check_form, render
from app.routes.serving import Serving, ServingHere

router = APIRouter()

ACCOUNT = "/account"
#: Carries a new token over the redirect to the page that shows it, once; as well kept as the session's own cookie.
NEW_TOKEN_COOKIE = "evergold_new_token"  # noqa: S105 - the cookie's name
NEW_TOKEN_SECONDS = 60
FormText = Annotated[str, Form()]


@router.get(ACCOUNT)
def read_account(request: Request, serving: ServingHere, visitor: VisitorHere) -> Response:
    if visitor.user is None:
        return to_login(request)
    secret = request.cookies.get(NEW_TOKEN_COOKIE)
    response = _page(request, serving, visitor.user, secret=secret)
    if secret:
        response.headers["Cache-Control"] = "no-store"
        response.delete_cookie(NEW_TOKEN_COOKIE, path=ACCOUNT)
    return response


@router.post("/account/tokens")
def create_token(
    request: Request, serving: ServingHere, visitor: VisitorHere, name: FormText = "", csrf_token: FormText = ""
) -> Response:
    if visitor.user is None:
        return RedirectResponse(f"/login?next={ACCOUNT}", 303)
    check_form(request, csrf_token)
    try:
        with writing(serving.engine) as session:
            _, secret = auth.create_token(session, visitor.user, name, serving.clock())
    except InvalidForm as error:
        return _page(request, serving, visitor.user, error=error, status=error.status)
    response = RedirectResponse(f"{ACCOUNT}#new-token", 303)
    response.set_cookie(
        NEW_TOKEN_COOKIE,
        secret,
        max_age=NEW_TOKEN_SECONDS,
        path=ACCOUNT,
        httponly=True,
        samesite="strict",
        secure=serving.settings.secure_cookies,
    )
    return response


@router.post("/account/tokens/{token_id}/revoke")
def revoke_token(
    request: Request, serving: ServingHere, visitor: VisitorHere, token_id: int, csrf_token: FormText = ""
) -> Response:
    if visitor.user is None:
        return RedirectResponse(f"/login?next={ACCOUNT}", 303)
    check_form(request, csrf_token)
    with writing(serving.engine) as session:
        auth.revoke_token(session, visitor.user, token_id, serving.clock())
    return RedirectResponse(f"{ACCOUNT}#tokens", 303)


def _page(
    request: Request,
    serving: Serving,
    user: User,
    *,
    secret: str | None = None,
    error: InvalidForm | None = None,
    status: int = 200,
) -> Response:
    with reading(serving.engine) as session:
        tokens = auth.list_tokens(session, user)
    return render(request, "account.html", status, user=user, tokens=tokens, secret=secret, error=error)
