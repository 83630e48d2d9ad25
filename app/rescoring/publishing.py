"""Publishing a set: one transaction in which all boards change to the new scores, or none does.

Lock order, as everywhere: the set, its phases, its tasks in phases. Until the end, uploads, records and freezes of
these wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import exists, func, select, update
from sqlalchemy.orm import Session, aliased

from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import EvergoldError
from app.boards.freezing import AFTER_CLOSE
from app.boards.leaderboard import entry_sources, sight_of
from app.boards.snapshots import freeze
from app.competitions.changed import boards_changed
from app.competitions.private_part import scored_by
from app.competitions.visibility import Viewer
from app.gold.versions import place_of, publish_gold, published_gold
from app.models import (
    Board,
    BoardShown,
    Competition,
    Phase,
    PhaseTask,
    RescoredTask,
    Rescoring,
    RescoringState,
    RunStatus,
    ScoringRun,
    Snapshot,
    Submission,
    Team,
    TeamMember,
    User,
)
from app.people.act import Act
from app.people.mail import send_mail
from app.rescoring.difference import BoardMoves, Difference, Move, boards_of_set, difference_of
from app.rescoring.sets import UNFINISHED, USABLE, check_open, find_rescoring, progress_of
from app.runs.claims import BACK_IN_QUEUE
from app.standings.renew import renew_all
from evergold.scoring.halves import Half

_MAIL = """\
{competition} was rescored, and your team {team} has a new place:

{moves}

Why: {note}

{page}
"""


def mail_teams_of_moves(
    session: Session, rescoring: Rescoring, difference: Difference, settings: Settings, now: datetime
) -> int:
    """Mail all members of teams whose rank changed on a board that they may see; return the number of mails."""
    seen = {
        (phase.name, board.name, half)
        for phase, board in boards_of_set(session, rescoring)
        for half in _seen(session, phase, board, now)
    }
    by_team: dict[int, list[tuple[BoardMoves, Move]]] = {}
    for board in difference.boards:
        for move in board.moves:
            changed = move.kind == "team" and move.rank_before != move.rank_after
            if changed and (board.phase, board.board, board.half) in seen:
                by_team.setdefault(move.team_id, []).append((board, move))
    competition = session.get_one(Competition, rescoring.competition_id)
    mails = 0
    for team_id, moves in sorted(by_team.items()):
        body = _MAIL.format(
            competition=competition.title,
            team=moves[0][1].team,
            moves="\n".join(
                f"  {board.title}: {_rank(move.rank_after)}, before {_rank(move.rank_before)}" for board, move in moves
            ),
            note=rescoring.note,
            page=public_address(settings, f"/competitions/{competition.name}"),
        )
        subject = f"{competition.title} was rescored"
        for member in _members(session, team_id):
            mail = send_mail(session, member, subject, body, now=now, competition_id=competition.id)
            mails += mail is not None
    return mails


def _seen(session: Session, phase: Phase, board: Board, now: datetime) -> list[Half | None]:
    """Return the part of the items whose ranks are public; empty if the board, or a phase carried over to it, is
    hidden.
    """
    sources = entry_sources(session, phase, board)
    sight = sight_of(session, sources, Viewer(None, now))
    carried = [source.view.board is BoardShown.PUBLIC for source in sight.carried.values()]
    return [sight.own.view.half] if sight.own.view.board is not BoardShown.HIDDEN and all(carried) else []


def _members(session: Session, team_id: int) -> Sequence[User]:
    members = select(User).join(TeamMember, TeamMember.user_id == User.id).where(TeamMember.team_id == team_id)
    return session.scalars(members.order_by(User.email)).all()


def _rank(rank: int | None) -> str:
    return f"rank {rank}" if rank is not None else "no rank"


class RescoringNotReady(EvergoldError):
    """Publishing now would lose submissions (details: waiting, failed)."""

    status = 409
    code = "rescoring_not_ready"


class RescoringStale(EvergoldError):
    """Gold, options or items have changed since the set was created."""

    status = 409
    code = "rescoring_stale"


def publish_rescoring(act: Act, competition: Competition, rescoring_id: int, *, tell_teams: bool = False) -> Rescoring:
    """Make every run of a set the current one, put its gold in use, and return the set; old runs are kept.

    tell_teams: mail the teams whose rank changes on boards that they may see. Raises NotFound, RescoringEnded,
    RescoringNotReady, RescoringStale, NewerGoldPublished.
    """
    session = act.session
    rescoring = find_rescoring(session, competition, rescoring_id, lock=True)
    check_open(rescoring)
    _lock(session, rescoring)
    rescoring = find_rescoring(session, competition, rescoring_id, lock=True)  # re-read under the locks
    _check_current(session, rescoring)
    _check_ready(session, rescoring, act.now)
    difference = difference_of(session, rescoring)
    for rescored in rescoring.tasks:
        _use_gold(act, rescored)
    _swap(session, rescoring)
    for rescored in rescoring.tasks:
        _score_anew(session, rescored)
    rescored_ids = [rescored.phase_task_id for rescored in rescoring.tasks]
    boards_changed(session, rescored_ids)
    renew_all(session, rescored_ids)
    rescoring.state, rescoring.ended_at = RescoringState.PUBLISHED, act.now
    rescoring.difference = difference.as_dict()
    session.flush()
    frozen = _freeze_again(session, rescoring, difference, act.now)
    notified = mail_teams_of_moves(session, rescoring, difference, act.settings, act.now) if tell_teams else 0
    _audit(act, rescoring, competition, difference, (frozen, notified))
    return rescoring


def _lock(session: Session, rescoring: Rescoring) -> None:
    """Lock every phase whose official boards may be frozen again, and every task of the set."""
    phases = {one.phase_task.phase_id for one in rescoring.tasks}
    phases |= {phase.id for phase, _ in boards_of_set(session, rescoring)}
    session.execute(select(Phase.id).where(Phase.id.in_(phases)).order_by(Phase.id).with_for_update())
    ids = [one.phase_task_id for one in rescoring.tasks]
    session.execute(select(PhaseTask.id).where(PhaseTask.id.in_(ids)).order_by(PhaseTask.id).with_for_update())
    session.expire_all()


# ----------------------------------------------------------------------------------------------------------- checking


def _check_current(session: Session, rescoring: Rescoring) -> None:
    """Raise RescoringStale if later submissions would be scored differently. `_use_gold` checks for newer gold."""
    for rescored in rescoring.tasks:
        phase_task = rescored.phase_task
        changed = []
        if phase_task.options_of(phase_task.task) != rescored.options:
            changed.append("the options")
        if scored_by(phase_task.private_part) != scored_by(rescored.private_part):
            changed.append("the private part")
        if phase_task.items_sha256 != rescored.items_sha256:
            changed.append("the items")
        if _other_gold_in_use(session, rescored):
            changed.append("the gold in use")
        if changed:
            raise RescoringStale(
                f"Since this set was created, {' and '.join(changed)} of {place_of(phase_task)} changed: drop the set "
                "and start another one.",
                place=place_of(phase_task),
            )


def _other_gold_in_use(session: Session, rescored: RescoredTask) -> bool:
    phase_task = rescored.phase_task
    in_use = published_gold(session, phase_task.phase_id, phase_task.task_id)
    if rescored.gold_version is None:
        return bool(in_use) or phase_task.gold != rescored.gold
    return bool(in_use) and in_use[-1].number > rescored.gold_version.number


def _check_ready(session: Session, rescoring: Rescoring, now: datetime) -> None:
    progress = progress_of(session, rescoring)
    if not progress.is_ready:
        waits = f"{progress.waiting} of {progress.of} submissions are not rescored yet"
        failed = f"{progress.failed} failed on our side and must be scored again"
        losses = [words for words, number in ((waits, progress.waiting), (failed, progress.failed)) if number]
        raise RescoringNotReady(
            f"Publishing now would lose submissions: {', and '.join(losses)}. Nothing was changed.",
            waiting=progress.waiting,
            failed=progress.failed,
        )
    first = _scored_for_the_first_time(session, rescoring, now)
    if first:
        raise RescoringNotReady(
            f"{first} submissions are being scored for the first time, and would be missing from official results. "
            "Nothing was changed.",
            waiting=first,
            failed=0,
        )


def _scored_for_the_first_time(session: Session, rescoring: Rescoring, now: datetime) -> int:
    """Return the number of submissions that the set would score for the first time, in phases with official results.

    There the results are frozen again, with all submissions; in other phases new submissions are simply scored with the
    new gold.
    """
    frozen = exists().where(Snapshot.phase_id == PhaseTask.phase_id)
    return session.scalars(
        select(func.count())
        .select_from(ScoringRun)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(RescoredTask, RescoredTask.phase_task_id == PhaseTask.id)
        .where(
            RescoredTask.rescoring_id == rescoring.id,
            Phase.ends_at <= now - AFTER_CLOSE,
            ScoringRun.is_current,
            ScoringRun.status.in_(UNFINISHED),
            frozen,
        )
    ).one()


# ----------------------------------------------------------------------------------------------------------- changing


def _use_gold(act: Act, rescored: RescoredTask) -> None:
    version = rescored.gold_version
    if version is not None and version.published_at is None:
        publish_gold(act.session, rescored.phase_task, version.number, user=act.user, now=act.now)


def _swap(session: Session, rescoring: Rescoring) -> None:
    """Replace the current runs; a constraint of the database allows only one per submission."""
    current = aliased(ScoringRun)
    mine = ScoringRun.rescoring_id == rescoring.id
    change = update(ScoringRun).execution_options(synchronize_session=False)
    before = select(current.id).where(current.submission_id == ScoringRun.submission_id, current.is_current)
    session.execute(
        change.where(mine, ScoringRun.status.in_(USABLE)).values(
            replaced_id=before.correlate(ScoringRun).scalar_subquery()
        )
    )
    replacing = aliased(ScoringRun)
    replaced = select(replacing.replaced_id).where(
        replacing.rescoring_id == rescoring.id, replacing.replaced_id.is_not(None)
    )
    session.execute(change.where(ScoringRun.id.in_(replaced)).values(is_current=False))
    session.execute(change.where(mine, ScoringRun.replaced_id.is_not(None)).values(is_current=True))


def _score_anew(session: Session, rescored: RescoredTask) -> None:
    """Queue unscored submissions for scoring with the gold now in use.

    Runs in progress start again, because their worker has the old gold; that does not count as an attempt.
    """
    here = select(Submission.id).where(Submission.phase_task_id == rescored.phase_task_id)
    change = update(ScoringRun).where(ScoringRun.is_current, ScoringRun.submission_id.in_(here))
    change = change.execution_options(synchronize_session=False)
    unscored = ScoringRun.status.in_((*UNFINISHED, RunStatus.FAILED))
    session.execute(change.where(unscored).values(gold=rescored.phase_task.gold or rescored.gold, gold_version_id=None))
    begun = change.where(ScoringRun.status == RunStatus.RUNNING)
    session.execute(begun.values(**BACK_IN_QUEUE, attempts=ScoringRun.attempts - 1, sent_at=None))


def _freeze_again(session: Session, rescoring: Rescoring, difference: Difference, now: datetime) -> int:
    """Freeze the changed boards again, under a new number and with the set's note; return their number.

    Earlier official boards are kept. A phase that was reopened is frozen by the sweep when it closes.
    """
    own = {one.phase_task.phase_id for one in rescoring.tasks}
    moved = {(board.phase, board.board) for board in difference.boards if board.moves}
    frozen = 0
    for phase, board in boards_of_set(session, rescoring):
        here = select(Snapshot.id).where(Snapshot.phase_id == phase.id, Snapshot.board_id == board.id)
        has_ended = phase.ends_at is not None and phase.ends_at <= now - AFTER_CLOSE
        is_changed = phase.id in own or (phase.name, board.name) in moved
        if has_ended and is_changed and session.scalar(here.limit(1)) is not None:
            freeze(session, phase, board, now, rescoring.note)
            frozen += 1
    return frozen


def _audit(
    act: Act, rescoring: Rescoring, competition: Competition, difference: Difference, done: tuple[int, int]
) -> None:
    details = {
        "competition": competition.name,
        "note": rescoring.note,
        "runs": difference.progress.of,
        "moved": sum(len(board.moves) for board in difference.boards),
        "official_boards": done[0],
        "mails": done[1],
    }
    act.record("rescoring.publish", f"rescoring {rescoring.id}", details)


def rename_in_differences(session: Session, team: Team) -> None:
    """Replace the team's name in stored differences by its current one, after its members deleted their accounts."""
    here = select(Rescoring).where(
        Rescoring.competition_id == team.competition_id, Rescoring.state == RescoringState.PUBLISHED
    )
    for rescoring in session.scalars(here.order_by(Rescoring.id).with_for_update()):
        document = rescoring.difference
        if document is None:
            continue
        boards = [
            {
                **board,
                "moves": [
                    {**move, "team": team.name} if move["team_id"] == team.id else move for move in board["moves"]
                ],
            }
            for board in document["boards"]
        ]
        rescoring.difference = {**document, "boards": boards}
    session.flush()
