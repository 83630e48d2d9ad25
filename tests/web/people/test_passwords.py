"""A forgotten password and changed ones, on the pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.models import AuditEntry, MailLink, OutgoingMail, User
from tests import letters
from tests.rich_world import fresh
from tests.web.limits import limited
from tests.web.site import BROWSER, PASSWORD, Site, csrf_of, log_in, register

NEW = "staple of another kind"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    """Yield the browser of somebody who is not logged in."""
    with site.client(**BROWSER) as client:
        yield client


def ask(browser: httpx.Client, name: str, **headers: str) -> httpx.Response:
    form = {"username": name, "csrf_token": csrf_of(browser.get("/password/forgot").text)}
    return browser.post("/password/forgot", data=form, headers=headers)


def links(site: Site) -> list[str]:
    return letters.links(site.engine, MailLink.PASSWORD, site.now, site.settings)


def path_of(link: str) -> str:
    return "/password/new" + link.partition("/password/new")[2]


def log_in_as(browser: httpx.Client, name: str, password: str) -> int:
    form = {"username": name, "password": password, "csrf_token": csrf_of(browser.get("/login").text)}
    return browser.post("/login", data=form).status_code


def test_from_forgotten_to_logged_in(site: Site, browser: httpx.Client) -> None:
    register(site)
    assert "/password/forgot" in browser.get("/login").text
    assert "a link was written for it" in ask(browser, "ada@example.org").text
    [link] = links(site)
    page = browser.get(path_of(link))
    assert page.headers["Cache-Control"] == "no-store"
    form = {"link": link.partition("link=")[2], "password": NEW, "csrf_token": csrf_of(page.text)}
    done = browser.post("/password/new", data=form)
    assert (done.status_code, done.headers["Location"]) == (303, "/login?done=password")
    assert "Your new password is set" in browser.get("/login?done=password").text
    assert log_in_as(browser, "ada", PASSWORD) == 401
    assert log_in_as(browser, "ada", NEW) == 303


def test_opening_the_link_uses_nothing_up(site: Site, browser: httpx.Client) -> None:
    register(site)
    ask(browser, "ada")
    for _ in range(3):  # a mail scanner, a preview, then a person
        assert browser.get(path_of(links(site)[0])).status_code == 200


def test_the_answer_does_not_tell_who_has_an_account(site: Site, browser: httpx.Client) -> None:
    register(site)
    answers = [ask(browser, name) for name in ("ada", "bob")]
    assert [answer.status_code for answer in answers] == [200, 200]
    said = [answer.text.replace(name, "…") for answer, name in zip(answers, ("ada", "bob"), strict=True)]
    assert said[0] == said[1]
    assert len(links(site)) == 1


def test_a_host_header_does_not_choose_where_the_mail_leads(site: Site, browser: httpx.Client) -> None:
    register(site)
    page = browser.get("/password/forgot", headers={"Host": "evil.example"})
    form = {"username": "ada", "csrf_token": csrf_of(page.text)}
    browser.post("/password/forgot", data=form, headers={"Host": "evil.example"})
    assert [link.partition("/password")[0] for link in links(site)] == ["http://127.0.0.1:8321"]


def test_a_used_or_old_link_is_said_to_be_so(site: Site, browser: httpx.Client) -> None:
    register(site)
    ask(browser, "ada")
    [link] = links(site)
    site.set_clock(site.now + timedelta(hours=1))
    for path in (path_of(link), "/password/new?link=wrong", "/password/new"):
        page = browser.get(path)
        assert page.status_code == 404
        assert "Request another link" in page.text


def test_a_short_password_is_marked_and_the_form_stays(site: Site, browser: httpx.Client) -> None:
    register(site)
    ask(browser, "ada")
    page = browser.get(path_of(links(site)[0]))
    form = {"link": links(site)[0].partition("link=")[2], "password": "short", "csrf_token": csrf_of(page.text)}
    again = browser.post("/password/new", data=form)
    assert again.status_code == 422
    assert 'id="password-error"' in again.text
    assert browser.post("/password/new", data={**form, "password": NEW}).status_code == 303


@pytest.mark.parametrize("setting", ["password_resets_per_hour", "password_resets_per_hour_and_account"])
def test_asking_again_and_again_is_refused_for_everybody_alike(site: Site, browser: httpx.Client, setting: str) -> None:
    register(site)
    for name in ("ada", "nobody"):
        limited(site, **{setting: 2})
        assert [ask(browser, name).status_code for _ in range(3)] == [200, 200, 429]
    assert 0 < int(ask(browser, "nobody").headers["Retry-After"]) <= 3600


def test_the_log_has_no_link(site: Site, browser: httpx.Client, capfd: pytest.CaptureFixture[str]) -> None:
    register(site)
    ask(browser, "ada")
    secret = links(site)[0].partition("link=")[2]
    for _ in range(2):  # the first one's line is written before the second is begun
        browser.get(path_of(links(site)[0]))
    logged = capfd.readouterr().out
    assert "/password/new" in logged
    assert secret not in logged


# ------------------------------------------------------------------------------------------------------- account page


def change(browser: httpx.Client, what: str, **fields: str) -> httpx.Response:
    return browser.post(f"/account/{what}", data={**fields, "csrf_token": csrf_of(browser.get("/account").text)})


def test_a_new_password_ends_all_other_log_ins(site: Site) -> None:
    with log_in(site) as here, site.client(**BROWSER) as elsewhere:
        assert log_in_as(elsewhere, "ada", PASSWORD) == 303
        page = change(here, "password", current_password=PASSWORD, password=NEW)
        assert "Your password was changed" in page.text
        assert here.get("/account").status_code == 200
        assert elsewhere.get("/account").status_code == 303
        assert log_in_as(elsewhere, "ada", NEW) == 303
    with reading(site.engine) as session:
        assert [entry.action for entry in session.scalars(fresh(AuditEntry))] == ["password.change"]
        mails = session.scalars(select(OutgoingMail).order_by(OutgoingMail.id))
        assert [(mail.recipient, mail.subject) for mail in mails] == [
            ("ada@example.org", "A log-in in a new browser"),
            ("ada@example.org", "The password of your account was changed"),
        ]


def test_a_new_address_is_told_to_the_old_one(site: Site) -> None:
    with log_in(site) as browser:
        page = change(browser, "email", email="Ada@Elsewhere.org", email_password=PASSWORD)
        assert "Your address was changed" in page.text
        assert "ada@elsewhere.org" in page.text
    with reading(site.engine) as session:
        mails = session.scalars(select(OutgoingMail).order_by(OutgoingMail.id)).all()
    assert [(mail.recipient, mail.link) for mail in mails] == [
        ("ada@example.org", None),
        ("ada@elsewhere.org", MailLink.ADDRESS),
    ]


@pytest.mark.parametrize(
    ("what", "fields", "marked"),
    [
        ("password", {"current_password": "wrong password", "password": NEW}, "current_password"),
        ("password", {"current_password": PASSWORD, "password": "short"}, "password"),
        ("email", {"email": "x@example.org", "email_password": "wrong password"}, "email_password"),
        ("email", {"email": "nobody", "email_password": PASSWORD}, "email"),
    ],
)
def test_what_is_wrong_is_marked_and_nothing_changes(
    site: Site, what: str, fields: dict[str, str], marked: str
) -> None:
    with log_in(site) as browser:
        page = change(browser, what, **fields)
        assert page.status_code == 422
        assert f'id="{marked}-error"' in page.text
        if "email" in fields:
            assert f'value="{fields["email"]}"' in page.text
        assert NEW not in page.text
        assert PASSWORD not in page.text
    with reading(site.engine) as session:
        assert [user.email for user in session.scalars(fresh(User))] == ["ada@example.org"]
        assert session.scalars(select(OutgoingMail.id)).all() == []


def test_somebody_else_s_address_is_not_taken(site: Site) -> None:
    register(site, "bob")
    with log_in(site) as browser:
        page = change(browser, "email", email="bob@example.org", email_password=PASSWORD)
    assert page.status_code == 409
    assert "belongs to another account" in page.text


def test_a_stolen_log_in_cannot_guess_the_password_for_long(site: Site) -> None:
    with log_in(site) as browser:
        limited(site, failed_logins_per_10_minutes=2)
        tries = [change(browser, "password", current_password="wrong", password=NEW) for _ in range(3)]
        assert [page.status_code for page in tries] == [422, 422, 429]
        assert int(tries[-1].headers["Retry-After"]) > 0


def test_only_who_can_log_in_gets_a_link(site: Site, browser: httpx.Client) -> None:
    register(site)
    with writing(site.engine) as session:
        session.scalars(fresh(User)).one().password_hash = None
    ask(browser, "ada")
    assert links(site) == []


def test_server_without_mail_says_what_to_do_instead_of_waiting(site: Site) -> None:
    """Check that the link is in a file, so that no mail is promised."""
    with site.client() as browser:
        page = browser.get("/password/forgot").text
        assert "This server sends no mail" in page
        form = {"username": "ada", "csrf_token": csrf_of(page)}
        answer = browser.post("/password/forgot", data=form).text
    assert "on its way" not in answer
    assert "evergold account reset-link ada" in answer
