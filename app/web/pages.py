"""The pages: Jinja templates that work without JavaScript; scripts only make them livelier."""

from __future__ import annotations

from fastapi import APIRouter

from app.web.boards import (
    page as board,
    pictures_page as pictures,
    results_page as results,
    row as board_row,
    rows_page as rows,
)
from app.web.competitions import desk, guide, home, page as competition
from app.web.declarations import history, pages as declaring
from app.web.exports import page as organiser_exports
from app.web.gold import pages as gold
from app.web.judging import marks as judging_marks, pages as judging, start as judging_start
from app.web.messages import announcement_pages as announcements, question_pages as questions
from app.web.people import (
    account_page as account,
    login,
    mail_choices_pages as mail_choices,
    password_pages as passwords,
)
from app.web.reports import pages as reports
from app.web.rescoring import pages as rescoring
from app.web.submissions import (
    card_pages as cards,
    failed,
    list as submissions,
    page as submission,
    submit,
    validation_page as validation,
)
from app.web.teams import pages as team, registration_pages as registration

router = APIRouter(include_in_schema=False)
for part in (
    home,
    guide,
    competition,
    registration,
    team,
    board,
    board_row,
    pictures,
    results,
    submit,
    submissions,
    submission,
    cards,
    rows,
    validation,
    gold,
    rescoring,
    failed,
    desk,
    declaring,
    history,
    judging,
    judging_marks,
    judging_start,
    reports,
    login,
    passwords,
    account,
    announcements,
    questions,
    organiser_exports,
    mail_choices,
):
    router.include_router(part.router)
