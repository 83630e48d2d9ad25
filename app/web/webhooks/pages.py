"""The pages of webhooks: those of a competition, of the user's team or of the server; and one webhook with its
deliveries.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError
from app.competitions.find import find_competition
from app.models import Competition, NewsKind, Webhook, WebhookAudience, WebhookForm
from app.models.columns import NAME_CHARACTERS
from app.models.webhooks import ADDRESS_CHARACTERS
from app.web.html.administration import render_section
from app.web.html.guards import FormSender, PageForm, PageUserVisit, SentForm, Ticked, form_again, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import Workspace, desk_of, workspace_of
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit
from app.webhooks.keeping import (
    KINDS_FOR,
    Holder,
    WebhookEntry,
    add_webhook,
    change_webhook,
    deliveries_of,
    find_webhook,
    holder_for,
    remove_webhook,
    renew_secret,
    replay,
    send_test,
    webhooks_of,
)
from app.webhooks.views import DeliveryOut, WebhookOut

router = page_router()

OF_COMPETITION = "/competitions/{competition}/webhooks"
OF_TEAM = "/competitions/{competition}/team/webhooks"
OF_SERVER = "/webhooks"
ONE = f"{OF_SERVER}/{{webhook_id}}"
#: The user who sends a form next to a webhook.
Keeper = Annotated[FormSender, Depends(form_guard(ONE))]

KIND_WORDS = {
    NewsKind.SUBMISSION_SCORED: "A submission was scored",
    NewsKind.SUBMISSION_REJECTED: "A submission was rejected",
    NewsKind.RUN_FAILED: "A submission could not be scored",
    NewsKind.BOARD_CHANGED: "A board changed",
    NewsKind.QUESTION_ASKED: "A question was asked",
    NewsKind.GOLD_CHECKED: "Gold was checked",
    NewsKind.PHASE_OPENED: "A phase opened",
    NewsKind.PHASE_CLOSED: "A phase closed",
    NewsKind.TEST: "Test",
}
FORM_WORDS = {
    WebhookForm.STANDARD: "Signed JSON (Standard Webhooks)",
    WebhookForm.SLACK: "Slack",
    WebhookForm.DISCORD: "Discord",
    WebhookForm.MATTERMOST: "Mattermost",
    WebhookForm.MATRIX: "Matrix",
}
#: The formats, with an empty title for the empty value: a format must be chosen.
FORM_TITLES = {"": "", **{str(form): title for form, title in FORM_WORDS.items()}}
AUDIENCE_WORDS = {
    WebhookAudience.ORGANISERS: ("Organisers", "everything that you may see, whoever reads the messages"),
    WebhookAudience.TEAM: ("Your team", "everything that your team may see"),
    WebhookAudience.PUBLIC: ("Everybody", "only what is public"),
}
DONE = {
    "added": "The webhook is set up. Send a test.",
    "saved": "Saved.",
    "secret": "The webhook has a new secret. The previous one is valid for another day.",
    "test": "The test is being sent: reload this page in a few seconds to see the result.",
    "again": "These deliveries are being sent again.",
}
LIMITS = {"name": NAME_CHARACTERS, "address": ADDRESS_CHARACTERS}


class WebhookPageForm(PageForm, WebhookEntry):
    """A webhook, as typed."""

    kinds: list[NewsKind] = []
    is_disabled: Ticked = False


class ReplayForm(PageForm):
    """A range of deliveries to send again. first, last: numbers as typed, empty for no bound."""

    first: RowId | None = None
    last: RowId | None = None


Written = Annotated[WebhookPageForm, Form()]


# ---------------------------------------------------------------------------------------------------------------- lists


def _list_page(
    visit: UserVisit,
    competition: Competition | None,
    of_team: bool,
    form: WebhookPageForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    session, user = visit.session, visit.user
    holder = holder_for(session, competition, user, of_team=of_team)
    return _render(
        visit,
        "webhooks/list.html",
        holder,
        address=links.webhooks(competition.name if competition else "", of_team=of_team),
        webhooks=[WebhookOut.of(one, competition) for one in webhooks_of(session, holder, user)],
        typed=form or WebhookPageForm(audience=holder.audiences[0]),
        error=error,
        choices=_choices(holder),
    )


def _render(visit: UserVisit, template: str, holder: Holder, /, **context: Any) -> Response:
    """Return a page with the header of its holder: the organisers' desk, the team's competition, or administration."""
    if holder.competition is None:
        return render_section(visit, template, workspace=None, **context)
    return render_page(visit, template, workspace=_workspace(visit, holder.competition, holder), **context)


def _workspace(visit: UserVisit, of: Competition, holder: Holder) -> Workspace:
    """Return the workspace of the organisers' desk, or of the competition for a team."""
    competition = find_competition(visit.session, of.name)
    if holder.team is not None:
        return workspace_of(visit.session, competition, visit.viewer)
    return desk_of(visit.session, competition, visit.viewer)


def _choices(holder: Holder) -> dict[str, object]:
    """Return the options of the form with their labels."""
    return {
        "competition": holder.competition,
        "team": holder.team,
        "audiences": {one: AUDIENCE_WORDS[one] for one in holder.audiences},
        "audience_words": AUDIENCE_WORDS,
        "kinds": {kind: KIND_WORDS[kind] for kind in KINDS_FOR[holder.audiences[0]]},
        "public_kinds": KINDS_FOR[WebhookAudience.PUBLIC],
        "kind_words": KIND_WORDS,
        "forms": FORM_WORDS,
        "form_titles": FORM_TITLES,
        "limits": LIMITS,
    }


def _page_of_competition(
    visit: UserVisit, competition: str, form: WebhookPageForm | None = None, error: EvergoldError | None = None
) -> Response:
    return _list_page(visit, find_competition(visit.session, competition), False, form, error)


def _page_of_team(
    visit: UserVisit, competition: str, form: WebhookPageForm | None = None, error: EvergoldError | None = None
) -> Response:
    return _list_page(visit, find_competition(visit.session, competition), True, form, error)


def _page_of_server(
    visit: UserVisit, form: WebhookPageForm | None = None, error: EvergoldError | None = None
) -> Response:
    return _list_page(visit, None, False, form, error)


@router.get(OF_COMPETITION)
def read_webhooks(visit: PageUserVisit, competition: str) -> Response:
    return _page_of_competition(visit, competition)


@router.get(OF_TEAM)
def read_team_webhooks(visit: PageUserVisit, competition: str) -> Response:
    return _page_of_team(visit, competition)


@router.get(OF_SERVER)
def read_server_webhooks(visit: PageUserVisit) -> Response:
    return _page_of_server(visit)


@router.post(OF_COMPETITION)
@form_again(_page_of_competition)
def send_webhook(sender: SentForm, competition: str, form: Written) -> Response:
    return _added(sender, form, competition)


@router.post(OF_TEAM)
@form_again(_page_of_team)
def send_team_webhook(sender: SentForm, competition: str, form: Written) -> Response:
    return _added(sender, form, competition, of_team=True)


@router.post(OF_SERVER)
@form_again(_page_of_server)
def send_server_webhook(sender: SentForm, form: Written) -> Response:
    return _added(sender, form, None)


def _added(sender: FormSender, form: WebhookPageForm, competition: str | None, *, of_team: bool = False) -> Response:
    with writing(sender.server.engine) as session:
        found = find_competition(session, competition) if competition is not None else None
        holder = holder_for(session, found, sender.user, of_team=of_team)
        webhook_id = add_webhook(sender.act(session), holder, form).id
    return _to(webhook_id, "added")


# ----------------------------------------------------------------------------------------------------------------- one


@router.get(ONE)
def read_webhook(visit: PageUserVisit, webhook_id: RowId, done: str = "") -> Response:
    return _page(visit, webhook_id, done=done)


def _page(
    visit: UserVisit,
    webhook_id: int,
    form: WebhookPageForm | None = None,
    error: EvergoldError | None = None,
    done: str = "",
) -> Response:
    session, user = visit.session, visit.user
    webhook, holder = find_webhook(session, webhook_id, user)
    is_owner = webhook.owner_id == user.id
    former_until = webhook.former_until
    return _render(
        visit,
        "webhooks/page.html",
        holder,
        address=links.webhook(webhook_id),
        back=_list_of(holder),
        webhook=WebhookOut.of(webhook, holder.competition),
        secret=webhook.secret,
        former_until=former_until if former_until and visit.now < former_until else None,
        deliveries=[DeliveryOut.of(one, with_answer=is_owner) for one in deliveries_of(session, webhook)],
        is_owner=is_owner,
        typed=form if isinstance(form, WebhookPageForm) else _as_typed(webhook),
        done=DONE.get(done, ""),
        error=error,
        choices=_choices(holder),
    )


def _as_typed(webhook: Webhook) -> WebhookPageForm:
    return WebhookPageForm(
        name=webhook.name,
        form=WebhookForm(webhook.form),
        audience=WebhookAudience(webhook.audience),
        kinds=[kind for kind in NewsKind if kind in webhook.news],
        is_disabled=webhook.disabled_at is not None,
    )


@router.post(ONE)
@form_again(_page)
def change(sender: SentForm, webhook_id: RowId, form: Written) -> Response:
    with writing(sender.server.engine) as session:
        webhook, holder = find_webhook(session, webhook_id, sender.user)
        change_webhook(sender.act(session), webhook, holder, form)
    return _to(webhook_id, "saved")


@router.post(f"{ONE}/secret")
def send_secret(sender: Keeper, webhook_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        webhook, holder = find_webhook(session, webhook_id, sender.user)
        renew_secret(sender.act(session), webhook, holder)
    return _to(webhook_id, "secret")


@router.post(f"{ONE}/test")
@form_again(_page)
def send_test_message(sender: Keeper, webhook_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        webhook, _ = find_webhook(session, webhook_id, sender.user)
        send_test(session, webhook, sender.server.clock())
    return _to(webhook_id, "test")


@router.post(f"{ONE}/replay")
@form_again(_page)
def send_again(sender: Keeper, webhook_id: RowId, bounds: Annotated[ReplayForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        webhook, _ = find_webhook(session, webhook_id, sender.user)
        replay(session, webhook, sender.server.clock(), bounds.first, bounds.last)
    return _to(webhook_id, "again")


@router.post(f"{ONE}/remove")
def send_remove(sender: Keeper, webhook_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        webhook, holder = find_webhook(session, webhook_id, sender.user)
        back = _list_of(holder)
        remove_webhook(sender.act(session), webhook, holder)
    return RedirectResponse(back, 303)


def _list_of(holder: Holder) -> str:
    return links.webhooks(holder.competition.name if holder.competition else "", of_team=holder.team is not None)


def _to(webhook_id: int, done: str) -> Response:
    return RedirectResponse(f"{links.webhook(webhook_id)}?done={done}", 303)
