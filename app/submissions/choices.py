"""A team's decisions on its submissions: which one counts, and which are withdrawn or restored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, delete, or_, select, update
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError, Forbidden, NotFound
from app.competitions.access import check_not_archived
from app.competitions.allowances import allowance_of, closes_at
from app.competitions.changed import boards_changed
from app.competitions.entry_rules import entry_settings, may_choose
from app.competitions.limits import FREE_OF_CHARGE
from app.competitions.visibility import boards_of_task, decide, declared_of
from app.models import Board, EntryChoice, EntryRule, Right, RunStatus, ScoreRow, Submission, TeamMember, User
from app.people.audit import record
from app.people.rights import may_organise
from app.standings.renew import renew_team
from app.submissions.find import current_run, get_submission
from app.teams.find import lock_team_of_submission
from evergold.moments import deadline_words, moment_words
from evergold.scoring.task import NOT_ENTERED


class NotWithdrawable(EvergoldError):
    """The phase is over, or this submission would not count in any case."""

    status = 409
    code = "not_withdrawable"


def withdraw_submission(session: Session, submission_id: UUID, user: User, now: datetime) -> None:
    """Withdraw a submission; no-op if it already is. Raises NotFound, Forbidden, NotWithdrawable."""
    submission = get_submission(session, submission_id, user)
    if not _is_member(session, submission, user):
        raise Forbidden("Only its own team can withdraw a submission; organisers can hide its row.")
    if submission.withdrawn_at is not None:
        return
    check_not_archived(submission.phase_task.phase.competition)
    _check_withdrawal(session, submission, now)
    lock_team_of_submission(session, submission)
    marked = update(Submission).where(Submission.id == submission.id, Submission.withdrawn_at.is_(None))
    if not session.scalars(marked.values(withdrawn_at=now).returning(Submission.id)).all():
        return  # another member of the team was faster
    session.execute(delete(EntryChoice).where(EntryChoice.submission_id == submission.id))
    _changed_withdrawal(session, submission, user, "submission.withdraw", now)


def put_back(session: Session, submission_id: UUID, user: User, now: datetime) -> None:
    """Restore a withdrawn submission, without its former choices.

    The team may restore it as long as it may withdraw it; organisers may at any time. Raises NotFound, Forbidden,
    NotWithdrawable.
    """
    submission = get_submission(session, submission_id, user)
    competition = submission.phase_task.phase.competition
    if submission.withdrawn_at is None:
        return
    check_not_archived(competition)
    if not may_organise(session, user, competition, Right.SUBMISSIONS):
        if not _is_member(session, submission, user):
            raise Forbidden("Only its own team or an organiser can restore a submission.")
        _check_withdrawal(session, submission, now)
        _check_open_scores(submission, now)
    lock_team_of_submission(session, submission)
    marked = update(Submission).where(Submission.id == submission.id, Submission.withdrawn_at.is_not(None))
    if session.scalars(marked.values(withdrawn_at=None).returning(Submission.id)).all():
        _changed_withdrawal(session, submission, user, "submission.put-back", now)


def may_put_back(session: Session, submission: Submission, user: User, now: datetime) -> bool:
    """Return whether this user could restore it now. submission: from `get_submission`."""
    if submission.withdrawn_at is None:
        return False
    if may_organise(session, user, submission.phase_task.phase.competition, Right.SUBMISSIONS):
        return True
    if not _is_member(session, submission, user):
        return False
    return is_returnable(session, submission, now)


def is_returnable(session: Session, submission: Submission, now: datetime) -> bool:
    """Return whether its team could restore it now if it were withdrawn."""
    try:
        _check_withdrawal(session, submission, now)
        _check_open_scores(submission, now)
    except NotWithdrawable:
        return False
    return True


def _check_open_scores(submission: Submission, now: datetime) -> None:
    """Raise an error while the team cannot see its scores: withdrawing one run after another would reveal them on the
    board.
    """
    if not decide(declared_of(submission.phase_task.phase, submission.phase_task), now).own_scores:
        raise NotWithdrawable("Scores are not shown to teams yet, so only the organisers can restore a submission.")


def _is_member(session: Session, submission: Submission, user: User) -> bool:
    member = select(TeamMember.user_id).where(TeamMember.team_id == submission.team_id, TeamMember.user_id == user.id)
    return session.scalar(member) is not None


def _changed_withdrawal(session: Session, submission: Submission, user: User, action: str, now: datetime) -> None:
    """Bump the board versions and write an audit entry, after a withdrawal or its undoing."""
    boards_changed(session, [submission.phase_task_id])
    renew_team(session, submission.phase_task_id, submission.team_id)
    record(session, user, action, f"submission {submission.id}", _details(submission), now=now)


def is_withdrawable(session: Session, submission: Submission, now: datetime) -> bool:
    """Return whether its team could withdraw it now. submission: from `get_submission`."""
    if submission.withdrawn_at is not None:
        return False
    try:
        _check_withdrawal(session, submission, now)
    except NotWithdrawable:
        return False
    return True


def _check_withdrawal(session: Session, submission: Submission, now: datetime) -> None:
    phase, status = submission.phase_task.phase, current_run(submission).status
    if status in FREE_OF_CHARGE:
        raise NotWithdrawable(
            f"There is nothing to withdraw: this submission was {status}, so it does not count on any board."
        )
    if entry_settings(phase, submission.phase_task).rule is EntryRule.LADDER:
        # The selection of runs would reveal more about their scores than a Ladder does.
        raise NotWithdrawable(
            "Submissions cannot be withdrawn on a Ladder; write to the organisers, who can hide a row."
        )
    until = closes_at(phase, allowance_of(session, submission.team_id, phase.id))
    if until is not None and until <= now:
        raise NotWithdrawable(
            f"Your team could withdraw submissions until {deadline_words(until)}; server time is "
            f"{moment_words(now)}. Write to the organisers, who can hide a row.",
            until=until.isoformat(),
            now=now.isoformat(),
        )


def _details(submission: Submission) -> dict[str, str]:
    phase = submission.phase_task.phase
    place = f"{phase.competition.name}/{phase.name}/{submission.phase_task.task.name}"
    return {"team": submission.team.name, "task": place}


class NoChoice(EvergoldError):
    """The phase allows no choices, no longer allows them, or does not allow this submission."""

    status = 409
    code = "no_choice"


def choose_entry(
    session: Session, submission_id: UUID, user: User, now: datetime, *, board: str | None = None
) -> list[str]:
    """Make a submission the entry of one board, or of every board that it entered; return the boards' names.

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
    """Undo the choice, so that the rule for teams without a choice applies. Raises the errors of `choose_entry`."""
    submission = _check(session, submission_id, user, now)
    lock_team_of_submission(session, submission)
    session.execute(delete(EntryChoice).where(EntryChoice.submission_id == submission.id))
    _changed(session, submission)


def chosen_for(session: Session, submission_ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """Return the names of the boards for which each submission was chosen."""
    found: defaultdict[UUID, list[str]] = defaultdict(list)
    for submission_id, name in session.execute(_CHOSEN_FOR, {"ids": list(submission_ids)}):
        found[submission_id].append(name)
    return found


#: Built once: building it takes longer than executing it.
_CHOSEN_FOR = (
    select(EntryChoice.submission_id, Board.name)
    .join(Board, Board.id == EntryChoice.board_id)
    .where(EntryChoice.submission_id.in_(bindparam("ids", expanding=True)))
    .order_by(Board.position, Board.id)
)


def boards_entered(session: Session, submission: Submission) -> list[Board]:
    """List the boards that a scored submission can enter: of its task and track, ranked by a score that it has."""
    entered = {tuple(score) for score in session.execute(_ENTERED, {"run": current_run(submission).id})}
    place = submission.phase_task
    boards = boards_of_task(session, place.phase.competition_id, place.task_id)
    return [
        board
        for board in boards
        if board.track in (None, submission.track) and (board.rank_metric, board.rank_split) in entered
    ]


_ENTERED = select(ScoreRow.metric, ScoreRow.split).where(
    ScoreRow.run_id == bindparam("run"), or_(ScoreRow.reason.is_(None), ScoreRow.reason != NOT_ENTERED)
)


def _check(session: Session, submission_id: UUID, user: User, now: datetime) -> Submission:
    submission = get_submission(session, submission_id, user)
    member = select(TeamMember.user_id).where(TeamMember.team_id == submission.team_id, TeamMember.user_id == user.id)
    if session.scalar(member) is None:
        raise Forbidden("Only the team can choose which of its submissions counts.")
    check_not_archived(submission.phase_task.phase.competition)
    settings = entry_settings(submission.phase_task.phase, submission.phase_task)
    if settings.rule is not EntryRule.CHOSEN:
        raise NoChoice("In this phase teams do not choose which submission counts.", entry_rule=settings.rule)
    if not may_choose(settings, now) and settings.choose_until is not None:
        until = settings.choose_until
        raise NoChoice(
            f"Teams could choose until {deadline_words(until)}; server time is {moment_words(now)}.",
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
        raise NotFound(f"This submission cannot be on that board; it can be on {known}.")
    return wanted


def _changed(session: Session, submission: Submission) -> None:
    """Bump the board versions and renew the team's entries, after a choice."""
    boards_changed(session, [submission.phase_task_id])
    session.flush()
    renew_team(session, submission.phase_task_id, submission.team_id)
