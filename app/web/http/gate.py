"""The gate of every address of a competition: who may not see it is told what is told of none, whatever they ask for;
and nothing of an archived one is changed.

It stands before every route, so that no route can forget it; lists of competitions ask `app.competitions.access`.
Whoever says who they are is looked up at the same time, in the same thread.
"""

from __future__ import annotations

from fastapi import Request
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.base.db import reading
from app.competitions.access import check_no_archive, may_see, no_competition
from app.models import Competition, Stage, User
from app.web.http.context import Server, server_of
from app.web.http.identity import look_up_visitor, note_use
from app.web.http.paths import check_path

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_PLACE = "/competitions/{competition}"
#: What of an archived competition can be changed: its life, and who has to do with it.
OPEN_IN_ARCHIVES = (f"{_PLACE}/life", f"{_PLACE}/roles", f"{_PLACE}/people")


#: Each request asks this: no more than it needs, for descriptions and terms may be long; and past the ORM, for which
#: a statement is twice the work even where nothing is made of its rows.
_ASKED = select(Competition.id, Competition.stage, Competition.halt, Competition.halt_reason).where(
    Competition.name == bindparam("name")
)


async def check_gate(request: Request) -> None:
    """Raises NotFound for an address of nothing and for a competition that the visitor may not see,
    CompetitionArchived for changes of one."""
    check_path(request)
    name = request.path_params.get("competition")
    if name is not None:
        await run_in_threadpool(check_competition, request, server_of(request), name)


def check_competition(request: Request, server: Server, name: str) -> None:
    """The same of a competition's name; for threads, as it asks the database."""
    with reading(server.engine) as session:
        asking = look_up_visitor(request, server, session)  # a wrong token is said by the routes, if there is one
        found = session.connection().execute(_ASKED, {"name": name}).one_or_none()
        is_seen = found is not None and _is_seen(session, found.id, found.stage, asking.visitor.user)
    note_use(server, asking)
    if found is None or not is_seen:
        raise no_competition(name)
    if request.method not in _READING and not _is_open_in_archives(request):
        check_no_archive(found.halt, found.halt_reason)


def _is_seen(session: Session, competition_id: int, stage: Stage, user: User | None) -> bool:
    return stage == Stage.PUBLISHED or may_see(session, user, competition_id)


def _is_open_in_archives(request: Request) -> bool:
    template: str = request.scope["route"].path
    return any(place in template for place in OPEN_IN_ARCHIVES)
