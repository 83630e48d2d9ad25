"""The API of the audit log: read-only, for administrators only."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query

from app.base import api_links
from app.base.errors import Forbidden
from app.people import audit
from app.people.views import AuditLog
from app.web.http.errors import error_responses
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit

router = api_router("server")

PAGE_LENGTH = 100
Word = Annotated[str | None, Query(max_length=300, description="only entries with exactly this value")]


@router.get(
    "/audit",
    operation_id="read_audit_log",
    summary="Actions of organisers and administrators",
    description="For administrators. The newest first; `action=token` means every action on tokens.",
    responses=error_responses(401, 403, 422),
)
def read_audit_log(
    visit: ApiOrganiserVisit,
    actor: Word = None,
    action: Word = None,
    subject: Word = None,
    before: Annotated[RowId | None, Query(description="as in `next`")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = PAGE_LENGTH,
) -> AuditLog:
    if not visit.user.is_administrator:
        raise Forbidden("The audit log is for administrators.")
    chosen = {name: word for name, word in (("actor", actor), ("action", action), ("subject", subject)) if word}
    found = audit.list_entries(visit.session, limit=limit + 1, before=before, **chosen)
    entries, is_more = found[:limit], len(found) > limit
    older = urlencode({**chosen, "limit": limit, "before": entries[-1].id}) if is_more else ""
    following = f"{api_links.API}/audit?{older}" if is_more else None
    return AuditLog.model_validate({"entries": entries, "next": following}, from_attributes=True)
