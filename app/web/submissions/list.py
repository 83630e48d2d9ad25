"""A team's own submissions: the list, the page of one task with charts, a comparison of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import reading
from app.boards.side_by_side import short_titles
from app.competitions.find import find_competition
from app.competitions.metrics import metrics_of
from app.competitions.visibility import Viewer
from app.feedback.compare import NotComparable, compare
from app.feedback.history import MOST_SHOWN, History, Place, chart_svg, history_of, places_of
from app.feedback.items import ComparedItem, ItemComparison, Showing, compare_items
from app.feedback.scores import OwnScores, boards_of_run, own_scores_of_all
from app.feedback.standings import RunStanding, standings_of_all
from app.models import Board, Competition, RunStatus, ScoringRun, Submission, User
from app.submissions.find import current_run, get_submission, list_submissions, load_submissions, newest_own
from app.web.html.guards import PageUser
from app.web.html.rendering import render
from app.web.html.workspace import Place as WorkspacePlace, workspace_of, workspace_of_task
from app.web.http.context import ServerHere
from app.web.http.routers import page_router


def chart_of(history: History | None, counting: UUID | None = None) -> Markup | None:
    """Return the chart, or None for fewer than two submissions. counting: the one that counts, if it is known."""
    if history is None or len(history.attempts) < 2:
        return None
    title = f"{history.board.title}, {history.place.phase_title}: scores over time"
    return Markup(chart_svg(history.attempts, history.column, title, counting))  # noqa: S704 - escaped by ElementTree


router = page_router()

PAGE_LENGTH = 30
#: Longer names do not exist.
Name = Annotated[str, Query(max_length=200)]
#: A choice: title, address, whether it is the current one.
Option = tuple[str, str, bool]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A submission with its current run; standings: by board name."""

    submission: Submission
    run: ScoringRun
    standings: dict[str, RunStanding]
    own: OwnScores

    @property
    def first(self) -> RunStanding | None:
        """The result that counts, else the first with a score; None without a result."""
        found = list(self.standings.values())
        counting = next((one for one in found if one.counts), None)
        return counting or next((one for one in found if one.score.value is not None), found[0] if found else None)


@dataclass(frozen=True, slots=True)
class Runs:
    """The submissions of one place.

    board: the board of differences and ranks; None if no board was entered.
    """

    rows: Sequence[RunRow]
    boards: Sequence[Board]
    board: Board | None
    history: History | None
    chart: Markup | None
    page: int
    pages: int

    @property
    def counting(self) -> UUID | None:
        """The submission that counts on the board, if it is among these."""
        name = self.board.name if self.board else ""
        counts = (row.submission.id for row in self.rows if (one := row.standings.get(name)) is not None and one.counts)
        return next(counts, None)

    @property
    def has_tests(self) -> bool:
        """True if any change has a significance test."""
        standings = [row.standings.get(self.board.name) for row in self.rows] if self.board else []
        return any(one is not None and one.change_test is not None for one in standings)


@router.get("/competitions/{competition}/runs")
def read_runs(
    request: Request,
    server: ServerHere,
    user: PageUser,
    competition: str,
    phase: Name = "",
    task: Name = "",
    board: Name = "",
    page: Annotated[int, Query(ge=1, le=10_000)] = 1,
) -> Response:
    """Without a phase and a task: those of the newest run."""
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        places = places_of(session, user, found.name)
        place = _wanted(session, user, found, places, phase, task)
        runs = _runs(session, user, place, board, page, now) if place else None
        workspace = workspace_of(session, found, Viewer(user, now), "runs", _where(found, place))
    return render(
        request,
        "submissions/runs.html",
        competition=found,
        workspace=workspace,
        place=place,
        runs=runs,
        **_options(found, places, place, runs),
        now=now,
    )


def _wanted(
    session: Session, user: User, competition: Competition, places: Sequence[Place], phase: str, task: str
) -> Place | None:
    """Return the place of the newest submission that matches the address."""
    fitting = [one for one in places if phase in ("", one.phase) and task in ("", one.task)]
    if len(fitting) < 2:
        return next(iter(fitting), None)
    newest = newest_own(session, user, (competition.name, phase or None, task or None), limit=1)
    where = {session.get_one(Submission, one).phase_task_id for one in newest}
    return next((one for one in fitting if one.phase_task_id in where), None)


def _where(competition: Competition, place: Place | None) -> WorkspacePlace:
    if place is None:
        return WorkspacePlace()
    phase = next(one for one in competition.phases if one.name == place.phase)
    return WorkspacePlace(phase, next(one for one in competition.tasks if one.name == place.task))


def _runs(session: Session, user: User, place: Place, board: str, page: int, now: datetime) -> Runs:
    every = newest_own(session, user, (place.competition, place.phase, place.task), limit=MOST_SHOWN)
    pages = max(1, -(-len(every) // PAGE_LENGTH))
    page = min(page, pages)
    wanted = load_submissions(session, every[(page - 1) * PAGE_LENGTH : page * PAGE_LENGTH])
    ranking = {(one.rank_metric, one.rank_split) for one in boards_of_run(session, wanted[0])}
    own = own_scores_of_all(session, wanted, Viewer(user, now), ranking)
    standings = standings_of_all(session, wanted, own, Viewer(user, now), with_history=True)
    boards = [
        one for one in boards_of_run(session, wanted[0]) if any(_is_entered(one, standings[s.id]) for s in wanted)
    ]
    chosen = next((one for one in boards if one.name == board), boards[0] if boards else None)
    history = history_of(session, user, place, now, board=chosen.name) if chosen else None
    rows = [
        RunRow(one, current_run(one), {found.board.name: found for found in standings[one.id]}, own[one.id])
        for one in wanted
    ]
    found = Runs(rows, boards, chosen, history, None, page, pages)
    return replace(found, chart=chart_of(history, found.counting))


def _run_rows(session: Session, user: User, submissions: Sequence[Submission], now: datetime) -> list[RunRow]:
    """Return rows of submissions to any places, without the ranks at the time."""
    own = own_scores_of_all(session, submissions, Viewer(user, now))
    standings = standings_of_all(session, submissions, own, Viewer(user, now))
    return [
        RunRow(one, current_run(one), {found.board.name: found for found in standings[one.id]}, own[one.id])
        for one in submissions
    ]


def _is_entered(board: Board, standings: Sequence[RunStanding]) -> bool:
    return any(one.board.id == board.id for one in standings)


def _options(
    competition: Competition, places: Sequence[Place], place: Place | None, runs: Runs | None
) -> dict[str, list[Option]]:
    """Return the phases, tasks and boards with submissions of the team."""
    if place is None or runs is None:
        return {"phase_options": [], "task_options": [], "board_options": []}
    name = competition.name
    titles = short_titles([one.title for one in runs.boards])
    phases = {one.phase: one.phase_title for one in places}
    tasks = {one.task: one.task_title for one in places if one.phase == place.phase}
    has_task = {one.phase for one in places if one.task == place.task}
    return {
        "phase_options": [
            (title, links.runs(name, phase=one, task=place.task if one in has_task else ""), one == place.phase)
            for one, title in phases.items()
        ],
        "task_options": [
            (title, links.runs(name, phase=place.phase, task=one), one == place.task) for one, title in tasks.items()
        ],
        "board_options": [
            (title, links.runs(name, phase=place.phase, task=place.task, board=one.name), one == runs.board)
            for title, one in zip(titles, runs.boards, strict=True)
        ],
    }


ITEMS_SHOWN = 50
#: Longer names do not exist.


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of the list; empty: all."""

    competition: str
    phase: str
    task: str
    status: str

    def fit(self, places: Sequence[Place]) -> list[Place]:
        """Return the places that match."""
        wanted = ((self.competition, "competition"), (self.phase, "phase"), (self.task, "task"))
        return [place for place in places if all(name in ("", getattr(place, part)) for name, part in wanted)]


@dataclass(frozen=True, slots=True)
class ItemPage:
    """A page of compared items.

    number: of this page, out of `count`; first: position of its first item.
    """

    rows: Sequence[ComparedItem]
    number: int
    count: int
    first: int

    @property
    def last(self) -> int:
        """Position of its last item."""
        return self.first + len(self.rows) - 1


@router.get("/submissions")
def read_submissions(
    request: Request,
    server: ServerHere,
    user: PageUser,
    competition: Name = "",
    phase: Name = "",
    task: Name = "",
    status: Name = "",
    board: Name = "",
    after: Annotated[UUID | None, Query()] = None,
) -> Response:
    now, filters = server.clock(), Filters(competition, phase, task, status)
    state = next((one for one in RunStatus if one == status), None)
    with reading(server.engine) as session:
        found, cursor = list_submissions(
            session,
            user,
            competition=competition or None,
            phase=phase or None,
            task=task or None,
            status=state,
            after=after,
            limit=PAGE_LENGTH,
        )
        rows = _run_rows(session, user, found, now)
        places = places_of(session, user)
        left = filters.fit(places)
        history = history_of(session, user, left[0], now, board=board) if len(left) == 1 else None
    return render(
        request,
        "submissions/list.html",
        rows=rows,
        places=places,
        left=left,
        filters=filters,
        is_filtered=any((competition, phase, task, state)),
        states=list(RunStatus),
        history=history,
        chart=chart_of(history),
        following=_following(filters, board, cursor) if cursor else None,
        is_first=after is None,
    )


@router.get("/submissions/compare")
def read_comparison(
    request: Request,
    server: ServerHere,
    user: PageUser,
    a: Annotated[UUID, Query()],
    b: Annotated[UUID | None, Query()] = None,
    show: Name = "",
    page: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
) -> Response:
    """Without `b` it is compared with the one before it. show, page: of the items, where these are compared."""
    now, comparison, items, refusal = server.clock(), None, ItemComparison(), None
    showing = next((one for one in Showing if one == show), Showing.ALL)
    with reading(server.engine) as session:
        one = get_submission(session, a, user)
        place = one.phase_task
        others, _ = list_submissions(
            session,
            user,
            competition=place.phase.competition.name,
            task=place.task.name,
            status=RunStatus.SCORED,
            limit=MOST_SHOWN,
        )
        other = b or _one_before(one, others)
        try:
            comparison = compare(session, a, other, Viewer(user, now)) if other else None
            items = compare_items(session, comparison) if comparison else items
        except NotComparable as error:
            refusal = error
        workspace = workspace_of_task(session, place, Viewer(user, now), "runs")
    return render(
        request,
        "submissions/compare.html",
        refusal.status if refusal else 200,
        one=one,
        workspace=workspace,
        chosen=(comparison.a.id, comparison.b.id) if comparison else (a, other),
        others=others,
        comparison=comparison,
        metrics=metrics_of(one.phase_task.task),
        items=items,
        showing=showing,
        paged=page_of_items(items.selected(showing), page),
        refusal=refusal,
    )


def page_of_items(rows: Sequence[ComparedItem], number: int) -> ItemPage:
    """Return the page with this number, or the last page if there are fewer."""
    count = max(1, -(-len(rows) // ITEMS_SHOWN))
    number = min(number, count)
    start = (number - 1) * ITEMS_SHOWN
    return ItemPage(rows[start : start + ITEMS_SHOWN], number, count, start + 1)


def _one_before(one: Submission, newest_first: Sequence[Submission]) -> UUID | None:
    """Return the submission sent last before it, preferably in the same phase; else the latest other one."""
    rest = [other for other in newest_first if other.id != one.id]
    before = [other for other in rest if other.submitted_at <= one.submitted_at]
    same_phase = [other for other in before if other.phase_task_id == one.phase_task_id]
    return next((other.id for other in [*same_phase, *before, *rest]), None)


def _following(filters: Filters, board: str, cursor: UUID) -> str:
    named = {name: getattr(filters, name) for name in ("competition", "phase", "task", "status")}
    return links.submissions(**named, board=board, after=str(cursor))
