"""The page of one row of a board, and the organisers' page of rows to mark."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm
from app.base.text import refuse
from app.boards.details import find_row, published_scores, scores_of_row, tests_of_row
from app.boards.leaderboard import build_leaderboard
from app.boards.marks import NOTE_CHARACTERS, clear_mark, entrants, list_marks, mark_row
from app.boards.rows import Leaderboard, LeaderboardRow
from app.boards.snapshots import find_official, official_board
from app.competitions.find import boards_of, find_board, find_competition, organised_task
from app.competitions.metrics import metrics_of
from app.models import Right, RowStatus
from app.people.rights import may_organise
from app.teams.find import is_team, orcids_of
from app.web.boards.query import HalfAsked
from app.web.html.guards import FormSender, PageForm, PageUserVisit, SentForm, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import Place, desk_of, workspace_of
from app.web.http.paths import BoardNames, BoardNamesHere, TaskNames, TaskNamesHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import PageVisit, UserVisit, Visit
from app.web.reports.pages import scores_table, signatures
from evergold.scoring.halves import Half

router = page_router()


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/rows/{submission_id}")
def read_row(
    visit: PageVisit,
    names: BoardNamesHere,
    submission_id: UUID,
    sort: str = "",
    half: HalfAsked = None,
) -> Response:
    return _row_page(visit, names, submission_id, None, sort, half)


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/official/{number}/rows/{submission_id}")
def read_official_row(
    visit: PageVisit,
    names: BoardNamesHere,
    number: RowId,
    submission_id: UUID,
    sort: str = "",
) -> Response:
    return _row_page(visit, names, submission_id, number, sort)


def _row_page(
    visit: Visit,
    place: BoardNames,
    submission_id: UUID,
    number: int | None,
    sort: str,
    half: Half | None = None,
) -> Response:
    """Return the page of a row; number: of the official board, None for the live one."""
    session, viewer = visit.session, visit.viewer
    seen_as = viewer.seen_as
    competition = find_competition(session, place[0])
    phase, board = find_board(competition, *place[1:])
    successor = None
    if number is None:
        leaderboard = build_leaderboard(session, phase, board, viewer, half=half)
    else:
        official = find_official(session, phase, board, number, viewer)
        leaderboard = official_board(session, official.snapshot, viewer)
        successor = official.successor
    row = find_row(leaderboard, submission_id)
    if row.kind == "historic":
        shows_all = number is None and not leaderboard.view.shows_ranking_scores_only
        scores = published_scores(session, phase, board, row) if shows_all else []
    else:
        scores = scores_of_row(session, leaderboard, row)
    workspace = workspace_of(session, competition, viewer, "leaderboard", Place(phase, board.task, board))
    here = links.board_row(*place, submission_id, number)

    def linked(wanted: str) -> str:
        parameters = {"sort": wanted, "as": seen_as or "", "part": half or ""}
        return f"{here}?{urlencode({name: value for name, value in parameters.items() if value})}#scores"

    table = scores_table(metrics_of(board.task), scores, leaderboard.precision, sort, linked) if scores else None
    if table is not None and row.kind == "historic":
        table = replace(table, caption="All published scores of this system.")
    return render_page(
        visit,
        "boards/row.html",
        competition=competition,
        workspace=workspace,
        is_team=viewer.user is not None and is_team(session, competition, row.team),
        may_hide=may_organise(session, viewer.user, competition, Right.SUBMISSIONS),
        phase=phase,
        board=board,
        number=number,
        successor=successor,
        leaderboard=leaderboard,
        row=row,
        ranked=sum(one.rank is not None for one in leaderboard.rows),
        orcids=orcids_of(session, competition.id, row.team) if _has_own_name(leaderboard, row, number) else [],
        address=here,
        table=table,
        signatures=signatures(tuple(scores)) if row.kind != "historic" else {},
        tests=tests_of_row(leaderboard, row),
        seen_as=seen_as,
    )


def _has_own_name(leaderboard: Leaderboard, row: LeaderboardRow, number: int | None) -> bool:
    """Return whether the row shows its team's current name, rather than a neutral or a former one."""
    return number is None and row.kind == "team" and row.carried_from is None and leaderboard.view.names


PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/rows"


class MarkForm(PageForm):
    """A mark for the rows of a team, or for one submission."""

    team: str = ""
    submission: str = ""
    status: str = ""
    note: str = ""

    def choice(self) -> tuple[RowStatus, UUID | None]:
        """Return the status, and the id of the submission if there is one; raise InvalidForm for invalid values."""
        wrong, submission_id, text = {}, None, self.submission.strip()
        if self.status not in tuple(RowStatus):
            wrong["status"] = "Choose one."
        try:
            submission_id = UUID(text) if text else None
        except ValueError:
            wrong["submission"] = "This is not a submission's ID."
        refuse(wrong)
        return RowStatus(self.status), submission_id


@router.get(PLACE)
def read_rows(visit: PageUserVisit, names: TaskNamesHere) -> Response:
    return _page(visit, names)


def _page(
    visit: UserVisit,
    names: TaskNames,
    form: MarkForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session = visit.session
    phase_task = organised_task(session, visit.user, *names, Right.SUBMISSIONS)
    marks = list_marks(session, phase_task)
    teams = entrants(session, phase_task)
    found = find_competition(session, names.competition)
    workspace = desk_of(session, found, visit.viewer)
    asked_in = next(one for one in found.phases if one.id == phase_task.phase_id)
    return render_page(
        visit,
        "boards/rows.html",
        competition=found,
        workspace=workspace,
        phase=asked_in,
        task=phase_task.task,
        place=names,
        boards=[board for board in boards_of(found, asked_in) if board.task_id == phase_task.task_id],
        marks=marks,
        teams=teams,
        typed=form or MarkForm(),
        error=error,
        note_characters=NOTE_CHARACTERS,
    )


@router.post(PLACE)
@form_again(_page, InvalidForm)
def send_mark(sender: SentForm, names: TaskNamesHere, form: Annotated[MarkForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        phase_task = organised_task(session, sender.user, *names, Right.SUBMISSIONS)
        status, submission_id = form.choice()
        mark_row(
            sender.act(session),
            phase_task,
            team=form.team,
            submission_id=submission_id,
            status=status,
            note=form.note,
        )
    return RedirectResponse(links.rows(*names), 303)


@router.post(f"{PLACE}/{{mark_id}}/clear")
def send_clear(
    sender: Annotated[FormSender, Depends(form_guard(PLACE))], names: TaskNamesHere, mark_id: RowId
) -> Response:
    with writing(sender.server.engine) as session:
        phase_task = organised_task(session, sender.user, *names, Right.SUBMISSIONS)
        clear_mark(sender.act(session), phase_task, mark_id)
    return RedirectResponse(links.rows(*names), 303)
