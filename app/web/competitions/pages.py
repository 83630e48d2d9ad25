"""Public pages: start page, guide, images of competitions, and texts of the site."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse
from markdown_it.token import Token
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.competitions.current import current_phase
from app.competitions.filters import CompetitionFilter, choices_among
from app.competitions.find import listed_competitions, named_competition, own_competitions
from app.models import Competition, Halt, Phase, ScoringRun, Submission, User
from app.submissions.find import EVERYTHING, current_run, load_submissions, newest_own
from app.texts.markdown import markdown_parser, with_readable_tables
from app.web.html.rendering import APP, SITE_TEXTS, render, render_page
from app.web.html.site_texts import read_site_text
from app.web.http.context import ServerHere, public_address
from app.web.http.identity import VisitorHere
from app.web.http.images import image_response
from app.web.http.routers import page_router
from app.web.http.visit import PlainPageVisit, PublicVisit, Visit
from evergold.scoring.tasks import TASKS

router = page_router()

# ----------------------------------------------------------------------------------------------------- all competitions

#: Number of the user's own submissions on the first page.
SUBMISSIONS_SHOWN = 5
#: Titles of the groups of competitions, in the order of the page.
GROUPS = {
    "open": ("Open now", "Deadline approaching"),
    "upcoming": ("Upcoming", "Not open yet."),
    "everlasting": ("Everlasting", "The competition is over, but the board never closes: submit whenever you like."),
    "closed": ("Closed", "The boards stay."),
}


@dataclass(frozen=True, slots=True)
class Card:
    """A competition and its current phase."""

    competition: Competition
    phase: Phase
    group: str


@router.get("/")
def read_home(
    visit: PlainPageVisit,
    task_type: Annotated[str, Query()] = "",
    language: Annotated[str, Query()] = "",
    is_open: Annotated[str, Query(alias="open")] = "",
) -> Response:
    session, user, now = visit.session, visit.viewer.user, visit.now
    wanted = CompetitionFilter(task_type, language, is_open not in ("", "0", "false"))
    listed = [competition for competition in listed_competitions(session) if competition.halt != Halt.ARCHIVED]
    shown = [card for one in listed if wanted.matches(one, now) and (card := card_of(one, now)) is not None]
    featured = [] if wanted.is_used else _featured(shown, visit.server.looks.featured)
    own = own_competitions(session, user) if user else []
    return render_page(
        visit,
        "competitions/home.html",
        featured=featured,
        groups=_grouped([card for card in shown if card not in featured]),
        own=[(one, card_of(one, now)) for one in own],
        submissions=_last_submissions(session, user) if user else [],
        wanted=wanted,
        choices=choices_among(listed, now),
        now=now,
    )


def _featured(cards: Sequence[Card], names: Sequence[str]) -> list[Card]:
    """Return the cards that administrators feature, in their order; names that are not listed are ignored."""
    by_name = {card.competition.name: card for card in cards}
    return [by_name[name] for name in names if name in by_name]


def _grouped(cards: Sequence[Card]) -> list[tuple[str, str, str, list[Card]]]:
    """Return the groups that have cards: name, title, hint, cards."""
    groups = [(name, *words, [card for card in cards if card.group == name]) for name, words in GROUPS.items()]
    return [group for group in groups if group[-1]]


def _last_submissions(session: Session, user: User) -> list[tuple[Submission, ScoringRun]]:
    """Return the user's newest submissions, each with the run that counts."""
    newest = newest_own(session, user, EVERYTHING, limit=SUBMISSIONS_SHOWN)
    return [(one, current_run(one)) for one in load_submissions(session, newest)]


@router.get("/competitions")
def read_competitions() -> Response:
    return RedirectResponse("/", 308)


@router.get("/robots.txt")
def read_robots(request: Request, server: ServerHere) -> Response:
    closed = "".join(f"Disallow: {path}\n" for path in ("/api/", "/submissions", "/account", "/search", "/embed/"))
    sitemap = public_address(request, server, "/sitemap.xml")
    return PlainTextResponse(f"User-agent: *\n{closed}Sitemap: {sitemap}\n")


def card_of(competition: Competition, now: datetime) -> Card | None:
    """Return the card; None for a competition without phases, which has nothing to show yet."""
    current = current_phase(competition, now)
    return Card(competition, current.phase, current.group) if current else None


_BESIDE_THE_CODE = APP.parent / "docs"  # in a checkout, and in images
DOCS = (
    _BESIDE_THE_CODE
    if (_BESIDE_THE_CODE / "submitting.md").is_file()
    else Path(sysconfig.get_path("data"), "share", "evergold", "docs")  # where pip installs them
)
# ------------------------------------------------------------------------------------------------------------ the guide

#: File -> title and audience, in the order of the guide's first page.
GUIDES = {
    "submitting": ("Submitting", "For teams: from the first file to the entry that counts."),
    "tasks": ("Tasks", "For teams and organisers: each task's files, checks and scores."),
    "statistics": ("How sure is a score?", "For everybody who compares systems: intervals, tests, ranges of ranks."),
    "annotating": ("Annotating", "For annotators: judging paraphrases without knowing who wrote them."),
    "organising": ("Organising", "For organisers: a competition from the first idea to the permanent board."),
    "moving-from-codabench": ("Moving from Codabench", "For organisers: bundles of Codabench, CodaLab and EvalAI."),
    "phases-yaml": ("phases.yaml", "For organisers: every key."),
    "cli": ("Command line", "For everybody who uses a terminal: every command."),
    "client": ("Python client", "For notebooks and scripts in Python."),
    "api": ("Web API", "For programs in any language."),
    "running": ("Running a server", "For administrators."),
    "webhooks": ("Webhooks", "For organisers and teams: news to a chat or a program."),
    "logging-in": ("Logging in", "For administrators: providers, second factors, and no passwords."),
    "first-hour": ("The first hour", "For administrators: from an empty machine to a running server."),
    "scaling": ("Scaling", "For administrators: many competitions with the same deadline."),
    "performance": ("Performance", "For everybody: how fast Evergold is, and how that was measured."),
    "adding-a-task": ("Adding a task type", "For developers."),
    "glossary": ("Glossary", "For everybody: the words that Evergold uses."),
}
_NO_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Guide:
    """A page of the guide. body: HTML without the first heading; sections, headings: (id, text) of each."""

    title: str
    body: Markup
    sections: tuple[tuple[str, str], ...]
    headings: tuple[tuple[str, str], ...]


@router.get("/guide")
def read_guides(request: Request, visitor: VisitorHere) -> Response:
    found = [(name, title, hint) for name, (title, hint) in GUIDES.items() if has_guide(name)]
    return render(request, "competitions/guide_index.html", guides=found)


@router.get("/guide/metrics")
def read_metrics(request: Request, visitor: VisitorHere) -> Response:
    return render(request, "competitions/guide_metrics.html", tasks=sorted(TASKS.values(), key=lambda task: task.name))


@router.get("/guide/{name}")
def read_guide(request: Request, visitor: VisitorHere, name: str) -> Response:
    if name not in GUIDES or not has_guide(name):
        raise NotFound(f"The guide has no page {name!r}.")
    return render(request, "competitions/guide.html", guide=guide(name), name=name, guides=GUIDES)


@lru_cache(maxsize=len(GUIDES))
def guide(name: str) -> Guide:
    """Return the page, rendered once."""
    parser = markdown_parser()
    tokens = parser.parse(_path(name).read_text(encoding="utf-8"))
    sections, headings = _anchor_headings(tokens)
    title, tokens = _without_title(tokens, GUIDES[name][0])
    _bend_links(tokens)
    html = parser.renderer.render(with_readable_tables(tokens, title), parser.options, {})
    body = Markup(html)  # noqa: S704 - escaped by the renderer; html is off
    return Guide(title, body, tuple(sections), tuple(headings))


def has_guide(name: str) -> bool:
    """Return True if this server has the page; an installation may lack the texts."""
    return _path(name).is_file()


def _path(name: str) -> Path:
    return DOCS / f"{name}.md"


def _anchor_headings(tokens: list[Token]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Give every heading the id that links in these texts use; return (id, text) of level two, and of all below the
    title.
    """
    sections, headings = [], []
    taken: set[str] = set()
    for opening, content in zip(tokens, tokens[1:], strict=False):
        if opening.type != "heading_open":
            continue
        text = "".join(child.content for child in content.children or ())
        slug = _NO_SLUG.sub("", text.lower()).strip().replace(" ", "-")
        while slug in taken:
            slug += "-1"
        taken.add(slug)
        opening.attrSet("id", slug)
        if opening.tag == "h2":
            sections.append((slug, text))
        if opening.tag != "h1":
            headings.append((slug, text))
    return sections, headings


def _without_title(tokens: list[Token], otherwise: str) -> tuple[str, list[Token]]:
    """Return the text of the first heading, which the page shows as its title, and the remaining tokens.

    otherwise: the title of a text without such a heading.
    """
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return "".join(child.content for child in tokens[1].children or ()), tokens[3:]
    return otherwise, tokens


def _bend_links(tokens: list[Token]) -> None:
    """Point links between the texts to pages, and replace links to files that exist only in the repository by their
    text.
    """
    for token in tokens:
        children = token.children or []
        _bend_links(children)
        for at, child in enumerate(children):
            if child.type == "link_open":
                address = _page_of(str(child.attrGet("href") or ""))
                if address is None:
                    _unlink(children, at)
                else:
                    child.attrSet("href", address)


def _page_of(address: str) -> str | None:
    if "://" in address or address.startswith(("#", "mailto:", "/")):
        return address
    file, _, section = address.partition("#")
    name = file.removesuffix(".md")
    return f"/guide/{name}{'#' if section else ''}{section}" if name in GUIDES else None


def _unlink(children: list[Token], opening: int) -> None:
    """Remove the link that opens at this position, and keep its text."""
    closing = next(at for at in range(opening, len(children)) if children[at].type == "link_close")
    for at in (opening, closing):
        children[at] = Token("text", "", 0)


# --------------------------------------------------------------------------------------------------------------- images


@router.get("/competitions/{competition}/images/{sha256}")
def read_image(visit: PublicVisit, competition: str, sha256: str) -> Response:
    images = named_competition(visit.session, competition).images
    image = next((one for one in images.values() if one["sha256"] == sha256), None)
    if image is None:
        raise NotFound("This competition has no such image.")
    return image_response(visit.request, visit.server, sha256, image["type"])


# ---------------------------------------------------------------------------------------------------- texts of the site


@router.get("/contact")
def read_contact(visit: PlainPageVisit) -> Response:
    return _page(visit, "contact")


@router.get("/imprint")
def read_imprint(visit: PlainPageVisit) -> Response:
    return _page(visit, "imprint")


def _page(visit: Visit, name: str) -> Response:
    text = read_site_text(visit.server.settings, name)
    return render_page(visit, "competitions/site_text.html", title=SITE_TEXTS[name], text=text)
