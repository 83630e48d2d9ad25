"""Organisers with one right: private questions are for those who answer them."""

from __future__ import annotations

import re

import pytest

from app.base.api_links import API
from app.models import Right
from tests.rich_world import FIRST_ANNOUNCEMENT, NEIGHBOURS
from tests.web.one_right import Organisers, only
from tests.web.site import Person
from tests.world import COMPETITION

HERE, BESIDE = (f"{API}/competitions/{name}" for name in (COMPETITION, NEIGHBOURS))
ASKED = {"title": "Is it blind?", "text": "May we?"}
ANNOUNCEMENTS, QUESTION = (
    "/competitions/{competition}/announcements",
    "/competitions/{competition}/questions/{question_id}",
)
ROUTES = (
    f"POST {ANNOUNCEMENTS}",
    f"GET {ANNOUNCEMENTS}/{{announcement_id}}",
    f"POST {ANNOUNCEMENTS}/{{announcement_id}}",
    f"POST {ANNOUNCEMENTS}/{{announcement_id}}/withdraw",
    f"POST {QUESTION}/answer",
    f"POST {QUESTION}/close",
    f"POST {QUESTION}/reopen",
    f"POST /api/v1{ANNOUNCEMENTS}",
    f"GET /api/v1{ANNOUNCEMENTS}/receivers",
    f"PUT /api/v1{ANNOUNCEMENTS}/{{announcement_id}}",
    f"DELETE /api/v1{ANNOUNCEMENTS}/{{announcement_id}}",
    f"PUT /api/v1{QUESTION}/answer",
    f"PUT /api/v1{QUESTION}/closed",
    f"DELETE /api/v1{QUESTION}/closed",
)


@pytest.mark.parametrize("right", list(Right))
def test_an_organiser_without_that_right_sees_no_private_question(
    ada: Person, organisers: Organisers, right: Right
) -> None:
    assert ada.client.post(f"{HERE}/questions", json=ASKED).status_code == 201
    listed = organisers.clients[right].send("GET", f"{HERE}/questions").json()["questions"]
    assert [one["title"] for one in listed] == (["Is it blind?"] if right is Right.MESSAGES else [])


def test_each_route_to_write_is_for_the_right_to_messages(organisers: Organisers) -> None:
    assert organisers.let_in(ROUTES) == only(Right.MESSAGES, ROUTES)


def test_nobody_writes_next_door(organisers: Organisers) -> None:
    client = organisers.clients[Right.MESSAGES]
    answers = [
        client.send("POST", f"{BESIDE}/announcements", json={"title": "x", "text": "y"}),
        client.send("PUT", f"{BESIDE}/announcements/1", json={"title": "x", "text": "y"}),
        client.send("PUT", f"{BESIDE}/questions/3/answer", json={"answer": "No."}),
        client.send("PUT", f"{HERE}/announcements/1", json={"title": "x", "text": "y"}),
        client.send("PUT", f"{HERE}/questions/3/answer", json={"answer": "No."}),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403, 404, 404]


@pytest.mark.parametrize(("listed", "beside"), [("announcements", ["Next door opens"]), ("questions", ["Public?"])])
def test_lists_are_of_one_competition(organisers: Organisers, listed: str, beside: list[str]) -> None:
    client = organisers.clients[Right.MESSAGES]
    assert client.send("GET", f"{HERE}/{listed}").json()[listed] == []
    assert [one["title"] for one in client.send("GET", f"{BESIDE}/{listed}").json()[listed]] == beside


def test_nobody_else_publishes_what_could_be_published(organisers: Organisers) -> None:
    form = {"title": "A title", "text": "Some words.", "action": "publish"}
    page = f"/competitions/{COMPETITION}/announcements"
    statuses = {right: client.send("POST", page, data=form).status_code for right, client in organisers.clients.items()}
    assert statuses == {right: 303 if right is Right.MESSAGES else 403 for right in organisers.clients}
    one = organisers.clients[Right.MESSAGES].send("GET", f"{page}/{FIRST_ANNOUNCEMENT}").text
    assert re.search(r'<input[^>]*name="title"[^>]*value="A title"', one)
    assert re.search(r"<textarea[^>]*>\s*Some words\.</textarea>", one)


def test_a_refused_question_is_the_same_when_it_is_sent_again(organisers: Organisers) -> None:
    """Check the key of its form, by which it is asked only once."""
    form = {"title": "", "text": "May we?", "key": "key-of-this-form"}
    refused = organisers.clients[None].send("POST", f"/competitions/{COMPETITION}/questions", data=form)
    assert refused.status_code == 422
    assert 'name="key" value="key-of-this-form"' in refused.text


def test_a_private_question_is_on_the_page_of_those_who_answer_and_not_while_they_look_as_others_do(
    organisers: Organisers, ada: Person
) -> None:
    page = f"/competitions/{COMPETITION}/questions"
    asked = ada.client.post(f"/api/v1{page}", json={"title": "Between us", "text": "May we?"})
    assert asked.status_code == 201
    told = {right: client.send("GET", page).text for right, client in organisers.clients.items()}
    assert [right for right, text in told.items() if "Between us" in text] == [Right.MESSAGES]
    for seen_as in ("public", "participant"):
        shown = organisers.clients[Right.MESSAGES].send("GET", f"{page}?as={seen_as}")
        assert (shown.status_code, "Between us" in shown.text) == (200, False), seen_as
