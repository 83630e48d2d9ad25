"""Public pages and boards from memory: never older than the database, never somebody's, and not sent twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from app.base.db import writing
from app.competitions.find import find_board, find_competition
from app.models import PhaseTask
from app.runs.workers import SILENT_SECONDS
from app.web.boards import page as board_page
from app.web.html.rendering import render_page
from app.web.http.caching import Answer, KeptAnswers, answer_of
from app.web.http.visit import Visit
from tests import world
from tests.competitions.embargo import INSTANT, MINUTE, add_phase, declare, freeze, hide
from tests.runs.presence import announce
from tests.web.paraphrase_world import become_paraphrasing
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, HOME
from tests.web.site import BOARD, BROWSER, Person, Site, log_in
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK, the_phase_task

RESULTS_PAGE = f"{COMPETITION_PAGE}/tasks/{TASK}/results"
DATA_PAGE = f"{COMPETITION_PAGE}/data"
FORMS = [BOARD_PAGE, RESULTS_PAGE, BOARD, f"{BOARD}?format=csv"]
PAGES = [HOME, COMPETITION_PAGE, BOARD_PAGE, RESULTS_PAGE, "/guide", "/guide/metrics", "/guide/submitting"]


@pytest.fixture
def scored(site: Site, ada: Person) -> Site:
    """Ada has scored 0.625."""
    world.score(site.engine, world.submit(site.engine, ada.user, content="a").run_id, 0.625)
    return site


@pytest.fixture
def nobody(scored: Site) -> Iterator[httpx.Client]:
    with scored.client(**BROWSER) as client:
        yield client


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each made page of a board is added."""
    seen: list[str] = []

    def counted(shown: Visit, *arguments: Any, **context: Any) -> Any:
        seen.append(shown.request.url.path)
        return render_page(shown, *arguments, **context)

    monkeypatch.setattr(board_page, "render_page", counted)
    return seen


# --------------------------------------------------------------------------------------------------------------- once


def test_whoever_has_a_cookie_of_another_kind_is_anybody_too(nobody: httpx.Client, made: list[str]) -> None:
    bodies = {nobody.get(BOARD_PAGE, headers={"Cookie": cookie}).text for cookie in ("a=b", "evergold_form=c", "")}
    assert (made, len(bodies)) == ([BOARD_PAGE], 1)


def test_a_page_is_made_once_for_everybody(scored: Site, made: list[str]) -> None:
    bodies = set()
    for _ in range(3):
        with scored.client(**BROWSER) as client:
            bodies.add(client.get(BOARD_PAGE).text)
    assert (made, len(bodies)) == ([BOARD_PAGE], 1)


@pytest.mark.parametrize("path", [*PAGES, BOARD, f"{BOARD}.csv"])
def test_nothing_is_sent_twice(nobody: httpx.Client, path: str) -> None:
    first = nobody.get(path)
    assert (first.status_code, first.headers["Cache-Control"]) == (200, "public, no-cache")
    assert {"Accept-Encoding", "Cookie", "Authorization"} <= set(first.headers["Vary"].split(", "))
    for known in (first.headers["ETag"], f'"other", W/{first.headers["ETag"]}', "*"):
        again = nobody.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
        assert again.headers["Vary"] == first.headers["Vary"]
    assert nobody.get(path, headers={"If-None-Match": '"other"'}).content == first.content


def test_every_encoding_has_its_own_tag_and_says_the_same(nobody: httpx.Client) -> None:
    small = nobody.get(BOARD_PAGE, headers={"Accept-Encoding": "br, gzip"})
    plain = [nobody.get(BOARD_PAGE, headers={"Accept-Encoding": said}) for said in ("identity", "gzip;q=0")]
    assert small.headers["Content-Encoding"] == "gzip"
    assert int(small.headers["Content-Length"]) < int(plain[0].headers["Content-Length"])
    for one in plain:
        assert "Content-Encoding" not in one.headers
        assert one.content == small.content  # the client has unpacked it
        assert one.headers["ETag"] != small.headers["ETag"]
        assert nobody.get(BOARD_PAGE, headers={"If-None-Match": one.headers["ETag"]}).status_code == 200


def test_head_has_the_headers_and_no_body(nobody: httpx.Client) -> None:
    got, head = nobody.get(BOARD_PAGE), nobody.head(BOARD_PAGE)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["ETag"] == got.headers["ETag"]


def test_the_form_that_was_asked_for_is_the_one_that_comes(nobody: httpx.Client) -> None:
    answers = [
        nobody.get(BOARD, headers={"Accept": accepted}).headers["Content-Type"].partition(";")[0]
        for accepted in ("application/json", "text/csv", "*/*", "text/csv")
    ]
    assert answers == ["application/json", "text/csv", "application/json", "text/csv"]


def test_what_is_not_there_is_not_kept(nobody: httpx.Client, scored: Site) -> None:
    missing = BOARD_PAGE.replace("zero-shot", "later")
    assert nobody.get(missing).status_code == 404
    with writing(scored.engine) as session:
        _, board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        board.name = "later"
    assert nobody.get(missing).status_code == 200


# ---------------------------------------------------------------------------------------------------------- never old


@pytest.mark.parametrize("path", [*FORMS, COMPETITION_PAGE])
def test_a_score_is_there_at_once(scored: Site, nobody: httpx.Client, eve: Person, path: str) -> None:
    before = nobody.get(path)
    world.score(scored.engine, world.submit(scored.engine, eve.user, content="b").run_id, 0.875)
    after = nobody.get(path, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert ("2 teams" if path == COMPETITION_PAGE else "Eve") in after.text


@pytest.mark.parametrize("path", PAGES[:4])
def test_what_organisers_apply_is_there_at_once(scored: Site, nobody: httpx.Client, path: str) -> None:
    nobody.get(path)
    with writing(
        scored.engine
    ) as session:  # as app.declarations.apply.apply does: the text, and the version of every board
        find_competition(session, COMPETITION).title = "Idioms of 2026"
        the_phase_task(session).board_version += 1
    assert "Idioms of 2026" in nobody.get(path).text


@pytest.mark.parametrize("path", FORMS)
def test_a_board_appears_at_its_moment_and_not_before(scored: Site, nobody: httpx.Client, path: str) -> None:
    reveal = NOW + HOUR + timedelta(seconds=17)
    hide(scored.engine, board="hidden", public_from=reveal)
    scored.set_clock(reveal - INSTANT)
    for _ in range(2):
        assert "Ada" not in nobody.get(path).text
    scored.set_clock(reveal)
    assert "Ada" in nobody.get(path).text


@pytest.mark.parametrize("path", FORMS)
def test_a_board_that_is_hidden_again_is_gone_at_once(scored: Site, nobody: httpx.Client, path: str) -> None:
    known = nobody.get(path)
    assert "Ada" in known.text
    hide(scored.engine, board="hidden")
    gone = nobody.get(path, headers={"If-None-Match": known.headers["ETag"]})
    assert (gone.status_code, "Ada" in gone.text) == (200, False)


def test_the_tag_of_a_hidden_board_does_not_count(scored: Site, nobody: httpx.Client, eve: Person) -> None:
    hide(scored.engine, board="hidden")
    before = [nobody.get(path).headers["ETag"] for path in (*FORMS, COMPETITION_PAGE)]
    world.score(scored.engine, world.submit(scored.engine, eve.user, content="b").run_id, 0.875)
    assert [nobody.get(path).headers["ETag"] for path in (*FORMS, COMPETITION_PAGE)] == before


def test_no_page_gets_old_by_itself(scored: Site, nobody: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check at any time that a cached page equals a new one; a new one is made only where something began or ended."""
    moments = _declare_much(scored)
    shown = {path: set[bytes]() for path in (*PAGES, *FORMS, DATA_PAGE)}
    for moment in sorted(one + shift for one in moments for shift in (-DAY, -MINUTE, -INSTANT, INSTANT, MINUTE)):
        scored.set_clock(moment)
        for path, seen in shown.items():
            kept = nobody.get(path).content
            with monkeypatch.context() as forgetful:
                forgetful.setattr(KeptAnswers, "get", lambda kept, key: None)
                forgetful.setattr(KeptAnswers, "keep", lambda kept, key, answer, limit_bytes: None)
                assert nobody.get(path).content == kept, (path, moment)
            seen.add(kept)
    assert all(1 <= len(seen) <= len(moments) + 1 for seen in shown.values())
    assert len(shown[COMPETITION_PAGE]) > 5


def _declare_much(site: Site) -> list[datetime]:
    """Declare everything that begins or ends by itself, each at a moment of its own; return the moments."""
    hours = [NOW + number * HOUR + timedelta(seconds=7 * number) for number in range(1, 10)]
    site.add_file("blind.csv", b"ID\n")
    hide(site.engine, board="ranks_only", public_from=hours[0], names_from=hours[1], own_scores="after_close")
    declare(site.engine, ends_at=hours[2], choose_until=hours[3])
    add_phase(site.engine, "later", starts_at=hours[4], ends_at=hours[5])
    with writing(site.engine) as session:
        for asked in session.scalars(select(PhaseTask)):
            asked.files_from = {"blind.csv": hours[6].isoformat()}
        find_competition(session, COMPETITION).teams = {"merge_until": hours[7].isoformat()}
    return [NOW, *hours]


def test_that_submissions_wait_for_a_worker_is_said_and_unsaid_at_once(
    scored: Site, nobody: httpx.Client, eve: Person
) -> None:
    """Although no score changes with that, and no declared moment passes."""
    words = "Scoring for this task is delayed since 10 Jan 2026, 12:00 UTC; nothing is lost."
    become_paraphrasing(scored.engine)
    assert words not in nobody.get(BOARD_PAGE).text
    world.submit(scored.engine, eve.user, content="b")
    assert words in nobody.get(BOARD_PAGE).text
    announce(scored.engine, "reader", "cpu")
    assert words in nobody.get(BOARD_PAGE).text
    announce(scored.engine, "encoder", "cpu", "gpu")
    assert words not in nobody.get(BOARD_PAGE).text
    scored.set_clock(NOW + timedelta(seconds=SILENT_SECONDS))
    assert words in nobody.get(BOARD_PAGE).text


def test_a_phase_ends_at_its_second(scored: Site, nobody: httpx.Client) -> None:
    end = NOW + timedelta(seconds=40)
    declare(scored.engine, ends_at=end)
    scored.set_clock(end - INSTANT)
    assert "Submit to this board" in nobody.get(BOARD_PAGE).text
    scored.set_clock(end)
    assert "Submit to this board" not in nobody.get(BOARD_PAGE).text


def test_the_official_board_is_linked_when_it_is_frozen(scored: Site, nobody: httpx.Client) -> None:
    scored.set_clock(NOW + 3 * DAY)
    assert f"{BOARD_PAGE}/official" not in nobody.get(BOARD_PAGE).text
    freeze(scored.engine, NOW + 3 * DAY)
    assert f"{BOARD_PAGE}/official" in nobody.get(BOARD_PAGE).text
    assert "public" in nobody.get(f"{BOARD_PAGE}/official").headers["Cache-Control"]


def test_a_new_file_is_offered_at_once(scored: Site, nobody: httpx.Client) -> None:
    assert "blind.csv" not in nobody.get(f"{COMPETITION_PAGE}/data").text
    scored.add_file("blind.csv", b"ID\n")
    assert "blind.csv" in nobody.get(f"{COMPETITION_PAGE}/data").text


# ------------------------------------------------------------------------------------------------------ never another's


def test_what_is_mine_is_marked_for_me_alone(scored: Site, ada: Person, nobody: httpx.Client) -> None:
    public = nobody.get(BOARD).json()
    mine = ada.client.get(BOARD)
    assert [row["is_mine"] for row in mine.json()["rows"]] == [True]
    assert mine.headers["Cache-Control"] == "private, no-cache"
    assert nobody.get(BOARD).json() == public
    assert [row["is_mine"] for row in public["rows"]] == [False]


def test_a_page_of_the_logged_in_is_neither_kept_nor_taken_from_what_is(
    scored: Site, nobody: httpx.Client, cheap_passwords: None
) -> None:
    with log_in(scored, "grace") as browser:
        for path in (BOARD_PAGE, HOME, "/guide"):
            page = browser.get(path)
            assert page.headers["Cache-Control"] == "private, no-cache"
            assert "Log out" in page.text
            assert "Log out" not in nobody.get(path).text
            assert "Log out" in browser.get(path).text


def test_no_cookie_is_set_with_what_all_share(nobody: httpx.Client) -> None:
    nobody.cookies.set("evergold_form", "of-an-earlier-form")
    for path in PAGES:
        page = nobody.get(path)
        assert "Set-Cookie" not in page.headers
        assert "of-an-earlier-form" not in page.text


def test_borrowed_eyes_and_unknown_parameters_pass_by(nobody: httpx.Client, made: list[str]) -> None:
    for query in ("as=public", "as=participant", "utm=1", "split=a&split=b"):
        assert "public" not in nobody.get(f"{BOARD_PAGE}?{query}").headers["Cache-Control"]
    nobody.get(BOARD_PAGE)
    assert len(made) == 5


@pytest.mark.parametrize("path", [*PAGES, *FORMS])
def test_by_which_name_we_are_called_changes_nothing(nobody: httpx.Client, scored: Site, path: str) -> None:
    """Check that requests by a thousand host names fill no memory, and put no name into a page of others."""
    server = scored.app.state.server
    answers, sizes = set(), set()
    for host in ("one.example", "two.example", "three.example:8080"):
        answer = nobody.get(path, headers={"Host": host})
        answers.add(answer.content)
        sizes.add(server.answers.size_bytes + server.many_answers.size_bytes)
        assert host.encode() not in answer.content
    assert (len(answers), len(sizes)) == (1, 1)


# --------------------------------------------------------------------------------------------------------- the memory


def an_answer(size: int) -> Answer:
    return answer_of([], b"x" * size)


def test_what_was_not_asked_for_longest_goes_first() -> None:
    kept = KeptAnswers()
    for name in ("one", "two"):
        kept.keep(name, an_answer(400), 1000)
    assert kept.get("one") is not None
    kept.keep("three", an_answer(400), 1000)
    assert [kept.get(name) is not None for name in ("one", "two", "three")] == [True, False, True]
    assert kept.size_bytes == 800


def test_what_is_larger_than_the_memory_is_not_kept_and_drives_nothing_out() -> None:
    kept = KeptAnswers()
    kept.keep("small", an_answer(400), 1000)
    kept.keep("large", an_answer(1001), 1000)
    assert (kept.get("large"), kept.size_bytes) == (None, 400)


def test_keeping_the_same_again_counts_once() -> None:
    kept = KeptAnswers()
    for size in (400, 300):
        kept.keep("one", an_answer(size), 1000)
    assert kept.size_bytes == 300


def test_equal_answers_have_equal_tags_in_every_process() -> None:
    assert answer_of([], b"y" * 5000) == answer_of([], b"y" * 5000)
