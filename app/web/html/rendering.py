"""Page rendering: the Jinja environment, the CSRF field of forms, and error pages."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.base import api_links, links
from app.base.config import Settings
from app.base.text import readable_size
from app.competitions.leak import percent
from app.competitions.tracks import track_title, tracks_of
from app.models import Competition
from app.runs.workers import NO_INTERVALS, runs_program
from app.texts.html import Images, ShownImage, render_markdown
from app.texts.markdown import render_inline
from app.web.html import certainty, words
from app.web.html.words import isolated
from app.web.http import csrf
from app.web.http.context import server_of
from app.web.http.errors import phrase
from app.web.http.identity import Visitor, known_visitor
from app.web.http.schemas import ErrorDetail
from app.web.http.visit import Visit
from evergold.figures.svg import number_text
from evergold.moments import date_words, minute_words

APP = Path(__file__).resolve().parents[2]
STATIC = APP / "static"
#: Titles by address, in the order of the footer.
SITE_TEXTS = {"contact": "Contact", "privacy": "Privacy", "imprint": "Imprint"}


def render(
    request: Request, template: str, status: int = 200, /, *, may_store: bool = True, **context: Any
) -> HTMLResponse:
    """Return the page; the template has access to the viewer, and can add the CSRF field to every form.

    may_store: whether a browser may store the page and show it again on "back": False for pages with secrets, or that
    must be reloaded.
    """
    visitor, server = known_visitor(request), server_of(request)
    token = _FormToken(request, visitor)
    html = (
        environment()
        .get_template(template)
        .render(
            viewer=visitor.user,
            brand=request.app.state.server.looks,
            invitation_count=visitor.invitations,
            path=request.url.path,
            site_texts=site_texts(server.settings),
            sends_mail=bool(server.settings.smtp_url.get_secret_value()),
            registration_is_open=server.settings.registration == "open",
            server_announcements=server.live.announcements(server.clock()),
            csrf_field=token.field,
            csrf_token=token.masked,
            **context,
        )
    )
    response = HTMLResponse(html, status)
    response.headers["Cache-Control"] = "private, no-cache" if may_store else "no-store"
    response.headers["Vary"] = "Cookie"
    token.remember(response)
    return response


def render_page(
    visit: Visit, template: str, status: int = 200, /, *, may_store: bool = True, **context: Any
) -> HTMLResponse:
    """Release the visit's connection, then return its page: templates run no queries.

    may_store: as for `render`.
    """
    visit.session.close()
    return render(visit.request, template, status, may_store=may_store, **context)


def site_texts(settings: Settings) -> list[tuple[str, str]]:
    """Return the title and the address of each text page of this server; privacy is always included."""
    files = settings.site_texts
    return [(title, f"/{name}") for name, title in SITE_TEXTS.items() if name == "privacy" or files[name] is not None]


def check_form(request: Request, sent: str | None) -> None:
    """Raise ForgedRequest unless the form is ours and was rendered for this visitor."""
    csrf.check(request, sent, _expected_token(request, known_visitor(request)))


def error_page(request: Request, status: int, error: ErrorDetail) -> Response:
    """Return an error page for people."""
    title, hint = words.ERROR_WORDS.get(error.code) or words.ERROR_WORDS.get(status, (phrase(status), ""))
    request_id = request.scope.get("state", {}).get("request_id", "")
    return render(request, "error.html", status, title=title, hint=hint, error=error, request_id=request_id)


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the Jinja environment with our filters; undefined variables are errors, and everything is escaped."""
    made = Environment(
        loader=FileSystemLoader(APP / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(links=links, api_links=api_links, asset=asset, words=words, certainty=certainty)
    made.globals.update(runs_program=runs_program, no_intervals=NO_INTERVALS)
    made.globals.update(tracks_of=tracks_of, track_title=track_title, images_of=images_of)
    made.filters.update(
        markdown=render_markdown,
        inline=render_inline,
        size=readable_size,
        moment=words.moment,
        deadline=words.deadline,
        date=date_words,
        minute=minute_words,
        score=words.format_score,
        number=number_text,
        plural=words.plural,
        ordinal=words.ordinal,
        isolated=isolated,
        leak_share=percent,
    )
    return made


def images_of(competition: Competition) -> Images:
    """Return the images that the competition's texts may show."""
    return {
        path: ShownImage(links.image(competition.name, one["sha256"]), one["width"], one["height"])
        for path, one in competition.images.items()
    }


@lru_cache(maxsize=64)
def asset(name: str) -> str:
    """Return the address of a static file, with a digest of the content so that browsers may cache it for ever."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


class _FormToken:
    """The CSRF token of a page's forms; an anonymous visitor gets a cookie only if the page has a form."""

    def __init__(self, request: Request, visitor: Visitor) -> None:
        self._request = request
        self._token = _expected_token(request, visitor)
        self._new: str | None = None

    def masked(self) -> str:
        if self._token is None:
            self._token = self._new = csrf.new_token()
        return csrf.mask(self._token)

    def field(self) -> Markup:
        return Markup('<input type="hidden" name="{}" value="{}">').format(csrf.FORM_FIELD, self.masked())

    def remember(self, response: Response) -> None:
        if self._new is not None:
            secure = self._request.app.state.server.settings.secure_cookies
            response.set_cookie(csrf.FORM_COOKIE, self._new, httponly=True, samesite="lax", secure=secure)


def _expected_token(request: Request, visitor: Visitor) -> str | None:
    return visitor.login.csrf_token if visitor.login else request.cookies.get(csrf.FORM_COOKIE) or None
