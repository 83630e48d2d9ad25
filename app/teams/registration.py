"""Registration for a competition: its rules, its questions, its approval, and mails about it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, contains_eager

from app.base import links
from app.base.addresses import public_address
from app.base.db import insert_now
from app.base.errors import Forbidden
from app.base.text import refuse
from app.models import (
    AcceptedTerms,
    Audience,
    Competition,
    Registration,
    RegistrationMode,
    RegistrationStatus,
    Right,
    Team,
    TeamKind,
    TeamMember,
    User,
)
from app.people.act import Act, UserAct
from app.people.email_confirmations import is_confirmed, send_link
from app.people.mail import send_mail
from app.people.rights import ANY_RIGHT, may_organise, organisers_of
from app.teams.codes import is_right_code
from app.teams.questions import Question, answer_text, answers_to, lacks_answers, question_of, read_answers


@dataclass(frozen=True, slots=True)
class Rules:
    """The declared rules of registration."""

    mode: RegistrationMode = RegistrationMode.OPEN
    domains: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    terms: str = ""
    questions: tuple[Question, ...] = ()
    publish_predictions: bool = False  # whether participants are asked to let their predictions be published

    @property
    def terms_sha256(self) -> str | None:
        """The hash of the text that must be accepted; None if there is none."""
        return hashlib.sha256(self.terms.encode()).hexdigest() if self.terms else None

    @property
    def asks(self) -> bool:
        """True if there is a form: terms to accept, or questions."""
        return bool(self.terms or self.questions)

    @property
    def needs_address(self) -> bool:
        """True if participants need a confirmed address."""
        is_asked = self.mode in (RegistrationMode.CONFIRMED, RegistrationMode.DOMAIN, RegistrationMode.LIST)
        return is_asked or (self.mode is RegistrationMode.APPROVAL and bool(self.domains))

    @property
    def is_silent(self) -> bool:
        """True if nobody has to register before the first upload; the address may still have to be confirmed."""
        return self.mode in (RegistrationMode.OPEN, RegistrationMode.CONFIRMED) and not self.asks

    @property
    def files_for(self) -> Audience:
        """The default audience of files: everyone if there are no requirements."""
        is_open = self.mode is RegistrationMode.OPEN and not self.asks
        return Audience.EVERYONE if is_open else Audience.PARTICIPANTS

    def names(self, user: User) -> bool:
        """Return True if the user name is on the list."""
        return self.mode is RegistrationMode.LIST and user.username in self.allowed

    def fits(self, email: str) -> bool:
        """Return True if the address is admitted; with `approval`, without a decision.

        `*.uni.edu` matches everything that ends with `.uni.edu`.
        """
        if self.mode is RegistrationMode.CONFIRMED:
            return True
        if self.mode is RegistrationMode.LIST:
            return email.lower() in self.allowed
        domain = email.lower().rpartition("@")[2]
        return any(domain.endswith(one[1:]) if one.startswith("*.") else domain == one for one in self.domains)


def rules_of(competition: Competition) -> Rules:
    """Return the declared rules with defaults."""
    declared = competition.registration
    return Rules(
        mode=RegistrationMode(declared.get("mode") or RegistrationMode.OPEN),
        domains=tuple(domain.lower() for domain in declared.get("domains", ())),
        allowed=tuple(name.lower() for name in declared.get("allowed", ())),
        terms=declared.get("terms", ""),
        questions=tuple(question_of(question) for question in declared.get("questions", ())),
        publish_predictions=declared.get("publish_predictions", False),
    )


_DECIDED = {
    RegistrationStatus.APPROVED: """\
Hello {username},

The organisers of "{title}" approved your registration. You can submit now:

{page}
""",
    RegistrationStatus.REFUSED: """\
Hello {username},

The organisers of "{title}" did not accept your registration, so you cannot submit there. If you think this is a
mistake, please write to them.

{page}
""",
}
_WAITS = """\
"{display_name}" (user name {username}, {email}) wants to take part in "{title}".
{answers}
Approve or refuse it here:

{page}
"""


def mail_decision(act: Act, competition: Competition, user: User, status: RegistrationStatus) -> None:
    """Mail the organisers' decision to the person."""
    page = public_address(act.settings, links.registration(competition.name))
    body = _DECIDED[status].format(username=user.username, title=competition.title, page=page)
    subject = f"{competition.title}: your registration"
    send_mail(act.session, user, subject, body, now=act.now, competition_id=competition.id)


def mail_organisers(act: UserAct, competition: Competition, row: Registration, email: str) -> None:
    """Mail every organiser about a pending registration with its answers. email: the user's current address."""
    body = _WAITS.format(
        display_name=act.user.display_name,
        username=act.user.username,
        email=email,
        title=competition.title,
        answers=_answers(competition, row),
        page=public_address(act.settings, links.registrations(competition.name)),
    )
    subject = f"{competition.title}: a registration is waiting"
    for organiser in organisers_of(act.session, competition.name, Right.EDIT):
        send_mail(act.session, organiser, subject, body, now=act.now, competition_id=competition.id)


def _answers(competition: Competition, row: Registration) -> str:
    given = [
        (question.title, answer_text(row.answers.get(question.name))) for question in rules_of(competition).questions
    ]
    lines = [f"{title}: {text}" for title, text in given if text]
    return "\n".join(["", *lines, ""]) if lines else ""


class Missing(StrEnum):
    """The reason why somebody cannot take part yet."""

    REGISTRATION = "registration"  # not registered
    TERMS = "terms"  # current terms not accepted
    ANSWERS = "answers"  # required questions not answered
    CONFIRMATION = "confirmation"  # e-mail address not confirmed
    APPROVAL = "approval"  # organisers have not decided yet
    REFUSED = "refused"  # by the organisers
    NOT_LISTED = "not_listed"  # neither address nor name is admitted


class RegistrationNeeded(Forbidden):
    """Registration is missing or incomplete (details: competition, missing, and registration, the page's address)."""

    code = "registration_needed"


@dataclass(frozen=True, slots=True)
class Standing:
    """The registration status of a user. missing: None if the user may take part."""

    rules: Rules
    row: Registration | None
    missing: Missing | None

    @property
    def has_accepted(self) -> bool:
        """True if the current terms are accepted, or if there are none."""
        return self.rules.terms_sha256 in (None, self.row.terms_sha256 if self.row else None)


# -------------------------------------------------------------------------------------------------------------- access


def standing(session: Session, competition: Competition, user: User) -> Standing:
    """Return the user's registration, and what is missing."""
    row = session.get(Registration, (competition.id, user.id), populate_existing=True)
    return standing_by(session, competition, user, row)


def standing_by(session: Session, competition: Competition, user: User, row: Registration | None) -> Standing:
    """Return the same as `standing`, if the user's row is loaded."""
    rules = rules_of(competition)
    found = Standing(rules, row, None)
    missing = _missing(rules, row, found.has_accepted)
    if missing is None and rules.mode is RegistrationMode.CONFIRMED and not is_confirmed(session, user):
        missing = Missing.CONFIRMATION  # also after a change of address
    if missing is None or may_organise(session, user, competition, ANY_RIGHT):
        return found
    return Standing(rules, row, missing)


def _missing(rules: Rules, row: Registration | None, has_accepted: bool) -> Missing | None:
    if row is not None and row.status == RegistrationStatus.REFUSED:
        if row.decided_by is not None:
            return Missing.REFUSED
        if rules.needs_address:
            return Missing.NOT_LISTED
    if rules.is_silent:
        return None
    if row is None:
        return Missing.REGISTRATION
    if not has_accepted:
        return Missing.TERMS
    if lacks_answers(row.answers, rules.questions):
        return Missing.ANSWERS
    if row.status == RegistrationStatus.APPROVED:
        return None
    if row.status == RegistrationStatus.UNCONFIRMED and rules.needs_address:
        return Missing.CONFIRMATION
    if row.status == RegistrationStatus.PENDING and rules.mode is RegistrationMode.APPROVAL:
        return Missing.APPROVAL
    return Missing.REGISTRATION  # their request was made under other rules


def check_registered(session: Session, competition: Competition, user: User) -> Standing:
    """Return the user's status. Raises RegistrationNeeded, with what is missing and where to provide it."""
    return check_standing(competition, standing(session, competition, user))


def check_standing(competition: Competition, standing: Standing) -> Standing:
    """Return the status if the user may take part. Raises RegistrationNeeded otherwise."""
    if standing.missing is not None:
        raise registration_needed(competition, standing.missing)
    return standing


def registration_needed(competition: Competition, missing: Missing) -> RegistrationNeeded:
    """Return the error, with a message on what is missing."""
    page = f"/competitions/{competition.name}/registration"
    return RegistrationNeeded(
        f"{MISSING_WORDS[missing]} See {page}.", competition=competition.name, missing=missing, registration=page
    )


MISSING_WORDS = {
    Missing.REGISTRATION: "Please register for this competition first.",
    Missing.TERMS: "Please accept the current terms of this competition first.",
    Missing.ANSWERS: "Please answer the organisers' questions to all participants first.",
    Missing.CONFIRMATION: (
        "Please confirm your e-mail address first: a link was sent to you. Request another on your account page; if "
        "this server sends no mail, ask its administrators for the link."
    ),
    Missing.APPROVAL: "The organisers have not answered your registration yet; you will get a mail when they have.",
    Missing.REFUSED: "The organisers have refused your registration for this competition.",
    Missing.NOT_LISTED: "This competition is not open to your e-mail address.",
}


def participants_of(session: Session, competition: Competition) -> list[User]:
    """List all participants by user name: approved registrations and members of teams."""
    registered = select(Registration.user_id).where(Registration.competition_id == competition.id)
    members = (
        select(TeamMember.user_id)
        .join(Team, Team.id == TeamMember.team_id)
        .where(TeamMember.competition_id == competition.id, Team.kind == TeamKind.TEAM)
    )
    query = select(User).where(
        or_(User.id.in_(registered.where(Registration.status == RegistrationStatus.APPROVED)), User.id.in_(members)),
        User.id.not_in(registered.where(Registration.status == RegistrationStatus.REFUSED)),
    )
    return list(session.scalars(query.order_by(User.username)))


def list_registrations(
    session: Session, competition: Competition, *, status: RegistrationStatus | None = None
) -> list[Registration]:
    """List registrations, of one status or all, with users, in order of registration."""
    query = (
        select(Registration)
        .join(Registration.user)
        .options(contains_eager(Registration.user))
        .where(Registration.competition_id == competition.id)
        .order_by(Registration.registered_at, User.username)
    )
    return list(session.scalars(query if status is None else query.where(Registration.status == status)))


# --------------------------------------------------------------------------------------------------------- registering


def register(
    act: UserAct,
    competition: Competition,
    *,
    accepted: str | None = None,
    answers: Mapping[str, Any] | None = None,
    code: SentCode | None = None,
    before_mail: Callable[[], None] = lambda: None,
) -> Registration:
    """Register, or register again after a change; return the registration.

    - accepted: the sha256 of the terms that were read.
    - answers: by question, as sent; None to keep earlier ones.
    - code: as typed, if one is needed.
    - before_mail: called before a link is sent, to limit their number.

    Raises InvalidForm, RegistrationNeeded (refused).
    """
    session = act.session
    rules = rules_of(competition)
    row = _row(session, competition, act.user, act.now)
    kept, wrong = read_answers(
        answers_to(rules.questions, row.answers) if answers is None else answers, rules.questions
    )
    is_new = row.status != RegistrationStatus.APPROVED
    wrong_code = _wrong_code(session, competition, code) if rules.mode is RegistrationMode.CODE and is_new else ""
    refuse({"code": wrong_code, "terms": _wrong_terms(rules, row, accepted), **wrong})
    if row.status == RegistrationStatus.REFUSED and row.decided_by is not None:
        raise registration_needed(competition, Missing.REFUSED)
    if rules.terms_sha256 != row.terms_sha256 and rules.terms_sha256 is not None:
        row.terms_sha256, row.terms_accepted_at = rules.terms_sha256, act.now
        _keep_terms(session, rules)
    row.answers = kept
    if row.status != RegistrationStatus.APPROVED:
        _ask(act, competition, row, rules, before_mail)
    session.flush()
    return row


@dataclass(frozen=True, slots=True)
class SentCode:
    """A typed joining code. count: counts the attempt, and raises LimitReached if there were too many."""

    text: str
    count: Callable[[], None]


def _wrong_code(session: Session, competition: Competition, code: SentCode | None) -> str:
    """Return a sentence if the code is wrong, otherwise ""; every code that is typed counts as an attempt."""
    if code is None or not code.text.strip():
        return "Type the code that the organisers gave you."
    code.count()
    return "" if is_right_code(session, competition, code.text) else "This code is wrong, or was replaced."


def _keep_terms(session: Session, rules: Rules) -> None:
    """Store the accepted terms once, even under concurrent acceptances."""
    if rules.terms_sha256 is None or session.get(AcceptedTerms, rules.terms_sha256) is not None:
        return
    with suppress(IntegrityError), session.begin_nested():
        session.add(AcceptedTerms(sha256=rules.terms_sha256, text=rules.terms))


def note_taking_part(session: Session, competition: Competition, user: User, known: Standing, now: datetime) -> None:
    """Register the user silently if the competition requires nothing, unless the user is registered already."""
    if not known.rules.is_silent or (known.row and known.row.status == RegistrationStatus.APPROVED):
        return
    if known.row is None and insert_now(session, _silent_registration(competition, user, now)):
        return
    row = _row(session, competition, user, now)
    if row.status != RegistrationStatus.APPROVED:
        row.status, row.decided_at = RegistrationStatus.APPROVED, now


def _silent_registration(competition: Competition, user: User, now: datetime) -> Registration:
    return Registration(
        competition_id=competition.id,
        user_id=user.id,
        status=RegistrationStatus.APPROVED,
        registered_at=now,
        decided_at=now,
        answers={},
    )


def settle_confirmed(session: Session, user: User, now: datetime) -> list[Competition]:
    """Decide registrations that waited for a confirmed address; return the competitions that the user can now enter."""
    waiting = session.execute(
        select(Registration, Competition)
        .join(Competition, Competition.id == Registration.competition_id)
        .where(Registration.user_id == user.id, Registration.status == RegistrationStatus.UNCONFIRMED)
        .order_by(Competition.position, Competition.id)
        .with_for_update(of=Registration)
    ).all()
    entered = []
    for row, competition in waiting:
        rules = rules_of(competition)
        if not rules.needs_address:
            continue
        fits = rules.fits(_email(session, user))
        if rules.mode is RegistrationMode.APPROVAL and not fits:  # not the address they registered with
            row.status = RegistrationStatus.PENDING
        else:
            _decide_by_rule(row, fits, now)
            if row.status == RegistrationStatus.APPROVED:
                entered.append(competition)
    session.flush()
    return entered


def decide_all(act: Act, competition: Competition, users: Sequence[User], status: RegistrationStatus) -> int:
    """Approve or refuse all users, in the order of their ids to avoid deadlocks; return the number of changes."""
    several = sorted({user.id: user for user in users}.values(), key=lambda user: user.id)
    return sum(decide(act, competition, user, status) for user in several)


def decide(act: Act, competition: Competition, user: User, status: RegistrationStatus) -> bool:
    """Approve or refuse somebody, even without a request, and notify the person; return False if unchanged."""
    session = act.session
    row = _row(session, competition, user, act.now)
    if row.status == status and (status == RegistrationStatus.APPROVED or row.decided_by is not None):
        return False
    deed = f"registration.{_DEEDS[status]}"
    entry = act.record(deed, f"competition {competition.name}", {"user": user.username})
    row.status, row.decided_at, row.decided_by = status, act.now, entry.actor
    session.flush()
    mail_decision(act, competition, user, status)
    return True


_DEEDS = {RegistrationStatus.APPROVED: "approve", RegistrationStatus.REFUSED: "refuse"}


def _wrong_terms(rules: Rules, row: Registration, accepted: str | None) -> str:
    """Return a sentence unless the current terms are accepted, with this form or before."""
    if rules.terms_sha256 in (None, accepted, row.terms_sha256):
        return ""
    return "The terms have changed; please read them." if accepted else "Please read the terms and accept them."


def _row(session: Session, competition: Competition, user: User, now: datetime) -> Registration:
    """Return the user's registration, locked until the transaction ends; a new one has no status yet."""
    key = (competition.id, user.id)
    row = session.get(Registration, key, with_for_update=True, populate_existing=True)
    if row is not None:
        return row
    row = Registration(
        competition_id=key[0], user_id=key[1], status=RegistrationStatus.UNCONFIRMED, registered_at=now, answers={}
    )
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:  # concurrently, by another request of the same user
        return session.get_one(Registration, key, with_for_update=True, populate_existing=True)
    return row


def _ask(
    act: UserAct, competition: Competition, row: Registration, rules: Rules, before_mail: Callable[[], None]
) -> None:
    """Apply the rules to a user who is not approved yet."""
    session = act.session
    if rules.mode in (RegistrationMode.OPEN, RegistrationMode.CODE) or rules.names(act.user):  # the code was checked
        _decide_by_rule(row, True, act.now)
    elif rules.mode is RegistrationMode.APPROVAL and not rules.fits(_email(session, act.user)):
        if row.status != RegistrationStatus.PENDING:
            row.status, row.registered_at = RegistrationStatus.PENDING, act.now
            mail_organisers(act, competition, row, _email(session, act.user))
    elif is_confirmed(session, act.user):
        _decide_by_rule(row, rules.fits(_email(session, act.user)), act.now)
    elif rules.mode is RegistrationMode.DOMAIN and not rules.fits(_email(session, act.user)):
        _decide_by_rule(row, False, act.now)  # domains are public, but nobody should learn by guessing who is on a list
    else:
        row.status, row.registered_at = RegistrationStatus.UNCONFIRMED, act.now
        before_mail()
        send_link(session, act.user, act.settings, act.now)


def _decide_by_rule(row: Registration, fits: bool, now: datetime) -> None:
    row.status = RegistrationStatus.APPROVED if fits else RegistrationStatus.REFUSED
    row.decided_at, row.decided_by = now, None


def _email(session: Session, user: User) -> str:
    """Return the current address, because `user` may have been loaded before a change."""
    return session.scalars(select(User.email).where(User.id == user.id)).one()
