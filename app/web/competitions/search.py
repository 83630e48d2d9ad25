"""The search page for competitions, boards and pages of the guide."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from app.base.db import reading
from app.base.text import folded
from app.competitions.find import listed_competitions
from app.competitions.search import search
from app.web.competitions.guide import GUIDES
from app.web.html.rendering import render
from app.web.http.context import ServerHere
from app.web.http.identity import VisitorHere
from app.web.http.routers import page_router

router = page_router()

WORDS_CHARACTERS = 120


@router.get("/search")
def read_search(
    request: Request, server: ServerHere, visitor: VisitorHere, q: Annotated[str, Query(max_length=1000)] = ""
) -> Response:
    words = " ".join(q.split())[:WORDS_CHARACTERS]
    with reading(server.engine) as session:
        hits = search(listed_competitions(session), words, server.clock())
    wanted = folded(words).split()
    guides = [
        (name, title, hint)
        for name, (title, hint) in GUIDES.items()
        if wanted and all(word in folded(f"{title} {hint}") for word in wanted)
    ]
    return render(request, "competitions/search.html", words_asked=words, hits=hits, guides=guides)
