"""CSRF protection: every form, and every API write that is authenticated by a cookie, carries a token.

For logged-in users the token belongs to the login session; before that (login, registration) it repeats a separate
cookie. On pages the token is masked with fresh noise each time, so that compressed pages leak nothing about it.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from urllib.parse import urlsplit

from fastapi import Request

from app.base.errors import Forbidden

CSRF_HEADER = "X-CSRF-Token"
FORM_COOKIE = "evergold_form"
FORM_FIELD = "csrf_token"


class ForgedRequest(Forbidden):
    """The form's token is missing or wrong, usually because the page was open for too long."""

    code = "csrf_token_wrong"


def new_token() -> str:
    """Return an unguessable token."""
    return secrets.token_urlsafe(32)


def mask(token: str) -> str:
    """Return the token masked with fresh noise."""
    plain = token.encode()
    noise = secrets.token_bytes(len(plain))
    return urlsafe_b64encode(noise + _xor(plain, noise)).decode()


def check(request: Request, sent: str | None, expected: str | None) -> None:
    """Raise ForgedRequest unless `sent` unmasks to `expected` and the request came from our own pages."""
    if not _is_same_origin(request):
        raise ForgedRequest("This request came from another site and was refused.")
    if not expected or not sent or not hmac.compare_digest(_unmask(sent), expected.encode()):
        raise ForgedRequest("This form has expired. Please go back, reload the page and try again.")


def _is_same_origin(request: Request) -> bool:
    """Check Sec-Fetch-Site, or else Origin; True if the browser sent neither."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _unmask(sent: str) -> bytes:
    try:
        raw = urlsafe_b64decode(sent.encode())
    except ValueError:
        return b""
    half = len(raw) // 2
    return _xor(raw[half:], raw[:half])


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=False))
