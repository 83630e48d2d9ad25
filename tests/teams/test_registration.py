"""Registering for a competition: who may take part under which rule, terms, decisions of organisers, mails."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, LimitReached, NotFound
from app.competitions.find import find_competition
from app.models import (
    AcceptedTerms,
    AuditEntry,
    Competition,
    MailLink,
    OutgoingMail,
    Registration,
    RegistrationStatus,
    Role,
    TeamKind,
    User,
)
from app.people import email_confirmations
from app.people.act import Act, UserAct
from app.people.rights import grant_role
from app.teams.find import find_team
from app.teams.registration import (
    Missing,
    RegistrationNeeded,
    decide,
    decide_all,
    list_registrations,
    participants_of,
    register,
    rules_of,
    settle_confirmed,
    standing,
)
from tests import letters
from tests.beside import one_right_each
from tests.rich_world import EARLIER_USER
from tests.threads import in_threads
from tests.world import (
    COMPETITION,
    HOUR,
    NOW,
    SECOND,
    add_competition,
    add_team,
    add_user,
    answer_to,
    submit,
    the_phase_task,
)

SETTINGS = Settings(base_url="https://evergold.example")
APPROVED, PENDING, REFUSED = RegistrationStatus.APPROVED, RegistrationStatus.PENDING, RegistrationStatus.REFUSED


def declare(engine: Engine, **registration: Any) -> None:
    with writing(engine) as session:
        session.scalars(select(Competition).where(Competition.name == COMPETITION)).one().registration = registration


def ask(engine: Engine, user: User, *, accepts: bool = True, **more: Any) -> Missing | None:
    """Register, with the terms that there are; what is missing then."""
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        accepted = rules_of(competition).terms_sha256 if accepts else None
        register(UserAct(session, user, NOW, SETTINGS), competition, accepted=accepted, **more)
    return missing(engine, user)


def missing(engine: Engine, user: User) -> Missing | None:
    with reading(engine) as session:
        return standing(session, find_competition(session, COMPETITION), user).missing


def answer(engine: Engine, user: User, status: RegistrationStatus, actor: User | None = None) -> bool:
    with writing(engine) as session:
        return decide(Act(session, actor, NOW, SETTINGS), find_competition(session, COMPETITION), user, status)


def confirm(engine: Engine, user: User, link: str) -> list[str]:
    with writing(engine) as session:
        email_confirmations.confirm(session, user, link.partition("link=")[2], NOW + SECOND)
        return [one.name for one in settle_confirmed(session, user, NOW + SECOND)]


def mails(engine: Engine) -> list[OutgoingMail]:
    with reading(engine) as session:
        return list(session.scalars(select(OutgoingMail).order_by(OutgoingMail.id)))


def links(engine: Engine) -> list[str]:
    return letters.links(engine, MailLink.ADDRESS, NOW, SETTINGS)


def names(engine: Engine) -> list[str]:
    with reading(engine) as session:
        found = participants_of(session, find_competition(session, COMPETITION))
        return [user.username for user in found if user.username != EARLIER_USER]


def new_address(engine: Engine, user: User, email: str) -> None:
    with writing(engine) as session:
        session.execute(update(User).where(User.id == user.id).values(email=email, email_confirmed_at=None))


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine)
    return add_user(engine, "ada")


# ------------------------------------------------------------------------------------------------------ participants


def test_participants_are_whose_registration_is_approved_and_members_of_teams(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval")
    bob, cat, dan = (add_user(engine, name) for name in ("bob", "cat", "dan"))
    add_user(engine, "nobody")
    add_team(engine, add_user(engine, "bot"), name="Majority", kind=TeamKind.BASELINE)
    add_team(engine, bob, dan, name="Both")
    for user in (ada, cat):
        ask(engine, user)
    assert names(engine) == ["bob", "dan"]
    answer(engine, ada, APPROVED)
    answer(engine, cat, REFUSED)
    answer(engine, dan, REFUSED)
    assert names(engine) == ["ada", "bob"], "whom the organisers refuse takes part no more"


# -------------------------------------------------------------------------------------------------------------- open


def test_open_and_without_terms_the_first_upload_registers(engine: Engine, ada: User) -> None:
    assert missing(engine, ada) is None
    assert names(engine) == []
    submit(engine, ada)
    submit(engine, ada)
    with reading(engine) as session:
        row = session.scalars(select(Registration).where(Registration.user_id == ada.id)).one()
        assert (row.user_id, row.status, row.decided_by) == (ada.id, APPROVED, None)
    assert names(engine) == ["ada"]
    assert mails(engine) == []


@pytest.mark.parametrize(
    ("declared", "wanted"),
    [
        ({"terms": "Be kind."}, Missing.REGISTRATION),
        ({"mode": "approval"}, Missing.REGISTRATION),
        ({"mode": "domain", "domains": ["example.org"]}, Missing.REGISTRATION),
        ({"mode": "list", "allowed": ["ada"]}, Missing.REGISTRATION),
    ],
)
def test_else_an_upload_before_registering_is_refused_and_leaves_nothing(
    engine: Engine, ada: User, declared: dict[str, Any], wanted: Missing
) -> None:
    declare(engine, **declared)
    with pytest.raises(RegistrationNeeded, match="register for this competition") as refused:
        submit(engine, ada)
    assert refused.value.status == 403
    assert refused.value.details == {
        "competition": COMPETITION,
        "missing": wanted,
        "registration": f"/competitions/{COMPETITION}/registration",
    }
    with reading(engine) as session:
        assert find_team(session, ada, the_phase_task(session).phase.competition_id) is None
        assert session.scalars(select(Registration).where(Registration.user_id == ada.id)).all() == []


def test_organisers_and_administrators_try_out_what_they_like(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval", terms="Be kind.")
    root = add_user(engine, "root", is_administrator=True)
    with writing(engine) as session:
        grant_role(session, find_competition(session, COMPETITION), ada, Role.ORGANISER, NOW)
    assert [answer_to(lambda one=user: submit(engine, one)) for user in (ada, root)] == ["accepted", "accepted"]  # type: ignore[misc]


# ------------------------------------------------------------------------------------------------------------- terms


def test_terms_are_accepted_as_they_are(engine: Engine, ada: User) -> None:
    declare(engine, terms="Be kind.")
    with pytest.raises(InvalidForm, match="correct") as refused:
        ask(engine, ada, accepts=False)
    assert refused.value.details["fields"] == {"terms": "Please read the terms and accept them."}
    assert missing(engine, ada) is Missing.REGISTRATION
    assert ask(engine, ada) is None
    with reading(engine) as session:
        row = session.scalars(select(Registration).where(Registration.user_id == ada.id)).one()
        # printf 'Be kind.' | sha256sum
        assert row.terms_sha256 == "5499befb38dbf3fcc08107141cb2a9e7f42a6aae403361dc3601b8296d7967ea"
        assert row.terms_accepted_at == NOW
        assert {(kept.sha256, kept.text) for kept in session.scalars(select(AcceptedTerms))} == {
            (row.terms_sha256, "Be kind.")
        }
    assert answer_to(lambda: submit(engine, ada)) == "accepted"


def test_registering_again_keeps_the_moment_when_terms_were_accepted(engine: Engine, ada: User) -> None:
    declare(engine, mode="open", terms="Be fair.")
    for now in (NOW, NOW + HOUR):
        with writing(engine) as session:
            competition = find_competition(session, COMPETITION)
            row = register(
                UserAct(session, ada, now, SETTINGS), competition, accepted=rules_of(competition).terms_sha256
            )
            assert row.terms_accepted_at == NOW


def test_newer_terms_are_accepted_anew(engine: Engine, ada: User) -> None:
    declare(engine, terms="Be kind.")
    ask(engine, ada)
    with reading(engine) as session:
        old = rules_of(find_competition(session, COMPETITION)).terms_sha256
    declare(engine, terms="Be kind and brief.")
    assert missing(engine, ada) is Missing.TERMS
    assert answer_to(lambda: submit(engine, ada)) == "registration_needed"
    with writing(engine) as session, pytest.raises(InvalidForm) as refused:
        register(UserAct(session, ada, NOW, SETTINGS), find_competition(session, COMPETITION), accepted=old)
    assert refused.value.details["fields"] == {"terms": "The terms have changed; please read them."}
    assert ask(engine, ada) is None
    declare(engine)
    assert missing(engine, ada) is None, "no terms, nothing to accept"
    with reading(engine) as session:
        assert set(session.scalars(select(AcceptedTerms.text))) == {"Be kind.", "Be kind and brief."}


# ---------------------------------------------------------------------------------------------------------- approval


def test_whoever_waits_for_approval_is_told_and_so_are_the_organisers_once(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval")
    olga = add_user(engine, "olga")
    with writing(engine) as session:
        grant_role(session, find_competition(session, COMPETITION), olga, Role.ORGANISER, NOW)
    assert ask(engine, ada) is Missing.APPROVAL
    assert ask(engine, ada) is Missing.APPROVAL
    assert [mail.recipient for mail in mails(engine)] == ["olga@example.org"]
    assert f"https://evergold.example/competitions/{COMPETITION}/registrations" in mails(engine)[0].body
    assert "ada@example.org" in mails(engine)[0].body
    with pytest.raises(RegistrationNeeded, match="have not answered"):
        submit(engine, ada)
    assert answer(engine, ada, APPROVED, olga)
    assert not answer(engine, ada, APPROVED, olga), "twice is as good as once"
    assert [mail.recipient for mail in mails(engine)[1:]] == ["ada@example.org"]
    assert answer_to(lambda: submit(engine, ada)) == "accepted"
    with reading(engine) as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "registration.approve")).one()
        assert (entry.actor, entry.subject, entry.details) == ("olga", f"competition {COMPETITION}", {"user": "ada"})


def test_whom_the_organisers_refuse_cannot_ask_again(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval")
    ask(engine, ada)
    answer(engine, ada, REFUSED)
    assert missing(engine, ada) is Missing.REFUSED
    with pytest.raises(RegistrationNeeded, match="have refused"):
        ask(engine, ada)
    assert answer_to(lambda: submit(engine, ada)) == "registration_needed"
    answer(engine, ada, APPROVED)
    assert missing(engine, ada) is None
    refused, approved = (mail.body for mail in mails(engine))
    assert refused.startswith('Hello ada,\n\nThe organisers of "Idioms" did not accept your registration')
    assert approved.startswith('Hello ada,\n\nThe organisers of "Idioms" approved your registration.')


def test_only_organisers_who_decide_are_told_who_waits(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval")
    one_right_each(engine)
    ask(engine, ada)
    assert [mail.recipient for mail in mails(engine)] == ["has-edit@example.org"]


def test_the_list_is_of_this_competition_in_the_order_of_registering(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval")
    zoe, bob = add_user(engine, "zoe"), add_user(engine, "bob")
    for user, now in ((zoe, NOW), (ada, NOW + SECOND), (bob, NOW + SECOND)):
        with writing(engine) as session:
            register(UserAct(session, user, now, SETTINGS), find_competition(session, COMPETITION))
    answer(engine, ada, APPROVED)

    def listed(status: RegistrationStatus | None = None) -> list[str]:
        with reading(engine) as session:
            found = list_registrations(session, find_competition(session, COMPETITION), status=status)
            return [one.user.username for one in found if one.user.username != EARLIER_USER]

    assert (listed(), listed(APPROVED), listed(PENDING)) == (["zoe", "ada", "bob"], ["ada"], ["zoe", "bob"])


def test_several_are_decided_at_once_and_nobody_else(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval")
    bob, cat = add_user(engine, "bob"), add_user(engine, "cat")
    for user in (ada, bob, cat):
        ask(engine, user)
    answer(engine, ada, APPROVED)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        assert decide_all(Act(session, None, NOW, SETTINGS), here, [bob, ada, bob], APPROVED) == 1
    assert [missing(engine, user) for user in (ada, bob, cat)] == [None, None, Missing.APPROVAL]


def test_organisers_can_refuse_somebody_where_all_may_take_part(engine: Engine, ada: User) -> None:
    submit(engine, ada)
    answer(engine, ada, REFUSED)
    assert answer_to(lambda: submit(engine, ada)) == "registration_needed"


def test_whom_the_rule_refused_the_organisers_can_refuse_for_good(engine: Engine, ada: User) -> None:
    """Check that until then another address would let them in; and that they are notified."""
    declare(engine, mode="domain", domains=["uni.example"])
    assert ask(engine, ada) is Missing.NOT_LISTED
    before = len(mails(engine))
    assert answer(engine, ada, REFUSED)
    assert missing(engine, ada) is Missing.REFUSED
    assert len(mails(engine)) == before + 1
    assert not answer(engine, ada, REFUSED), "it is so already"


def test_approval_in_advance_still_leaves_the_terms_to_be_accepted(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval", terms="Be kind.")
    answer(engine, ada, APPROVED)
    assert missing(engine, ada) is Missing.TERMS
    assert ask(engine, ada) is None


def test_who_is_approved_stays_so_when_the_rule_becomes_stricter(engine: Engine, ada: User) -> None:
    submit(engine, ada)
    declare(engine, mode="list", allowed=["somebody@else.example"])
    assert missing(engine, ada) is None


def test_who_waited_for_approval_registers_again_under_another_rule(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval")
    ask(engine, ada)
    declare(engine)
    assert missing(engine, ada) is None
    declare(engine, mode="list", allowed=["ada"])
    assert missing(engine, ada) is Missing.REGISTRATION
    assert ask(engine, ada) is None


@pytest.mark.both
def test_two_requests_at_one_moment_make_one_registration_and_one_mail(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval")
    add_user(engine, "root", is_administrator=True)
    assert in_threads(4, lambda _: ask(engine, ada)) == [Missing.APPROVAL] * 4
    assert len(mails(engine)) == 1


# --------------------------------------------------------------------------------------------------- domain and list


@pytest.mark.parametrize(
    ("email", "fits"),
    [
        ("ada@uni.edu", True),
        ("ada@UNI.edu", True),
        ("ada@nlp.uni.edu", False),
        ("ada@nlp.lab.example", True),
        ("ada@deep.nlp.lab.example", True),
        ("ada@lab.example", False),
        ("ada@evillab.example", False),
        ("ada@uni.edu.evil.example", False),
        ("uni.edu@evil.example", False),
    ],
)
def test_a_domain_is_compared_whole_or_below_a_star(engine: Engine, ada: User, email: str, fits: bool) -> None:
    declare(engine, mode="domain", domains=["uni.edu", "*.lab.example"])
    with reading(engine) as session:
        assert rules_of(find_competition(session, COMPETITION)).fits(email) is fits


def test_a_domain_counts_when_the_address_is_confirmed(engine: Engine, ada: User) -> None:
    new_address(engine, ada, "ada@mail.example.org")
    declare(engine, mode="domain", domains=["*.example.org"])
    assert ask(engine, ada) is Missing.CONFIRMATION
    assert answer_to(lambda: submit(engine, ada)) == "registration_needed"
    [link] = links(engine)
    assert confirm(engine, ada, link) == [COMPETITION]
    assert answer_to(lambda: submit(engine, ada)) == "accepted"
    assert confirm(engine, ada, link) == [], "a second click does no harm"


@pytest.mark.both
def test_another_domain_is_told_at_once_and_may_be_changed(engine: Engine, ada: User) -> None:
    declare(engine, mode="domain", domains=["uni.edu"])
    assert ask(engine, ada) is Missing.NOT_LISTED
    assert mails(engine) == []
    new_address(engine, ada, "ada@uni.edu")
    assert ask(engine, ada) is Missing.CONFIRMATION
    assert confirm(engine, ada, links(engine)[0]) == [COMPETITION]


def test_a_proof_holds_for_the_address_as_it_was(engine: Engine, ada: User) -> None:
    declare(engine, mode="domain", domains=["example.org", "uni.edu"])
    new_address(engine, ada, "ada@example.org")
    ask(engine, ada)
    [link] = links(engine)
    new_address(engine, ada, "ada@uni.edu")
    with pytest.raises(NotFound):
        confirm(engine, ada, link)
    assert ask(engine, ada) is Missing.CONFIRMATION
    [link] = links(engine)
    confirm(engine, ada, link)
    assert missing(engine, ada) is None


def test_a_link_is_for_its_own_account_and_not_for_ever(engine: Engine, ada: User) -> None:
    declare(engine, mode="domain", domains=["example.org"])
    new_address(engine, ada, "ada.l@example.org")
    ask(engine, ada)
    [link] = links(engine)
    with pytest.raises(NotFound):
        confirm(engine, add_user(engine, "eve"), link)
    late = NOW + timedelta(hours=email_confirmations.LINK_HOURS)
    with reading(engine) as session, pytest.raises(NotFound):
        email_confirmations.find(session, ada, link.partition("link=")[2], late)
    with reading(engine) as session:
        assert not email_confirmations.is_confirmed(session, ada)


def test_one_proof_opens_all_competitions_that_wait_for_it_in_the_order_of_the_front_page(
    engine: Engine, ada: User
) -> None:
    add_competition(engine, name="first")
    new_address(engine, ada, "ada@example.org")
    with writing(engine) as session:
        for position, name in enumerate(("first", COMPETITION)):
            competition = find_competition(session, name)
            competition.position = position
            competition.registration = {"mode": "domain", "domains": ["example.org"]}
            register(UserAct(session, ada, NOW, SETTINGS), competition)
    assert confirm(engine, ada, links(engine)[0]) == ["first", COMPETITION]


def test_a_list_has_user_names_and_confirmed_addresses(engine: Engine, ada: User) -> None:
    declare(engine, mode="list", allowed=["ada", "Bob@Example.org"])
    bob = add_user(engine, "bob", is_confirmed=False)
    assert ask(engine, ada) is None, "the user name needs no mail"
    assert ask(engine, bob) is Missing.CONFIRMATION
    assert confirm(engine, bob, links(engine)[0]) == [COMPETITION]


def test_who_is_on_the_list_is_not_to_be_guessed_with_an_address_of_somebody_else(engine: Engine, ada: User) -> None:
    declare(engine, mode="list", allowed=["bob@example.org"])
    eve, bob = (add_user(engine, name, is_confirmed=False) for name in ("eve", "bob"))
    assert ask(engine, eve) is ask(engine, bob) is Missing.CONFIRMATION
    assert confirm(engine, eve, links(engine)[0]) == []
    assert missing(engine, eve) is Missing.NOT_LISTED


def test_too_many_mails_are_refused_before_one_goes_out(engine: Engine, ada: User) -> None:
    declare(engine, mode="domain", domains=["example.org"])
    new_address(engine, ada, "ada.l@example.org")

    def refuse() -> None:
        raise LimitReached("Too often.")

    with pytest.raises(LimitReached):
        ask(engine, ada, before_mail=refuse)
    assert mails(engine) == []
    assert missing(engine, ada) is Missing.REGISTRATION


def test_an_upload_sent_again_is_the_same_even_after_a_refusal(engine: Engine, ada: User) -> None:
    first = submit(engine, ada, key="one")
    answer(engine, ada, REFUSED)
    again = submit(engine, ada, NOW + HOUR, key="one")
    assert (again.submission.id, again.created) == (first.submission.id, False)


# ------------------------------------------------------------------------------------------- approval, but for domains


def test_with_approval_listed_domains_are_let_in_at_once_and_others_wait(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval", domains=["example.org"])
    assert ask(engine, ada) is None
    bob = add_user(engine, "bob")
    new_address(engine, bob, "bob@elsewhere.test")
    assert ask(engine, bob) is Missing.APPROVAL
    with reading(engine) as session:
        row = session.get_one(Registration, (find_competition(session, COMPETITION).id, ada.id))
    assert (row.status, row.decided_by) == (APPROVED, None), "by the rule"


def test_with_approval_a_domain_counts_once_the_address_is_confirmed(engine: Engine, ada: User) -> None:
    declare(engine, mode="approval", domains=["example.org"])
    new_address(engine, ada, "ada@example.org")
    assert ask(engine, ada) is Missing.CONFIRMATION
    [link] = links(engine)
    assert confirm(engine, ada, link) == [COMPETITION]
    assert missing(engine, ada) is None


def test_who_confirms_another_address_than_one_of_the_domains_waits_for_the_organisers(
    engine: Engine, ada: User
) -> None:
    declare(engine, mode="approval", domains=["example.org"])
    new_address(engine, ada, "ada@example.org")
    ask(engine, ada)
    new_address(engine, ada, "ada@elsewhere.test")
    with writing(engine) as session:
        session.execute(update(User).where(User.id == ada.id).values(email_confirmed_at=NOW))
        assert settle_confirmed(session, ada, NOW) == []
    assert missing(engine, ada) is Missing.APPROVAL
