"""A forgotten password: one link, once, not for long; and nobody learns who has an account."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Engine, event, select
from sqlalchemy.engine import Connection

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, NameTaken, NotAuthenticated, NotFound
from app.models import AuditEntry, MailLink, OutgoingMail, PasswordReset, User
from app.people import auth, password_resets
from app.people.auth import (
    NewAccount,
    authenticate,
    find_session,
    register_user,
    set_email,
    set_password,
    start_session,
)
from tests import letters
from tests.rich_world import fresh
from tests.threads import in_threads
from tests.world import DAY, NOW, SECOND, add_user, answer_to

OLD, NEW = "correct horse battery", "staple of another kind"
HOUR = timedelta(hours=1)

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.fixture
def ada(engine: Engine) -> User:
    with writing(engine) as session:
        user = register_user(session, NewAccount("ada", "ada@example.org", OLD), NOW)
        user.email_confirmed_at = NOW
        return user


def ask(engine: Engine, name: str = "ada") -> None:
    with writing(engine) as session:
        password_resets.ask(session, name, get_settings(), NOW)


def use(engine: Engine, secret: str, password: str = NEW, now=NOW) -> None:  # type: ignore[no-untyped-def]
    with writing(engine) as session:
        password_resets.use(session, secret, password, get_settings(), now)


def mailed(engine: Engine) -> list[OutgoingMail]:
    with reading(engine) as session:
        return list(session.scalars(select(OutgoingMail).where(OutgoingMail.status == "waiting")))


def secrets_of(engine: Engine) -> list[str]:
    return [link.partition("link=")[2] for link in letters.links(engine, MailLink.PASSWORD, NOW)]


def can_log_in(engine: Engine, password: str) -> bool:
    with reading(engine) as session:
        try:
            authenticate(session, "ada", password)
        except NotAuthenticated:
            return False
        return True


@pytest.mark.parametrize("name", ["ada", " Ada@Example.org "])
def test_the_link_in_the_mail_sets_a_password_once(engine: Engine, ada: User, name: str) -> None:
    ask(engine, name)
    [mail] = mailed(engine)
    assert mail.recipient == "ada@example.org"
    [secret] = secrets_of(engine)
    use(engine, secret)
    assert (can_log_in(engine, NEW), can_log_in(engine, OLD)) == (True, False)
    with pytest.raises(NotFound):
        use(engine, secret, "a third one, quite long")
    assert can_log_in(engine, NEW)


def test_it_works_until_its_time_is_over(engine: Engine, ada: User) -> None:
    ask(engine)
    secret = secrets_of(engine)[0]
    with pytest.raises(NotFound):
        use(engine, secret, now=NOW + HOUR)
    use(engine, secret, now=NOW + HOUR - SECOND)


@pytest.mark.both
def test_ten_who_use_it_at_once_use_it_once(engine: Engine, ada: User) -> None:
    ask(engine)
    secret = secrets_of(engine)[0]
    answers = in_threads(10, lambda n: answer_to(lambda: use(engine, secret, f"password number {n}")))
    assert sorted(answers) == ["accepted"] + 9 * ["not_found"]


def test_every_log_in_ends_with_the_old_password(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        secrets = [start_session(session, ada, NOW, hours=24)[1] for _ in range(3)]
        token = auth.create_token(session, ada, "laptop", NOW)[1]
    ask(engine)
    use(engine, secrets_of(engine)[0])
    with reading(engine) as session:
        assert [find_session(session, secret, NOW) for secret in secrets] == [None, None, None]
        assert auth.find_token(session, token, NOW) is not None, "tokens go on: the page says so"


def test_the_owner_is_told_and_the_log_remembers(engine: Engine, ada: User) -> None:
    ask(engine)
    use(engine, secrets_of(engine)[0])
    assert "The password of your account" in mailed(engine)[-1].body
    with reading(engine) as session:
        deeds = [entry.action for entry in session.scalars(fresh(AuditEntry).order_by(AuditEntry.id))]
    assert deeds == ["password.reset"]


def test_a_password_that_is_too_short_leaves_the_link_open(engine: Engine, ada: User) -> None:
    ask(engine)
    secret = secrets_of(engine)[0]
    with pytest.raises(InvalidForm):
        use(engine, secret, "short")
    assert can_log_in(engine, OLD)
    use(engine, secret)


def test_the_database_does_not_hold_what_the_link_holds(engine: Engine, ada: User) -> None:
    ask(engine)
    secret = secrets_of(engine)[0]
    with reading(engine) as session:
        [reset] = session.scalars(select(PasswordReset))
        assert secret not in reset.secret_hash
        with pytest.raises(NotFound):
            password_resets.find(session, reset.secret_hash, NOW)


@pytest.mark.parametrize("changed", ["password", "email"])
def test_older_links_end_with_a_newer_password_or_address(engine: Engine, ada: User, changed: str) -> None:
    ask(engine)
    secret = secrets_of(engine)[0]
    with writing(engine) as session:
        if changed == "password":
            set_password(session, ada, NEW, NOW)
        else:
            set_email(session, ada, "Ada@elsewhere.org", NOW)
    with pytest.raises(NotFound):
        use(engine, secret)


def statements_of_asking(engine: Engine, name: str) -> list[str]:
    """Return the statements sent to the database, without the values."""
    said: list[str] = []

    def note(connection: Connection, cursor: object, statement: str, *_: object) -> None:
        said.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        ask(engine, name)
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return said


def test_asking_for_nobody_takes_the_same_work_and_mails_nobody(engine: Engine, ada: User) -> None:
    add_user(engine, "baseline")  # has no password, and gets none
    for_ada = statements_of_asking(engine, "ada")
    expected = ["who has it", "the address", "the mail"]
    assert len(for_ada) == len(expected) + (engine.dialect.name == "sqlite"), "which also says BEGIN"
    assert len(mailed(engine)) == 1
    for name in ("nobody", "nobody@example.org", "baseline", "ada\0"):
        assert len(mailed(engine)) == 1
        asked = statements_of_asking(engine, name)
        assert asked == for_ada or "\0" in name  # PostgreSQL takes no NUL: it is not asked


def test_an_administrator_hands_out_a_link(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        user, link = password_resets.make_link(session, "ada", get_settings(), NOW)
    assert (user.id, mailed(engine)) == (ada.id, [])
    use(engine, link.partition("link=")[2])
    assert can_log_in(engine, NEW)
    with writing(engine) as session, pytest.raises(NotFound, match="nobody"):
        password_resets.make_link(session, "nobody", get_settings(), NOW)


def test_old_links_go_with_the_next_one(engine: Engine, ada: User) -> None:
    for now in (NOW, NOW + 31 * DAY):
        with writing(engine) as session:
            password_resets.make_link(session, "ada", get_settings(), now)
    with reading(engine) as session:
        assert len(list(session.scalars(select(PasswordReset)))) == 1


def test_an_address_has_one_account(engine: Engine, ada: User) -> None:
    add_user(engine, "bob")
    with writing(engine) as session, pytest.raises(NameTaken):
        set_email(session, ada, "BOB@example.org", NOW)
    with writing(engine) as session, pytest.raises(InvalidForm):
        set_email(session, ada, "nobody", NOW)
    with reading(engine) as session:
        assert session.get_one(User, ada.id).email == "ada@example.org"


def test_a_new_password_may_keep_the_log_in_that_set_it(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        here, secret_here = start_session(session, ada, NOW, hours=24)
        _, elsewhere = start_session(session, ada, NOW, hours=24)
        set_password(session, ada, NEW, NOW, keep=here)
    with reading(engine) as session:
        assert find_session(session, secret_here, NOW) is not None
        assert find_session(session, elsewhere, NOW) is None
