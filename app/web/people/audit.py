"""The API of the audit log: read-only, for administrators only."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query
from pydantic import Field

from app.base import api_links
from app.base.errors import Forbidden
from app.people import audit
from app.people.audit import AuditFilter
from app.people.views import AuditLog
from app.web.http.errors import error_responses
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit

router = api_router("server")

PAGE_LENGTH = 100


class AuditQuery(AuditFilter):
    """The filters of the audit log, and a page of it."""

    before: Annotated[RowId | None, Field(description="as in `next`")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = PAGE_LENGTH


@router.get(
    "/audit",
    operation_id="read_audit_log",
    summary="Actions of organisers and administrators",
    description="For administrators. The newest first; `action=token` means every action on tokens.",
    responses=error_responses(401, 403, 422),
)
def read_audit_log(visit: ApiOrganiserVisit, query: Annotated[AuditQuery, Query()]) -> AuditLog:
    if not visit.user.is_administrator:
        raise Forbidden("The audit log is for administrators.")
    filters = {name: word for name in AuditFilter.model_fields if (word := getattr(query, name))}
    found = audit.list_entries(visit.session, AuditFilter(**filters), limit=query.limit + 1, before=query.before)
    entries, is_more = found[: query.limit], len(found) > query.limit
    older = urlencode({**filters, "limit": query.limit, "before": entries[-1].id}) if is_more else ""
    following = f"{api_links.API}/audit?{older}" if is_more else None
    return AuditLog.model_validate({"entries": entries, "next": following}, from_attributes=True)
