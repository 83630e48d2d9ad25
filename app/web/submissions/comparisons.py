"""The API of comparing two submissions: their scores, and single items if gold is public."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Query

from app.base import api_links
from app.base.db import reading
from app.feedback.compare import compare
from app.feedback.items import Showing, compare_items
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiUser
from app.web.http.routers import api_router
from app.web.http.viewer import ApiViewer
from app.web.submissions.comparison_schemas import ComparisonOut, comparison_out

router = api_router("submissions")


@router.get(
    "/submissions/{submission_id}/comparison/{other_id}",
    operation_id="compare_submissions",
    summary="Two submissions to one task side by side",
    description="A is the older, B the newer, in whatever order they are named; scores that boards rank by come first. "
    "Scores compare where they were computed in the same way, as far as their "
    "phases show them. Single items are there only where the organisers declare the gold of both public, and for runs "
    "that were scored since; `items.hidden` is the reason if none. 409 `not_comparable` for submissions to two "
    "tasks, or not scored (yet).",
    responses=error_responses(401, 404, 409, 422),
)
def compare_submissions(
    server: ServerHere,
    _: ApiUser,
    viewer: ApiViewer,
    submission_id: UUID,
    other_id: UUID,
    show: Annotated[
        Showing,
        Query(description="which items: where the predictions differ, only `a` or only `b` is right (or closer), …"),
    ] = Showing.ALL,
    start: Annotated[int, Query(ge=0, le=2**31 - 1, description="how many of them to pass over")] = 0,
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
) -> ComparisonOut:
    with reading(server.engine) as session:
        found = compare(session, submission_id, other_id, viewer.user, server.clock(), seen_as=viewer.seen_as)
        items = compare_items(session, found)
    shown = items.selected(show)
    following = None
    if start + limit < len(shown):
        asked = urlencode({"show": show.value, "start": start + limit, "limit": limit})
        following = f"{api_links.comparison(submission_id, other_id)}?{asked}"
    return comparison_out(found, items, shown[start : start + limit], following)
