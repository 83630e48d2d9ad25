"""Management of webhooks by people: create, change, replace the secret, test, replay, remove."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session, joinedload

from app.base.config import Settings
from app.base.errors import EvergoldError, Forbidden, LimitReached, NotAuthenticated, NotFound
from app.base.text import one_line, refuse, wrong_text
from app.models import (
    Competition,
    DeliveryStatus,
    NewsKind,
    Right,
    Team,
    TeamMember,
    User,
    Webhook,
    WebhookAudience,
    WebhookBoard,
    WebhookDelivery,
    WebhookForm,
)
from app.models.columns import NAME_CHARACTERS
from app.people.act import UserAct
from app.people.competition_blocks import check_not_blocked
from app.people.rights import may_organise, rights_of
from app.webhooks.addresses import AddressRefused, check_form, rules_of
from app.webhooks.events import note_for
from app.webhooks.signing import new_secret

#: Maximum numbers of webhooks of a competition, of a team, and of the server.
MOST = 20
#: Time for which the previous secret still signs.
OVERLAP = timedelta(days=1)
#: Maximum number of deliveries that one request sends again.
REPLAYED_AT_ONCE = 1000
TESTS_PER_HOUR = 30
LOG_LENGTH = 100

#: The right that an organiser needs for news of a kind.
RIGHT_FOR = {
    NewsKind.SUBMISSION_SCORED: Right.SUBMISSIONS,
    NewsKind.SUBMISSION_REJECTED: Right.SUBMISSIONS,
    NewsKind.RUN_FAILED: Right.SUBMISSIONS,
    NewsKind.QUESTION_ASKED: Right.MESSAGES,
    NewsKind.GOLD_CHECKED: Right.GOLD,
}
#: Kinds of news that everybody can see of a competition.
PUBLIC_KINDS = (NewsKind.BOARD_CHANGED, NewsKind.PHASE_OPENED, NewsKind.PHASE_CLOSED)
_OF_TEAMS = (NewsKind.SUBMISSION_SCORED, NewsKind.SUBMISSION_REJECTED, NewsKind.RUN_FAILED, *PUBLIC_KINDS)
#: The kinds that each audience may select.
KINDS_FOR = {
    WebhookAudience.ORGANISERS: tuple(kind for kind in NewsKind if kind is not NewsKind.TEST),
    WebhookAudience.TEAM: _OF_TEAMS,
    WebhookAudience.PUBLIC: PUBLIC_KINDS,
}


class TooManyWebhooks(EvergoldError):
    """The maximum number of webhooks is reached."""

    status = 409
    code = "too_many_webhooks"


class WebhookDisabled(EvergoldError):
    """The webhook is disabled, so nothing is sent."""

    status = 409
    code = "webhook_disabled"


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of webhooks: a competition, a team in it, or (neither) the server."""

    competition: Competition | None = None
    team: Team | None = None

    @property
    def audiences(self) -> tuple[WebhookAudience, ...]:
        """The audiences to choose from."""
        if self.team is not None:
            return (WebhookAudience.TEAM,)
        return (WebhookAudience.ORGANISERS, WebhookAudience.PUBLIC)

    def audience_of(self, entry: WebhookEntry) -> WebhookAudience:
        """Return the audience that the entry names, or else the first possible one."""
        return entry.audience or self.audiences[0]

    @property
    def subject(self) -> str:
        """The subject of the holder's entries in the audit log."""
        return f"competition {self.competition.name}" if self.competition else "server"


class WebhookEntry(BaseModel):
    """A webhook as entered in a form or by the API.

    address, bearer: "" keeps the current one; audience: None for the holder's first one; is_disabled: nothing is sent.
    """

    model_config = ConfigDict(frozen=True)

    name: str = ""
    address: str = ""
    form: WebhookForm = WebhookForm.STANDARD
    audience: WebhookAudience | None = None
    kinds: Sequence[NewsKind] = ()
    bearer: str = ""
    is_disabled: bool = False


# ------------------------------------------------------------------------------------------------------------- access


def holder_for(session: Session, competition: Competition | None, user: User | None, *, of_team: bool) -> Holder:
    """Return the holder whose webhooks this user may manage. Raises NotAuthenticated, Forbidden, NotFound.

    competition: None for the server. In a competition each organiser manages the organiser's own webhooks.
    """
    if user is None:
        raise NotAuthenticated("Log in first.")
    if competition is None:
        if not user.is_administrator:
            raise Forbidden("Only administrators of this server can do this.")
        return Holder()
    if of_team:
        return Holder(competition, _team_of(session, competition, user))
    if not rights_of(session, user, competition):
        raise Forbidden("Only organisers of the competition can do this.")
    return Holder(competition)


def _team_of(session: Session, competition: Competition, user: User) -> Team:
    mine = TeamMember.competition_id == competition.id, TeamMember.user_id == user.id
    found = session.scalar(select(Team).join(TeamMember, TeamMember.team_id == Team.id).where(*mine))
    if found is None:
        raise NotFound("You are not in a team of this competition.")
    return found


def find_webhook(session: Session, webhook_id: int, user: User | None) -> tuple[Webhook, Holder]:
    """Return a webhook that this user may manage, with its holder. Raises NotAuthenticated, NotFound."""
    if user is None:
        raise NotAuthenticated("Log in first.")
    query = select(Webhook).where(Webhook.id == webhook_id).options(joinedload(Webhook.owner, innerjoin=True))
    webhook = session.scalar(query)
    holder = _holder_of(session, webhook) if webhook is not None else None
    if webhook is None or holder is None or not may_keep(session, webhook, holder, user):
        raise NotFound("Webhook not found, or it is not yours.")
    return webhook, holder


def _holder_of(session: Session, webhook: Webhook) -> Holder:
    competition = session.get(Competition, webhook.competition_id) if webhook.competition_id else None
    team = session.get(Team, webhook.team_id) if webhook.team_id else None
    return Holder(competition, team)


def may_keep(session: Session, webhook: Webhook, holder: Holder, user: User) -> bool:
    """Return True for members of the team; for the owner and editors of the competition; or for administrators."""
    if holder.competition is None:
        return user.is_administrator
    if holder.team is not None:
        return session.get(TeamMember, (holder.team.id, user.id)) is not None
    if webhook.owner_id == user.id:
        return bool(rights_of(session, user, holder.competition))
    return may_organise(session, user, holder.competition, Right.EDIT)


def webhooks_of(session: Session, holder: Holder, user: User) -> list[Webhook]:
    """List the holder's webhooks that this user may manage, oldest first, with their owners."""
    query = select(Webhook).where(*_held_by(holder)).options(joinedload(Webhook.owner, innerjoin=True))
    found = session.scalars(query.order_by(Webhook.id)).all()
    return [one for one in found if may_keep(session, one, holder, user)]


def _held_by(holder: Holder) -> tuple[Any, ...]:
    competition, team = holder.competition, holder.team
    return (
        Webhook.competition_id == competition.id if competition else Webhook.competition_id.is_(None),
        Webhook.team_id == team.id if team else Webhook.team_id.is_(None),
    )


# ------------------------------------------------------------------------------------------------------------ keeping


def add_webhook(act: UserAct, holder: Holder, entry: WebhookEntry) -> Webhook:
    """Create a webhook and return it. Raises InvalidForm, LimitReached, BlockedHere."""
    session = act.session
    name = _checked(act, holder, entry)
    if session.scalars(select(func.count()).select_from(Webhook).where(*_held_by(holder))).one() >= MOST:
        raise TooManyWebhooks(f"There are already {MOST} webhooks here; remove one first.")
    webhook = Webhook(
        competition_id=holder.competition.id if holder.competition else None,
        team_id=holder.team.id if holder.team else None,
        owner_id=act.user.id,
        name=name,
        form=entry.form,
        audience=holder.audience_of(entry),
        kinds=_kinds_text(entry.kinds),
        address=entry.address.strip(),
        bearer=entry.bearer.strip() or None,
        secret=new_secret(),
        created_at=act.now,
        looked_at=act.now,
        disabled_at=act.now if entry.is_disabled else None,
    )
    session.add(webhook)
    session.flush()
    _record(act, "add", holder, webhook)
    return webhook


def change_webhook(act: UserAct, webhook: Webhook, holder: Holder, entry: WebhookEntry) -> None:
    """Change a webhook and make the user its owner, so that messages contain what this user may see.

    A disabled webhook starts afresh: news of the meantime are not sent. Raises InvalidForm, BlockedHere.
    """
    session = act.session
    webhook.name = _checked(act, holder, entry, webhook)
    webhook.form, webhook.audience = entry.form, holder.audience_of(entry)
    webhook.kinds = _kinds_text(entry.kinds)
    is_elsewhere = bool(entry.address.strip())
    webhook.address = entry.address.strip() or webhook.address
    if is_elsewhere or entry.bearer.strip() or entry.form is not WebhookForm.MATRIX:
        webhook.bearer = entry.bearer.strip() or None
    if entry.is_disabled != (webhook.disabled_at is not None):
        webhook.disabled_at = act.now if entry.is_disabled else None
        webhook.looked_at = act.now
        session.execute(delete(WebhookBoard).where(WebhookBoard.webhook_id == webhook.id))
    webhook.disabled_why = ""
    webhook.failing_since = None
    webhook.owner_id = act.user.id
    session.flush()
    _record(act, "edit", holder, webhook)


def renew_secret(act: UserAct, webhook: Webhook, holder: Holder) -> None:
    """Replace the secret; the former one remains valid for a day, and messages are signed with both."""
    webhook.former_secret, webhook.former_until = webhook.secret, act.now + OVERLAP
    webhook.secret = new_secret()
    act.session.flush()
    _record(act, "renew_secret", holder, webhook)


def remove_webhook(act: UserAct, webhook: Webhook, holder: Holder) -> None:
    """Remove a webhook with its deliveries."""
    _record(act, "remove", holder, webhook)
    _delete(act.session, [webhook.id])


def forget_webhooks_of_team(session: Session, team: Team) -> None:
    """Remove the webhooks of a team that is deleted."""
    _delete(session, session.scalars(select(Webhook.id).where(Webhook.team_id == team.id)).all())


def _delete(session: Session, webhook_ids: Collection[int]) -> None:
    for table in (WebhookDelivery, WebhookBoard):
        session.execute(delete(table).where(table.webhook_id.in_(webhook_ids)))
    session.execute(delete(Webhook).where(Webhook.id.in_(webhook_ids)))


def _checked(act: UserAct, holder: Holder, entry: WebhookEntry, webhook: Webhook | None = None) -> str:
    """Return the normalised name. Raises BlockedHere, and InvalidForm with a sentence for each field.

    webhook: the current one; None: a new one.
    """
    if holder.competition is not None:
        check_not_blocked(act.session, holder.competition, act.user)
    name, address = one_line(entry.name), entry.address.strip()
    is_matrix = entry.form is WebhookForm.MATRIX
    has_bearer = webhook is not None and webhook.bearer is not None and not address
    refuse(
        {
            "name": wrong_text(name, NAME_CHARACTERS),
            "address": _address_fault(address or (webhook.address if webhook else ""), entry.form, act.settings),
            "audience": "" if holder.audience_of(entry) in holder.audiences else "Choose one of the offered values.",
            "kinds": _kinds_fault(act.session, holder, entry, act.user),
            "bearer": _bearer_fault(entry.bearer.strip(), is_needed=is_matrix and not has_bearer, is_matrix=is_matrix),
        }
    )
    return name


_MATRIX_PATH = "/_matrix/client/v3/rooms/"


def _address_fault(address: str, form: WebhookForm, settings: Settings) -> str:
    try:
        parts = check_form(address, rules_of(settings))
    except AddressRefused as refused:
        return refused.message
    if form is WebhookForm.MATRIX and not (
        parts.path.startswith(_MATRIX_PATH) and parts.path.endswith("/send/m.room.message") and not parts.query
    ):
        return f"For Matrix: https://SERVER{_MATRIX_PATH}ROOM/send/m.room.message"
    return ""


def _bearer_fault(bearer: str, *, is_needed: bool, is_matrix: bool) -> str:
    if bearer and not is_matrix:
        return "Only Matrix takes an access token."
    if not bearer:
        return "Matrix needs an access token of the account that posts the messages." if is_needed else ""
    is_plain = bearer.isascii() and bearer.isprintable() and " " not in bearer and len(bearer) <= 500
    return "" if is_plain else "An access token must have no spaces and at most 500 characters."


def _kinds_fault(session: Session, holder: Holder, entry: WebhookEntry, user: User) -> str:
    if not entry.kinds:
        return "Choose at least one."
    if unseen := [kind for kind in entry.kinds if kind not in KINDS_FOR[holder.audience_of(entry)]]:
        return f"Not for this audience: {', '.join(unseen)}."
    if holder.competition is None or holder.audience_of(entry) is not WebhookAudience.ORGANISERS:
        return ""
    held = rights_of(session, user, holder.competition)
    lacking = sorted({RIGHT_FOR[kind] for kind in entry.kinds if kind in RIGHT_FOR} - held)
    return (
        (f"You can only see such news with the right {' and '.join(f'{one!s}' for one in lacking)} only.")
        if lacking
        else ""
    )


def _kinds_text(kinds: Collection[NewsKind]) -> str:
    return " ".join(kind for kind in NewsKind if kind in kinds)


def _record(act: UserAct, deed: str, holder: Holder, webhook: Webhook) -> None:
    """Write an audit entry without secrets."""
    details = {"webhook": webhook.id, "name": webhook.name, "form": webhook.form, "audience": webhook.audience}
    details["kinds"] = webhook.kinds
    if webhook.team_id is not None:
        details["team_id"] = webhook.team_id
    act.record(f"webhook.{deed}", holder.subject, details)


# ---------------------------------------------------------------------------------------------------------- deliveries


def deliveries_of(session: Session, webhook: Webhook) -> list[WebhookDelivery]:
    """List the latest deliveries, newest first."""
    query = select(WebhookDelivery).where(WebhookDelivery.webhook_id == webhook.id)
    return list(session.scalars(query.order_by(WebhookDelivery.id.desc()).limit(LOG_LENGTH)))


def send_test(session: Session, webhook: Webhook, now: datetime) -> None:
    """Queue a test message. Raises WebhookDisabled, LimitReached."""
    _check_enabled(webhook)
    lately = select(func.count()).where(
        WebhookDelivery.webhook_id == webhook.id,
        WebhookDelivery.kind == NewsKind.TEST,
        WebhookDelivery.happened_at > now - timedelta(hours=1),
    )
    used = session.scalars(lately).one()
    if used >= TESTS_PER_HOUR:
        retry_at = now + timedelta(hours=1)
        sentence = f"At most {TESTS_PER_HOUR} tests an hour."
        raise LimitReached(sentence, limit=TESTS_PER_HOUR, used=used, per="hour", retry_at=retry_at.isoformat())
    note_for(session, [webhook.id], NewsKind.TEST, {}, now)


def replay(session: Session, webhook: Webhook, now: datetime, first: int | None, last: int | None) -> int:
    """Queue ended deliveries again, rebuilt as their audience sees them now; return their number.

    first, last: numbers of deliveries, inclusive; None for no bound. At most REPLAYED_AT_ONCE are queued, oldest first.
    Raises WebhookDisabled, NotFound if there is none.
    """
    _check_enabled(webhook)
    query = select(WebhookDelivery.id).where(
        WebhookDelivery.webhook_id == webhook.id,
        WebhookDelivery.status != DeliveryStatus.WAITING,
        WebhookDelivery.kind != NewsKind.TEST,
    )
    if first is not None:
        query = query.where(WebhookDelivery.id >= first)
    if last is not None:
        query = query.where(WebhookDelivery.id <= last)
    chosen = session.scalars(query.order_by(WebhookDelivery.id).limit(REPLAYED_AT_ONCE)).all()
    if not chosen:
        raise NotFound("There is no finished delivery with this number.")
    again = {"status": DeliveryStatus.WAITING, "attempts": 0, "since": now, "next_attempt_at": now, "ended_at": None}
    session.execute(update(WebhookDelivery).where(WebhookDelivery.id.in_(chosen)).values(**again))
    return len(chosen)


def _check_enabled(webhook: Webhook) -> None:
    if webhook.disabled_at is not None:
        raise WebhookDisabled("This webhook is disabled: enable it first.")
