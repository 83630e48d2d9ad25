"""N submissions of 20 clients, once undisturbed and once while everything is killed around them, and their outcomes.

Seeded: files, kills and their order follow from the seed; the moments follow from how far the clients have got.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from sqlalchemy import exists, func, select
from sqlalchemy.exc import SQLAlchemyError

from app.base.db import reading, writing
from app.competitions.find import find_phase_task
from app.competitions.limits import quota
from app.models import (
    TERMINAL,
    BoardStatistics,
    CompetitionTask,
    Phase,
    PhaseTask,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
    Team,
)
from app.people import auth
from evergold.client import Client, Place as Target, Refused, Unreachable
from tests.chaos.place import ITEMS, LABELS, Place
from tests.world import add_user

CLIENTS = 20
#: Clients give up after this time without an answer; so does the storm, once no run has ended for so long.
PATIENCE_SECONDS = 300.0
HEADER = "ID,Language,Setting,Label\n"
CALM, CHAOS = "calm", "chaos"


@dataclass
class Outcome:
    """The outcome of a phase of the storm. files: by number, (state, scores, problems); boards, quotas: by team."""

    seconds: float = 0.0
    accept_seconds: list[float] = field(default_factory=list)
    files: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    board: dict[str, Any] = field(default_factory=dict)
    quotas: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    board_version: int = 0
    submissions: int = 0
    runs: int = 0
    score_rows: int = 0
    later_attempts: int = 0
    tried_again: int = 0
    complaints: list[str] = field(default_factory=list)
    mishaps: Counter[str] = field(default_factory=Counter)
    kills_at_work: int = 0


def file_of(seed: int, number: int) -> str:
    """Return a file: usually a good one, sometimes a wrong one, or one that the same client has sent before."""
    dice = random.Random(f"{seed} {number}")
    kind = dice.random()
    if kind < 0.1 and number >= CLIENTS:
        return file_of(seed, number - CLIENTS)
    accuracy = dice.uniform(0.3, 1.0)
    labels = [label if dice.random() < accuracy else str(1 - int(label)) for label in LABELS]
    if kind > 0.85:
        labels[dice.randrange(ITEMS)] = "2"
    return HEADER + "".join(f"{n},EN,zero_shot,{label}\n" for n, label in enumerate(labels))


# ------------------------------------------------------------------------------------------------------------- clients


@dataclass
class Clients:
    """The same people in every phase, each with a token."""

    place: Place
    seed: int
    count: int
    tokens: list[str]
    sent: int = 0  # in this phase, all together
    lock: threading.Lock = field(default_factory=threading.Lock)

    def upload_all(self, phase: str, result: Outcome) -> dict[int, str]:
        """Upload all files; return the submission's id of each."""
        self.sent = 0
        accepted: dict[int, str] = {}
        with ThreadPoolExecutor(CLIENTS) as pool:
            for future in [pool.submit(self._upload_one_s, who, phase, accepted, result) for who in range(CLIENTS)]:
                future.result()
        return accepted

    def _upload_one_s(self, who: int, phase: str, accepted: dict[int, str], result: Outcome) -> None:
        dice = random.Random(f"{self.seed} {who} {phase}")
        target = Target("storm", phase, "detection")
        path = self.place.folder / f"{phase}-{who}.csv"
        with Client(self.place.address, self.tokens[who]) as client:
            for number in range(who, self.count, CLIENTS):
                path.write_text(file_of(self.seed, number))
                began = time.monotonic()
                first = self._submitted(client, target, path, f"{phase}-{number}", result)
                with self.lock:
                    result.accept_seconds.append(time.monotonic() - began)
                    self.sent += 1
                if first is None:
                    continue
                accepted[number] = first
                if dice.random() < 0.1:  # the answer got lost, as far as this client knows
                    again = self._submitted(client, target, path, f"{phase}-{number}", result)
                    if again != first:
                        result.complaints.append(f"file {number}: sent again, it became {again} instead of {first}")

    def _submitted(self, client: Client, target: Target, path: Path, key: str, result: Outcome) -> str | None:
        def count_retry(_: str) -> None:
            result.tried_again += 1

        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return client.submit(path, target, wait=False, idempotency_key=key, on_retry=count_retry).id
            except Refused as error:
                result.complaints.append(f"{key}: {error.status} {error}")
                return None
            except Unreachable as error:  # after a minute; people do not give up either
                if time.monotonic() > give_up_at:
                    result.complaints.append(f"{key}: unreachable {error}")
                    return None


def name_of(who: int) -> str:
    """Return the name of a client's team."""
    return f"Team{who:02d}"


def register(place: Place, seed: int, count: int) -> Clients:
    tokens = []
    for number in range(CLIENTS):
        user = add_user(place.engine, name_of(number).lower())
        with writing(place.engine) as session:
            _, secret = auth.create_token(session, user, "storm", datetime.now(UTC))
        tokens.append(secret)
    return Clients(place, seed, count, tokens)


# ------------------------------------------------------------------------------------------------------------- mishaps

#: What is done to the place; `busy` is the id of a process that scores at this moment, if there is one.
Mishap = Callable[[Place, random.Random, int | None], object]


def restart_database(place: Place, dice: random.Random, crash: bool) -> None:
    assert place.database is not None
    place.database.stop(crash=crash)
    time.sleep(dice.uniform(0.0, 0.5))
    place.database.start()


MISHAPS: dict[str, Mishap] = {
    "worker killed": lambda place, dice, busy: place.kill_worker(busy),
    "scoring process killed": lambda place, dice, busy: place.kill_child(busy),
    "background process killed": lambda place, dice, busy: place.kill_background(),
    "broker emptied": lambda place, dice, busy: place.flush_broker(),
    "broker restarted": lambda place, dice, busy: place.restart_broker(),
    "database restarted": lambda place, dice, busy: restart_database(place, dice, crash=False),
    "database crashed": lambda place, dice, busy: restart_database(place, dice, crash=True),
    "web killed": lambda place, dice, busy: place.restart_web(),
}


KILLS = ("worker killed", "scoring process killed")


def program(seed: int, count: int) -> list[str]:
    """Return the planned mishaps, in order: all kinds, kills most often, and more with more submissions."""
    rounds = max(1, count // 150)
    kinds = [*MISHAPS, *4 * ["scoring process killed"], "worker killed"]
    if count < 150:
        kinds.remove("web killed")  # starting it takes as long as all the rest
    planned = rounds * kinds
    random.Random(f"{seed} mishaps").shuffle(planned)
    return planned


def wreak(place: Place, clients: Clients, planned: list[str], result: Outcome, stop: threading.Event) -> None:
    """Cause one mishap after another, spread over the whole phase: the next one when the clients have got further."""
    dice = random.Random(f"{clients.seed} wreak")
    for number, kind in enumerate(planned):
        goal = clients.count * (number + 1) / (len(planned) + 1)
        waited_until = time.monotonic() + 3.0
        while clients.sent < goal and time.monotonic() < waited_until and not stop.wait(0.01):
            pass
        busy = _wait_for_work(place) if kind in KILLS else None
        MISHAPS[kind](place, dice, busy)
        result.mishaps[kind] += 1
        result.kills_at_work += busy is not None


def _wait_for_work(place: Place) -> int | None:
    """Return the process that holds a run, so that a kill finds somebody at work; None if nobody works soon."""
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        try:
            with reading(place.engine) as session:
                found = session.scalar(select(ScoringRun.worker).where(ScoringRun.status == RunStatus.RUNNING).limit(1))
        except SQLAlchemyError:
            found = None
        if found:
            return int(found.rpartition(":")[2])
        time.sleep(0.01)
    return None


# -------------------------------------------------------------------------------------------------------------- phases


def run_phase(place: Place, clients: Clients, phase: str, planned: list[str]) -> Outcome:
    """Upload everything and have it scored, while the planned mishaps happen."""
    result, stop, began = Outcome(), threading.Event(), time.monotonic()
    wreaking = threading.Thread(target=_guarded, args=(wreak, place, clients, planned, result, stop))
    wreaking.start()
    try:
        accepted = clients.upload_all(phase, result)
    finally:
        stop.set()
        wreaking.join()
    _wait_for_the_end(place, phase, result)
    result.seconds = time.monotonic() - began
    _look(place, phase, accepted, result)
    return result


def _guarded(
    work: Callable[..., None],
    place: Place,
    clients: Clients,
    planned: list[str],
    result: Outcome,
    stop: threading.Event,
) -> None:
    try:
        work(place, clients, planned, result, stop)
    except BaseException as error:  # noqa: B036 - a failure of the test's own, which must not be silent in a thread
        result.complaints.append(f"the wrecker failed: {error!r}")


def _wait_for_the_end(place: Place, phase: str, result: Outcome) -> None:
    """Wait until every run has ended. A long storm leaves a long queue, so the wait goes on as long as it
    gets shorter.
    """
    left, give_up_at = None, time.monotonic()
    while True:
        with reading(place.engine) as session:
            counted = session.execute(
                _runs_of(phase, select(ScoringRun.status, func.count())).group_by(ScoringRun.status)
            ).all()
        unended = sum(number for status, number in counted if status not in TERMINAL)
        if not unended:
            return
        if unended != left:
            left, give_up_at = unended, time.monotonic() + PATIENCE_SECONDS
        if time.monotonic() > give_up_at:
            break
        time.sleep(0.1)
    told = [tuple(row) for row in counted]
    result.complaints.append(f"for {PATIENCE_SECONDS:.0f} s no run has ended: {told}")


def _runs_of(phase: str, query: Any) -> Any:
    return (
        query.select_from(ScoringRun)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .where(Phase.name == phase)
    )


def _look(place: Place, phase: str, accepted: dict[int, str], result: Outcome) -> None:
    """Record everything, in the database and as people see it."""
    with reading(place.engine) as session:
        runs = session.execute(_runs_of(phase, select(Submission.id, ScoringRun))).all()
        scores: dict[int, list[Any]] = {}
        for row in session.scalars(select(ScoreRow)):
            scores.setdefault(row.run_id, []).append((row.metric, row.split, row.value, row.reason, row.signature))
        task = session.scalars(
            select(PhaseTask)
            .join(Phase, Phase.id == PhaseTask.phase_id)
            .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
            .where(Phase.name == phase)
        ).one()
        # The background process may have recorded statistics by now, or not: without sealed outcomes always the same.
        statistics = exists().where(BoardStatistics.phase_task_id == task.id)
        result.board_version = task.board_version - bool(session.scalar(select(statistics)))
    by_submission: dict[UUID, list[ScoringRun]] = {}
    for submission_id, run in runs:
        by_submission.setdefault(submission_id, []).append(run)
    result.submissions, result.runs = len(by_submission), len(runs)
    result.score_rows = sum(len(scores.get(run.id, [])) for _, run in runs)
    result.later_attempts = sum(run.attempts > 1 for _, run in runs)
    for number, submission_id in accepted.items():
        result.files[number] = tuple(
            (str(run.status), sorted(scores.get(run.id, [])), [problem["sentence"] for problem in run.problems])
            for run in by_submission.get(UUID(submission_id), [])
        )
    with reading(place.engine) as session:
        phase_task = find_phase_task(session, "storm", phase, "detection")
        for team in session.scalars(select(Team)):
            used = quota(session, team, phase_task, datetime.now(UTC))
            result.quotas[team.name] = (used.used_today, used.used_total, used.rejected_last_hour)
    board = f"{place.address}/api/v1/competitions/storm/phases/{phase}/boards/zero-shot"
    rows = httpx.get(board, timeout=60).raise_for_status().json()["rows"]
    result.board = {
        row["team"]: (row["rank"], [(cell["value"], cell["signature"]) for cell in row["cells"]]) for row in rows
    }
