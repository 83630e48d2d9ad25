"""A ranking across tasks: one order of the teams of a phase from several of its boards.

It is built from what the viewer sees of these boards, so that it reveals no more than they do: if one is hidden, so is
the ranking, and if one shows only ranks, there are no mean scores. Sums are exact: fractions, not floats.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.boards.leaderboard import build_leaderboard
from app.boards.rows import Leaderboard, LeaderboardRow
from app.competitions.find import boards_of
from app.competitions.ordering import effective_decimals
from app.competitions.visibility import EXACT_DECIMALS, Viewer, rounded
from app.models import Board, BoardShown, Competition, MissingEntry, Phase, RankingBy


@dataclass(frozen=True, slots=True)
class RankedBoard:
    """A board of the ranking. weight: above 0."""

    board: Board
    weight: Fraction


@dataclass(frozen=True, slots=True)
class Ranking:
    """A declared ranking, for phases with all of its boards."""

    name: str
    title: str
    description: str
    by: RankingBy
    missing: MissingEntry
    boards: tuple[RankedBoard, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """A team's result on one board: its rank and score, None if it has none. counted: its value in the mean."""

    rank: int | None
    score: float | None
    counted: Fraction


@dataclass(frozen=True, slots=True)
class RankedTeam:
    """A row of the ranking. mean: of the counted values; standings: by board."""

    rank: int
    team: str
    mean: Fraction
    standings: tuple[Standing, ...]
    is_mine: bool = False


@dataclass(frozen=True, slots=True)
class RankingTable:
    """The ranking as its viewer sees it.

    hidden: titles of boards that the viewer may not see in full; if there are any, there are no rows.
    left_out: number of teams left out because they lack an entry on some board.
    """

    ranking: Ranking
    rows: tuple[RankedTeam, ...]
    hidden: tuple[str, ...] = ()
    left_out: int = 0


def rankings_of(competition: Competition, phase: Phase) -> list[Ranking]:
    """List the rankings whose boards are all in the phase. competition: from `find_competition`."""
    boards = {board.name: board for board in boards_of(competition, phase)}
    declared = [one for one in competition.rankings if all(part["board"] in boards for part in one["boards"])]
    return [_ranking(one, boards) for one in declared]


def find_ranking(competition: Competition, phase: Phase, name: str) -> Ranking:
    """Return the ranking with this name; raises NotFound."""
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
            # Exact as written: 0.1 is a tenth, not the nearest float.
            RankedBoard(boards[part["board"]], Fraction(str(part.get("weight", 1))))
            for part in declared["boards"]
        ),
    )


def build_ranking(
    session: Session,
    phase: Phase,
    ranking: Ranking,
    viewer: Viewer,
) -> RankingTable:
    """Return the ranking as this viewer sees it now."""
    shown = [build_leaderboard(session, phase, one.board, viewer) for one in ranking.boards]
    has_names = any(board.view.names for board in shown)
    hidden = tuple(
        one.board.title
        for one, board in zip(ranking.boards, shown, strict=True)
        # Neutral names on only some of the boards would split each team in two.
        if not _is_shown(ranking, board) or board.view.names != has_names
    )
    return RankingTable(ranking, (), hidden) if hidden else rank_across(ranking, shown)


def _is_shown(ranking: Ranking, board: Leaderboard) -> bool:
    """Return True if the viewer sees those values of the board that the ranking uses."""
    if board.view.is_organiser or board.view.board is BoardShown.PUBLIC:
        return True
    return ranking.by is RankingBy.MEAN_RANK and board.view.board is BoardShown.RANKS_ONLY


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The ranked rows of a board: the best one of each team, the number of all, and the lowest score.

    decimals: to which ranking scores are rounded.
    """

    board: Leaderboard
    rows: Mapping[str, LeaderboardRow]
    count: int
    lowest: float | None
    decimals: int


def rank_across(ranking: Ranking, shown: Sequence[Leaderboard]) -> RankingTable:
    """Return the ranking of the teams that have a rank on at least one board. shown: the boards, in the ranking's
    order.
    """
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
    """Return the ranked rows; if a board shows all entries of a team, its best one counts."""
    with_rank = sorted(((row.rank, row) for row in board.rows if row.rank is not None), key=lambda pair: pair[0])
    best: dict[str, LeaderboardRow] = {}
    for _, row in with_rank:
        best.setdefault(row.team, row)
    scores = [value for row in best.values() if (value := _score(board, row)) is not None]
    return _Ranked(board, best, len(with_rank), min(scores, default=None), _decimals(board))


def _decimals(board: Leaderboard) -> int:
    decimals = effective_decimals(board.columns[board.rank_by], board.view.ranks_by)
    return EXACT_DECIMALS if decimals is None else decimals


def _mean(ranking: Ranking, line: Sequence[Standing], decimals: int) -> Fraction:
    """Return the weighted mean, rounded to the ranking's decimals so that means that look equal share a rank."""
    weights = [one.weight for one in ranking.boards]
    counted = [weight * one.counted for weight, one in zip(weights, line, strict=True)]
    mean = sum(counted, Fraction(0)) / sum(weights, Fraction(0))
    return mean if ranking.by is RankingBy.MEAN_RANK else round(mean, decimals)


def _cost(ranking: Ranking, mean: Fraction) -> Fraction:
    """Return a value that is lower for better means."""
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
