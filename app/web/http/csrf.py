"""Protection against forged requests: every form, and every API write that rests on a cookie, carries a token.

Logged in, the token belongs to the log-in session; before that (log in, register) it repeats a cookie of its own.
On pages the token is masked anew each time, so that a compressed page gives nothing away about it.
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
    """The form's token is missing or not ours; mostly a page that was open for too long."""

    code = "csrf_token_wrong"


def new_token() -> str:
    """An unguessable token."""
    return secrets.token_urlsafe(32)


def mask(token: str) -> str:
    """The token in a form that looks different each time."""
    plain = token.encode()
    noise = secrets.token_bytes(len(plain))
    return urlsafe_b64encode(noise + _xor(plain, noise)).decode()


def check(request: Request, sent: str | None, expected: str | None) -> None:
    """Raises ForgedRequest unless the masked `sent` is `expected` and the request came from our own pages."""
    if not _is_same_origin(request):
        raise ForgedRequest("This request came from another site and was refused.")
    if not expected or not sent or not hmac.compare_digest(_unmask(sent), expected.encode()):
        raise ForgedRequest("This form has expired. Please go back, reload the page and try again.")


def _is_same_origin(request: Request) -> bool:
    """What the browser itself says of where the request comes from, if it says anything."""
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
