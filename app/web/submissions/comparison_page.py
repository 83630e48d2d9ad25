"""The page that compares two submissions of a team."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response

from app.competitions.metrics import metrics_of
from app.feedback.compare import NotComparable, compare
from app.feedback.history import MOST_SHOWN
from app.feedback.items import ComparedItem, ItemComparison, Showing, compare_items
from app.models import RunStatus, Submission
from app.submissions.find import OwnFilter, get_submission, list_submissions
from app.web.html.guards import PageUserVisit
from app.web.html.rendering import render_page
from app.web.html.workspace import workspace_of_task
from app.web.http.routers import page_router

router = page_router()

ITEMS_SHOWN = 50
#: A name; no valid name is longer.
Name = Annotated[str, Query(max_length=200)]


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
        """The position of the last item of the page."""
        return self.first + len(self.rows) - 1


@router.get("/submissions/compare")
def read_comparison(
    visit: PageUserVisit,
    a: Annotated[UUID, Query()],
    b: Annotated[UUID | None, Query()] = None,
    show: Name = "",
    page: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
) -> Response:
    """Compare two submissions; `b` defaults to the previous one. show, page: which of the compared items are listed."""
    session, viewer = visit.session, visit.viewer
    comparison, items, refusal = None, ItemComparison(), None
    showing = next((one for one in Showing if one == show), Showing.ALL)
    one = get_submission(session, a, visit.user)
    place = one.phase_task
    scored = OwnFilter(competition=place.phase.competition.name, task=place.task.name, status=RunStatus.SCORED)
    others, _ = list_submissions(session, visit.user, scored, limit=MOST_SHOWN)
    other = b or _one_before(one, others)
    try:
        comparison = compare(session, a, other, viewer) if other else None
        items = compare_items(session, comparison) if comparison else items
    except NotComparable as error:
        refusal = error
    return render_page(
        visit,
        "submissions/compare.html",
        refusal.status if refusal else 200,
        one=one,
        workspace=workspace_of_task(session, place, viewer, "runs"),
        chosen=(comparison.a.id, comparison.b.id) if comparison else (a, other),
        others=others,
        comparison=comparison,
        metrics=metrics_of(place.task),
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
    """Return the submission before this one, preferably in the same phase; else the latest of the others."""
    rest = [other for other in newest_first if other.id != one.id]
    before = [other for other in rest if other.submitted_at <= one.submitted_at]
    same_phase = [other for other in before if other.phase_task_id == one.phase_task_id]
    return next((other.id for other in [*same_phase, *before, *rest]), None)
