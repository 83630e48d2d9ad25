"""The gate of all competition addresses: hides competitions from users who may not see them, and protects archives.

A hidden competition gets the same response as one that does not exist, whatever the address. The gate runs before every
route, so that no route can forget it; lists of competitions use `app.competitions.access`. The user is identified in
the same thread and session.
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
#: Addresses that may still be changed in an archived competition: its status and its people.
OPEN_IN_ARCHIVES = (f"{_PLACE}/life", f"{_PLACE}/roles", f"{_PLACE}/people")


#: Runs on each request, so it selects only the columns needed (descriptions and terms may be long), and bypasses the
#: ORM, which doubles the cost of a statement even where no objects are built.
_ASKED = select(Competition.id, Competition.stage, Competition.halt, Competition.halt_reason).where(
    Competition.name == bindparam("name")
)


async def check_gate(request: Request) -> None:
    """Raise NotFound for an invalid path or a hidden competition, CompetitionArchived for changes to an archive."""
    check_path(request)
    name = request.path_params.get("competition")
    if name is not None:
        await run_in_threadpool(check_competition, request, server_of(request), name)


def check_competition(request: Request, server: Server, name: str) -> None:
    """Like check_gate, for a competition's name; runs in a thread because it queries the database."""
    with reading(server.engine) as session:
        asking = look_up_visitor(request, server, session)  # routes report a wrong token, if a route matches
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
