"""Describes competitions, phases, tasks and boards for clients of Codabench, as one viewer may see them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from app.boards.leaderboard import build_leaderboard
from app.boards.view import NOT_SHOWN
from app.competitions.columns import BoardColumn, board_columns
from app.competitions.find import boards_of
from app.competitions.limits import declared_limits, phase_state, quota
from app.competitions.visibility import Viewer, view_of_board
from app.models import Board, Competition, CompetitionTask, Phase, PhaseTask, Stage
from app.submissions.downloads import file_access, file_viewer
from app.teams.find import find_team
from app.web.codabench.find import PlacedBoard, phases_of
from app.web.codabench.numbers import KeyOf, key_of
from app.web.codabench.views import (
    ColumnOut,
    CompetitionOut,
    DatasetOut,
    LeaderboardOut,
    LeaderboardSummary,
    ListedCompetition,
    PageOut,
    PhaseOut,
    RowOut,
    ScoreOut,
    TaskOut,
)

#: Codabench's status of a phase, by the phase's state.
STATUSES = {"upcoming": "Next", "open": "Current", "closed": "Previous"}
#: The split whose scores have only the name of the metric as their key.
WHOLE_SPLIT = "all"
#: Number of decimals in Codabench.
DECIMALS = 10


def list_competition(competition: Competition) -> ListedCompetition:
    """Return the description of a competition for the list."""
    return ListedCompetition(
        id=competition.id,
        title=competition.title,
        description=competition.summary,
        created_by=competition.contact,
        created_when=_begins(competition),
        published=competition.stage == Stage.PUBLISHED,
    )


def describe_competition(session: Session, competition: Competition, viewer: Viewer) -> CompetitionOut:
    """Return the description of a competition with its parts."""
    texts = [("Overview", competition.description), *((one.title, one.description) for one in competition.tasks)]
    pages = [(title, text) for title, text in texts if text]
    return CompetitionOut(
        **list_competition(competition).model_dump(),
        owner_display_name=competition.contact,
        pages=[PageOut(index=index, title=title, content=text) for index, (title, text) in enumerate(pages)],
        phases=[describe_phase(session, competition, phase, viewer) for phase in competition.phases],
        leaderboards=describe_boards(session, competition, competition.boards, viewer),
    )


def describe_phase(session: Session, competition: Competition, phase: Phase, viewer: Viewer) -> PhaseOut:
    """Return the description of a phase of a competition with its tasks."""
    limits = declared_limits(phase)
    return PhaseOut(
        id=phase.id,
        index=competition.phases.index(phase),
        name=phase.title,
        description=phase.description,
        status=STATUSES[phase_state(phase, viewer.now)],
        start=phase.starts_at,
        end=phase.ends_at,
        competition=competition.id,
        max_submissions_per_day=limits.per_day,
        max_submissions_per_person=limits.total,
        used_submissions_per_person=_used(session, phase, viewer),
        tasks=[describe_task(session, competition, phase, one, viewer) for one in phase.phase_tasks],
    )


def describe_task(
    session: Session, competition: Competition, phase: Phase, phase_task: PhaseTask, viewer: Viewer
) -> TaskOut:
    """Return the description of a task of a phase, with the files that this viewer may download now."""
    files = file_access(
        competition,
        phase,
        phase_task,
        file_viewer(session, competition, viewer.user, seen_as=viewer.seen_as),
        viewer.now,
    )
    return TaskOut(
        id=phase_task.id,
        key=key_of(KeyOf.PHASE_TASK, phase_task.id),
        name=phase_task.task.title,
        description=phase_task.task.description,
        phase=phase.id,
        competition=competition.id,
        public_datasets=[
            DatasetOut(
                key=key_of(KeyOf.PUBLIC_FILE, one.file.id),
                name=one.file.name,
                type="public_data",
                file_size=one.file.size_bytes,
            )
            for one in files
            if one.is_open
        ],
    )


def describe_boards(
    session: Session, competition: Competition, boards: Sequence[Board], viewer: Viewer
) -> list[LeaderboardSummary]:
    """Return descriptions, without rows, of those boards of a competition that are in a phase."""
    found = [(board, next(iter(phases_of(competition, board, viewer)), None)) for board in boards]
    return [
        summary
        for board, phase in found
        if phase is not None
        for summary in [_summary(session, PlacedBoard(competition, phase, board), viewer)]
    ]


def boards_in(session: Session, competition: Competition, phase: Phase, viewer: Viewer) -> list[LeaderboardOut]:
    """Return descriptions, with rows, of the boards of a phase."""
    return [
        describe_board(session, PlacedBoard(competition, phase, board), viewer)
        for board in boards_of(competition, phase)
    ]


def describe_board(session: Session, place: PlacedBoard, viewer: Viewer) -> LeaderboardOut:
    """Return the description of a board with the rows of teams and baselines; published results are left out."""
    competition, phase, board = place
    shown = build_leaderboard(session, phase, board, viewer)
    keys = [column_key(competition, board.task, column.metric, column.split) for column in shown.columns]
    rows = []
    for row in shown.rows:
        if row.source is not None:
            continue
        scores = [
            ScoreOut(
                index=index,
                column_key=keys[index],
                score=decimal_of(cell.value),
                reason=cell.reason,
                is_primary=index == shown.rank_by,
            )
            for index, cell in enumerate(row.cells)
            if cell.reason != NOT_SHOWN
        ]
        rows.append(RowOut(owner=row.team, rank=row.rank, scores=scores))
    return LeaderboardOut(
        id=board.id,
        title=board.title,
        primary_index=shown.rank_by,
        columns=_columns(competition, board, shown.columns),
        phase=phase.id,
        submissions=rows,
    )


def column_key(competition: Competition, task: CompetitionTask, metric: str, split: str) -> str:
    """Return the key of a score: its metric, followed by the split unless that is `all`.

    The task comes first if one upload to a phase may go to several tasks. competition: with its phases and their tasks.
    """
    key = metric if split == WHOLE_SPLIT else f"{metric}.{split}"
    return f"{task.name}.{key}" if any(len(phase.phase_tasks) > 1 for phase in competition.phases) else key


def decimal_of(value: float | None) -> str | None:
    """Return a score as a string with Codabench's number of decimals; None stays None."""
    return None if value is None else f"{value:.{DECIMALS}f}"


def primary_key_of(competition: Competition, board: Board) -> str:
    """Return the key of the score that ranks a board."""
    return column_key(competition, board.task, board.rank_metric, board.rank_split)


def _summary(session: Session, place: PlacedBoard, viewer: Viewer) -> LeaderboardSummary:
    competition, phase, board = place
    view = view_of_board(session, phase, board, viewer)
    columns = [one for one in board_columns(board) if view.shows(one.metric, one.split)]
    ranked = [(one.metric, one.split) == (board.rank_metric, board.rank_split) for one in columns]
    return LeaderboardSummary(
        id=board.id,
        title=board.title,
        primary_index=ranked.index(True) if True in ranked else 0,
        columns=_columns(competition, board, columns),
    )


def _columns(competition: Competition, board: Board, columns: Sequence[BoardColumn]) -> list[ColumnOut]:
    return [
        ColumnOut(
            key=column_key(competition, board.task, column.metric, column.split),
            title=column.title if len(competition.boards) == 1 else f"{board.title} · {column.title}",
            index=index,
            sorting="desc" if column.higher_is_better else "asc",
            precision=column.decimals,
        )
        for index, column in enumerate(columns)
    ]


def _used(session: Session, phase: Phase, viewer: Viewer) -> int | None:
    if viewer.user is None or not phase.phase_tasks:
        return None
    team = find_team(session, viewer.user, phase.competition_id)
    return max(quota(session, team, one, viewer.now, user=viewer.user).used_total for one in phase.phase_tasks)


def _begins(competition: Competition) -> datetime | None:
    return min((phase.starts_at for phase in competition.phases), default=None)
