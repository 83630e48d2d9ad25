"""From an upload request to a version of gold: sealed piece by piece as it comes in, the same for API and page.

What arrives is in clear in this process for a moment, and never on a disk; once it is stored nobody here can read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from anyio.to_thread import run_sync
from fastapi import Request
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.base.errors import InvalidForm
from app.competitions.find import find_competition, find_phase_task
from app.gold.sealing import Sealed, SealingWriter, forget_sealed
from app.gold.versions import UPLOAD_LIMIT_BYTES, current_keys, phases_with_same_task, put_gold
from app.models import PhaseTask, SealedKind, User
from app.people.roles import check_may_organise
from app.web.http.context import Server
from app.web.http.multipart import Upload, receive_upload
from app.web.submissions.receiving import Target, incoming_of

#: Fields of the form: further phases, by name, with commas between; whether to use it though a version is in use.
FIELDS = frozenset({"also", "publish"})
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"", "false", "no", "off", "0"})


async def receive_gold(
    request: Request,
    server: Server,
    user: User,
    target: Target,
    *,
    more_fields: frozenset[str] = frozenset(),
    before_file: Callable[[Mapping[str, str]], None] = lambda fields: None,
) -> None:
    """A new version in every phase that was named; raises Forbidden unless this user organises the competition."""
    keys = await run_sync(_check, server, user, target)
    folder = server.settings.sealed_dir
    writer = SealingWriter(folder, UPLOAD_LIMIT_BYTES, kind=SealedKind.GOLD, recipients=keys)
    upload = await receive_upload(
        incoming_of(request),
        folder=folder,
        limit_bytes=UPLOAD_LIMIT_BYTES,
        fields=FIELDS | more_fields,
        before_file=before_file,
        into=writer,
    )
    await run_sync(_put, server, user, target, upload, writer.sealed)


def _check(server: Server, user: User, target: Target) -> dict[str, bytes]:
    """Every refusal that is sure before a byte was read; returns the keys to seal to."""
    with reading(server.engine) as session:
        phase_task = find_phase_task(session, target.competition, target.phase, target.task)
        check_may_organise(session, user, phase_task.phase.competition)
        return current_keys(session)


def _put(server: Server, user: User, target: Target, upload: Upload, sealed: Sealed) -> None:
    try:
        publish = _is_yes(upload.fields.get("publish", ""))
        with writing(server.engine) as session:
            phase_task = find_phase_task(session, target.competition, target.phase, target.task)
            check_may_organise(session, user, phase_task.phase.competition)
            also = [name.strip() for name in upload.fields.get("also", "").split(",") if name.strip()]
            put_gold(
                session,
                [phase_task, *_others(session, phase_task, also)],
                sealed,
                filename=upload.filename,
                publish=publish or None,
                user=user,
                now=server.clock(),
            )
    except BaseException:
        forget_sealed(sealed, server.settings.sealed_dir)
        raise


def _others(session: Session, phase_task: PhaseTask, names: list[str]) -> list[PhaseTask]:
    """The same task in the phases of these names."""
    competition = find_competition(session, phase_task.phase.competition.name)
    asked = {phase.name: one.id for phase in competition.phases for one in phases_with_same_task(phase_task, [phase])}
    unknown = [name for name in names if name not in asked]
    if unknown:
        known = ", ".join(f"'{name}'" for name in asked) or "none"
        _wrong("also", f"No other phase '{unknown[0][:60]}' asks this task; these do: {known}.")
    places = (competition.name, phase_task.task.name)
    return [find_phase_task(session, places[0], name, places[1]) for name in dict.fromkeys(names)]


def _is_yes(text: str) -> bool:
    if text.lower() not in _YES | _NO:
        _wrong("publish", "This is 'true' or 'false'.")
    return text.lower() in _YES


def _wrong(name: str, sentence: str) -> NoReturn:
    raise InvalidForm(sentence, fields={name: sentence})
