"""The pages: Jinja templates that work without JavaScript; scripts only make them livelier."""

from __future__ import annotations

from fastapi import APIRouter

from app.routes.pages import (
    account,
    board,
    competition,
    gold,
    guide,
    home,
    judging,
    judging_marks,
    judging_start,
    login,
    passwords,
    report_figures,
    reports,
    results,
    submission,
    submit,
)

router = APIRouter(include_in_schema=False)
for part in (
    home,
    guide,
    competition,
    board,
    results,
    submit,
    submission,
    gold,
    judging,
    judging_marks,
    judging_start,
    reports,
    report_figures,
    login,
    passwords,
    account,
):
    router.include_router(part.router)
