"""The gate of every address of a competition: who may not see it is told what is told of none, whatever they ask for;
and nothing of an archived one is changed.

It stands before every route, so that no route can forget it; lists of competitions ask `app.competitions.access`.
"""

from __future__ import annotations

from fastapi import Request
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from app.base.db import reading
from app.base.errors import NotAuthenticated
from app.competitions.access import check_not_archived, may_see, no_competition
from app.models import Competition, Stage, User
from app.web.http.context import Server, ServerHere
from app.web.http.identity import identify

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_PLACE = "/competitions/{competition}"
#: What of an archived competition can be changed: its life, and who has to do with it.
OPEN_IN_ARCHIVES = (f"{_PLACE}/life", f"{_PLACE}/roles", f"{_PLACE}/people")


async def check_gate(request: Request, server: ServerHere) -> None:
    """Raises NotFound for a competition that the visitor may not see, CompetitionArchived for changes of one."""
    name = request.path_params.get("competition")
    if name is not None:
        await run_in_threadpool(_check, request, server, name)


def _check(request: Request, server: Server, name: str) -> None:
    with reading(server.engine) as session:
        competition = session.scalar(select(Competition).where(Competition.name == name))
        if competition is None or competition.stage != Stage.PUBLISHED:
            user = _user(request, server)  # also for what is not there: the page that says so knows its reader
            if competition is None or not may_see(session, user, competition.id):
                raise no_competition(name)
    if request.method not in _READING and not _is_open_in_archives(request):
        check_not_archived(competition)


def _user(request: Request, server: Server) -> User | None:
    try:
        return identify(request, server).user
    except NotAuthenticated:  # said by the routes, where there is something
        return None


def _is_open_in_archives(request: Request) -> bool:
    template: str = request.scope["route"].path
    return any(place in template for place in OPEN_IN_ARCHIVES)
