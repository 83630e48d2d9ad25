"""Gold through the web: organisers seal and publish it, boards show its commitment, and nothing here ever reads it."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from nacl.public import PrivateKey
from sqlalchemy import select

from app.base.db import reading, writing
from app.base.storage import stored_path
from app.competitions.find import find_competition, find_phase_task
from app.gold.checks import record_invalid_gold
from app.gold.sealing import key_id_of
from app.models import GoldVersion, Phase, PhaseTask, Role, SealedFile, SealedKey, SealedKind, User, WorkerKey
from app.people.rights import grant_role
from app.web.gold.receiving import PHASES_AHEAD
from evergold.scoring.errors import Problem
from tests import world
from tests.beside import add_other_task
from tests.rich_world import OTHER_TASK, fresh
from tests.sealed import call_right, files_with
from tests.web.reading import text_of
from tests.web.site import BOARD, SUBMIT, TASK_PATH, Person, Site, csrf_of, log_in, run_of
from tests.world import COMPETITION, DAY, NOW, PHASE, TASK
from workers.sealed import open_into

GOLD = f"{TASK_PATH}/gold"
PAGE = f"/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}/gold"
CONTENT = b"ID,DataID,Language,Label\n1,CANARY-51,EN,0\n"


@pytest.fixture
def key(site: Site) -> PrivateKey:
    """The workers' key, whose private half the server does not have."""
    made = PrivateKey.generate()
    public = bytes(made.public_key)
    with writing(site.engine) as session:
        session.add(WorkerKey(key_id=key_id_of(public), public_key=public, created_at=NOW, retired_at=None))
    return made


@pytest.fixture
def olga(site: Site) -> Iterator[Person]:
    """An organiser of the competition, and of no other."""
    person = site.person("olga")
    organise(site, person.user)
    with person.client:
        yield person


def organise(site: Site, user: User, competition: str = COMPETITION) -> None:
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, competition), user, Role.ORGANISER, NOW)


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the versions that workers were asked to check."""
    sent: list[int] = []
    for module in ("receiving",):
        monkeypatch.setattr(f"app.web.gold.{module}.send_gold_check", sent.append)
    return sent


def put(person: Person, content: bytes = CONTENT, path: str = GOLD, **fields: str) -> httpx.Response:
    """Put, and found right by a worker; the answer is that of after."""
    response = send(person, content, path, **fields)
    if response.status_code != 201:
        return response
    call_right(person.site.engine)
    listed = person.client.get(path)
    return httpx.Response(201, json=listed.json(), request=listed.request)


def send(person: Person, content: bytes = CONTENT, path: str = GOLD, **fields: str) -> httpx.Response:
    return person.client.post(path, files={"file": ("gold.csv", content)}, data=fields)


def opened(site: Site, key: PrivateKey, number: int = 1) -> bytes:
    """The content of a version, as a worker gets it."""
    with reading(site.engine) as session:
        version = session.scalars(fresh(GoldVersion).where(GoldVersion.number == number)).first()
        assert version is not None
        file = session.get_one(SealedFile, version.sealed_file_id)
        rows = session.scalars(select(SealedKey).where(SealedKey.sealed_file_id == file.id))
        sealed_keys = {row.key_id: row.sealed_key for row in rows}
    content = io.BytesIO()
    path = stored_path(site.settings.sealed_dir, file.sha256)
    keys = {key_id_of(bytes(key.public_key)): key}
    assert open_into(path, SealedKind.GOLD, sealed_keys, keys, content).commitment == version.commitment
    return content.getvalue()


def add_phase(site: Site, name: str = "post") -> None:
    """Add another phase with the same task."""
    with writing(site.engine) as session:
        first = world.the_phase_task(session)
        phase = Phase(
            competition_id=first.phase.competition_id,
            name=name,
            title=name.capitalize(),
            starts_at=NOW + DAY,
            entry_rule=first.phase.entry_rule,
            rejected_per_hour=60,
            upload_limit_bytes=10**6,
        )
        session.add(phase)
        session.flush()
        session.add(PhaseTask(phase_id=phase.id, task_id=first.task_id, gold=None))


# ----------------------------------------------------------------------------------------------------------------- API


def test_an_organiser_s_gold_reaches_the_workers_and_nobody_else(site: Site, olga: Person, key: PrivateKey) -> None:
    response = put(olga)
    assert response.status_code == 201, response.text
    (version,) = response.json()["versions"]
    assert (version["version"], version["filename"], version["put_by"]) == (1, "gold.csv", "olga")
    assert version["content_bytes"] == len(CONTENT)
    assert version["in_use_since"] is not None
    assert opened(site, key) == CONTENT
    assert files_with(site.settings.data_dir, b"CANARY-51") == []
    assert files_with(Path(site.engine.url.database or "").parent, b"CANARY-51") == []


def test_a_worker_checks_gold_before_it_is_used(site: Site, olga: Person, key: PrivateKey, told: list[int]) -> None:
    (version,) = send(olga).json()["versions"]
    assert (version["check"], version["in_use_since"], version["used_when_valid"]) == ("waiting", None, True)
    assert len(told) == 1
    call_right(site.engine)
    (version,) = olga.client.get(GOLD).json()["versions"]
    assert (version["check"], version["in_use_since"] is not None) == ("valid", True)


def test_what_a_worker_found_wrong_is_told_by_line_and_such_gold_is_not_published(
    site: Site, olga: Person, key: PrivateKey, browser: httpx.Client
) -> None:
    (version,) = send(olga).json()["versions"]
    assert "being checked" in browser.get(PAGE).text
    call_wrong(site)
    listed = olga.client.get(GOLD).json()["versions"][0]
    assert (listed["check"], listed["in_use_since"]) == ("invalid", None)
    assert listed["problems"] == [{"code": "bad-value", "sentence": "line 3: bad value", "file": None, "line": 3}]
    assert "line 3: bad value" in browser.get(PAGE).text
    refused = olga.client.post(f"{GOLD}/{version['version']}/publish")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "gold_unusable")


def call_wrong(site: Site) -> None:
    with writing(site.engine) as session:
        for version_id in session.scalars(select(GoldVersion.id)).all():
            record_invalid_gold(session, version_id, [Problem("bad-value", "bad value", line=3)], 0, NOW)


def test_organisers_have_a_version_checked_again_over_the_api_and_on_the_page(
    site: Site, olga: Person, key: PrivateKey, browser: httpx.Client, told: list[int]
) -> None:
    send(olga)
    call_wrong(site)
    again = olga.client.post(f"{GOLD}/1/check")
    assert (again.status_code, again.json()["versions"][0]["check"]) == (202, "waiting")
    call_wrong(site)
    page = browser.post(f"{PAGE}/1/check", data={"csrf_token": csrf_of(browser.get(PAGE).text)})
    assert "being checked" in page.text
    assert len(told) == 3
    assert olga.client.post(f"{GOLD}/7/check").status_code == 404


def test_large_gold_is_sealed_as_it_streams_in(site: Site, olga: Person, key: PrivateKey) -> None:
    content = hashlib.sha512(b"seed").digest() * 50_000  # 3.2 MB
    assert put(olga, content).status_code == 201
    assert opened(site, key) == content


def test_the_list_says_everything_but_what_is_in_it(site: Site, olga: Person, key: PrivateKey) -> None:
    put(olga)
    put(olga, b"other gold")
    listed = olga.client.get(GOLD).json()
    assert [(one["version"], one["in_use_since"] is not None) for one in listed["versions"]] == [(1, True), (2, False)]
    assert listed["page"] == PAGE


def test_a_later_version_is_used_when_published(site: Site, olga: Person, key: PrivateKey) -> None:
    put(olga)
    put(olga, b"other gold")
    published = olga.client.post(f"{GOLD}/2/publish")
    assert published.status_code == 200
    assert published.json()["versions"][1]["in_use_since"] is not None
    again = olga.client.post(f"{GOLD}/1/publish")
    assert again.status_code == 200, "in use already is no error"
    assert olga.client.post(f"{GOLD}/3/publish").status_code == 404
    assert put(olga, b"newest gold", publish="true").json()["versions"][2]["in_use_since"] is not None


def test_one_upload_may_be_for_several_phases(site: Site, olga: Person, key: PrivateKey) -> None:
    add_phase(site)
    assert put(olga, also="post").status_code == 201
    other = olga.client.get(GOLD.replace(f"/{PHASE}/", "/post/")).json()
    assert other["versions"][0]["commitment"] == olga.client.get(GOLD).json()["versions"][0]["commitment"]
    wrong = put(olga, also="post, practice")
    assert wrong.status_code == 422
    assert "No other phase 'practice'" in wrong.json()["error"]["details"]["fields"]["also"]
    assert sealed_files(site) == 1, "what was refused is not kept"


def sealed_files(site: Site) -> int:
    return sum(path.is_file() for path in site.settings.sealed_dir.rglob("*"))


@pytest.mark.parametrize("who", ["nobody", "ada", "organiser of another"])
def test_only_organisers_of_this_competition_come_near_it(
    site: Site, ada: Person, olga: Person, key: PrivateKey, who: str
) -> None:
    put(olga)
    if who == "organiser of another":
        world.add_competition(site.engine, name="another")
        organise(site, ada.user, "another")
    expected = 401 if who == "nobody" else 403
    with site.client() as anonymous:
        client = anonymous if who == "nobody" else ada.client
        assert client.get(GOLD).status_code == expected
        assert client.post(GOLD, files={"file": ("g", b"x")}).status_code == expected
        assert client.post(f"{GOLD}/1/publish").status_code == expected
        assert client.post(f"{GOLD}/1/check").status_code == expected
    assert sealed_files(site) == 1


def test_without_a_key_nothing_can_be_put(site: Site, olga: Person) -> None:
    refused = put(olga)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_worker_key")
    assert "evergold gold keygen" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "fields", "status"),
    [(b"", {}, 422), (b"x", {"publish": "perhaps"}, 422), (b"x", {"colour": "red"}, 422)],
)
def test_what_is_refused_leaves_nothing(
    site: Site, olga: Person, key: PrivateKey, content: bytes, fields: dict[str, str], status: int
) -> None:
    assert put(olga, content, **fields).status_code == status
    assert sealed_files(site) == 0
    assert olga.client.get(GOLD).json()["versions"] == []


def test_gold_that_is_too_large_is_refused_and_leaves_nothing(
    site: Site, olga: Person, key: PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.gold.receiving.UPLOAD_LIMIT_BYTES", 1000)
    assert put(olga, b"x" * 1001).status_code == 413
    assert sealed_files(site) == 0


# --------------------------------------------------------------------------------------------------------------- boards


def test_boards_show_the_commitment_of_the_gold_and_rows_their_version(
    site: Site, olga: Person, ada: Person, key: PrivateKey
) -> None:
    first = put(olga).json()["versions"][0]["commitment"]
    world.score(site.engine, run_of(site, ada.submitted()), 0.5)
    second = put(olga, b"other gold", publish="true").json()["versions"][1]["commitment"]
    with site.client() as anybody:
        board = anybody.get(BOARD).json()
        csv_lines = anybody.get(f"{BOARD}.csv").text.splitlines()
        page = anybody.get(BOARD.removeprefix("/api/v1"), headers={"Accept": "text/html"}).text
    assert board["sealed_gold"] == [{"version": 1, "commitment": first}, {"version": 2, "commitment": second}]
    assert [row["sealed_gold"] for row in board["rows"]] == [1]
    assert csv_lines[0].split(",")[4:6] == ["sealed_gold", "commitment"]
    assert csv_lines[1].split(",")[4:6] == ["1", first]
    assert first in page
    assert second in page


def test_organisers_find_the_page_from_the_board_and_nobody_else_is_led_there(
    site: Site, browser: httpx.Client
) -> None:
    board = BOARD.removeprefix("/api/v1")
    assert f'href="{PAGE}"' in browser.get(board).text
    with site.client(Accept="text/html") as anybody:
        assert PAGE not in anybody.get(board).text


def test_a_version_that_is_not_in_use_is_on_no_board(site: Site, olga: Person, key: PrivateKey) -> None:
    put(olga)
    secret = put(olga, b"other gold").json()["versions"][1]["commitment"]
    with site.client() as anybody:
        assert secret not in anybody.get(BOARD).text


def test_a_board_whose_gold_is_not_sealed_says_nothing_of_it(site: Site) -> None:
    with site.client() as anybody:
        assert anybody.get(BOARD).json()["sealed_gold"] == []
        assert "commitment" not in anybody.get(f"{BOARD}.csv").text


def test_a_phase_without_gold_opens_with_the_first_version(
    site: Site, olga: Person, ada: Person, key: PrivateKey
) -> None:
    with writing(site.engine) as session:
        world.the_phase_task(session).gold = None
    assert ada.submit(path=SUBMIT).status_code == 409
    put(olga)
    assert ada.submit(path=SUBMIT).status_code == 202


# ---------------------------------------------------------------------------------------------------------------- page


@pytest.fixture
def browser(site: Site, key: PrivateKey) -> Iterator[httpx.Client]:
    """An organiser who is logged in."""
    with log_in(site, "pia") as client:
        with reading(site.engine) as session:
            user = session.scalars(select(User).where(User.username == "pia")).one()
        organise(site, user)
        yield client


def test_the_form_seals_and_the_page_lists_it(site: Site, browser: httpx.Client, key: PrivateKey) -> None:
    token = csrf_of(browser.get(PAGE).text)
    sent = browser.post(PAGE, data={"csrf_token": token}, files={"file": ("gold.csv", CONTENT)})
    assert (sent.status_code, sent.history[0].status_code) == (200, 303)
    assert "after it passes the check" in sent.text
    assert "CANARY" not in sent.text
    assert opened(site, key) == CONTENT


def test_the_page_publishes_a_later_version(site: Site, browser: httpx.Client, key: PrivateKey) -> None:
    for content in (CONTENT, b"other gold"):
        token = csrf_of(browser.get(PAGE).text)
        browser.post(PAGE, data={"csrf_token": token}, files={"file": ("gold.csv", content)})
        call_right(site.engine)
    page = browser.get(PAGE).text
    assert "Use it" in page
    done = browser.post(f"{PAGE}/2/publish", data={"csrf_token": csrf_of(page)})
    assert done.status_code == 200
    assert f"{PAGE}/2/publish" not in done.text


def test_a_form_with_a_mistake_says_so_and_keeps_what_was_typed(site: Site, browser: httpx.Client) -> None:
    add_phase(site)
    token = csrf_of(browser.get(PAGE).text)
    form = {"csrf_token": token, "also": "nowhere"}
    answer = browser.post(PAGE, data=form, files={"file": ("gold.csv", CONTENT)})
    assert answer.status_code == 422
    assert 'value="nowhere"' in answer.text
    assert "these do: &#39;post&#39;" in answer.text


def test_a_forged_form_is_refused(site: Site, browser: httpx.Client) -> None:
    browser.get(PAGE)
    forged = browser.post(PAGE, data={"csrf_token": "x"}, files={"file": ("gold.csv", CONTENT)})
    assert forged.status_code == 403
    assert browser.post(f"{PAGE}/1/publish", data={"csrf_token": "x"}).status_code == 403
    assert sealed_files(site) == 0


def test_the_page_is_for_organisers(site: Site, key: PrivateKey) -> None:
    with site.client(Accept="text/html") as anybody:
        assert anybody.get(PAGE).headers["Location"].startswith("/login?next=")
        assert anybody.post(PAGE).status_code in (303, 403)
    with log_in(site, "eve") as eve:
        assert eve.get(PAGE).status_code == 403


def test_the_page_says_when_there_is_no_key(site: Site) -> None:
    with log_in(site, "pia") as client:
        with reading(site.engine) as session:
            user = session.scalars(select(User).where(User.username == "pia")).one()
        organise(site, user)
        assert "evergold gold keygen" in client.get(PAGE).text


def test_gold_that_does_not_fit_its_owner_s_quota_is_refused_and_nothing_of_it_is_kept(
    site: Site, key: PrivateKey, olga: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site.settings, "mebibytes_per_organiser", 0)
    files = {"file": ("gold.csv", CONTENT)}
    assert olga.client.post(GOLD, files=files).status_code == 201, "the server's own competitions have no bound"
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).owner_id = olga.user.id
    before = sorted(path.name for path in site.settings.sealed_dir.rglob("*"))
    refused = olga.client.post(GOLD, files=files)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "organiser_quota")
    assert sorted(path.name for path in site.settings.sealed_dir.rglob("*")) == before


# -------------------------------------------------------------------------------------------- explained to the uploader

READER = "ab" * 32


def test_the_uploader_s_key_is_sealed_with_the_file(site: Site, key: PrivateKey, olga: Person) -> None:
    answer = olga.client.post(GOLD, data={"reader": READER}, files={"file": ("gold.csv", CONTENT)})
    assert answer.status_code == 201, answer.text
    assert f'"reader":"{READER}"'.encode() in first_line(site)


def test_what_is_no_key_and_a_key_behind_the_file_are_refused(site: Site, key: PrivateKey, olga: Person) -> None:
    wrong = olga.client.post(GOLD, data={"reader": "mine"}, files={"file": ("gold.csv", CONTENT)})
    assert (wrong.status_code, "64 hexadecimal digits" in wrong.text) == (422, True)
    late = olga.client.post(GOLD, files=[("file", ("gold.csv", CONTENT)), ("reader", (None, READER.encode()))])
    assert (late.status_code, "Send the field 'reader' before the file" in late.text) == (422, True)


def test_an_explanation_is_handed_to_organisers_as_it_is_and_to_nobody_else(
    site: Site, key: PrivateKey, olga: Person, eve: Person
) -> None:
    olga.client.post(GOLD, data={"reader": READER}, files={"file": ("gold.csv", CONTENT)})
    with writing(site.engine) as session:
        version = session.scalars(fresh(GoldVersion)).one()
        record_invalid_gold(session, version.id, [Problem("bad-value", "bad value")], 0, NOW, explanation="Ym94")
    assert olga.client.get(GOLD).json()["versions"][0]["explanation"] == "Ym94"
    assert eve.client.get(GOLD).status_code == 403


def test_the_page_advises_once_what_the_task_should_declare(site: Site, browser: httpx.Client) -> None:
    """Teams read one neutral line, and organisers why their task makes it necessary."""
    advice = "Advice: declare <code>labels</code>: without it a misspelt label is not reported, but counts as wrong."
    for options, is_advised in (({}, True), ({"labels": ["a", "b"]}, False)):
        with writing(site.engine) as session:
            task = find_phase_task(session, COMPETITION, PHASE, TASK).task
            task.task_type, task.options = "table", options
        assert (advice in browser.get(PAGE).text) is is_advised


def test_gold_put_ahead_is_for_phases_that_may_come_and_are_not_there(
    site: Site, key: PrivateKey, browser: httpx.Client
) -> None:
    [later] = PHASES_AHEAD
    token = csrf_of(browser.get(PAGE).text)
    form = {"csrf_token": token, "ahead": f"{later}, nonsense"}
    for number, versions in ((1, {PHASE: 1, later: 1}), (2, {PHASE: 2})):
        assert browser.post(PAGE, data=form, files={"file": ("gold.csv", CONTENT)}).status_code == 200
        assert json.loads(first_line(site, number).partition(b"{")[2].join((b"{", b"")))["versions"] == versions
        if number == 1:
            add_phase(site, later)


def first_line(site: Site, number: int = 1) -> bytes:
    """Return the header of the sealed file of a version."""
    with reading(site.engine) as session:
        version = session.scalars(fresh(GoldVersion).where(GoldVersion.number == number)).one()
        sha256 = session.scalars(select(SealedFile.sha256).where(SealedFile.id == version.sealed_file_id)).one()
    return stored_path(site.settings.sealed_dir, sha256).read_bytes().split(b"\n", 1)[0]


def test_a_phase_that_asks_another_task_is_not_offered_for_the_same_gold(site: Site, browser: httpx.Client) -> None:
    add_other_task(site.engine)
    add_phase(site)
    other = PAGE.replace(f"/{TASK}/", f"/{OTHER_TASK}/")
    assert "of other phases with this task, separated by commas: post, earlier." in text_of(browser.get(PAGE).text)
    assert "of other phases with this task" not in browser.get(other).text
    form = {"csrf_token": csrf_of(browser.get(other).text), "also": "post"}
    refused = browser.post(other, data=form, files={"file": ("gold.csv", CONTENT)})
    assert (refused.status_code, "these do: none." in refused.text) == (422, True)
