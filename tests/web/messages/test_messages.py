"""Announcements and questions over the web API and on the pages; and the links in mails that switch them off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from lxml import etree
from sqlalchemy import select

from app.base.api_links import API
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Announcement, AuditEntry, OutgoingMail, Question, Role, User
from app.people.rights import grant_role
from tests import world
from tests.rich_world import FIRST_ANNOUNCEMENT, FIRST_QUESTION, fresh
from tests.web import markup
from tests.web.limits import limited
from tests.web.reading import COMPETITION_PAGE, text_of, visit
from tests.web.site import BROWSER, Person, Site, csrf_of, log_in
from tests.world import COMPETITION, HOUR, NOW

pytestmark = pytest.mark.usefixtures("cheap_passwords")

HERE = f"{API}/competitions/{COMPETITION}"
ANNOUNCEMENTS, QUESTIONS = f"{HERE}/announcements", f"{HERE}/questions"
SAID = {"title": "The deadline moves", "text": "Until **Sunday** <script>alert(1)</script>."}
ASKED = {"title": "Is it blind?", "text": "May we train\non **dev**? <b>Really</b>"}
ATOM = {"a": "http://www.w3.org/2005/Atom"}


def appoint(site: Site, username: str) -> None:
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)


@pytest.fixture
def olga(site: Site) -> Iterator[Person]:
    """The organiser, with a token."""
    person = site.person("olga")
    appoint(site, "olga")
    with person.client:
        yield person


def mails(site: Site) -> list[tuple[str, str]]:
    """Return the recipient and the subject of each mail."""
    with reading(site.engine) as session:
        return sorted((mail.recipient, mail.subject) for mail in session.scalars(select(OutgoingMail)))


def fields_of(answer: httpx.Response) -> set[str]:
    return set(answer.json()["error"]["details"]["fields"])


# ------------------------------------------------------------------------------------------------- announcements: API


def test_an_announcement_is_written_read_edited_and_withdrawn(site: Site, olga: Person) -> None:
    made = olga.client.post(ANNOUNCEMENTS, json={**SAID, "is_pinned": True})
    assert made.status_code == 201, made.text
    one = made.json()
    assert (one["mailed_to"], one["mailed_count"], one["edited_at"]) == ("", 0, None)
    with site.client() as public:
        [shown] = public.get(ANNOUNCEMENTS).json()["announcements"]
        assert shown == {name: value for name, value in one.items() if not name.startswith("mailed")}
        site.set_clock(NOW + HOUR)
        changed = olga.client.put(f"{ANNOUNCEMENTS}/{one['id']}", json={**SAID, "text": "Until Monday."})
        assert (changed.json()["edited_at"], changed.json()["is_pinned"]) == ("2026-01-10T13:00:00Z", False)
        assert olga.client.delete(f"{ANNOUNCEMENTS}/{one['id']}").status_code == 204
        assert public.get(ANNOUNCEMENTS).json() == {"announcements": []}
    assert olga.client.delete(f"{ANNOUNCEMENTS}/{one['id']}").status_code == 404
    assert olga.client.put(f"{ANNOUNCEMENTS}/{one['id']}", json=SAID).status_code == 404


def test_it_goes_by_mail_to_those_who_were_counted_before(site: Site, olga: Person, ada: Person, eve: Person) -> None:
    world.score(site.engine, world.submit(site.engine, ada.user).run_id, 0.5)
    world.reject(site.engine, world.submit(site.engine, eve.user).run_id)
    group = {"group": "without-valid:evaluation"}
    counted = olga.client.get(f"{ANNOUNCEMENTS}/receivers", params=group).json()
    assert counted == {**group, "receivers": 2, "switched_off": 0}
    key = {"Idempotency-Key": "once"}
    for _ in range(2):
        made = olga.client.post(ANNOUNCEMENTS, json={**SAID, "mail": group["group"]}, headers=key)
        assert (made.status_code, made.json()["mailed_count"]) == (201, 2)
    subject = "[Idioms] The deadline moves"
    assert mails(site) == [("earl@example.org", subject), ("eve@example.org", subject)]
    other = olga.client.post(ANNOUNCEMENTS, json={**SAID, "title": "Other"}, headers=key)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_conflict")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"title", "text"}),
        ({"title": "", "text": " "}, {"title", "text"}),
        ({"title": "x" * 201, "text": "x\0"}, {"title", "text"}),
        ({**SAID, "mail": "everybody"}, {"mail"}),
        ({**SAID, "mail": "entered:nowhere"}, {"mail"}),
        ({**SAID, "more": 1}, {"more"}),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_shown(
    site: Site, olga: Person, body: dict[str, Any], fields: set[str]
) -> None:
    refused = olga.client.post(ANNOUNCEMENTS, json=body)
    assert (refused.status_code, fields_of(refused)) == (422, fields)
    assert olga.client.get(ANNOUNCEMENTS).json() == {"announcements": []}
    assert olga.client.get(f"{ANNOUNCEMENTS}/receivers", params={"group": ""}).status_code == 422


def test_the_feed_has_the_latest_first_and_keeps_identities(site: Site, olga: Person) -> None:
    for number in range(2):
        site.set_clock(NOW + number * HOUR)
        olga.client.post(ANNOUNCEMENTS, json={"title": f"number {number} & more", "text": SAID["text"]})
    with site.client() as public:
        answer = public.get(f"{ANNOUNCEMENTS}.atom")
        assert answer.headers["Content-Type"].startswith("application/atom+xml")
        entries = etree.fromstring(answer.content).findall("a:entry", ATOM)
        assert [one.findtext("a:title", namespaces=ATOM) for one in entries] == ["number 1 & more", "number 0 & more"]
        content = str(entries[0].findtext("a:content", namespaces=ATOM))
        assert "<strong>Sunday</strong> &lt;script&gt;" in content, "organisers' HTML stays text"
        ids = {one.findtext("a:id", namespaces=ATOM) for one in entries}
        tag = {"If-None-Match": answer.headers["ETag"]}
        assert public.get(f"{ANNOUNCEMENTS}.atom", headers=tag).status_code == 304
        site.set_clock(NOW + 3 * HOUR)
        olga.client.put(f"{ANNOUNCEMENTS}/{FIRST_ANNOUNCEMENT}", json=SAID)
        edited = public.get(f"{ANNOUNCEMENTS}.atom", headers=tag)
    entries = etree.fromstring(edited.content).findall("a:entry", ATOM)
    assert entries[0].findtext("a:title", namespaces=ATOM) == SAID["title"], "an edit is news"
    assert {one.findtext("a:id", namespaces=ATOM) for one in entries} == ids


# ----------------------------------------------------------------------------------------------- announcements: pages


def test_the_competition_s_page_shows_them_at_once_pinned_first(site: Site, olga: Person) -> None:
    assert "Announcements</h2>" not in visit(site, COMPETITION_PAGE)
    olga.client.post(ANNOUNCEMENTS, json={**SAID, "title": "Pinned one", "is_pinned": True})
    assert "Pinned one" in visit(site, COMPETITION_PAGE), "the page that was kept is not shown any more"
    for number in range(6):
        olga.client.post(ANNOUNCEMENTS, json={**SAID, "title": f"number {number}"})
    page = visit(site, COMPETITION_PAGE)
    markup.check(page)
    assert re.findall(r"<bdi>(Pinned one|number \d)", page) == ["Pinned one", "number 5"]
    assert "All 7 announcements" in page
    assert "<script>alert" not in page
    assert "number 0" in visit(site, f"{COMPETITION_PAGE}/announcements")


def send(browser: httpx.Client, path: str, page: str | None = None, **fields: str) -> httpx.Response:
    """A form of the page at `page`, sent to `path`."""
    token = csrf_of(browser.get(page or path).text)
    return browser.post(path, data={**fields, "csrf_token": token})


def test_nothing_goes_out_before_its_preview_was_seen(site: Site, ada: Person) -> None:
    world.submit(site.engine, ada.user)
    page = f"{COMPETITION_PAGE}/announcements"
    with log_in(site, "olga") as browser:
        appoint(site, "olga")
        form = {**SAID, "mail": "all", "key": "k"}
        shown = send(browser, page, **form, action="publish")
        assert "2 people get a mail" in text_of(shown.text)
        assert "<strong>Sunday</strong>" in shown.text
        assert mails(site) == []
        shown = send(browser, page, **form, counted="organisers", action="publish")
        assert "Nothing has been sent yet" in shown.text, "another group than the one that was counted"
        for _ in range(2):  # a double click
            listed = send(browser, page, **form, counted="all", action="publish")
            markup.check(listed.text)
        assert "mail to 2 people (all)" in text_of(listed.text)
    subject = "[Idioms] The deadline moves"
    assert mails(site) == [("ada@example.org", subject), ("earl@example.org", subject)]
    with reading(site.engine) as session:
        assert len(session.scalars(fresh(Announcement)).all()) == 1


def test_a_form_with_mistakes_keeps_what_was_typed(site: Site) -> None:
    page = f"{COMPETITION_PAGE}/announcements"
    with log_in(site, "olga") as browser:
        appoint(site, "olga")
        refused = send(browser, page, title="", text="A long text", mail="organisers", key="k", action="preview")
        assert refused.status_code == 422
        markup.check(refused.text)
        for sign in ('id="title-error"', ">A long text</textarea>", 'value="organisers" selected', 'value="k"'):
            assert sign in refused.text
        made = send(browser, page, **SAID, action="publish")
        assert "The deadline moves" in made.text
        edit = f"{page}/{FIRST_ANNOUNCEMENT}"
        refused = send(browser, edit, title="", text="changed")
        assert (refused.status_code, ">changed</textarea>" in refused.text) == (422, True)
        assert "edited on" in send(browser, edit, title="New", text="changed").text
        withdrawn = send(browser, f"{page}/{FIRST_ANNOUNCEMENT}/withdraw", page)
        assert "Withdrawn, seen by organisers only" in withdrawn.text
        assert "Withdrawn" not in browser.get(f"{page}?as=participant").text
        assert browser.get(edit).status_code == 404


def test_others_find_no_forms_and_no_way_in(site: Site, olga: Person) -> None:
    olga.client.post(ANNOUNCEMENTS, json=SAID)
    page = f"{COMPETITION_PAGE}/announcements"
    with log_in(site, "eve") as browser:
        assert "Announce something" not in browser.get(page).text
        assert send(browser, page, "/account", **SAID, action="publish").status_code == 403
        assert browser.get(f"{page}/{FIRST_ANNOUNCEMENT}").status_code == 403
        assert send(browser, f"{page}/{FIRST_ANNOUNCEMENT}", "/account", **SAID).status_code == 403
        assert send(browser, f"{page}/{FIRST_ANNOUNCEMENT}/withdraw", "/account").status_code == 403
    assert len(olga.client.get(ANNOUNCEMENTS).json()["announcements"]) == 1


# ----------------------------------------------------------------------------------------------------- questions: API


def test_a_private_answer_is_for_the_asker_alone(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    asked = ada.client.post(QUESTIONS, json=ASKED)
    assert asked.status_code == 201, asked.text
    assert (asked.json()["is_mine"], asked.json()["answer"], asked.json()["closed_at"]) == (True, "", None)
    assert mails(site) == [("olga@example.org", "[Idioms] Question: Is it blind?")]
    place = f"{QUESTIONS}/{asked.json()['id']}"
    answered = olga.client.put(f"{place}/answer", json={"answer": "No."})
    assert (answered.json()["asker"], answered.json()["is_public"]) == ("Ada", False)
    assert ("ada@example.org", "[Idioms] Answer: Is it blind?") in mails(site)
    [mine] = ada.client.get(QUESTIONS).json()["questions"]
    assert (mine["answer"], mine["asker"]) == ("No.", "Ada")
    with site.client() as public:
        for client in (eve.client, public):
            assert client.get(QUESTIONS).json() == {"questions": []}
    assert olga.client.get(QUESTIONS, params={"as": "participant"}).json() == {"questions": []}


@pytest.mark.parametrize("shows_name", [True, False])
def test_a_public_answer_names_the_asker_only_if_they_want_that(
    site: Site, ada: Person, olga: Person, shows_name: bool
) -> None:
    ada.client.post(QUESTIONS, json={**ASKED, "shows_name": shows_name})
    olga.client.put(f"{QUESTIONS}/{FIRST_QUESTION}/answer", json={"answer": "No.", "is_public": True})
    with site.client() as public:
        answer = public.get(QUESTIONS)
        [shown] = answer.json()["questions"]
        assert (shown["text"], shown["answer"], shown["is_mine"]) == (ASKED["text"], "No.", False)
        assert shown["asker"] == ("Ada" if shows_name else None)
        assert ("ada" in answer.text.lower()) is shows_name
    page = visit(site, f"{COMPETITION_PAGE}/questions")
    markup.check(page)
    assert ("Ada" in page) is shows_name
    assert "&lt;b&gt;Really" in page
    assert "<b>Really" not in page


def test_an_answer_is_changed_and_taken_back_to_private(site: Site, ada: Person, olga: Person) -> None:
    ada.client.post(QUESTIONS, json=ASKED)
    place = f"{QUESTIONS}/{FIRST_QUESTION}/answer"
    olga.client.put(place, json={"answer": "No.", "is_public": True})
    site.set_clock(NOW + HOUR)
    again = olga.client.put(place, json={"answer": "No.", "is_public": False}).json()
    assert (again["answer_edited_at"], again["is_public"]) == (None, False)
    assert len(mails(site)) == 2, "the same words are no news"
    other = olga.client.put(place, json={"answer": "Yes, after all.", "is_public": True}).json()
    assert (other["answered_at"], other["answer_edited_at"]) == ("2026-01-10T12:00:00Z", "2026-01-10T13:00:00Z")
    assert len(mails(site)) == 3
    assert olga.client.put(place, json={"answer": " "}).status_code == 422
    assert olga.client.put(f"{QUESTIONS}/99/answer", json={"answer": "x"}).status_code == 404
    with reading(site.engine) as session:
        deeds = session.scalars(select(AuditEntry.action).where(AuditEntry.action.startswith("question"))).all()
    assert deeds == ["question.answer", "question.edit", "question.edit"]


def test_a_question_is_closed_and_opened_without_an_answer(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    ada.client.post(QUESTIONS, json=ASKED)
    assert olga.client.put(f"{QUESTIONS}/{FIRST_QUESTION}/closed").json()["closed_at"] == "2026-01-10T12:00:00Z"
    assert olga.client.put(f"{QUESTIONS}/{FIRST_QUESTION}/closed").status_code == 200
    assert olga.client.delete(f"{QUESTIONS}/{FIRST_QUESTION}/closed").json()["closed_at"] is None
    assert eve.client.put(f"{QUESTIONS}/{FIRST_QUESTION}/closed").status_code == 403
    assert len(mails(site)) == 1
    with reading(site.engine) as session:
        deeds = session.scalars(select(AuditEntry.action).where(AuditEntry.action.startswith("question"))).all()
    assert deeds == ["question.close", "question.reopen"], "nothing changed in between"


def test_of_another_competition_s_questions_an_organiser_changes_none(site: Site, ada: Person, olga: Person) -> None:
    world.add_competition(site.engine, name="proverbs")
    elsewhere = f"{API}/competitions/proverbs/questions"
    ada.client.post(elsewhere, json=ASKED)
    assert olga.client.put(f"{QUESTIONS}/{FIRST_QUESTION}/answer", json={"answer": "x"}).status_code == 404
    assert olga.client.put(f"{elsewhere}/{FIRST_QUESTION}/answer", json={"answer": "x"}).status_code == 403


def test_who_asks_too_much_has_to_wait_but_not_for_what_was_asked_before(site: Site, ada: Person, eve: Person) -> None:
    limited(site, questions_per_hour=2)
    keys = ["a", "b", "b", "c"]
    answers = [ada.client.post(QUESTIONS, json=ASKED, headers={"Idempotency-Key": key}) for key in keys]
    assert [answer.status_code for answer in answers] == [201, 201, 201, 429]
    assert answers[1].json()["id"] == answers[2].json()["id"]
    assert int(answers[3].headers["Retry-After"]) > 0
    assert eve.client.post(QUESTIONS, json=ASKED).status_code == 201
    assert ada.client.post(QUESTIONS, json={}).status_code == 422
    other = ada.client.post(QUESTIONS, json={**ASKED, "text": "x"}, headers={"Idempotency-Key": "a"})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_conflict")


def test_where_nobody_organises_the_administrators_get_the_question(site: Site, ada: Person) -> None:
    world.add_user(site.engine, "root", is_administrator=True)
    ada.client.post(QUESTIONS, json={**ASKED, "title": "Hello\r\nBcc: eve@example.org"})
    assert mails(site) == [("root@example.org", "[Idioms] Question: Hello Bcc: eve@example.org")]


# --------------------------------------------------------------------------------------------------- questions: pages


def test_a_question_on_the_page_and_its_answer(site: Site) -> None:
    page = f"{COMPETITION_PAGE}/questions"
    assert "Log in</a> to ask" in visit(site, page)
    with log_in(site, "ada") as ada, log_in(site, "olga") as olga:
        appoint(site, "olga")
        refused = send(ada, page, title="Hm", text="", shows_name="1", key="k")
        assert (refused.status_code, 'id="text-error"' in refused.text) == (422, True)
        assert 'name="shows_name" value="1" checked' in refused.text
        markup.check(refused.text)
        for _ in range(2):
            assert "Waits for an answer" in send(ada, page, **ASKED, key="k").text
        with reading(site.engine) as session:
            assert len(session.scalars(fresh(Question)).all()) == 1
        refused = send(olga, f"{page}/{FIRST_QUESTION}/answer", page, answer="", is_public="1")
        assert (refused.status_code, f'id="answer-{FIRST_QUESTION}-error"' in refused.text) == (422, True)
        markup.check(refused.text)
        answered = send(olga, f"{page}/{FIRST_QUESTION}/answer", page, answer="No, *never*.", is_public="1")
        markup.check(answered.text)
        assert "<em>never</em>" in answered.text
        assert "<em>never</em>" in visit(site, page)
        assert "Private" in text_of(send(olga, f"{page}/{FIRST_QUESTION}/answer", page, answer="No.").text)
        assert "Is it blind" not in visit(site, page)
        send(ada, page, title="Second", text="?", key="l")
        assert "Closed" in text_of(send(olga, f"{page}/{FIRST_QUESTION + 1}/close", page).text)
        assert "Waits" in text_of(send(olga, f"{page}/{FIRST_QUESTION + 1}/reopen", page).text)
        assert send(ada, f"{page}/{FIRST_QUESTION + 1}/close", page).status_code == 403


def test_too_many_questions_on_the_page_say_so(site: Site) -> None:
    limited(site, questions_per_hour=1)
    page = f"{COMPETITION_PAGE}/questions"
    with log_in(site, "ada") as browser:
        send(browser, page, **ASKED, key="a")
        refused = send(browser, page, **ASKED, key="b")
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert "May we train" in refused.text.split("<form")[-1], "what was typed is still there"


# --------------------------------------------------------------------------------------------------------- fewer mails


def the_link(site: Site, olga: Person, ada: Person) -> str:
    """The path in Ada's mail."""
    world.submit(site.engine, ada.user)
    olga.client.post(ANNOUNCEMENTS, json={**SAID, "mail": "all"})
    with reading(site.engine) as session:
        address = str(
            session.scalars(fresh(OutgoingMail).where(OutgoingMail.recipient == "ada@example.org")).one().unsubscribe
        )
    return "/mail/unsubscribe?" + address.partition("?")[2]


def choices(person: Person) -> dict[str, bool]:
    """Return whether each kind of mail is wanted; test_mail_choices covers how often."""
    found: dict[str, bool] = person.client.get(f"{API}/me/mail").json()
    return {kind: found[kind] for kind in ("announcements", "results")}


def test_looking_at_the_link_changes_nothing_and_its_button_does(site: Site, olga: Person, ada: Person) -> None:
    link = the_link(site, olga, ada)
    with site.client(**BROWSER) as browser:
        page = browser.get(link)
        markup.check(page.text)
        assert choices(ada) == {"announcements": True, "results": False}
        form = {"csrf_token": csrf_of(page.text), "link": link.partition("link=")[2]}
        assert browser.post("/mail/unsubscribe", data={"link": form["link"]}).status_code == 403
        done = browser.post("/mail/unsubscribe", data=form)
        assert "no more mails with announcements" in text_of(done.text)
    assert choices(ada) == {"announcements": False, "results": False}
    olga.client.post(ANNOUNCEMENTS, json={**SAID, "mail": "all"})
    assert len(mails(site)) == 3, "none for her any more, two for Earl"
    ada.client.post(QUESTIONS, json=ASKED)
    olga.client.put(f"{QUESTIONS}/{FIRST_QUESTION}/answer", json={"answer": "No."})
    assert len(mails(site)) == 5, "but an answer to her question"


def test_mail_programs_do_it_in_one_click(site: Site, olga: Person, ada: Person) -> None:
    link = the_link(site, olga, ada)
    with site.client() as program:
        assert program.post(link, data={"List-Unsubscribe": "One-Click"}).status_code == 200
        for forged in (link[:-1], "/mail/unsubscribe", f"{link}0"):
            assert program.post(forged, data={"List-Unsubscribe": "One-Click"}).status_code == 404
            assert program.get(forged).status_code == 404
    assert choices(ada)["announcements"] is False


def test_everybody_chooses_on_their_account_page_and_by_api(site: Site, ada: Person) -> None:
    with log_in(site, "bob") as browser:
        page = send(browser, "/account/mail", "/account", announcements="none", results="weekly").text
        assert page.count('<option value="none" selected>') == page.count('<option value="weekly" selected>') == 1
        assert "Saved: you get mails as set below." in page
    assert choices(ada) == {"announcements": True, "results": False}
    chosen = {"announcements": False, "results": True}
    assert ada.client.put(f"{API}/me/mail", json=chosen).status_code == 200
    assert choices(ada) == chosen
    assert ada.client.put(f"{API}/me/mail", json={"announcements": "perhaps"}).status_code == 422
