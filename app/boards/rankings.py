"""A ranking across tasks: one order of the teams of a phase from several of its boards.

Made of what its reader sees of these boards, so it never tells more than they do: where one is hidden, so is the
ranking, and where one shows ranks alone, there are no mean scores. Sums are exact: fractions, not floats.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.leaderboard import build_leaderboard
from app.boards.rows import Leaderboard, LeaderboardRow
from app.competitions.find import boards_of
from app.competitions.ordering import decimals_of
from app.competitions.visibility import EXACT_DECIMALS, SeenAs, rounded
from app.models import Board, BoardShown, Competition, Phase, User


class RankingBy(StrEnum):
    MEAN_RANK = "mean_rank"
    MEAN_SCORE = "mean_score"


class MissingEntry(StrEnum):
    """What a team counts that has no rank on one of the boards."""

    LEFT_OUT = "left_out"  # the team has no place in the ranking
    WORST = "worst"  # the rank behind the last; the lowest score of those that are ranked
    ZERO = "zero"  # of scores


@dataclass(frozen=True, slots=True)
class RankedBoard:
    """A board of the ranking. weight: above 0."""

    board: Board
    weight: Fraction


@dataclass(frozen=True, slots=True)
class Ranking:
    """As declared, for a phase that asks the tasks of all its boards."""

    name: str
    title: str
    description: str
    by: RankingBy
    missing: MissingEntry
    boards: tuple[RankedBoard, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """A team on one board: its rank and score there; None: it has none, and `counted` stands for it."""

    rank: int | None
    score: float | None
    counted: Fraction


@dataclass(frozen=True, slots=True)
class RankedTeam:
    """A row. mean: of what counted; standings: by board."""

    rank: int
    team: str
    mean: Fraction
    standings: tuple[Standing, ...]
    is_mine: bool = False


@dataclass(frozen=True, slots=True)
class RankingTable:
    """hidden: titles of the boards that this reader does not see, or not enough of; then there are no rows. left_out:
    how many teams have an entry on some of the boards alone, where those are left out."""

    ranking: Ranking
    rows: tuple[RankedTeam, ...]
    hidden: tuple[str, ...] = ()
    left_out: int = 0


def rankings_of(competition: Competition, phase: Phase) -> list[Ranking]:
    """Those of which the phase has every board. competition: as `find_competition` gives it."""
    boards = {board.name: board for board in boards_of(competition, phase)}
    declared = [one for one in competition.rankings if all(part["board"] in boards for part in one["boards"])]
    return [_ranking(one, boards) for one in declared]


def find_ranking(competition: Competition, phase: Phase, name: str) -> Ranking:
    """Raises NotFound."""
    found = next((one for one in rankings_of(competition, phase) if one.name == name), None)
    if found is None:
        raise NotFound(f"Phase '{phase.name}' of '{competition.name}' has no ranking '{name}'.")
    return found


def _ranking(declared: Mapping[str, Any], boards: Mapping[str, Board]) -> Ranking:
    return Ranking(
        name=declared["name"],
        title=declared["title"],
        description=declared.get("description", ""),
        by=RankingBy(declared.get("by", RankingBy.MEAN_RANK)),
        missing=MissingEntry(declared.get("missing", MissingEntry.LEFT_OUT)),
        boards=tuple(
            # As it is written: 0.1 is a tenth, and not the float next to it.
            RankedBoard(boards[part["board"]], Fraction(str(part.get("weight", 1))))
            for part in declared["boards"]
        ),
    )


def build_ranking(
    session: Session,
    phase: Phase,
    ranking: Ranking,
    viewer: User | None,
    now: datetime,
    *,
    seen_as: SeenAs | None = None,
) -> RankingTable:
    """The ranking as this viewer sees it at this moment."""
    shown = [build_leaderboard(session, phase, one.board, viewer, now, seen_as=seen_as) for one in ranking.boards]
    has_names = any(board.view.names for board in shown)
    hidden = tuple(
        one.board.title
        for one, board in zip(ranking.boards, shown, strict=True)
        # Neutral names on one of them alone would make two teams of each.
        if not _is_shown(ranking, board) or board.view.names != has_names
    )
    return RankingTable(ranking, (), hidden) if hidden else rank_across(ranking, shown)


def _is_shown(ranking: Ranking, board: Leaderboard) -> bool:
    """Whether its reader sees of a board what the ranking is made of."""
    if board.view.is_organiser or board.view.board is BoardShown.PUBLIC:
        return True
    return ranking.by is RankingBy.MEAN_RANK and board.view.board is BoardShown.RANKS_ONLY


@dataclass(frozen=True, slots=True)
class _Ranked:
    """What a board says of those that have a rank there: the best row of each team; how many rows in all; the lowest of
    the scores. decimals: by which it ranks."""

    board: Leaderboard
    rows: Mapping[str, LeaderboardRow]
    count: int
    lowest: float | None
    decimals: int


def rank_across(ranking: Ranking, shown: Sequence[Leaderboard]) -> RankingTable:
    """shown: the boards, in the ranking's order. Ranked are those who have a rank on at least one of them."""
    ranked = [_ranked(board) for board in shown]
    teams = dict.fromkeys(team for board in ranked for team in board.rows)
    whole = [team for team in teams if all(team in board.rows for board in ranked)]
    placed = whole if ranking.missing is MissingEntry.LEFT_OUT else list(teams)
    lines = {team: tuple(_standing(ranking, board, team) for board in ranked) for team in placed}
    decimals = min(board.decimals for board in ranked)
    means = {team: _mean(ranking, line, decimals) for team, line in lines.items()}
    in_order = sorted(_cost(ranking, mean) for mean in means.values())
    rows = [
        RankedTeam(
            rank=1 + bisect_left(in_order, _cost(ranking, means[team])),
            team=team,
            mean=means[team],
            standings=line,
            is_mine=any(team in board.rows and board.rows[team].is_mine for board in ranked),
        )
        for team, line in lines.items()
    ]
    rows.sort(key=lambda row: (row.rank, row.team.casefold(), row.team))
    return RankingTable(ranking, tuple(rows), left_out=len(teams) - len(placed))


def _ranked(board: Leaderboard) -> _Ranked:
    """Where all entries of a team stand on a board, its best one counts."""
    with_rank = sorted(((row.rank, row) for row in board.rows if row.rank is not None), key=lambda pair: pair[0])
    best: dict[str, LeaderboardRow] = {}
    for _, row in with_rank:
        best.setdefault(row.team, row)
    scores = [value for row in best.values() if (value := _score(board, row)) is not None]
    return _Ranked(board, best, len(with_rank), min(scores, default=None), _decimals(board))


def _decimals(board: Leaderboard) -> int:
    decimals = decimals_of(board.columns[board.rank_by], board.view.ranks_by)
    return EXACT_DECIMALS if decimals is None else decimals


def _mean(ranking: Ranking, line: Sequence[Standing], decimals: int) -> Fraction:
    """Of scores with as many decimals as they rank by, so that means which look equal share a rank."""
    weights = [one.weight for one in ranking.boards]
    counted = [weight * one.counted for weight, one in zip(weights, line, strict=True)]
    mean = sum(counted, Fraction(0)) / sum(weights, Fraction(0))
    return mean if ranking.by is RankingBy.MEAN_RANK else round(mean, decimals)


def _cost(ranking: Ranking, mean: Fraction) -> Fraction:
    """The less, the better."""
    return mean if ranking.by is RankingBy.MEAN_RANK else -mean


def _standing(ranking: Ranking, on: _Ranked, team: str) -> Standing:
    row = on.rows.get(team)
    score = _score(on.board, row) if row is not None else None
    rank = row.rank if row is not None else None
    if ranking.by is RankingBy.MEAN_RANK:
        return Standing(rank, score, Fraction(rank if rank is not None else on.count + 1))
    if score is not None:
        return Standing(rank, score, Fraction(str(rounded(score, on.decimals))))
    lowest = on.lowest if ranking.missing is MissingEntry.WORST else None
    return Standing(None, None, Fraction(str(rounded(lowest or 0, on.decimals))))


def _score(board: Leaderboard, row: LeaderboardRow) -> float | None:
    return row.cells[board.rank_by].value if row.cells else None
