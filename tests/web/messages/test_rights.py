"""Organisers with one right: private questions are for those who answer them."""

from __future__ import annotations

import pytest

from app.base.api_links import API
from app.base.db import writing
from app.models import Right, User
from app.people import auth
from tests.beside import one_right_each
from tests.rich_world import FIRST_ANNOUNCEMENT, FIRST_QUESTION, NEIGHBOURS
from tests.web.site import Person, Site
from tests.world import COMPETITION, NOW

HERE, BESIDE = (f"{API}/competitions/{name}" for name in (COMPETITION, NEIGHBOURS))
ASKED = {"title": "Is it blind?", "text": "May we?"}
OTHERS = [right for right in Right if right is not Right.MESSAGES]


@pytest.fixture
def organisers(site: Site) -> dict[Right, Person]:
    """With one right each, and a token."""
    return {right: with_token(site, user) for right, user in one_right_each(site.engine).items()}


def with_token(site: Site, user: User) -> Person:
    with writing(site.engine) as session:
        _, secret = auth.create_token(session, user, "test", NOW)
    return Person(site, user, site.client(Authorization=f"Bearer {secret}"))


@pytest.mark.parametrize("right", list(Right))
def test_an_organiser_without_that_right_sees_no_private_question(
    ada: Person, organisers: dict[Right, Person], right: Right
) -> None:
    assert ada.client.post(f"{HERE}/questions", json=ASKED).status_code == 201
    titles = [one["title"] for one in organisers[right].client.get(f"{HERE}/questions").json()["questions"]]
    assert titles == (["Is it blind?"] if right is Right.MESSAGES else [])


@pytest.mark.parametrize("right", OTHERS)
def test_an_organiser_without_that_right_answers_and_announces_nothing(
    ada: Person, organisers: dict[Right, Person], right: Right
) -> None:
    ada.client.post(f"{HERE}/questions", json=ASKED)
    client = organisers[right].client
    question, announcement = f"{HERE}/questions/{FIRST_QUESTION}", f"{HERE}/announcements/{FIRST_ANNOUNCEMENT}"
    made = organisers[Right.MESSAGES].client.post(f"{HERE}/announcements", json={"title": "x", "text": "y"})
    assert made.status_code == 201
    refused = [
        client.put(f"{question}/answer", json={"answer": "No."}),
        client.put(f"{question}/closed"),
        client.delete(f"{question}/closed"),
        client.post(f"{HERE}/announcements", json={"title": "x", "text": "y"}),
        client.put(announcement, json={"title": "z", "text": "y"}),
        client.delete(announcement),
        client.get(f"{HERE}/announcements/receivers", params={"group": "all"}),
    ]
    assert [answer.status_code for answer in refused] == [403] * len(refused)


def test_nobody_writes_next_door(organisers: dict[Right, Person]) -> None:
    client = organisers[Right.MESSAGES].client
    answers = [
        client.post(f"{BESIDE}/announcements", json={"title": "x", "text": "y"}),
        client.put(f"{BESIDE}/announcements/1", json={"title": "x", "text": "y"}),
        client.put(f"{BESIDE}/questions/3/answer", json={"answer": "No."}),
        client.put(f"{HERE}/announcements/1", json={"title": "x", "text": "y"}),
        client.put(f"{HERE}/questions/3/answer", json={"answer": "No."}),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403, 404, 404]


def test_lists_are_of_one_competition(site: Site, organisers: dict[Right, Person]) -> None:
    client = organisers[Right.MESSAGES].client
    assert client.get(f"{HERE}/announcements").json()["announcements"] == []
    assert client.get(f"{HERE}/questions").json()["questions"] == []
    beside = client.get(f"{BESIDE}/announcements").json()["announcements"]
    assert [one["title"] for one in beside] == ["Next door opens"]
    assert [one["title"] for one in client.get(f"{BESIDE}/questions").json()["questions"]] == ["Public?"]
