"""The user's own submissions: the list with its filters, scores over time, and a comparison of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response

from app.base import links
from app.base.db import reading
from app.feedback.compare import NotComparable, compare
from app.feedback.history import MOST_SHOWN, Place, history_of, places_of
from app.feedback.items import ComparedItem, ItemComparison, Showing, compare_items
from app.models import RunStatus, Submission
from app.submissions.find import current_run, get_submission, list_submissions
from app.web.html.guards import PageUser
from app.web.html.rendering import render
from app.web.html.workspace import workspace_of_task
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.viewer import Viewer
from app.web.submissions.chart import chart_of
from evergold.scoring.tasks import TASKS

router = page_router()

PAGE_LENGTH = 30
ITEMS_SHOWN = 50
#: Longer names do not exist.
Name = Annotated[str, Query(max_length=200)]


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
        places = places_of(session, user)
        left = filters.fit(places)
        history = history_of(session, user, left[0], now, board=board) if len(left) == 1 else None
    return render(
        request,
        "submissions/list.html",
        rows=[(submission, current_run(submission)) for submission in found],
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
            comparison = compare(session, a, other, user, now) if other else None
            items = compare_items(session, comparison) if comparison else items
        except NotComparable as error:
            refusal = error
        workspace = workspace_of_task(session, place, Viewer(user, None), now, "runs")
    return render(
        request,
        "submissions/compare.html",
        refusal.status if refusal else 200,
        one=one,
        workspace=workspace,
        chosen=(comparison.a.id, comparison.b.id) if comparison else (a, other),
        others=others,
        comparison=comparison,
        metrics=TASKS[one.phase_task.task.task_type].metrics,
        items=items,
        showing=showing,
        paged=_paged(items.selected(showing), page),
        refusal=refusal,
    )


def _paged(rows: Sequence[ComparedItem], number: int) -> ItemPage:
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
