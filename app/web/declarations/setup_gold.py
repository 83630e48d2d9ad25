"""Gold of a draft during set-up: checked again once its columns have roles, and used in phases added later."""

from __future__ import annotations

from app.base.db import writing
from app.base.queue import send_gold_check
from app.base.storage import sealed_storage_of
from app.competitions.find import find_competition, find_phase_task, organised
from app.gold.checks import ask_for_check
from app.gold.versions import list_gold, use_gold_put_ahead
from app.models import GoldCheck, Right, User
from app.people.rights import may_organise
from app.web.http.context import Server


def use_gold_of_new_phase(server: Server, user: User, competition: str, phase: str) -> None:
    """Use gold that was sealed for this phase before the phase was added, so that it need not be uploaded again."""
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        if not may_organise(session, user, found, Right.GOLD):
            return
        phase_tasks = [
            find_phase_task(session, competition, there.name, one.task.name)
            for there in find_competition(session, competition).phases
            for one in there.phase_tasks
            if there.name == phase
        ]
        storage, now = sealed_storage_of(server.settings), server.clock()
        versions = [use_gold_put_ahead(session, storage, one, user=user, now=now) for one in phase_tasks]
        ids = [version.id for version in versions if version is not None]
    for version_id in ids:
        send_gold_check(version_id)


def recheck_described_gold(server: Server, user: User, competition: str) -> None:
    """Make workers check gold again that they read before its columns had roles."""
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        if not may_organise(session, user, found, Right.GOLD):
            return
        again = []
        for phase in find_competition(session, competition).phases:
            for one in phase.phase_tasks:
                phase_task = find_phase_task(session, competition, phase.name, one.task.name)
                for version in list_gold(session, phase_task)[-1:]:
                    if version.description and version.check_state == GoldCheck.INVALID:
                        again.append(ask_for_check(session, phase_task, version.number, user, server.clock()).id)
    for version_id in again:
        send_gold_check(version_id)
