"""The entry rule `chosen`: until a date, teams choose which of their scored submissions is the entry on a board."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError, Forbidden, NotFound
from app.base.times import in_aoe, in_utc
from app.competitions.access import check_not_archived
from app.competitions.changed import boards_changed
from app.competitions.entry_rules import entry_settings, may_choose
from app.models import Board, EntryChoice, EntryRule, RunStatus, Submission, TeamMember, User
from app.standings.renew import renew_team
from app.submissions.find import current_run, get_submission
from app.teams.find import lock_team_of_submission
from evergold.scoring.task import NOT_ENTERED


class NoChoice(EvergoldError):
    """The phase does not allow choices, or not any more, or not of this submission."""

    status = 409
    code = "no_choice"


def choose_entry(
    session: Session, submission_id: UUID, user: User, now: datetime, *, board: str | None = None
) -> list[str]:
    """Make a submission the entry of every board whose setting it entered, or of one; return the boards' names.

    The latest choice of any team member holds. Raises NotFound, Forbidden, NoChoice.
    """
    submission = _check(session, submission_id, user, now)
    boards = _wanted(session, submission, board)
    lock_team_of_submission(session, submission)
    for one in boards:
        key = (submission.team_id, submission.phase_task_id, one.id)
        choice = session.get(EntryChoice, key, populate_existing=True)
        if choice is None:
            choice = EntryChoice(team_id=key[0], phase_task_id=key[1], board_id=key[2])
            session.add(choice)
        choice.submission_id, choice.user_id, choice.chosen_at = submission.id, user.id, now
    _changed(session, submission)
    return [one.name for one in boards]


def withdraw_choice(session: Session, submission_id: UUID, user: User, now: datetime) -> None:
    """Undo the choice; the rule for teams without a choice applies. Raises as `choose_entry` does."""
    submission = _check(session, submission_id, user, now)
    lock_team_of_submission(session, submission)
    session.execute(delete(EntryChoice).where(EntryChoice.submission_id == submission.id))
    _changed(session, submission)


def chosen_for(session: Session, submission_ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """Return the names of the boards for which each submission was chosen."""
    found: defaultdict[UUID, list[str]] = defaultdict(list)
    made = session.execute(
        select(EntryChoice.submission_id, Board.name)
        .join(Board, Board.id == EntryChoice.board_id)
        .where(EntryChoice.submission_id.in_(submission_ids))
        .order_by(Board.position, Board.id)
    )
    for submission_id, name in made:
        found[submission_id].append(name)
    return found


def boards_entered(session: Session, submission: Submission) -> list[Board]:
    """List the boards that a scored submission can enter: of its task and track, with a setting that it entered."""
    run = current_run(submission)
    entered = {(score.metric, score.split) for score in run.scores if score.reason != NOT_ENTERED}
    boards = session.scalars(
        select(Board)
        .where(
            Board.competition_id == submission.phase_task.phase.competition_id,
            Board.task_id == submission.phase_task.task_id,
        )
        .order_by(Board.position, Board.id)
    )
    return [
        board
        for board in boards
        if board.track in (None, submission.track) and (board.rank_metric, board.rank_split) in entered
    ]


def _check(session: Session, submission_id: UUID, user: User, now: datetime) -> Submission:
    submission = get_submission(session, submission_id, user)
    member = select(TeamMember.user_id).where(TeamMember.team_id == submission.team_id, TeamMember.user_id == user.id)
    if session.scalar(member) is None:
        raise Forbidden("Only the team chooses which of its submissions counts.")
    check_not_archived(submission.phase_task.phase.competition)
    settings = entry_settings(submission.phase_task.phase, submission.phase_task)
    if settings.rule is not EntryRule.CHOSEN:
        raise NoChoice("In this phase teams do not choose which submission counts.", entry_rule=settings.rule)
    if not may_choose(settings, now) and settings.choose_until is not None:
        until = settings.choose_until
        raise NoChoice(
            f"Teams could choose until {in_utc(until)} ({in_aoe(until)}); server time is {in_utc(now)}.",
            choose_until=until.isoformat(),
            now=now.isoformat(),
        )
    status = current_run(submission).status
    if status != RunStatus.SCORED:
        raise NoChoice(f"Only a scored submission can be chosen; this one is {status}.", status=status)
    if submission.withdrawn_at is not None:
        raise NoChoice("This submission was withdrawn; choose another one.", status="withdrawn")
    return submission


def _wanted(session: Session, submission: Submission, name: str | None) -> list[Board]:
    boards = boards_entered(session, submission)
    if name is None and boards:
        return boards
    wanted = [board for board in boards if board.name == name]
    if not wanted:
        known = ", ".join(f"'{board.name}'" for board in boards) or "none"
        raise NotFound(f"This submission stands on no such board; it can stand on {known}.")
    return wanted


def _changed(session: Session, submission: Submission) -> None:
    """Bump the board versions and renew the team's entries."""
    boards_changed(session, [submission.phase_task_id])
    session.flush()
    renew_team(session, submission.phase_task_id, submission.team_id)
