"""The pages of human judgement: organisers' forms, annotators' worksheets, and what each of them does not show."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Judgement, Role, User
from app.people.rights import grant_role, revoke_role
from app.web.judging.pages import _axis
from tests import world
from tests.judging import judged as judging
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, text_of
from tests.web.site import Site, csrf_of, log_in
from tests.world import COMPETITION, NOW, PHASE, TASK

JUDGING = f"{COMPETITION_PAGE}/judging"
START = f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/judging"
ROUND = f"{JUDGING}/human"
HEADER = "submission,item,annotator,mwe_sense,rest_sense,naturalness"
#: A blind file may hold markup; a page must not.
EVIL = {"en": {**judging.ALPHA["en"], "en-1": "<script>alert('x')</script> She died."}, "pt": judging.ALPHA["pt"]}


@pytest.fixture
def systems(empty_site: Site, cheap_passwords: None) -> dict[str, UUID]:
    world.add_competition(empty_site.engine, per_day=None)
    judging.add_task(empty_site.engine)
    return judging.enter_three(empty_site.engine)


@pytest.fixture
def site(empty_site: Site, systems: dict[str, UUID]) -> Site:
    return empty_site


def user(site: Site, username: str) -> User:
    with reading(site.engine) as session:
        return session.scalars(select(User).where(User.username == username)).one()


@pytest.fixture
def olga(site: Site) -> Iterator[httpx.Client]:
    """An organiser's browser."""
    with log_in(site, "olga") as browser:
        with writing(site.engine) as session:
            grant_role(session, find_competition(session, COMPETITION), user(site, "olga"), Role.ORGANISER, NOW)
        yield browser


@pytest.fixture
def anna(site: Site) -> Iterator[httpx.Client]:
    with log_in(site, "anna") as browser:
        yield browser


def send(browser: httpx.Client, form_on: str, to: str, /, **fields: str) -> httpx.Response:
    """A form of this page, filled in."""
    return browser.post(to, data={**fields, "csrf_token": csrf_of(browser.get(form_on).text)})


def start(olga: httpx.Client, **fields: str) -> httpx.Response:
    return send(olga, START, START, **{"name": "human", "annotators": "en anna", "seed": "1", **fields})


def judge(browser: httpx.Client, place: int, headers: dict[str, str] | None = None, **said: Any) -> httpx.Response:
    address = f"{ROUND}/items/en/{place}"
    fields = {**said, "csrf_token": csrf_of(browser.get(address).text)}
    return browser.post(address, data=fields, headers=headers or {})


WHOLE: dict[str, Any] = {"removed": "yes", "mwe_sense": "3", "rest_sense": "2", "naturalness": "1"}


# ------------------------------------------------------------------------------------------------------------ starting


def test_an_organiser_finds_the_way_and_starts_a_round(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    assert f'href="{JUDGING}"' in olga.get(COMPETITION_PAGE).text
    assert f'href="{START}"' in olga.get(JUDGING).text
    page = start(olga, items="2", guidelines="Read **slowly**.")
    assert page.url.path == ROUND
    text = text_of(page.text)
    assert "2 items of each language, seed 1" in text
    assert "EN anna 0 " in text
    assert "No marks yet: " in text
    assert "Nobody but organisers sees this page until it is published" in text
    assert ROUND in olga.get(JUDGING).text


def test_the_form_keeps_what_was_typed_and_tells_everything(site: Site, olga: httpx.Client) -> None:
    page = start(olga, name="No Name", items="many", seed="-3", guidelines="<b>Keep me</b>", annotators="anna")
    assert page.status_code == 422
    text = html.unescape(page.text)
    assert "'anna' is not a language followed by a user name." in text
    assert text.count("Write a whole number, or leave it empty.") == 2
    assert 'value="many"' in text
    assert "&lt;b&gt;Keep me&lt;/b&gt;" in page.text
    page = start(olga, annotators="en nobody\nxx olga", submissions="17")
    assert "'17' is not a submission's ID." in html.unescape(page.text)
    page = start(olga, annotators="en nobody\nxx olga")
    assert "There is no account 'nobody' on this server. There is nothing to judge in 'xx'" in html.unescape(page.text)


def test_marks_come_as_a_file_and_every_problem_is_shown(
    site: Site, olga: httpx.Client, systems: dict[str, UUID]
) -> None:
    def bring(*lines: str) -> httpx.Response:
        token = csrf_of(olga.get(START).text)
        content = "\n".join([HEADER, *lines, ""]).encode()
        fields = {"csrf_token": token, "round": "paper"}
        return olga.post(f"{START}/marks", data=fields, files={"file": ("marks.csv", content)})

    page = bring(f"{systems['alpha']},en-1,A1,4,3,3", f"{systems['alpha']},en-9,A1,3,3,3")
    assert page.status_code == 422
    assert "line 2, column mwe_sense: a mark must be a number from 0 to 3, not 4" in page.text
    assert "line 3, column item: en-9 is not an item of this task" in page.text
    assert 'value="paper"' in page.text
    page = bring(f"{systems['alpha']},en-1,A1,3,3,3")
    assert page.url.path == f"{JUDGING}/paper"
    assert "100.00" in text_of(page.text)


@pytest.mark.parametrize("path", [JUDGING, START, ROUND])
def test_others_are_sent_away(site: Site, olga: httpx.Client, path: str) -> None:
    start(olga, annotators="")
    with log_in(site, "eve") as eve:
        assert eve.get(path).status_code in (403, 404)
        assert f'href="{JUDGING}"' not in eve.get(COMPETITION_PAGE).text
    with site.client(Accept="text/html") as nobody:
        assert nobody.get(path).status_code in (303, 404)
    with log_in(site, "mallory") as mallory:
        page = mallory.get("/account").text
        for address in (START, f"{START}/marks", f"{ROUND}/publish", f"{ROUND}/discard", f"{ROUND}/annotators"):
            fields = {"csrf_token": csrf_of(page), "name": "human", "language": "en", "username": "mallory"}
            assert mallory.post(address, data=fields).status_code in (403, 404)


def test_forms_need_their_token(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga)
    for address in (START, f"{ROUND}/publish", f"{ROUND}/withdraw", f"{ROUND}/discard", f"{ROUND}/annotators"):
        assert olga.post(address, data={}).status_code == 403
    for address in (f"{ROUND}/items/en/1", f"{ROUND}/items/en/1/clear"):
        assert anna.post(address, data=WHOLE).status_code == 403


# ------------------------------------------------------------------------------------------------------------- judging


def test_an_annotator_judges_everything_without_a_script(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga, guidelines="Read **slowly**.")
    assert "0 of 6" in text_of(anna.get("/judging").text)
    page = anna.get(f"{ROUND}/items/en")
    for place in range(1, 7):
        assert page.url.path == f"{ROUND}/items/en/{place}"
        assert f"{place - 1} of 6 judged" in text_of(page.text)
        assert "<strong>slowly</strong>" in page.text
        page = judge(anna, place, **WHOLE)
    assert page.url.path == f"{ROUND}/items/en"
    assert "All judged" in text_of(page.text)
    assert "6 of 6" in text_of(anna.get("/judging").text)
    with reading(site.engine) as session:
        given = session.scalars(select(Judgement)).all()
    assert {(one.mwe_sense, one.rest_sense, one.naturalness) for one in given} == {(3, 2, 1)}
    assert len(given) == 6


def test_a_script_saves_every_answer_at_once(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga)
    piece = judge(anna, 1, {"HX-Request": "true"}, removed="yes", mwe_sense="2")
    assert piece.status_code == 200
    assert "<html" not in piece.text
    assert "0 of 6 judged" in text_of(piece.text)
    piece = judge(anna, 1, {"HX-Request": "true"}, removed="yes", mwe_sense="2", rest_sense="2", naturalness="0")
    assert "1 of 6 judged" in text_of(piece.text)
    page = anna.get(f"{ROUND}/items/en/1").text  # resumed: what was said is there
    checked = re.findall(r'name="(\w+)" value="(\w+)" checked', page)
    assert checked == [("removed", "yes"), ("mwe_sense", "2"), ("rest_sense", "2"), ("naturalness", "0")]


def test_an_incomplete_answer_is_kept_and_asked_for(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga)
    page = judge(anna, 2, removed="yes", mwe_sense="3")
    assert page.status_code == 422
    assert "Please complete the open ones" in text_of(page.text)
    assert 'name="mwe_sense" value="3" checked' in page.text
    assert judge(anna, 2, removed="yes", mwe_sense="7").status_code == 422


def test_a_paraphrase_that_still_has_it_needs_no_marks(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga)
    assert judge(anna, 1, removed="no").url.path == f"{ROUND}/items/en/2"
    assert 'name="removed" value="no" checked' in anna.get(f"{ROUND}/items/en/1").text


def test_an_answer_can_be_changed_and_taken_back(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga)
    judge(anna, 1, **WHOLE)
    judge(anna, 1, **{**WHOLE, "naturalness": "3"})
    first = f"{ROUND}/items/en/1"
    assert 'name="naturalness" value="3" checked' in anna.get(first).text
    page = send(anna, first, f"{first}/clear")
    assert "0 of 6 judged" in text_of(page.text)
    assert "checked" not in page.text.replace('name="removed" value="yes" checked', "")


def test_annotators_see_neither_systems_nor_scores_nor_each_other(
    site: Site, olga: httpx.Client, anna: httpx.Client
) -> None:
    with log_in(site, "ben") as ben:
        start(olga, annotators="en anna\nen ben")
        judge(ben, 1, **WHOLE)
        pages = [anna.get(f"{ROUND}/items/en/{place}").text for place in range(1, 7)]
    seen = "".join([*pages, anna.get("/judging").text, anna.get(JUDGING).text])
    # Systems, methods, scores, ids of items (which name systems' files) and other annotators.
    for secret in ("Alpha", "alpha", "Beta", "beta", "Gamma", "method of", "0.9", "en-1", "ben", "Rounds"):
        assert secret not in re.sub(r'name="csrf_token" value="[^"]*"', "", seen).replace("Elizabeth", ""), secret
    assert "0 of 6 judged" in text_of(pages[0])
    assert anna.get(ROUND).status_code == 404
    assert anna.get(f"/api/v1/competitions/{COMPETITION}/judging/human/marks.csv").status_code == 403


def test_a_paraphrase_is_never_markup(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    evil = judging.enter(site.engine, user(site, "olga"), EVIL, {"en": 0.1, "pt": 0.1})
    start(olga, submissions=str(evil))
    pages = "".join(anna.get(f"{ROUND}/items/en/{place}").text for place in (1, 2, 3))
    assert "<script>alert" not in pages
    assert "&lt;script&gt;alert" in pages


def test_only_who_was_asked_has_a_worksheet(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga)
    for path in (f"{ROUND}/items/en", f"{ROUND}/items/en/1"):
        assert olga.get(path).status_code == 404  # an organiser is no annotator by that
        with site.client(Accept="text/html") as nobody:
            assert nobody.get(path).status_code == 303
    for path in (
        f"{ROUND}/items/pt/1",
        f"{ROUND}/items/en/0",
        f"{ROUND}/items/en/7",
        f"{ROUND}/items/en/{10**30}",
        f"{ROUND}/items/%00/1",
    ):
        assert anna.get(path).status_code == 404
    assert anna.get(f"{ROUND}/items/en/one").status_code == 404
    with writing(site.engine) as session:
        found = find_competition(session, COMPETITION)
        assert revoke_role(session, found, user(site, "anna"), Role.ANNOTATOR, NOW)
    assert anna.get(f"{ROUND}/items/en/1").status_code == 404


@pytest.mark.parametrize("seed", ["1" * 13, "-1", "²"])
def test_a_seed_that_is_no_number_or_too_long_is_marked(olga: httpx.Client, anna: httpx.Client, seed: str) -> None:
    page = start(olga, seed=seed)
    assert page.status_code == 422
    assert "Write a whole number, or leave it empty." in page.text


# ---------------------------------------------------------------------------------------------------------- publishing


def test_a_round_is_published_for_everybody_and_withdrawn(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga)
    for place in range(1, 7):
        judge(anna, place, **WHOLE)
    page = send(olga, ROUND, f"{ROUND}/publish")
    assert page.status_code == 409
    assert "4 paraphrases have no marks yet (pt: 4)" in text_of(page.text)
    page = send(olga, ROUND, f"{ROUND}/publish", unfinished="yes")
    assert "Boards show the human scores" in text_of(page.text)
    with site.client(Accept="text/html") as nobody:
        shown = text_of(nobody.get(ROUND).text)
        assert "Alpha method of alpha" in shown
        assert "75.00 90.00" in shown  # (2·3 + 2 + 1) / 12, and BERTScore, in English
        assert "Annotators Paraphrases" in shown
        assert "anna" not in shown
        board = nobody.get(BOARD_PAGE)
        assert f'href="{ROUND}"' in board.text
        assert "Human score" in text_of(board.text)
        svg = nobody.get(f"{ROUND}/figures/human-en.svg")
        assert svg.headers["Content-Type"] == "image/svg+xml"
        assert "Human score against BERTScore: EN" in svg.text
        for name in ("human-xx", "human-pt"):  # nobody judged Portuguese
            assert nobody.get(f"{ROUND}/figures/{name}.svg").status_code == 404
    assert "finished" in text_of(anna.get("/judging").text)
    assert "marks can no longer change" in text_of(anna.get(f"{ROUND}/items/en/1").text)
    send(olga, ROUND, f"{ROUND}/withdraw")
    with site.client(Accept="text/html") as nobody:
        assert nobody.get(ROUND).status_code == 404
        assert "Human score" not in text_of(nobody.get(BOARD_PAGE).text)


def test_annotators_are_asked_and_dismissed_on_the_page(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga, annotators="")
    page = send(olga, ROUND, f"{ROUND}/annotators", language="en", username="nobody")
    assert page.status_code == 422
    assert 'value="nobody"' in page.text
    page = send(olga, ROUND, f"{ROUND}/annotators", language="en", username="anna")
    assert "EN anna 0 6" in text_of(page.text)
    page = send(olga, ROUND, f"{ROUND}/annotators", language="en", username="anna", leave="yes")
    assert "Nobody yet." in text_of(page.text)


def test_a_round_is_discarded_on_the_page(site: Site, olga: httpx.Client, anna: httpx.Client) -> None:
    start(olga)
    page = send(olga, ROUND, f"{ROUND}/discard")
    assert page.url.path == JUDGING
    assert "None yet." in text_of(page.text)


def test_no_axis_goes_beyond_100_percent_unless_a_value_does() -> None:
    within, beyond = _axis([0.2, 1.0], "BERTScore"), _axis([0.2, 1.3], "BERTScore")
    assert within.high == 1.0
    assert beyond.high >= 1.3
