"""Whether the server is well; for supervisors and load balancers."""

from __future__ import annotations

from fastapi import APIRouter
from sqlalchemy import text

from app.api.health import Health
from app.db import reading
from app.routes.errors import error_responses
from app.routes.serving import ServingHere
from app.version import version

router = APIRouter(tags=["server"])


@router.get(
    "/healthz",
    operation_id="read_health",
    summary="Whether the server is well",
    description="503 when the database does not answer.",
    responses=error_responses(),
)
def read_health(serving: ServingHere) -> Health:
    with reading(serving.engine) as session:
        session.execute(text("SELECT 1"))
    return Health(version=version())
