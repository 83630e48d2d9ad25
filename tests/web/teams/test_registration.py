"""Registering for a competition: pages, API and command line; organisers who answer; links that confirm an address."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import MailLink, OutgoingMail, Role, User
from app.people.rights import grant_role
from app.teams.codes import is_right_code
from app.web.http.rate_limits import CODES_PER_HOUR, block_of
from evergold.cli import run
from tests import letters
from tests.rich_world import EARLIER_USER, fresh
from tests.web.limits import limited
from tests.web.site import BROWSER, CONTENT, PASSWORD, SUBMIT, Person, Site, csrf_of, log_in, without_log
from tests.world import COMPETITION, HOUR, NOW, PHASE, TASK

PAGE = f"/competitions/{COMPETITION}/registration"
LIST = f"/competitions/{COMPETITION}/registrations"
SUBMIT_PAGE = f"/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}/submit"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


def declare(site: Site, **registration: Any) -> None:
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).registration = registration


def organise(site: Site, username: str) -> None:
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)


def mails(site: Site) -> list[OutgoingMail]:
    with reading(site.engine) as session:
        return list(session.scalars(select(OutgoingMail).order_by(OutgoingMail.id)))


def confirm_links(site: Site) -> list[str]:
    found = letters.links(site.engine, MailLink.ADDRESS, site.now, site.settings)
    return [link[link.index("/account/confirm-email") :] for link in found]


def unprove(site: Site, email: str = "ada@example.org") -> None:
    """Ada has an address that she has not confirmed."""
    with writing(site.engine) as session:
        session.execute(update(User).where(User.username == "ada").values(email=email, email_confirmed_at=None))


def send(browser: httpx.Client, page: str, path: str = "", **fields: str) -> httpx.Response:
    """The form of a page."""
    text = browser.get(page).text
    hidden = dict(re.findall(r'<input type="hidden" name="(terms_sha256|link)" value="([^"]*)"', text))
    return browser.post(path or page, data={**hidden, **fields, "csrf_token": csrf_of(text)})


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    with log_in(site) as client:
        yield client


# ------------------------------------------------------------------------------------------------------------- pages


def test_an_open_competition_without_terms_says_nothing_of_it(site: Site, browser: httpx.Client) -> None:
    assert PAGE not in browser.get(f"/competitions/{COMPETITION}").text
    assert "your first upload registers you" in browser.get(PAGE).text


def test_terms_are_read_and_accepted(site: Site, browser: httpx.Client) -> None:
    declare(site, terms="Be **kind**.")
    for page in (f"/competitions/{COMPETITION}", SUBMIT_PAGE):
        assert f'href="{PAGE}"' in browser.get(page).text
    assert 'type="file"' not in browser.get(SUBMIT_PAGE).text
    text = browser.get(PAGE).text
    assert "<strong>kind</strong>" in text
    refused = send(browser, PAGE)
    assert refused.status_code == 422
    assert "Please read the terms and accept them." in refused.text
    assert "You are registered" in send(browser, PAGE, terms="accepted").text
    assert 'type="file"' in browser.get(SUBMIT_PAGE).text


QUESTIONS = [
    {"name": "affiliation", "required": True},
    {"name": "gpu", "title": "Which GPU?", "kind": "choice", "choices": ["none", "one"]},
    {"name": "students"},
]


def test_questions_are_answered_and_answers_changed_on_the_page(site: Site, browser: httpx.Client) -> None:
    declare(site, questions=QUESTIONS)
    refused = send(browser, PAGE, **{"answer-gpu": "one", "answer-students": "yes"})
    assert refused.status_code == 422
    assert "Please answer this." in refused.text
    assert '<option value="one" selected>' in refused.text, "what was said stays"
    told = send(browser, PAGE, **{"answer-affiliation": "<b>A</b> university", "answer-gpu": "one"})
    assert "You are registered" in told.text
    assert "&lt;b&gt;A&lt;/b&gt; university" in told.text
    answered = browser.get(f"/api/v1{PAGE}").json()
    assert answered["answers"] == {"affiliation": "<b>A</b> university", "gpu": "one", "students": False}
    assert [(one["name"], one["title"], one["required"]) for one in answered["questions"]] == [
        ("affiliation", "Affiliation", True),
        ("gpu", "Which GPU?", False),
        ("students", "I am a student", False),
    ]
    send(browser, PAGE, **{"answer-affiliation": "B", "answer-students": "yes"})
    with log_in(site, "olga") as olga, log_in(site, "eve") as eve:
        organise(site, "olga")
        rows = olga.get(f"/api/v1{LIST}").json()["registrations"]
        (row,) = (one for one in rows if one["username"] != EARLIER_USER)
        assert row["answers"] == {"affiliation": "B", "students": True}
        assert ">B</bdi>" in olga.get(LIST).text
        csv = olga.get(f"/api/v1{LIST}.csv")
        assert csv.headers["Cache-Control"] == "private, no-store"
        assert csv.text.splitlines()[-1].endswith(",B,,yes")
        assert eve.get(f"/api/v1{LIST}.csv").status_code == 403
        assert 'id="answer-affiliation"' in eve.get(PAGE).text
        assert ">B<" not in eve.get(PAGE).text


def test_terms_that_changed_since_they_were_read_are_shown_again(site: Site, browser: httpx.Client) -> None:
    declare(site, terms="Be kind.")
    old = browser.get(PAGE).text
    declare(site, terms="Be brief.")
    sha256 = re.search(r'name="terms_sha256" value="(\w+)"', old)
    assert sha256
    form = {"terms": "accepted", "terms_sha256": sha256[1], "csrf_token": csrf_of(old)}
    refused = browser.post(PAGE, data=form)
    assert refused.status_code == 422
    assert "The terms have changed" in refused.text
    assert "Be brief." in refused.text


def test_anybody_reads_the_terms(site: Site) -> None:
    declare(site, mode="domain", domains=["uni.edu"], terms="Be kind.")
    with site.client(**BROWSER) as anybody:
        text = anybody.get(PAGE).text
        assert "uni.edu" in text
        assert "Be kind." in text
        assert f"/login?next={PAGE}" in text.replace("%2F", "/")
        assert PAGE in anybody.get(f"/competitions/{COMPETITION}").text


def test_organisers_approve_and_refuse_on_a_page(site: Site, browser: httpx.Client) -> None:
    declare(site, mode="approval")
    with log_in(site, "olga") as olga, log_in(site, "eve") as eve:
        organise(site, "olga")
        assert "have not answered" in send(browser, PAGE).text
        assert "have not answered" in send(eve, PAGE).text
        assert browser.get(LIST).status_code == 403
        assert [name in olga.get(LIST).text for name in ("ada@example.org", "eve@example.org")] == [True, True]
        token = csrf_of(olga.get(LIST).text)
        for name, decision in (("ada", "approve"), ("eve", "refuse")):
            olga.post(f"{LIST}/{name}", data={"decision": decision, "csrf_token": token})
        wrong = olga.post(f"{LIST}/ada", data={"decision": "maybe", "csrf_token": token})
        assert wrong.status_code == 422
        assert "You are registered" in browser.get(PAGE).text
        assert "have refused" in eve.get(PAGE).text
        assert 'action="' + PAGE not in eve.get(PAGE).text, "there is nothing to ask again"
    assert [mail.recipient for mail in mails(site)] == [
        "olga@example.org",
        "olga@example.org",
        "ada@example.org",
        "eve@example.org",
    ]


def test_several_are_answered_at_once_or_none(site: Site, browser: httpx.Client) -> None:
    declare(site, mode="approval")
    with log_in(site, "olga") as olga, log_in(site, "eve") as eve:
        organise(site, "olga")
        for who in (browser, eve):
            send(who, PAGE)
        form = {"decision": "approve", "csrf_token": csrf_of(olga.get(LIST).text)}
        assert olga.post(LIST, data={**form, "user": ["ada", "nobody"]}).status_code == 404
        assert "have not answered" in browser.get(PAGE).text
        olga.post(LIST, data={**form, "user": ["ada", "eve"]})
        assert "You are registered" in browser.get(PAGE).text
        assert "You are registered" in eve.get(PAGE).text
        assert browser.post(LIST, data={**form, "csrf_token": csrf_of(browser.get("/account").text)}).status_code == 403


def test_all_that_wait_are_answered_with_one_button_and_by_api(site: Site, browser: httpx.Client) -> None:
    declare(site, mode="approval")
    with log_in(site, "olga") as olga, log_in(site, "eve") as eve:
        organise(site, "olga")
        for who in (browser, eve):
            send(who, PAGE)
        page = olga.get(LIST).text
        assert "Approve all 2" in page
        token = {"X-CSRF-Token": csrf_of(page)}
        refused = olga.put(f"/api/v1{LIST}", json={"usernames": ["ada", "nobody"], "status": "approved"}, headers=token)
        assert refused.status_code == 404
        assert "have not answered" in browser.get(PAGE).text
        answer = olga.put(
            f"/api/v1{LIST}", json={"usernames": ["eve", "ada@example.org"], "status": "approved"}, headers=token
        )
        assert {one["username"]: one["status"] for one in answer.json()["registrations"]} == {
            "ada": "approved",
            "eve": "approved",
        }
        assert "You are registered" in browser.get(PAGE).text


def test_a_link_by_mail_shows_whose_an_address_is(site: Site, browser: httpx.Client) -> None:
    declare(site, mode="domain", domains=["example.org"])
    unprove(site)
    assert "a link was sent to you" in send(browser, PAGE).text
    line = "<strong>ada@example.org</strong>"
    assert all(line in browser.get(path).text for path in ("/", PAGE, "/guide")), "on every page"
    [link] = confirm_links(site)
    with log_in(site, "eve") as eve:
        assert eve.get(link).status_code == 404, "it is for another account"
    with site.client(**BROWSER) as anybody:
        assert anybody.get(link).headers["Location"].startswith("/login?next=/account/confirm-email")
    for _ in range(2):
        page = browser.get(link)
        assert "ada@example.org" in page.text, "looking uses nothing up"
        assert page.headers["Cache-Control"] == "no-store"
    assert "You can take part now" in send(browser, link, "/account/confirm-email").text
    assert "You are registered" in browser.get(PAGE).text
    assert line not in browser.get("/").text


def test_mails_are_rare(site: Site, browser: httpx.Client) -> None:
    declare(site, mode="domain", domains=["example.org"])
    unprove(site)
    limited(site, password_resets_per_hour_and_account=2)
    answers = [send(browser, PAGE).status_code for _ in range(3)]
    assert answers == [200, 200, 429]
    assert len(confirm_links(site)) == 2


def test_what_was_typed_into_the_upload_form_stays_when_registration_is_missing(
    site: Site, browser: httpx.Client
) -> None:
    text = browser.get(SUBMIT_PAGE).text
    declare(site, mode="approval")
    form = {"method": "Mine", "csrf_token": csrf_of(text)}
    refused = browser.post(SUBMIT_PAGE, files={"file": ("x.csv", CONTENT)}, data=form)
    assert refused.status_code == 403
    assert "register for this competition first" in refused.text
    assert f'href="{PAGE}"' in refused.text
    assert site.submissions() == 0


# --------------------------------------------------------------------------------------------------------------- API


def test_an_upload_without_registration_is_refused_before_it_is_read(site: Site, ada: Person) -> None:
    declare(site, mode="approval", terms="Be kind.")
    error = ada.client.post(SUBMIT, files={"file": ("x.csv", CONTENT)})
    assert (error.status_code, error.json()["error"]["code"]) == (403, "registration_needed")
    assert error.json()["error"]["details"]["registration"] == PAGE
    assert site.stored() == []


def test_registering_by_api_from_terms_to_approval(site: Site, ada: Person) -> None:
    declare(site, mode="approval", terms="Be kind.")
    there = ada.client.get(f"/api/v1{PAGE}").json()
    assert (there["status"], there["missing"], there["terms"]) == (None, "registration", "Be kind.")
    wrong = ada.client.put(f"/api/v1{PAGE}", json={})
    assert (wrong.status_code, list(wrong.json()["error"]["details"]["fields"])) == (422, ["terms"])
    asked = ada.client.put(f"/api/v1{PAGE}", json={"accepted_terms_sha256": there["terms_sha256"]}).json()
    assert (asked["status"], asked["missing"], asked["has_accepted_terms"]) == ("pending", "approval", True)
    olga = site.person("olga")
    client = olga.client
    assert client.get(f"/api/v1{LIST}").status_code == 403
    organise(site, "olga")
    assert [one["username"] for one in client.get(f"/api/v1{LIST}?status=pending").json()["registrations"]] == ["ada"]
    site.set_clock(NOW + HOUR)
    answer = client.put(f"/api/v1{LIST}/ada@example.org", json={"status": "approved"}).json()
    assert (answer["status"], answer["decided_by"]) == ("approved", "olga")
    assert client.put(f"/api/v1{LIST}/nobody", json={"status": "approved"}).status_code == 404
    assert client.put(f"/api/v1{LIST}/ada", json={"status": "pending"}).status_code == 422
    assert ada.client.get(f"/api/v1{PAGE}").json()["missing"] is None
    assert ada.submit().status_code == 202
    declare(site, mode="approval", terms="Be kinder.")
    site.set_clock(NOW + 2 * HOUR)
    newer = ada.client.get(f"/api/v1{PAGE}").json()["terms_sha256"]
    ada.client.put(f"/api/v1{PAGE}", json={"accepted_terms_sha256": newer})
    (row,) = (one for one in olga.client.get(f"/api/v1{LIST}").json()["registrations"] if one["username"] == "ada")
    assert [row[f"{what}_at"] for what in ("registered", "decided", "terms_accepted")] == [
        "2026-01-10T12:00:00Z",
        "2026-01-10T13:00:00Z",
        "2026-01-10T14:00:00Z",
    ]


# ------------------------------------------------------------------------------------------------------ command line


def test_the_command_line_says_the_same(
    site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(site, mode="approval", terms="Be kind.")
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", ada.client.headers["Authorization"].removeprefix("Bearer "))
    assert run(["registration", COMPETITION]) == 0
    assert "Be kind." in without_log(capsys.readouterr().out)
    assert run(["registration", COMPETITION, "--register"]) == 1
    assert "accept them" in capsys.readouterr().err
    assert run(["registration", COMPETITION, "--accept-terms"]) == 64
    assert run(["registration", COMPETITION, "--register", "--accept-terms", "--json"]) == 0
    out = without_log(capsys.readouterr().out)
    assert json.loads(out)["missing"] == "approval"


def test_questions_are_answered_from_the_command_line(
    site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(site, questions=QUESTIONS)
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", ada.client.headers["Authorization"].removeprefix("Bearer "))
    assert run(["registration", COMPETITION]) == 0
    assert "Which GPU?" in without_log(capsys.readouterr().out)
    assert run(["registration", COMPETITION, "--register"]) == 1
    assert "answers.affiliation" in capsys.readouterr().err
    assert run(["registration", COMPETITION, "--answer", "affiliation=A"]) == 64
    assert run(["registration", COMPETITION, "--register", "--answer", "affiliation"]) == 64
    assert run(["registration", COMPETITION, "--register", "--answer", "affiliation=A"]) == 0
    assert run(["registration", COMPETITION, "--register", "--answer", "students=yes", "--json"]) == 0
    out = without_log(capsys.readouterr().out)
    assert json.loads(out[out.index("{") :])["answers"] == {"affiliation": "A", "students": True}


def test_organisers_answer_from_the_servers_own_command_line(
    site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(site, mode="approval")
    ada.client.put(f"/api/v1{PAGE}", json={})
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", site.settings.database_address)
    get_settings.cache_clear()
    assert run(["registrations", "list", COMPETITION, "--status", "pending"]) == 0
    assert "ada@example.org" in without_log(capsys.readouterr().out)
    assert run(["registrations", "approve", COMPETITION, "ada", "--json"]) == 0
    assert json.loads(without_log(capsys.readouterr().out)) == {
        "username": "ada",
        "status": "approved",
        "changed": True,
    }
    assert run(["registrations", "approve", COMPETITION, "ada"]) == 0
    assert "already" in without_log(capsys.readouterr().out)
    assert run(["registrations", "refuse", COMPETITION, "nobody"]) == 1
    assert run(["registrations", "list", COMPETITION, "--status", "odd"]) == 64
    assert run(["registrations", "code", COMPETITION]) == 0
    printed = capsys.readouterr()
    assert "The code is not used yet" in printed.err
    code = without_log(printed.out).split()[-1]
    with reading(site.engine) as session:
        assert is_right_code(session, find_competition(session, COMPETITION), code)
    assert run(["registrations", "code", COMPETITION, "--end", "--json"]) == 0
    assert json.loads(without_log(capsys.readouterr().out)) == {"code": None, "ended": True}
    with reading(site.engine) as session:
        assert not is_right_code(session, find_competition(session, COMPETITION), code)
    assert ada.submit().status_code == 202


def test_an_address_that_was_changed_is_confirmed_anew(site: Site, browser: httpx.Client) -> None:
    declare(site, mode="domain", domains=["example.org"])
    unprove(site)
    send(browser, PAGE)
    [link] = confirm_links(site)
    unprove(site, "ada2@example.org")
    assert browser.get(link).status_code == 404
    send(browser, PAGE)
    assert "ada2@example.org" in browser.get(confirm_links(site)[0]).text


# -------------------------------------------------------------------------------------------------- confirmed addresses


def test_where_it_is_asked_who_has_not_confirmed_submits_nothing(site: Site) -> None:
    declare(site, mode="confirmed")
    with site.client() as anonymous:
        form = {"username": "ada", "email": "ada@example.org", "password": PASSWORD}
        assert anonymous.post("/api/v1/register", json=form).json()["email_confirmed"] is False
        made = anonymous.post("/api/v1/tokens", json={"name": "x", "username": "ada", "password": PASSWORD}).json()
    with reading(site.engine) as session:
        user = session.scalars(fresh(User)).one()
    ada = Person(site, user, site.client(Authorization=f"Bearer {made['secret']}"))
    refused = ada.submit()
    assert (refused.status_code, refused.json()["error"]["details"]["missing"]) == (403, "confirmation")
    [link] = confirm_links(site)
    with log_in_as_registered(site) as browser:
        assert "Confirm your address" in browser.get("/account").text
        page = send(browser, link, "/account/confirm-email")
        assert "Address confirmed" in page.text
        assert browser.get("/account").status_code == 200, "here one stays logged in"
        assert "Confirm your address" not in browser.get("/account").text
    assert ada.submit().status_code == 401, "a token from before the address was confirmed has ended"


@contextmanager
def log_in_as_registered(site: Site) -> Iterator[httpx.Client]:
    """Ada, who has an account."""
    with site.client(**BROWSER) as browser:
        browser.follow_redirects = True
        form = {"username": "ada", "password": PASSWORD, "csrf_token": csrf_of(browser.get("/login").text)}
        assert "Log out" in browser.post("/login", data=form).text
        yield browser


def test_who_has_confirmed_submits_without_another_step(site: Site, ada: Person) -> None:
    declare(site, mode="confirmed")
    ada.submitted()


def test_without_a_mail_server_the_pages_say_where_the_link_is(site: Site) -> None:
    declare(site, mode="confirmed")
    with log_in(site, is_confirmed=False) as browser:
        for page in ("/account", PAGE):
            said = browser.get(page).text
            assert "This server sends no mail" in said
            assert "evergold account confirm ada" in said


def test_another_link_is_sent_from_the_account_page_but_not_for_ever(site: Site) -> None:
    limited(site, password_resets_per_hour_and_account=2)
    with log_in(site, is_confirmed=False) as browser:
        answers = [send(browser, "/account", "/account/confirm-email/send").status_code for _ in range(3)]
    assert answers == [200, 200, 429]
    assert len(confirm_links(site)) == 3, "one at registration, two asked for"


def test_a_part_of_the_network_makes_so_many_accounts_a_day(site: Site) -> None:
    limited(site, registrations_per_day_and_block=2, registrations_per_hour=0)
    with site.client() as anonymous:
        forms = [{"username": f"ada{n}", "email": f"ada{n}@example.org", "password": PASSWORD} for n in range(3)]
        answers = [anonymous.post("/api/v1/register", json=form) for form in forms]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[-1].json()["error"]["details"]["per"] == "day"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.7", "192.0.2.250", True),
        ("192.0.2.7", "192.0.3.7", False),
        ("2001:db8:1:2::/64", "2001:db8:1:ffff::/64", True),
        ("2001:db8:1::/64", "2001:db8:2::/64", False),
        ("", "testclient", False),
    ],
)
def test_addresses_of_one_block_count_together(one: str, other: str, same: bool) -> None:
    assert (block_of(one) == block_of(other)) == same


# ------------------------------------------------------------------------------------------------------ a class's code


def shown_code(page: httpx.Response) -> str:
    found = re.search(r"<code>([0-9A-Z-]{14})</code>", page.text)
    assert found is not None
    return found[1]


def test_an_organiser_makes_a_code_on_the_page_and_a_student_types_it(site: Site, browser: httpx.Client) -> None:
    declare(site, mode="code")
    unprove(site)
    with log_in(site, "olga") as organiser:
        organise(site, "olga")
        assert "No code: nobody can join." in organiser.get(LIST).text
        made = send(organiser, LIST, f"/competitions/{COMPETITION}/joining-code")
        code = shown_code(made)
        assert made.headers["cache-control"] == "no-store"
        assert code not in organiser.get(LIST).text, "shown once"
        assert "Participants need a code from the organisers." in browser.get(PAGE).text
        wrong = send(browser, PAGE, code="AAAA-AAAA-AAAA")
        assert (wrong.status_code, "This code is wrong" in wrong.text) == (422, True)
        assert "You are registered" in send(browser, PAGE, code=code.lower()).text
        assert 'type="file"' in browser.get(SUBMIT_PAGE).text
        ended = send(organiser, LIST, f"/competitions/{COMPETITION}/joining-code/end")
        assert "No code: nobody can join." in ended.text


def test_the_api_makes_and_ends_a_code_and_bounds_tries(site: Site, ada: Person, eve: Person) -> None:
    declare(site, mode="code")
    organise(site, "eve")
    address, place = f"/api/v1{PAGE}", f"/api/v1/competitions/{COMPETITION}/joining-code"
    code = eve.client.post(place).json()["code"]
    for _ in range(CODES_PER_HOUR):
        assert ada.client.put(address, json={"code": "WRNG-WRNG-WRNG"}).status_code == 422
    refused = ada.client.put(address, json={"code": code})
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "limit_reached")
    bob = site.person("bob")
    with bob.client:
        assert bob.client.put(address, json={"code": code}).json()["missing"] is None
    assert eve.client.delete(place).status_code == 204
    carl = site.person("carl")
    with carl.client:
        assert carl.client.put(address, json={"code": code}).status_code == 422
