"""Marks by organisers on rows, through the API, the page and the command line; and how boards then look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import writing
from app.models import Right, User
from evergold.cli import run
from evergold.cli.output import Code
from tests import world
from tests.beside import add_other_task, one_right_each
from tests.rich_world import OTHER_TASK
from tests.web.site import BOARD, BROWSER, TASK_PATH, Person, Site, csrf_of, log_in, run_of
from tests.world import COMPETITION, PHASE, TASK

ROWS = f"{TASK_PATH}/rows"
PAGE = ROWS.removeprefix("/api/v1")
BOARD_PAGE = BOARD.removeprefix("/api/v1")


@pytest.fixture
def root(site: Site) -> Iterator[Person]:
    """Yield the organiser."""
    person = site.person("root", is_administrator=True)
    with person.client:
        yield person


@pytest.fixture
def board(site: Site, ada: Person, eve: Person) -> Site:
    """Ada before Eve."""
    for person, value in ((ada, 0.9), (eve, 0.8)):
        world.score(site.engine, run_of(site, person.submitted()), value)
    return site


def shown(person: Person) -> list[tuple[int | None, str, float | None, str | None]]:
    document = person.client.get(BOARD).json()
    return [(row["rank"], row["team"], row["cells"][0]["value"], row["status"]) for row in document["rows"]]


def test_a_row_is_marked_listed_and_put_back(board: Site, root: Person, eve: Person) -> None:
    said = {"team": "Ada", "status": "unranked", "note": "used additional data"}
    marked = root.client.put(ROWS, json=said)
    assert marked.status_code == 200
    assert root.client.get(ROWS).json() == {"rows": [marked.json()]}
    assert (marked.json()["marked_by"], marked.json()["submission"]) == ("root", None)
    assert shown(eve) == [(None, "Ada", 0.9, "unranked"), (1, "Eve", 0.8, None)]
    replaced = root.client.put(ROWS, json={**said, "status": "disqualified"}).json()
    assert replaced["id"] == marked.json()["id"]
    assert shown(eve) == [(1, "Eve", 0.8, None), (None, "Ada", None, "disqualified")]
    assert root.client.delete(f"{ROWS}/{replaced['id']}").status_code == 204
    assert root.client.delete(f"{ROWS}/{replaced['id']}").status_code == 404
    assert shown(eve) == [(1, "Ada", 0.9, None), (2, "Eve", 0.8, None)]
    audit = root.client.get("/api/v1/audit").json()
    assert [entry["action"] for entry in audit["entries"]][:3] == ["row.clear", "row.mark", "row.mark"]


def test_what_is_hidden_is_for_its_team_and_organisers(board: Site, root: Person, ada: Person, eve: Person) -> None:
    root.client.put(ROWS, json={"team": "Ada", "status": "hidden"})
    assert shown(eve) == [(1, "Eve", 0.8, None)]
    for person in (ada, root):
        assert shown(person) == [(None, "Ada", 0.9, "hidden"), (1, "Eve", 0.8, None)]
    with board.client(**BROWSER) as anybody:
        for address in (
            BOARD_PAGE,
            f"{BOARD}.csv",
            f"{BOARD}/table",
            f"{BOARD}/feed.atom",
            f"/competitions/{COMPETITION}",
        ):
            answer = anybody.get(address)
            assert (answer.status_code, "Ada" in answer.text) == (200, False), address


def test_what_a_hidden_team_does_changes_no_byte_for_others(board: Site, root: Person, ada: Person) -> None:
    root.client.put(ROWS, json={"team": "Ada", "status": "hidden"})
    addresses = (BOARD, BOARD_PAGE, f"{BOARD}.csv", f"{BOARD}/feed.atom", f"/competitions/{COMPETITION}")
    with board.client() as anybody:
        before = [(anybody.get(address).content, anybody.get(address).headers.get("ETag")) for address in addresses]
        world.score(board.engine, run_of(board, ada.submitted(b"better")), 0.99)
        after = [(anybody.get(address).content, anybody.get(address).headers.get("ETag")) for address in addresses]
    assert before == after


def test_one_submission_is_marked_by_its_id(board: Site, root: Person, ada: Person, eve: Person) -> None:
    better = ada.submitted(b"better")
    world.score(board.engine, run_of(board, better), 0.95)
    root.client.put(ROWS, json={"submission": better["id"], "status": "disqualified", "note": "copied"})
    assert shown(eve) == [(1, "Ada", 0.9, None), (2, "Eve", 0.8, None)]


def test_wrong_requests_are_refused_by_field(board: Site, root: Person, ada: Person) -> None:
    for said, fields in (
        ({"team": "Nobody", "status": "unranked"}, {"team", "note"}),
        ({"status": "hidden"}, {"team"}),
    ):
        error = root.client.put(ROWS, json=said).json()["error"]
        assert (error["code"], set(error["details"]["fields"])) == ("invalid_form", fields)
    assert root.client.put(ROWS, json={"team": "Ada", "status": "gone"}).status_code == 422
    assert ada.client.put(ROWS, json={"team": "Eve", "status": "hidden"}).status_code == 403
    assert ada.client.get(ROWS).status_code == 403
    assert root.client.get(ROWS).json() == {"rows": []}


# --------------------------------------------------------------------------------------------------------------- pages


def test_organisers_mark_rows_on_a_page(board: Site, cheap_passwords: None) -> None:
    with log_in(board, "olga") as browser:
        assert browser.get(PAGE).status_code == 403
        _promote(board, "olga")
        page = browser.get(PAGE).text
        assert '<option value="Ada">' in page
        typed: dict[str, Any] = {"csrf_token": csrf_of(page), "team": "Ada", "note": "used <more> data"}
        refused = browser.post(PAGE, data={**typed, "submission": "x"})
        assert refused.status_code == 422
        assert "Choose one." in refused.text
        assert 'value="used &lt;more&gt; data"' in refused.text
        marked = browser.post(PAGE, data={**typed, "status": "unranked"})
        assert (marked.status_code, "used &lt;more&gt; data" in marked.text) == (200, True)
        looked = browser.get(BOARD_PAGE).text
        assert "Unranked, disqualified and hidden rows" in looked
        assert '<li id="footnote-a"><sup>a</sup> <bdi>used &lt;more&gt; data</bdi></li>' in looked
        assert 'href="#footnote-a"' in looked
        mark_id = marked.text.split(f"{PAGE}/")[1].split("/")[0]
        cleared = browser.post(f"{PAGE}/{mark_id}/clear", data={"csrf_token": csrf_of(marked.text)})
        assert "No row is marked" in cleared.text
        assert browser.post(PAGE, data={**typed, "csrf_token": "x"}).status_code == 403


def test_rows_are_marked_with_the_right_to_submissions_and_no_other(board: Site, eve: Person) -> None:
    for right, user in one_right_each(board.engine).items():
        browser, client = board.browser(user), board.with_token(user)
        sent = {"csrf_token": csrf_of(browser.get("/account").text), "team": "Ada", "status": "unranked", "note": "x"}
        answers = [browser.get(PAGE), browser.post(PAGE, data=sent), client.get(ROWS)]
        if right is Right.SUBMISSIONS:
            assert [one.status_code for one in answers] == [200] * 3
            assert [one.url.path for one in answers[:2]] == [PAGE, PAGE], "back on the page"
            assert shown(eve) == [(None, "Ada", 0.9, "unranked"), (1, "Eve", 0.8, None)]
            (row,) = answers[2].json()["rows"]
            assert browser.post(f"{PAGE}/{row['id']}/clear", data=sent).url.path == PAGE
        else:
            assert [one.status_code for one in answers] == [403] * 3, right
        assert shown(eve) == [(1, "Ada", 0.9, None), (2, "Eve", 0.8, None)], right


def test_the_page_marks_one_submission_or_a_team_of_its_own_task(
    board: Site, root: Person, ada: Person, eve: Person
) -> None:
    add_other_task(board.engine)
    better = ada.submitted(b"better")
    world.score(board.engine, run_of(board, better), 0.95)
    browser = board.browser(root.user)
    sent = {"csrf_token": csrf_of(browser.get(PAGE).text), "status": "disqualified", "note": "copied"}
    elsewhere = PAGE.replace(TASK, OTHER_TASK)
    assert "Ada" not in browser.get(elsewhere).text, "nobody has sent anything there"
    assert browser.post(elsewhere, data={**sent, "team": "Ada"}).status_code == 422
    assert browser.post(PAGE, data={**sent, "submission": better["id"]}).status_code == 200
    assert shown(eve)[:2] == [(1, "Ada", 0.9, None), (2, "Eve", 0.8, None)]
    assert root.client.get(ROWS).json()["rows"][0]["submission"] == better["id"]


def test_a_team_is_told_on_its_submission(board: Site, root: Person, ada: Person) -> None:
    root.client.put(ROWS, json={"team": "Ada", "status": "disqualified", "note": "two accounts"})
    submission = ada.client.get("/api/v1/submissions").json()["submissions"][0]
    page = ada.client.get(f"/submissions/{submission['id']}", headers=BROWSER).text
    assert "marked this as disqualified" in page
    assert "two accounts" in page


def _promote(site: Site, username: str) -> None:
    with writing(site.engine) as session:
        session.scalars(select(User).where(User.username == username)).one().is_administrator = True


# -------------------------------------------------------------------------------------------------------- command line


def test_the_command_line_marks_lists_and_clears(
    board: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, eve: Person
) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", board.engine.url.render_as_string(hide_password=False))
    get_settings.cache_clear()
    place = f"{COMPETITION}/{PHASE}/{TASK}"

    def evergold(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()  # what the server logged
        code = run(["row", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    assert evergold("mark", place, "removed", "--team", "Ada")[0] == Code.USAGE
    code, _, err = evergold("mark", place, "unranked", "--team", "Ada")
    assert (code, "note: Give a reason" in err) == (Code.ERROR, True)
    code, out, _ = evergold("mark", place, "unranked", "--team", "Ada", "--note", "more data")
    assert (code, out) == (Code.OK, f"On the boards of {place}, Ada is unranked now.\n")
    code, out, _ = evergold("list", place, "--json")
    (row,) = json.loads(out)["rows"]
    assert (row["team"], row["marked_by"]) == ("Ada", None)
    assert shown(eve)[0] == (None, "Ada", 0.9, "unranked")
    assert evergold("clear", place, str(row["id"]))[0] == Code.OK
    assert evergold("clear", place, str(row["id"]))[0] == Code.ERROR
    assert evergold("list", place)[1] == "No row is marked.\n"
    assert evergold("list", "idioms")[0] == Code.USAGE
