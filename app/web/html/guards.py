"""Who may see a page, and what may be sent to it: what every page's routes have at their head."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

HOME = "/"


def to_login(request: Request) -> Response:
    """To the log-in, and from there back to this page (or, after a form was sent, to the page of the form)."""
    back = request.url.path + (f"?{request.url.query}" if request.method == "GET" and request.url.query else "")
    return RedirectResponse(f"/login?next={quote(back)}", 303)


def local_path(path: str) -> str:
    """The path if it leads to a page of ours, else home: nobody is sent elsewhere by a link to our log-in."""
    is_local = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_local else HOME
