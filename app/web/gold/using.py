"""Actions of organisers on gold versions, for API and page: put one in use, have it checked again."""

from __future__ import annotations

from app.base.db import writing
from app.base.queue import send_gold_check, send_runs
from app.competitions.find import organised_task
from app.declarations.apply.waiting import submit_waiting_baselines
from app.gold.checks import ask_for_check
from app.gold.versions import publish_gold
from app.models import Right, User
from app.web.http.context import Server
from app.web.submissions.receiving import Target
from evergold.scoring.tasks import needs_gpu


def use_version(server: Server, user: User, target: Target, number: int) -> None:
    """Use the version for new submissions, now or after its check, and submit baselines that waited for it.

    Raise NotFound, Forbidden, NewerGoldPublished, GoldUnusable.
    """
    now = server.clock()
    with writing(server.engine) as session:
        phase_task = organised_task(session, user, target.competition, target.phase, target.task, Right.GOLD)
        in_use = publish_gold(session, phase_task, number, user=user, now=now)
        runs = submit_waiting_baselines(session, phase_task, now) if in_use else []
        is_for_gpu = needs_gpu(phase_task.task.task_type)
    send_runs([(run_id, is_for_gpu) for run_id in runs])


def check_version_again(server: Server, user: User, target: Target, number: int) -> None:
    """Have a worker check the version again; raise NotFound, Forbidden."""
    with writing(server.engine) as session:
        phase_task = organised_task(session, user, target.competition, target.phase, target.task, Right.GOLD)
        version_id = ask_for_check(session, phase_task, number, user, server.clock()).id
    send_gold_check(version_id)
