"""Boards, results, teams and rankings as JSON and CSV, restricted to what the viewer may see."""

from __future__ import annotations

import csv
import io
from datetime import datetime

import orjson

from app.base import api_links, links
from app.base.text import spreadsheet_safe
from app.boards.rankings import RankingTable
from app.boards.row_comparison import RowComparison
from app.boards.rows import Cell, Leaderboard, LeaderboardRow, scored_with
from app.boards.side_by_side import Results
from app.boards.snapshots import Official, Successor
from app.boards.team_rows import TeamRow, TeamSystem, systems_of
from app.boards.views import (
    CSV_FIELDS,
    BoardOut,
    BoardPlace,
    CellOut,
    ColumnOut,
    CommittedGoldOut,
    DifferenceTestOut,
    OfficialOut,
    PublicTeamOut,
    RankedBoardOut,
    RankingOut,
    ResultColumnOut,
    ResultsOut,
    RowComparisonOut,
    RowOut,
    ScorePairOut,
    StatisticsOut,
    SuccessorOut,
    TeamRowOut,
    TeamSystemOut,
    row_document,
)
from app.competitions.views import describe_visibility
from app.models import Board, Competition, CompetitionTask, Phase
from app.runs.workers import NO_INTERVALS, runs_program


def board_json(
    competition: Competition, phase: Phase, board: Board, leaderboard: Leaderboard, official: Official | None
) -> bytes:
    """Return the board as JSON, in the format of BoardOut.

    official: the latest official version if there is one, or the version that this board is. Rows are serialised
    without
    validation: for thousands of rows, validating each field takes longer than all the rest.
    """
    document = _without_rows(competition, phase, board, leaderboard, official).model_dump(mode="json")
    return orjson.dumps({**document, "rows": [row_document(row) for row in leaderboard.rows]}, option=orjson.OPT_UTC_Z)


def _without_rows(
    competition: Competition, phase: Phase, board: Board, leaderboard: Leaderboard, official: Official | None
) -> BoardOut:
    place = competition.name, phase.name, board.name
    return BoardOut(
        name=board.name,
        title=board.title,
        description=board.description,
        competition=competition.name,
        phase=phase.name,
        task=board.task.name,
        track=board.track,
        entry_rule=leaderboard.entry_rule,
        rank_by=leaderboard.rank_by,
        columns=leaderboard.columns,
        rows=[],
        card_columns=leaderboard.card_columns,
        gold_version=leaderboard.gold_version,
        sealed_gold=[
            CommittedGoldOut(version=gold.number, commitment=gold.commitment) for gold in leaderboard.sealed_gold
        ],
        task_versions=scored_with(leaderboard).task_versions,
        outdated_rows=scored_with(leaderboard).outdated,
        part=leaderboard.half,
        statistics=_statistics(board, leaderboard),
        visibility=describe_visibility(leaderboard.view),
        official=_official(place, official) if official else None,
        version=leaderboard.version,
        page=links.board(*place),
    )


def _statistics(board: Board, leaderboard: Leaderboard) -> StatisticsOut:
    if runs_program(board.task.task_type):
        return StatisticsOut(state="none", version=None, note=NO_INTERVALS)
    has_ranges = any(row.rank_range for row in leaderboard.rows)
    return StatisticsOut(state=leaderboard.statistics, version=leaderboard.version if has_ranges else None)


def _official(place: tuple[str, str, str], official: Official) -> OfficialOut:
    snapshot = official.snapshot
    return OfficialOut(
        number=snapshot.number,
        closed_at=snapshot.closed_at,
        made_at=snapshot.made_at,
        note=snapshot.note,
        link=api_links.official(*place, snapshot.number),
        superseded_by=_successor(place, official.successor) if official.successor else None,
    )


def _successor(place: tuple[str, str, str], successor: Successor) -> SuccessorOut:
    number = successor.snapshot.number if successor.snapshot else None
    return SuccessorOut(
        number=number,
        link=api_links.official(*place, number) if number else api_links.board(*place),
        page=links.official(*place, number) if number else links.board(*place),
        closes_at=successor.closes_at,
        newest=successor.newest.number if successor.newest else None,
    )


def board_csv(leaderboard: Leaderboard, superseded_by: str = "") -> str:
    """Return the board as CSV, with the decimals of the JSON; undefined scores are empty (the JSON has the reasons).

    Optional columns: track if the competition has tracks; phase if entries are carried over; sealed gold version and
    commitment if gold is sealed; status and note if any row has one, and likewise the published rank; one for each
    method card answer on the board; with statistics, best and worst rank, cluster, and both ends of each score's
    interval (if any row has one). `ranked_by` names the score that ranks the board, as in the heading of its column.
    superseded_by: address of the results that replace an official board, for an additional last column.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    rows, answers = leaderboard.rows, [column.name for column in leaderboard.card_columns]
    has_status, has_ranges = any(row.status for row in rows), any(row.rank_range for row in rows)
    is_there = {
        "track": leaderboard.has_tracks,
        "carried_from": any(row.carried_from for row in rows),
        **dict.fromkeys(("sealed_gold", "commitment"), bool(leaderboard.sealed_gold)),
        **dict.fromkeys(("status", "note"), has_status),
        "published_rank": any(row.published_rank for row in rows),
    }
    fields = [name for name in CSV_FIELDS if is_there.get(name, True)]
    scores = [f"{column.metric} {column.split}" for column in leaderboard.columns]
    sure = [at for at in range(len(scores)) if any(row.cells and row.cells[at].interval for row in rows)]
    ranges = ["rank_low", "rank_high", "cluster"] if has_ranges else []
    ends = [f"{scores[at]} {end}" for at in sure for end in ("low", "high")]
    later = ["superseded_by"] if superseded_by else []
    columns = [f"card {name}" for name in answers]
    writer.writerow([*fields, *columns, *scores, *ranges, *ends, "ranked_by", *later])
    for row in rows:
        writer.writerow(
            [
                *(_csv_value(getattr(row, name)) for name in fields),
                *(_card_text(row, name) for name in answers),
                *(cell.value for cell in row.cells),
                *([*(row.rank_range or ("", "")), row.cluster] if ranges else []),
                *(end for at in sure for end in _ends(row.cells[at])),
                scores[leaderboard.rank_by],
                *([superseded_by] if superseded_by else []),
            ]
        )
    return text.getvalue()


def _csv_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return spreadsheet_safe(value) if isinstance(value, str) else value


def _ends(cell: Cell) -> tuple[float | None, float | None]:
    return (cell.interval.low, cell.interval.high) if cell.interval else (None, None)


def _card_text(row: LeaderboardRow, name: str) -> str:
    """Return a row's method card answer for a column, safe for spreadsheets; numbers remain numbers, even negative
    ones.
    """
    answer = row.answer(name)
    if answer is None:
        return ""
    return spreadsheet_safe(answer.text) if isinstance(answer.value, str) else answer.text


def describe_row_comparison(
    place: tuple[str, str, str], leaderboard: Leaderboard, compared: RowComparison
) -> RowComparisonOut:
    """Return two rows of a board, with the values that the board shows."""
    rows = compared.first, compared.second
    return RowComparisonOut(
        competition=place[0],
        phase=place[1],
        board=place[2],
        first=RowOut.model_validate(row_document(rows[0])),
        second=RowOut.model_validate(row_document(rows[1])),
        test=compared.test and DifferenceTestOut.model_validate(compared.test),
        is_significant=compared.test and compared.test.is_significant,
        statistics=leaderboard.statistics,
        scores=[
            ScorePairOut(
                column=ColumnOut.model_validate(pair.column),
                first=CellOut.model_validate(pair.first),
                second=CellOut.model_validate(pair.second),
                difference=pair.difference,
                is_same_computation=pair.is_same_computation,
                better=pair.better,
            )
            for pair in compared.scores
        ],
        page=links.board_compare(*place, *(one.page_id for one in rows if one.page_id is not None)),
    )


def describe_results(competition: Competition, task: CompetitionTask, results: Results) -> ResultsOut:
    """Return the API object of the results, with the addresses of their boards."""
    return ResultsOut(
        competition=competition.name,
        task=task.name,
        title=task.title,
        sorted_by=results.sorted_by,
        columns=[
            ResultColumnOut(
                phase=column.phase.name,
                board=column.board.name,
                title=column.title,
                track=column.board.track,
                metric=column.shown.metric,
                split=column.shown.split,
                decimals=column.shown.decimals,
                percent=column.shown.percent,
                higher_is_better=column.shown.higher_is_better,
                visibility=describe_visibility(column.view),
                link=api_links.board(competition.name, column.phase.name, column.board.name),
            )
            for column in results.columns
        ],
        rows=results.rows,
        page=links.results(competition.name, task.name),
    )


def results_csv(results: Results) -> str:
    """Return the results as CSV, with the decimals of the JSON; missing values are empty.

    Columns are named `phase/board`.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["team", "kind", "source", *(f"{one.phase.name}/{one.board.name}" for one in results.columns)])
    for row in results.rows:
        writer.writerow(
            [
                spreadsheet_safe(row.team),
                row.kind,
                spreadsheet_safe(row.source or ""),
                *(cell.value for cell in row.cells),
            ]
        )
    return text.getvalue()


def describe_team(competition: Competition, team: str, rows: list[TeamRow], orcids: list[str]) -> PublicTeamOut:
    """Return the API object of a team with its systems. rows: from `team_rows`; orcids: from `shown_orcids`."""
    return PublicTeamOut(
        competition=competition.name,
        team=team,
        is_mine=any(one.row.is_mine for one in rows),
        rows=[_row(competition, one) for one in rows],
        systems=[_system(one) for one in systems_of(rows)],
        orcids=orcids,
        page=links.public_team(competition.name, team),
    )


def _row(competition: Competition, one: TeamRow) -> TeamRowOut:
    place = competition.name, one.phase.name, one.board.name
    return TeamRowOut(
        phase=one.phase.name,
        board=one.board.name,
        task=one.board.task.name,
        ranked=one.of,
        rank_by=one.leaderboard.rank_by,
        columns=one.leaderboard.columns,
        row=RowOut.model_validate(row_document(one.row)),
        official=one.official,
        renamed_to=one.renamed_to,
        page=links.board(*place) if one.official is None else links.official(*place, one.official),
    )


def _system(system: TeamSystem) -> TeamSystemOut:
    places = [BoardPlace(phase=one.phase.name, board=one.board.name) for one in system.rows]
    return TeamSystemOut(name=system.name, card=system.card, boards=places)


def describe_ranking(table: RankingTable) -> RankingOut:
    """Return the API object of the ranking, with its boards by name."""
    return RankingOut(
        name=table.ranking.name,
        title=table.ranking.title,
        by=table.ranking.by,
        missing=table.ranking.missing,
        boards=[RankedBoardOut(board=one.board.name, weight=float(one.weight)) for one in table.ranking.boards],
        hidden=table.hidden,
        left_out=table.left_out,
        rows=table.rows,
    )


def ranking_csv(table: RankingTable) -> str:
    """Return the ranking as CSV, a line per team: rank and mean, then rank, score and counted value for each board."""
    text = io.StringIO()
    writer = csv.writer(text)
    of_boards = [f"{one.board.name} {what}" for one in table.ranking.boards for what in ("rank", "score", "counted")]
    writer.writerow(["rank", "team", "mean", *of_boards])
    for row in table.rows:
        there = [value for one in row.standings for value in (one.rank, one.score, float(one.counted))]
        writer.writerow([row.rank, spreadsheet_safe(row.team), float(row.mean), *there])
    return text.getvalue()
