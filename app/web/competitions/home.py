"""The home page: an introduction, and the competitions that are open, upcoming, everlasting, or over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from app.base.db import reading
from app.competitions.current import current_phase
from app.competitions.find import listed_competitions, own_competitions
from app.models import Competition, Halt, Phase
from app.web.html.rendering import asset, render
from app.web.http.context import ServerHere, public_address
from app.web.http.identity import VisitorHere
from app.web.http.routers import page_router

router = page_router()

#: In order of appearance.
GROUPS = {
    "open": ("Open now", "Deadline approaching"),
    "upcoming": ("Upcoming", "Not open yet."),
    "everlasting": ("Everlasting", "The competition is over, the board never closes: submit whenever you like."),
    "closed": ("Closed", "The boards stay."),
}


@dataclass(frozen=True, slots=True)
class Card:
    """A competition and its current phase."""

    competition: Competition
    phase: Phase
    group: str


@router.get("/")
def read_home(request: Request, server: ServerHere, visitor: VisitorHere) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        made = [
            card_of(competition, now)
            for competition in listed_competitions(session)
            if competition.halt != Halt.ARCHIVED
        ]
        own = own_competitions(session, visitor.user) if visitor.user else []
    cards = [card for card in made if card is not None]
    groups = [(name, *said, [card for card in cards if card.group == name]) for name, said in GROUPS.items()]
    return render(request, "competitions/home.html", groups=[group for group in groups if group[-1]], own=own, now=now)


@router.get("/competitions")
def read_competitions() -> Response:
    return RedirectResponse("/", 308)


@router.get("/robots.txt")
def read_robots(request: Request, server: ServerHere) -> Response:
    closed = "".join(f"Disallow: {path}\n" for path in ("/api/", "/submissions", "/account", "/search", "/embed/"))
    sitemap = public_address(request, server, "/sitemap.xml")
    return PlainTextResponse(f"User-agent: *\n{closed}Sitemap: {sitemap}\n")


@router.get("/apple-touch-icon.png")
def read_touch_icon() -> Response:
    return RedirectResponse(asset("touch-icon.png"), 308)


@router.get("/favicon.ico")
def read_favicon() -> Response:
    return RedirectResponse(asset("favicon.svg"), 308)


def card_of(competition: Competition, now: datetime) -> Card | None:
    """Return the card, or None for a competition without phases, of which nothing can be shown yet."""
    current = current_phase(competition, now)
    return Card(competition, current.phase, current.group) if current else None
