"""Rescoring sets from start to end: their tasks, gold and runs. `app.rescoring.publishing` publishes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, delete, exists, func, insert, literal, select
from sqlalchemy.orm import Session, aliased, contains_eager, joinedload, selectinload

from app.base.errors import EvergoldError, InvalidForm, NotFound
from app.base.text import refuse
from app.gold.versions import GoldUnusable, list_gold, place_of, problem_words
from app.models import (
    Competition,
    GoldCheck,
    GoldVersion,
    Phase,
    PhaseTask,
    RescoredTask,
    Rescoring,
    RescoringState,
    Right,
    RunStatus,
    ScoringRun,
    Submission,
)
from app.people.act import Act
from app.runs.failures import queue_again
from app.submissions.organisers_list import ListedSubmission

NOTE_CHARACTERS = 1_000
#: Rights to start, publish or drop a set, as it concerns scores and puts gold in use.
TO_RESCORE = (Right.SUBMISSIONS, Right.GOLD)
#: Statuses of a run that may replace the current one. A failed run may not: it has to be scored again.
USABLE = (RunStatus.SCORED, RunStatus.REJECTED)
UNFINISHED = (RunStatus.QUEUED, RunStatus.RUNNING)


class RescoringOpen(EvergoldError):
    """A task is already in another open set (details: rescoring, the id of that set)."""

    status = 409
    code = "rescoring_open"


class RescoringEnded(EvergoldError):
    """The set was published or discarded (details: state)."""

    status = 409
    code = "rescoring_ended"


class NothingToRescore(EvergoldError):
    status = 409
    code = "nothing_to_rescore"


class OlderGold(EvergoldError):
    """A newer version of the gold is in use."""

    status = 409
    code = "older_gold"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a set. of: number of submissions; scored, rejected, failed: numbers of their runs in the set."""

    of: int
    scored: int
    rejected: int
    failed: int

    @property
    def waiting(self) -> int:
        """The number of submissions whose run has not ended, or has not been created yet."""
        return self.of - self.scored - self.rejected - self.failed

    @property
    def is_ready(self) -> bool:
        """True if the set can be published."""
        return self.scored + self.rejected == self.of


# ----------------------------------------------------------------------------------------------------------- starting


def start_rescoring(
    act: Act,
    competition: Competition,
    places: Sequence[str],
    *,
    note: str,
    gold_version: int | None = None,
    with_rejected: bool = False,
) -> Rescoring:
    """Create a set, with a run for every submission that counts, and return it.

    places: `PHASE/TASK` or `PHASE`; empty for every task in every phase.
    gold_version: a number that each of them has; None for the latest, in use or not, or plain gold. Raises InvalidForm,
    RescoringOpen, NothingToRescore, OlderGold.
    """
    session = act.session
    phase_tasks = _check_wanted(session, competition, places, note)
    ids = [one.id for one in phase_tasks]
    # A concurrent start waits here, and then sees the set created by this one.
    query = select(PhaseTask.id).where(PhaseTask.id.in_(ids)).order_by(PhaseTask.id)
    session.execute(query.with_for_update(key_share=True))
    _check_free(session, phase_tasks)
    used = set(session.scalars(select(Submission.phase_task_id).where(Submission.phase_task_id.in_(ids)).distinct()))
    rescoring = Rescoring(
        competition_id=competition.id,
        note=note.strip(),
        with_rejected=with_rejected,
        created_by_id=act.user.id if act.user else None,
        created_at=act.now,
    )
    session.add(rescoring)
    session.flush()
    concerned = [one for one in phase_tasks if one.id in used or _has_waiting_gold(session, one, gold_version)]
    session.add_all([_rescored(session, rescoring, one, gold_version) for one in concerned])
    session.flush()
    made = add_missing_runs(session, rescoring, act.now)
    if not made:
        raise NothingToRescore("No submission of these tasks has scores yet, so there is nothing to rescore.")
    details = {
        "competition": competition.name,
        "tasks": [place_of(one) for one in concerned],
        "runs": made,
        "note": rescoring.note,
    }
    act.record("rescoring.start", _subject(rescoring), details)
    return rescoring


def _check_wanted(session: Session, competition: Competition, places: Sequence[str], note: str) -> list[PhaseTask]:
    """Return the selected tasks of phases. Raises InvalidForm with all errors."""
    tasks = _tasks_by_name(session, competition)
    wrong = {}
    if unknown := [place for place in places if not any(_is_in(place, names) for names in tasks)]:
        known = ", ".join("/".join(names) for names in tasks)
        wrong["tasks"] = f"There is no {', '.join(map(repr, unknown))} here; there are {known}."
    if trouble := _trouble_with(note):
        wrong["note"] = trouble
    refuse(wrong)
    found = [one for names, one in tasks.items() if not places or any(_is_in(place, names) for place in places)]
    return sorted(found, key=lambda one: one.id)


def _tasks_by_name(session: Session, competition: Competition) -> dict[tuple[str, str], PhaseTask]:
    """Return every task in a phase with its parents loaded, by the names of phase and task."""
    every = session.scalars(
        select(PhaseTask)
        .join(PhaseTask.phase)
        .join(PhaseTask.task)
        .where(Phase.competition_id == competition.id)
        .options(contains_eager(PhaseTask.phase).joinedload(Phase.competition), contains_eager(PhaseTask.task))
        .order_by(Phase.position, Phase.id, PhaseTask.id)
        .execution_options(populate_existing=True)
    )
    return {(one.phase.name, one.task.name): one for one in every}


def _is_in(place: str, names: tuple[str, str]) -> bool:
    phase, _, task = place.strip().partition("/")
    return phase == names[0] and task in ("", names[1])


def _trouble_with(note: str) -> str:
    if not note.strip():
        return "Give a reason in a sentence: teams see it once the set is published."
    if len(note) > NOTE_CHARACTERS:
        return f"At most {NOTE_CHARACTERS} characters; this has {len(note)}."
    return "NUL characters are not allowed." if "\0" in note else ""


def _check_free(session: Session, phase_tasks: Sequence[PhaseTask]) -> None:
    """Raise RescoringOpen if a task is already in an open set, because two such sets could not both be published."""
    held = session.execute(
        select(RescoredTask.phase_task_id, Rescoring.id)
        .join(Rescoring, Rescoring.id == RescoredTask.rescoring_id)
        .where(Rescoring.state == RescoringState.OPEN, RescoredTask.phase_task_id.in_([one.id for one in phase_tasks]))
        .order_by(RescoredTask.phase_task_id)
    ).all()
    if held:
        names = {one.id: place_of(one) for one in phase_tasks}
        raise RescoringOpen(
            f"{names[held[0][0]]} is being rescored already, in set {held[0][1]}: publish or drop that one first.",
            rescoring=held[0][1],
        )


def _rescored(session: Session, rescoring: Rescoring, phase_task: PhaseTask, gold_version: int | None) -> RescoredTask:
    version = _version(session, phase_task, gold_version)
    return RescoredTask(
        rescoring_id=rescoring.id,
        phase_task_id=phase_task.id,
        gold=phase_task.gold or "",
        gold_version_id=version.id if version else None,
        options=phase_task.options_of(phase_task.task),
        items_sha256=phase_task.items_sha256,
        private_part=phase_task.private_part,
    )


def _has_waiting_gold(session: Session, phase_task: PhaseTask, number: int | None) -> bool:
    """Return True if the corrected gold is not in use here.

    A phase without submissions also gets it: otherwise its carried-over entries would vanish, and its first submissions
    would be scored with the wrong gold.
    """
    versions = list_gold(session, phase_task)
    meant = versions[-1:] if number is None else [one for one in versions if one.number == number]
    return any(one.published_at is None for one in meant)


def _version(session: Session, phase_task: PhaseTask, number: int | None) -> GoldVersion | None:
    versions = list_gold(session, phase_task, lock=True)
    if number is None:
        usable = [one for one in versions if one.check_state != GoldCheck.INVALID]
        return _checked(usable[-1], phase_task) if usable else None
    found = next((one for one in versions if one.number == number), None)
    if found is None:
        missing = f"There is no gold version {number} of {place_of(phase_task)}."
        raise InvalidForm("Please correct the marked fields.", fields={"gold_version": missing})
    newest = max((one.number for one in versions if one.published_at is not None), default=0)
    if newest > number:
        raise OlderGold(f"Version {newest} is in use already; to go back, upload the older gold again.")
    return _checked(found, phase_task)


def _checked(version: GoldVersion, phase_task: PhaseTask) -> GoldVersion:
    """Return the version if it can be read; raise GoldUnusable otherwise, because every run of the set would fail."""
    what = f"Gold version {version.number} of {place_of(phase_task)}"
    if version.check_state == GoldCheck.INVALID:
        raise GoldUnusable(f"{what} cannot be used: {problem_words(version)}.")
    if version.check_state == GoldCheck.WAITING:
        raise GoldUnusable(f"{what} is being checked by a worker; start the set once it passes the check.")
    return version


# --------------------------------------------------------------------------------------------------------- its runs


def add_missing_runs(session: Session, rescoring: Rescoring, now: datetime) -> int:
    """Queue a run for every submission that has none in the set, including later submissions; return their number."""
    ours = aliased(ScoringRun)
    missing = (
        _counting(rescoring)
        .where(~exists().where(ours.rescoring_id == rescoring.id, ours.submission_id == Submission.id))
        .with_only_columns(
            Submission.id,
            literal(False),
            literal(RunStatus.QUEUED.value),
            RescoredTask.gold,
            RescoredTask.gold_version_id,
            literal(0),
            literal(now, type_=ScoringRun.queued_at.type),
            literal([], type_=ScoringRun.problems.type),
            literal(0),
            literal(rescoring.id),
        )
        .order_by(Submission.submitted_at, Submission.id)
    )
    columns = ["submission_id", "is_current", "status", "gold", "gold_version_id", "attempts", "queued_at"]
    columns += ["problems", "problems_omitted", "rescoring_id"]
    made = insert(ScoringRun).from_select(columns, missing, include_defaults=False).returning(ScoringRun.id)
    return len(session.scalars(made).all())


def _counting(rescoring: Rescoring) -> Select[Submission]:
    """Return a query for the submissions of a set, each with its current run and the set's task."""
    wanted = [RunStatus.SCORED, RunStatus.REJECTED] if rescoring.with_rejected else [RunStatus.SCORED]
    return (
        select(Submission)
        .join(
            RescoredTask,
            and_(RescoredTask.phase_task_id == Submission.phase_task_id, RescoredTask.rescoring_id == rescoring.id),
        )
        .join(ScoringRun, and_(ScoringRun.submission_id == Submission.id, ScoringRun.is_current))
        .where(ScoringRun.status.in_(wanted), Submission.file_cleared_at.is_(None))
    )


def progress_of(session: Session, rescoring: Rescoring) -> Progress:
    """Return the progress of an open set."""
    ours = aliased(ScoringRun)

    def with_status(status: RunStatus) -> ColumnElement[int]:
        return func.count().filter(ours.status == status)

    counted = session.execute(
        _counting(rescoring)
        .outerjoin(ours, and_(ours.submission_id == Submission.id, ours.rescoring_id == rescoring.id))
        .with_only_columns(
            func.count(),
            with_status(RunStatus.SCORED),
            with_status(RunStatus.REJECTED),
            with_status(RunStatus.FAILED),
        )
    ).one()
    return Progress(*counted)


# ------------------------------------------------------------------------------------------------ finding, dropping


def find_rescoring(session: Session, competition: Competition, rescoring_id: int, *, lock: bool = False) -> Rescoring:
    """Return a set of this competition with its tasks; raises NotFound. lock: prevent others from ending it."""
    query = _whole_sets().where(Rescoring.id == rescoring_id, Rescoring.competition_id == competition.id)
    if lock:
        query = query.with_for_update(of=Rescoring).execution_options(populate_existing=True)
    found = session.scalar(query)
    if found is None:
        raise NotFound(f"Competition '{competition.name}' has no rescoring set {rescoring_id}.")
    return found


def list_rescorings(session: Session, competition: Competition) -> list[Rescoring]:
    """List the sets of a competition, latest first."""
    mine = _whole_sets().where(Rescoring.competition_id == competition.id)
    return list(session.scalars(mine.order_by(Rescoring.id.desc())))


def check_open(rescoring: Rescoring) -> None:
    """Raise RescoringEnded unless the set is open."""
    if rescoring.state != RescoringState.OPEN:
        raise RescoringEnded(f"This set was {rescoring.state} already.", state=rescoring.state)


def drop_rescoring(act: Act, competition: Competition, rescoring_id: int) -> Rescoring:
    """End a set without a change to any board, and return it. Scored runs are kept; unfinished ones are deleted.

    Raises NotFound, RescoringEnded.
    """
    session = act.session
    rescoring = find_rescoring(session, competition, rescoring_id, lock=True)
    check_open(rescoring)
    session.execute(
        delete(ScoringRun)
        .where(ScoringRun.rescoring_id == rescoring.id, ScoringRun.status.in_(UNFINISHED))
        .execution_options(synchronize_session=False)
    )
    rescoring.state, rescoring.ended_at = RescoringState.DROPPED, act.now
    session.flush()
    act.record("rescoring.drop", _subject(rescoring), {"competition": competition.name})
    return rescoring


def gold_of_set(session: Session, rescoring: Rescoring) -> Mapping[int, str]:
    """Return the `app.gold.versions.gold_identity` of the set's tasks after its publication, by phase task."""
    found = session.execute(
        select(RescoredTask.phase_task_id, func.coalesce(GoldVersion.commitment, RescoredTask.gold))
        .outerjoin(GoldVersion, GoldVersion.id == RescoredTask.gold_version_id)
        .where(RescoredTask.rescoring_id == rescoring.id)
    )
    return {phase_task_id: gold for phase_task_id, gold in found}


def _whole_sets() -> Select[Rescoring]:
    to_phase_task = selectinload(Rescoring.tasks).joinedload(RescoredTask.phase_task)
    return select(Rescoring).options(
        to_phase_task.joinedload(PhaseTask.task),
        to_phase_task.joinedload(PhaseTask.phase).joinedload(Phase.competition),
        selectinload(Rescoring.tasks).joinedload(RescoredTask.gold_version),
        joinedload(Rescoring.created_by),
    )


def _subject(rescoring: Rescoring) -> str:
    return f"rescoring {rescoring.id}"


@dataclass(frozen=True, slots=True)
class ScoredAnew:
    """The result of a request to rescore.

    queued_again: number of failed runs back in the queue.
    rescoring: id of the set that was started, if any.
    tasks: of the set, as `PHASE/TASK`.
    """

    queued_again: int
    rescoring: int | None
    tasks: tuple[str, ...]


def score_anew(act: Act, competition: Competition, chosen: Sequence[ListedSubmission], *, note: str) -> ScoredAnew:
    """Rescore these submissions and return the result. note: the reason, which a set requires.

    Raises the errors of `start_rescoring`.
    """
    failed = [one.run_id for one in chosen if one.status == RunStatus.FAILED]
    queued = sum(queue_again(act, run, competition_id=competition.id) for run in failed)
    tasks = tuple(sorted({f"{one.phase}/{one.task}" for one in chosen if one.status == RunStatus.SCORED}))
    if not tasks:
        return ScoredAnew(queued, None, ())
    started = start_rescoring(act, competition, tasks, note=note)
    return ScoredAnew(queued, started.id, tasks)
