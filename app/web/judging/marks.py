"""The annotators' pages: one paraphrase after another, in a separate order for each annotator, without systems and
scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import writing
from app.base.errors import NotFound
from app.competitions.find import find_competition
from app.judging.annotators import Assignment, find_assignment, list_assignments
from app.judging.marks import Worksheet, clear_marks, save_marks, worksheet
from app.judging.rounds import find_round
from app.models import JudgedText, User
from app.web.html.guards import FormSender, PageForm, PageUserVisit, SentForm, form_guard
from app.web.html.rendering import render, render_page
from app.web.html.workspace import Place, Workspace, workspace_of
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit, Visit, user_visit_of
from evergold.scoring.judgement import HIGHEST, LOWEST, Marks, is_whole

router = page_router()

SHEET = "/competitions/{competition}/judging/{round_name}/items/{language}"
ITEM = f"{SHEET}/{{place}}"
#: The questions for annotators: name, question, meanings of 0 and 3.
QUESTIONS = (
    ("mwe_sense", "Is the sense of the expression kept?", "lost", "fully kept"),
    ("rest_sense", "Is the sense of the rest of the sentence kept?", "lost", "fully kept"),
    ("naturalness", "Does the paraphrase sound natural?", "not at all", "as a native would say it"),
)


class SheetNames(NamedTuple):
    """The names in the address of a worksheet."""

    competition: str
    round_name: str
    language: str


async def sheet_names(competition: str, round_name: str, language: str) -> SheetNames:
    """Return the names in the address."""
    return SheetNames(competition, round_name, language)


SheetNamesHere = Annotated[SheetNames, Depends(sheet_names)]


class MarksForm(PageForm):
    """An annotator's marks for a paraphrase, named like the controls of the page."""

    removed: str = ""
    mwe_sense: str = ""
    rest_sense: str = ""
    naturalness: str = ""


@dataclass(frozen=True, slots=True)
class Sheet(Assignment):
    """An assignment with its worksheet."""

    worksheet: Worksheet

    def address(self, place: int | None = None, *more: str) -> str:
        """Return the address of a position in the annotator's order; None: of the worksheet."""
        parts = [] if place is None else [str(place)]
        return links.judging(self.competition.name, self.judging.name, "items", self.annotator.language, *parts, *more)


@router.get("/judging")
def read_assignments(visit: PageUserVisit) -> Response:
    """List the worksheets assigned to the visitor."""
    found = list_assignments(visit.session, visit.user)
    sheets = [
        Sheet(one.competition, one.judging, one.annotator, worksheet(visit.session, one.judging, one.annotator))
        for one in found
    ]
    return render_page(visit, "judging/assignments.html", sheets=sheets)


@router.get(SHEET)
def read_sheet(visit: PageUserVisit, names: SheetNamesHere) -> Response:
    """Redirect to the first item that the annotator has not judged."""
    sheet = _sheet(visit.session, visit.user, names)
    workspace = _workspace(visit, sheet)
    following = sheet.worksheet.next_open()
    if following is not None:
        return RedirectResponse(sheet.address(following), 303)
    return render_page(visit, "judging/done.html", sheet=sheet, workspace=workspace)


@router.get(ITEM)
def read_item(visit: PageUserVisit, names: SheetNamesHere, place: int) -> Response:
    return _item_page(visit, names, place)


@router.post(ITEM)
def send_marks(sender: SentForm, names: SheetNamesHere, place: int, form: Annotated[MarksForm, Form()]) -> Response:
    """Save marks; return the progress to a script, or redirect a browser to the next open item."""
    with writing(sender.server.engine) as session:
        sheet = _sheet(session, sender.user, names)
        text_id = _text_id(sheet, place)
        marks = save_marks(session, sheet.judging, sheet.annotator, text_id, form.model_dump(), sender.server.clock())
        sheet = _sheet(session, sender.user, names)
    if "hx-request" in sender.request.headers:
        return render(sender.request, "judging/progress.html", sheet=sheet, place=place, marks=marks, is_saved=True)
    if not is_whole(marks):
        with user_visit_of(sender.request, sender.user) as visit:
            return _item_page(visit, names, place, is_incomplete=True)
    following = sheet.worksheet.next_open(place)
    return RedirectResponse(sheet.address(following), 303)


@router.post(f"{ITEM}/clear")
def send_clear(sender: Annotated[FormSender, Depends(form_guard(ITEM))], names: SheetNamesHere, place: int) -> Response:
    """Clear the marks of one paraphrase."""
    with writing(sender.server.engine) as session:
        sheet = _sheet(session, sender.user, names)
        clear_marks(session, sheet.judging, sheet.annotator, _text_id(sheet, place))
    return RedirectResponse(sheet.address(place), 303)


def _item_page(visit: UserVisit, names: SheetNames, place: int, *, is_incomplete: bool = False) -> Response:
    session = visit.session
    sheet = _sheet(session, visit.user, names)
    text = session.get_one(JudgedText, _text_id(sheet, place))
    workspace = _workspace(visit, sheet)
    return render_page(
        visit,
        "judging/item.html",
        422 if is_incomplete else 200,
        may_store=False,  # going back must show marks saved since
        sheet=sheet,
        workspace=workspace,
        place=place,
        text=text,
        marks=sheet.worksheet.marks.get(text.id, Marks()),
        questions=QUESTIONS,
        scale=range(LOWEST, HIGHEST + 1),
        is_incomplete=is_incomplete,
        is_saved=False,
    )


def _sheet(session: Session, user: User, names: SheetNames) -> Sheet:
    """Return the sheet; raise NotFound for users who are not its annotator."""
    found = find_competition(session, names.competition)
    judging = find_round(session, found, names.round_name)
    annotator = find_assignment(session, found, judging, names.language, user)
    return Sheet(found, judging, annotator, worksheet(session, judging, annotator))


def _workspace(visit: Visit, sheet: Sheet) -> Workspace:
    judged = sheet.judging.phase_task
    return workspace_of(visit.session, sheet.competition, visit.viewer, "overview", Place(judged.phase, judged.task))


def _text_id(sheet: Sheet, place: int) -> int:
    if not 1 <= place <= len(sheet.worksheet.text_ids):
        raise NotFound(f"There is no paraphrase {place}: there are {len(sheet.worksheet.text_ids)} to judge.")
    return sheet.worksheet.text_ids[place - 1]
