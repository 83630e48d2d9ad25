"""The API of moderation: logged-in users report texts; organisers hide and show them, and block people."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request

from app.base.db import writing
from app.competitions.find import find_competition, organised
from app.competitions.visibility import Viewer
from app.models import Right
from app.moderation.desk import desk_for, dismiss_as, hide_as, hide_reported, show_as
from app.moderation.reports import report
from app.moderation.texts import find_text
from app.moderation.views import BlockList, BlockOut, HiddenList, HiddenOut, TextReportList, TextReportReceipt
from app.people.competition_blocks import block, list_blocks, unblock
from app.people.rights import ANY_RIGHT, find_user
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser, ApiSubmitter
from app.web.http.paths import CompetitionName
from app.web.http.rate_limits import limit_of_reports
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit
from app.web.moderation.schemas import HideIn, ReasonIn, ReportIn

router = api_router("organising")

ReportId = Annotated[RowId, Path(examples=[4])]
HiddenId = Annotated[RowId, Path(examples=[2])]
Username = Annotated[str, Path(examples=["ada"])]
REPORTS = "/competitions/{competition}/reports"
HIDDEN_TEXTS = "/competitions/{competition}/hidden-texts"
BLOCKED = "/competitions/{competition}/blocked"


@router.post(
    REPORTS,
    operation_id="report_text",
    summary="Report a text to the organisers",
    description="A question, an answer, an announcement, the name of a team, or a system. Reporting the same text "
    "again returns the first report. Organisers do not see who reported; administrators do.",
    status_code=201,
    tags=["taking part"],
    responses=error_responses(401, 403, 404, 422, 429),
)
def post_report(
    request: Request, server: ServerHere, user: ApiSubmitter, competition: CompetitionName, form: ReportIn
) -> TextReportReceipt:
    with writing(server.engine) as session:
        act = server.act(session, user)
        found = find_competition(session, competition)
        made = report(
            act,
            found,
            find_text(session, found, form.kind, form.which, Viewer(user, act.now)),
            form.reason,
            form.words,
            before_new=limit_of_reports(request, user, act.now),
        )
        return TextReportReceipt.model_validate(made)


@router.get(
    REPORTS,
    operation_id="list_reports",
    summary="Open reports of texts, for organisers",
    description=(
        "Reports of questions, answers and announcements need the right `messages`, those of teams and systems "
        "`submissions`."
    ),
    responses=error_responses(401, 403, 404),
)
def read_reports(visit: ApiOrganiserVisit, competition: CompetitionName) -> TextReportList:
    found = organised(visit.session, visit.user, competition, ANY_RIGHT)
    return TextReportList(reports=desk_for(visit.session, found, visit.user).reports)


@router.put(
    f"{REPORTS}/{{report_id}}/hidden",
    operation_id="hide_reported_text",
    summary="Hide the text of a report, for organisers",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_hidden(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, report_id: ReportId, form: ReasonIn
) -> HiddenOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, ANY_RIGHT)
        hidden = hide_reported(server.act(session, user), found, report_id, form.reason)
        session.refresh(hidden, ["author"])
        return HiddenOut.of(hidden)


@router.put(
    f"{REPORTS}/{{report_id}}/dismissed",
    operation_id="dismiss_report",
    summary="Dismiss a report, and others of the same text, for organisers",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def put_dismissed(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, report_id: ReportId) -> None:
    with writing(server.engine) as session:
        dismiss_as(server.act(session, user), organised(session, user, competition, ANY_RIGHT), report_id)


@router.get(
    HIDDEN_TEXTS,
    operation_id="list_hidden_texts",
    summary="Hidden texts, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_hidden(visit: ApiOrganiserVisit, competition: CompetitionName) -> HiddenList:
    found = organised(visit.session, visit.user, competition, ANY_RIGHT)
    return HiddenList(hidden=desk_for(visit.session, found, visit.user).hidden)


@router.post(
    HIDDEN_TEXTS,
    operation_id="hide_text",
    summary="Hide a text, for organisers",
    description="Hidden everywhere, including official results; others see that it was hidden. Its author is notified.",
    status_code=201,
    responses=error_responses(401, 403, 404, 409, 422),
)
def post_hidden(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, form: HideIn) -> HiddenOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, ANY_RIGHT)
        hidden = hide_as(server.act(session, user), found, form.kind, form.which, form.reason)
        session.refresh(hidden, ["author"])
        return HiddenOut.of(hidden)


@router.delete(
    f"{HIDDEN_TEXTS}/{{hidden_id}}",
    operation_id="show_text_again",
    summary="Show a hidden text again, for organisers",
    description="409 if another text has replaced it.",
    status_code=204,
    responses=error_responses(401, 403, 404, 409, 422),
)
def delete_hidden(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, hidden_id: HiddenId) -> None:
    with writing(server.engine) as session:
        show_as(server.act(session, user), organised(session, user, competition, ANY_RIGHT), hidden_id)


@router.get(
    BLOCKED,
    operation_id="list_blocked",
    summary="People who are blocked in a competition, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_blocked(visit: ApiOrganiserVisit, competition: CompetitionName) -> BlockList:
    found = organised(visit.session, visit.user, competition, Right.EDIT)
    return BlockList(blocked=[BlockOut.of(one) for one in list_blocks(visit.session, found)])


@router.put(
    f"{BLOCKED}/{{username}}",
    operation_id="block_person",
    summary="Block a person in a competition, for organisers",
    description=(
        "The person can no longer ask questions, submit or choose names there; their submissions stay, and their "
        "team can continue. They get a mail with the reason."
    ),
    responses=error_responses(401, 403, 404, 422),
)
def put_blocked(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, username: Username, form: ReasonIn
) -> BlockOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        blocked = block(server.act(session, user), found, find_user(session, username), form.reason)
        session.refresh(blocked, ["user"])
        return BlockOut.of(blocked)


@router.delete(
    f"{BLOCKED}/{{username}}",
    operation_id="unblock_person",
    summary="Let a blocked person write again, for organisers",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_blocked(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, username: Username) -> None:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        unblock(server.act(session, user), found, find_user(session, username))
