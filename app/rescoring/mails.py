"""Mail to teams whose rank was changed by a published set, if the organisers want it.

Only for boards that teams can see: a mail about a hidden board would reveal that a rank changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.addresses import public_address
from app.base.config import Settings
from app.boards.leaderboard import entry_sources, sight_of
from app.models import Board, BoardShown, Competition, Phase, Rescoring, TeamMember, User
from app.people.mail import send_mail
from app.rescoring.difference import BoardMoves, Difference, Move, boards_of_set
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
    """Write to all members of teams whose rank changed on a board that they can see; return the number of mails."""
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
    """Return the part of the items whose ranks are public; empty if the board, or a phase it carries over, is not."""
    asked = entry_sources(session, phase, board)
    sight = sight_of(session, asked, None, now)
    carried = [source.view.board is BoardShown.PUBLIC for source in sight.carried.values()]
    return [sight.own.view.half] if sight.own.view.board is not BoardShown.HIDDEN and all(carried) else []


def _members(session: Session, team_id: int) -> Sequence[User]:
    members = select(User).join(TeamMember, TeamMember.user_id == User.id).where(TeamMember.team_id == team_id)
    return session.scalars(members.order_by(User.email)).all()


def _rank(rank: int | None) -> str:
    return f"rank {rank}" if rank is not None else "no rank"
