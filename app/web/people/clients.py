"""This server as an OpenID client of its providers, and the cookie of a pending log-in."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import Request, Response

from app.base import addresses
from app.base.config import Settings
from app.base.errors import NotFound
from app.people.passkeys import Site
from app.people.provider_logins import MINUTES
from app.web.http.context import public_address, server_of

if TYPE_CHECKING:
    from app.people.provider_client import Client

LOGIN_PLACE = "/login"
#: The cookie with the secret of a log-in with a provider that is in progress; only sent to its pages.
LOGIN_COOKIE = "evergold_login"


def client_of_provider(settings: Settings, name: str) -> Client:
    """Return this server as a client of the provider with this name. Raises NotFound."""
    from app.people.provider_client import Client

    provider = settings.providers.get(name)
    if provider is None:
        raise NotFound("This provider is not available for logging in here.")
    return Client(name, provider, addresses.public_address(settings, f"{LOGIN_PLACE}/with/{name}/callback"))


def site_of(request: Request) -> Site | None:
    """Return this server's name and origin for passkeys; None without a public name and HTTPS, which they require."""
    parts = urlsplit(public_address(request, server_of(request), "/"))
    site = Site(f"{parts.scheme}://{parts.netloc}", server_of(request).settings.server_name)
    try:
        ip_address(site.host)
    except ValueError:
        return site if parts.scheme == "https" or site.host == "localhost" else None
    return None


def login_cookie(request: Request) -> str:
    """Return the secret of the pending log-in in the browser's cookie; "" if there is none."""
    return request.cookies.get(LOGIN_COOKIE, "")


def remember_login(response: Response, secret: str, settings: Settings) -> None:
    """Set the cookie of a pending log-in. It is `SameSite=Lax` because the provider redirects the browser back."""
    response.set_cookie(
        LOGIN_COOKIE,
        secret,
        max_age=MINUTES * 60,
        path=LOGIN_PLACE,
        httponly=True,
        samesite="lax",
        secure=settings.secure_cookies,
    )


def forget_login(response: Response) -> Response:
    """Delete the cookie of the pending log-in."""
    response.delete_cookie(LOGIN_COOKIE, path=LOGIN_PLACE)
    return response
