"""A team's own submissions: those for one task with their chart, and the list of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from markupsafe import Markup
from pydantic import field_validator

from app.base import links
from app.boards.side_by_side import short_titles
from app.competitions.find import find_competition
from app.feedback.history import MOST_SHOWN, History, SubmittedTask, chart_svg, history_of, places_of
from app.feedback.scores import OwnScores, boards_of_run, own_scores_of_all
from app.feedback.standings import RunStanding, standings_of_all
from app.models import Board, Competition, ScoringRun, Submission
from app.submissions.find import OwnFilter, current_run, list_submissions, load_submissions, newest_own
from app.web.html.guards import PageUserVisit
from app.web.html.rendering import render_page
from app.web.html.typed import none_if_invalid
from app.web.html.workspace import Place, PlaceOptions, workspace_of
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit

router = page_router()

PAGE_LENGTH = 30
#: A name; no valid name is longer.
Name = Annotated[str, Query(max_length=200)]
#: A choice: title, address, whether it is the current one.
Option = tuple[str, str, bool]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A submission with its current run. standings: by board name."""

    submission: Submission
    run: ScoringRun
    standings: dict[str, RunStanding]
    own: OwnScores

    @property
    def first(self) -> RunStanding | None:
        """The standing of the entry, else the first with a score, else the first; None if there is none."""
        found = list(self.standings.values())
        counting = next((one for one in found if one.counts), None)
        return counting or next((one for one in found if one.score.value is not None), found[0] if found else None)


@dataclass(frozen=True, slots=True)
class Runs:
    """The submissions of one task in a phase.

    board: the board of differences and ranks; None if no board was entered.
    """

    rows: Sequence[RunRow]
    boards: Sequence[Board]
    board: Board | None
    history: History | None
    page: int
    pages: int

    @property
    def counting(self) -> UUID | None:
        """The submission that counts on the board, if it is on this page."""
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
    visit: PageUserVisit,
    competition: str,
    phase: Name = "",
    task: Name = "",
    board: Name = "",
    page: Annotated[int, Query(ge=1, le=10_000)] = 1,
) -> Response:
    """Show the submissions to a task in a phase; by default those of the latest submission's."""
    session = visit.session
    found = find_competition(session, competition)
    places = places_of(session, visit.user, found.name)
    place = _wanted(visit, places, (found.name, phase, task))
    runs = _runs(visit, place, board, page) if place else None
    return render_page(
        visit,
        "submissions/runs.html",
        competition=found,
        workspace=workspace_of(session, found, visit.viewer, "runs", _where(found, place)),
        place=place,
        runs=runs,
        chart=chart_of(runs.history, runs.counting) if runs else None,
        options=_options(found, places, place, runs),
        now=visit.now,
    )


def _wanted(visit: UserVisit, places: Sequence[SubmittedTask], names: tuple[str, str, str]) -> SubmittedTask | None:
    """Return the task to which the team submitted last, among those with these names (competition, phase, task). An
    empty phase or task matches all.
    """
    competition, phase, task = names
    fitting = [one for one in places if phase in ("", one.phase) and task in ("", one.task)]
    if len(fitting) < 2:
        return next(iter(fitting), None)
    wanted = OwnFilter(competition=competition, phase=phase or None, task=task or None)
    newest = newest_own(visit.session, visit.user, wanted, limit=1)
    where = {visit.session.get_one(Submission, one).phase_task_id for one in newest}
    return next((one for one in fitting if one.phase_task_id in where), None)


def _where(competition: Competition, place: SubmittedTask | None) -> Place:
    if place is None:
        return Place()
    phase = next(one for one in competition.phases if one.name == place.phase)
    return Place(phase, next(one for one in competition.tasks if one.name == place.task))


def _runs(visit: UserVisit, place: SubmittedTask, board: str, page: int) -> Runs:
    session, viewer = visit.session, visit.viewer
    every = newest_own(session, visit.user, place.filter, limit=MOST_SHOWN)
    pages = max(1, -(-len(every) // PAGE_LENGTH))
    page = min(page, pages)
    wanted = load_submissions(session, every[(page - 1) * PAGE_LENGTH : page * PAGE_LENGTH])
    ranking = {(one.rank_metric, one.rank_split) for one in boards_of_run(session, wanted[0])}
    own = own_scores_of_all(session, wanted, viewer, ranking)
    standings = standings_of_all(session, wanted, own, viewer, with_history=True)
    boards = [
        one for one in boards_of_run(session, wanted[0]) if any(_is_entered(one, standings[s.id]) for s in wanted)
    ]
    chosen = next((one for one in boards if one.name == board), boards[0] if boards else None)
    history = history_of(session, visit.user, place, visit.now, board=chosen.name) if chosen else None
    rows = [_run_row(one, own[one.id], standings[one.id]) for one in wanted]
    return Runs(rows, boards, chosen, history, page, pages)


def _run_row(submission: Submission, own: OwnScores, standings: Sequence[RunStanding]) -> RunRow:
    return RunRow(submission, current_run(submission), {found.board.name: found for found in standings}, own)


def _is_entered(board: Board, standings: Sequence[RunStanding]) -> bool:
    return any(one.board.id == board.id for one in standings)


def _options(
    competition: Competition, places: Sequence[SubmittedTask], place: SubmittedTask | None, runs: Runs | None
) -> PlaceOptions:
    """Return the phases, tasks and boards with submissions of the team."""
    if place is None or runs is None:
        return PlaceOptions()
    name = competition.name
    titles = short_titles([one.title for one in runs.boards])
    phases = {one.phase: one.phase_title for one in places}
    tasks = {one.task: one.task_title for one in places if one.phase == place.phase}
    has_task = {one.phase for one in places if one.task == place.task}
    return PlaceOptions(
        phases=[
            (title, links.runs(name, phase=one, task=place.task if one in has_task else ""), one == place.phase)
            for one, title in phases.items()
        ],
        tasks=[
            (title, links.runs(name, phase=place.phase, task=one), one == place.task) for one, title in tasks.items()
        ],
        boards=[
            (title, links.runs(name, phase=place.phase, task=place.task, board=one.name), one == runs.board)
            for title, one in zip(titles, runs.boards, strict=True)
        ],
    )


def chart_of(history: History | None, counting: UUID | None = None) -> Markup | None:
    """Return the chart; None for fewer than two submissions. counting: the submission that counts, if known."""
    if history is None or len(history.attempts) < 2:
        return None
    title = f"{history.board.title}, {history.place.phase_title}: scores over time"
    return Markup(chart_svg(history.attempts, history.column, title, counting))  # noqa: S704 - escaped by ElementTree


class Filters(OwnFilter):
    """The filters of the list: empty and invalid values filter nothing. board: of the chart."""

    board: Name = ""

    @field_validator("competition", "phase", "task", mode="before")
    @classmethod
    def _none_if_empty(cls, name: str | None) -> str | None:
        return name or None

    _none_if_invalid = field_validator("status", mode="wrap")(none_if_invalid)

    @property
    def is_set(self) -> bool:
        """True if a filter is set."""
        return any((self.competition, self.phase, self.task, self.status))

    def fit(self, places: Sequence[SubmittedTask]) -> list[SubmittedTask]:
        """Return the places that match the filters."""
        wanted = ((self.competition, "competition"), (self.phase, "phase"), (self.task, "task"))
        return [place for place in places if all(name in (None, getattr(place, part)) for name, part in wanted)]

    def older(self, cursor: UUID) -> str:
        """Return the address of the page that continues after this submission."""
        chosen = self.model_dump(mode="json", exclude={"after"}, exclude_none=True)
        return links.submissions(**chosen, after=str(cursor))


@router.get("/submissions")
def read_submissions(visit: PageUserVisit, filters: Annotated[Filters, Query()]) -> Response:
    session, viewer = visit.session, visit.viewer
    found, cursor = list_submissions(session, visit.user, filters, limit=PAGE_LENGTH)
    own = own_scores_of_all(session, found, viewer)
    standings = standings_of_all(session, found, own, viewer)
    places = places_of(session, visit.user)
    left = filters.fit(places)
    history = history_of(session, visit.user, left[0], visit.now, board=filters.board) if len(left) == 1 else None
    return render_page(
        visit,
        "submissions/list.html",
        rows=[_run_row(one, own[one.id], standings[one.id]) for one in found],
        places=places,
        left=left,
        filters=filters,
        history=history,
        chart=chart_of(history),
        following=filters.older(cursor) if cursor else None,
    )
