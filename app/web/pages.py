"""The pages: Jinja templates that work without JavaScript; scripts only make them livelier."""

from __future__ import annotations

from fastapi import APIRouter

from app.web.boards import page as board
from app.web.boards import pictures_page as pictures
from app.web.boards import results_page as results
from app.web.boards import row as board_row
from app.web.boards import rows_page as rows
from app.web.competitions import desk, guide, home
from app.web.competitions import page as competition
from app.web.declarations import history
from app.web.declarations import pages as declaring
from app.web.exports import page as organiser_exports
from app.web.gold import pages as gold
from app.web.judging import marks as judging_marks
from app.web.judging import pages as judging
from app.web.judging import start as judging_start
from app.web.messages import announcement_pages as announcements
from app.web.messages import question_pages as questions
from app.web.people import account_page as account
from app.web.people import login
from app.web.people import mail_choices_pages as mail_choices
from app.web.people import password_pages as passwords
from app.web.reports import pages as report_figures
from app.web.reports import pages as reports
from app.web.rescoring import pages as rescoring
from app.web.submissions import card_pages as cards
from app.web.submissions import failed, submit
from app.web.submissions import list as submissions
from app.web.submissions import page as submission
from app.web.submissions import validation_page as validation
from app.web.teams import pages as team
from app.web.teams import registration_pages as registration

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
    report_figures,
    login,
    passwords,
    account,
    announcements,
    questions,
    organiser_exports,
    mail_choices,
):
    router.include_router(part.router)
