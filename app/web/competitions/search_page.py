"""Search on this server: competitions, tasks, boards, teams, headings of the guide, metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

from fastapi import Query, Response

from app.base.text import folded
from app.competitions.find import visible_competitions
from app.competitions.search import search, search_teams
from app.web.competitions.pages import GUIDES, guide, has_guide
from app.web.html.rendering import render_page
from app.web.http.routers import page_router
from app.web.http.visit import PlainPageVisit
from evergold.scoring.tasks import TASKS

router = page_router()

WORDS_CHARACTERS = 120
#: Maximum number of hits among headings of the guide, and among metrics.
MOST_HITS = 20


@dataclass(frozen=True, slots=True)
class GuideHit:
    """A page of the guide, a heading in it, or a metric. about: what kind of result it is, and where it is found."""

    title: str
    address: str
    about: str


@router.get("/search")
def read_search(visit: PlainPageVisit, q: Annotated[str, Query(max_length=1000)] = "") -> Response:
    words = " ".join(q.split())[:WORDS_CHARACTERS]
    session, viewer = visit.session, visit.viewer
    competitions = visible_competitions(session, viewer.user) if words else []
    teams = search_teams(session, competitions, words, viewer)
    wanted = folded(words).split()
    return render_page(
        visit,
        "competitions/search.html",
        words_asked=words,
        hits=search(competitions, words, viewer.now),
        teams=teams,
        guides=[*islice(_guides(wanted), MOST_HITS), *islice(_metrics(wanted), MOST_HITS)] if wanted else [],
    )


def _guides(wanted: Sequence[str]) -> Iterator[GuideHit]:
    """Yield pages, then headings: a heading must contain one of the words; its page may contain the others."""
    pages = {name: words for name, words in GUIDES.items() if has_guide(name)}
    for name, (title, hint) in pages.items():
        if _has(f"{title} {hint}", wanted):
            yield GuideHit(title, f"/guide/{name}", f"Guide · {hint}")
    for name, (title, _) in pages.items():
        for slug, heading in guide(name).headings:
            if _adds(heading, title, wanted):
                yield GuideHit(heading, f"/guide/{name}#{slug}", f"Guide · {title}")


def _metrics(wanted: Sequence[str]) -> Iterator[GuideHit]:
    for task in sorted(TASKS.values(), key=lambda task: task.name):
        for metric in task.metrics.values():
            if _adds(f"{metric.title} {metric.name}", f"{task.title} {task.name}", wanted):
                yield GuideHit(metric.title, f"/guide/metrics#task-{task.name}", f"Metric · {task.title}")


def _adds(own: str, about: str, wanted: Sequence[str]) -> bool:
    """Return True if `own` contains one of the words, and `own` and `about` together contain all."""
    return any(word in folded(own) for word in wanted) and _has(f"{own} {about}", wanted)


def _has(text: str, wanted: Sequence[str]) -> bool:
    known = folded(text)
    return all(word in known for word in wanted)
