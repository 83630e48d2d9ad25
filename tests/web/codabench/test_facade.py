"""The addresses for clients of Codabench keep the rules of /api/v1: who sees what, limits, forms, held uploads."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import select, update

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, NotAuthenticated
from app.base.storage import StoredFile
from app.competitions.find import find_phase_task
from app.models import Board, Competition, Halt, HeldUpload, Phase, Stage, Submission, User
from app.people.auth import PASSWORD_TOKENS, create_token, set_password
from app.people.client_tokens import client_token
from app.people.password_resets import make_mailed, use
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from app.submissions.held_uploads import HELD, HELD_AT_ONCE
from app.web.codabench.lists import LARGEST_PAGE
from app.web.codabench.numbers import KeyOf, id_range, id_with, key_of, number_of, row_of
from app.web.codabench.submissions import ON_A_PAGE
from app.web.main import create_app
from tests import world
from tests.competitions.embargo import add_phase, declare, hide
from tests.web.routes import routes_of
from tests.web.site import BOARD, BROWSER, CONTENT, PASSWORD, Person, Site, log_in, register, run_of
from tests.world import NOW, submissions_here
from workers.sweep import clear_held_uploads


def phase_of(person: Person) -> int:
    with reading(person.site.engine) as session:
        return world.the_phase_task(session).phase_id


def announce(person: Person, **more: object) -> httpx.Response:
    return person.client.post("/api/datasets/", data={"type": "submission", "request_sassy_file_name": "a.csv", **more})


def hold(person: Person, content: bytes = CONTENT) -> str:
    """The key of a file that was uploaded."""
    announced = announce(person).json()
    with person.site.client() as anybody:
        put = anybody.put(announced["sassy_url"], content=content)
    assert put.status_code == 200, put.text
    key: str = announced["key"]
    return key


def send(person: Person, key: str, **more: object) -> httpx.Response:
    return person.client.post("/api/submissions/", data={"phase": phase_of(person), "data": key, **more})


def sent(person: Person) -> int:
    answer = send(person, hold(person))
    assert answer.status_code == 201, answer.text
    number: int = answer.json()["id"]
    return number


def listed(person: Person, **asked: str | int) -> dict[str, Any]:
    """A page of the person's submissions."""
    answer = person.client.get("/api/submissions/", params=asked)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


# ------------------------------------------------------------------------------------------------------------ numbers


def test_a_number_leads_back_to_the_ids_that_have_it_and_to_no_other() -> None:
    one = uuid4()
    first, last = id_range(number_of(one))
    assert first <= one <= last
    assert first <= id_with(number_of(one)) <= last
    assert number_of(UUID(int=last.int + 1)) == number_of(one) + 1
    assert id_with(number_of(one)).version == 4


@pytest.mark.parametrize("row_id", [1, 17, 2**31 - 1])
def test_a_key_leads_back_to_its_row_and_kind(row_id: int) -> None:
    key = key_of(KeyOf.PUBLIC_FILE, row_id)
    assert (row_of(KeyOf.PUBLIC_FILE, key), row_of(KeyOf.PHASE_TASK, key)) == (row_id, None)
    assert row_of(KeyOf.PUBLIC_FILE, uuid4()) is None
    assert key.version == 8


def submit_with(
    person: Person,
    number: int,
    filename: str,
    seconds: int,
    submission_id: UUID | None = None,
    phase: str = "evaluation",
) -> UUID:
    """Submit another file, so many seconds later, by an id with this number, or by this id; return the id."""
    content = f"{CONTENT!r} {filename}".encode()
    with writing(person.site.engine) as session:
        file = StoredFile(hashlib.sha256(content).hexdigest(), len(content))
        user = session.get_one(User, person.user.id)
        form = SubmissionForm(filename, submission_id=submission_id or id_with(number))
        phase_task = find_phase_task(session, "idioms", phase, "detection")
        return accept_submission(
            session, phase_task, file, Sender(user, NOW + timedelta(seconds=seconds)), form
        ).submission.id


def test_one_number_of_two_teams_answers_each_with_its_own(ada: Person, eve: Person) -> None:
    """The newer one is another team's: to the first it is not there, in no form and by no address."""
    number = sent(ada)
    submit_with(eve, number, "eves.csv", 60)
    for person, name in ((ada, "a.csv"), (eve, "eves.csv")):
        found = person.client.get(f"/api/submissions/{number}/").json()
        assert (found["filename"], len(found["tasks"]), len(found["links"])) == (name, 1, 1)
        assert [one["filename"] for one in listed(person)["results"]] == [name]
    details = ada.client.get(f"/api/submissions/{number}/get_details/").json()
    assert ada.client.get(details["data_file"]).content == CONTENT
    with writing(ada.site.engine) as session:
        task_key = key_of(KeyOf.PHASE_TASK, world.the_phase_task(session).id)
    again = ada.client.post(f"/api/submissions/{number}/re_run_submission/", params={"task_key": str(task_key)})
    assert again.status_code == 201
    newest = ada.client.get(f"/api/submissions/{again.json()['id']}/").json()
    assert (newest["filename"], newest["id"] != number) == ("a.csv", True)


def test_one_number_of_two_uploads_of_a_team_is_the_newer_one(ada: Person) -> None:
    number = sent(ada)
    with reading(ada.site.engine) as session:
        older = max(session.scalars(submissions_here()))
    lower = next(one for one in iter(lambda: id_with(number), None) if one < older)
    newer = submit_with(ada, number, "newer.csv", 60, lower)
    found = ada.client.get(f"/api/submissions/{number}/").json()
    assert (found["filename"], found["links"]) == ("newer.csv", [f"/submissions/{newer}"])
    assert [one["filename"] for one in listed(ada)["results"]] == ["newer.csv", "a.csv"]


def test_one_number_of_one_file_in_two_phases_or_by_two_people_is_the_newest_upload_alone(
    ada: Person, eve: Person
) -> None:
    """Check the same file sent by each of two members of one team, and by one of them to another phase."""
    engine = ada.site.engine
    world.add_team(engine, ada.user, eve.user, name="Both")
    add_phase(engine, "post", starts_at=NOW - world.HOUR)
    number = number_of(uuid4())
    sent_by = ((ada, "evaluation"), (eve, "evaluation"), (eve, "post"))
    for seconds, (person, phase) in enumerate(sent_by):
        newest = submit_with(person, number, "same.csv", seconds, phase=phase)
        found = ada.client.get(f"/api/submissions/{number}/").json()
        assert (found["phase_name"], found["links"]) == (phase.capitalize(), [f"/submissions/{newest}"])
    assert [len(one["tasks"]) for one in listed(ada)["results"]] == [1, 1, 1]


# -------------------------------------------------------------------------------------------------------------- pages


def test_lists_come_in_pages_by_number_and_by_address(ada: Person) -> None:
    ids = [submit_with(ada, number_of(uuid4()), f"{second}.csv", second) for second in range(3)]
    numbers = [number_of(one) for one in reversed(ids)]
    whole = listed(ada)
    assert [one["id"] for one in whole["results"]] == numbers
    assert (whole["count"], whole["next"], whole["previous"], whole["page_size"]) == (3, None, None, ON_A_PAGE)
    first = listed(ada, page_size=2, phase=phase_of(ada))
    assert ([one["id"] for one in first["results"]], first["count"], first["previous"]) == (numbers[:2], 3, None)
    second_page = ada.client.get(first["next"]).json()
    assert ([one["id"] for one in second_page["results"]], second_page["next"]) == (numbers[2:], None)
    assert ada.client.get(second_page["previous"]).json() == first
    assert listed(ada, page="last", page_size=2, phase=phase_of(ada)) == second_page
    assert listed(ada, page_size="all")["page_size"] == LARGEST_PAGE
    assert listed(ada, page_size="many")["page_size"] == ON_A_PAGE
    for page in ("0", "2", "first", "-1", "²"):
        assert ada.client.get("/api/submissions/", params={"page": page}).status_code == 404, page
    tasks = ada.client.get("/api/tasks/", params={"page_size": 1}).json()
    assert (len(tasks["results"]), tasks["count"]) == (1, ada.client.get("/api/tasks/").json()["count"])
    assert listed(ada, page_size=2)["next"].startswith("http")


def test_pages_go_on_behind_what_is_looked_up_at_first(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.codabench.submissions.FIRST_READ", 2)
    ids = [submit_with(ada, number_of(uuid4()), f"{second}.csv", second) for second in range(5)]
    page, found = listed(ada, page_size=1), []
    assert page["count"] < len(ids), "nobody counted all of them for the first page"
    while page["next"]:
        found += [one["id"] for one in page["results"]]
        page = ada.client.get(page["next"]).json()
    assert [*found, *(one["id"] for one in page["results"])] == [number_of(one) for one in reversed(ids)]
    assert page["count"] == len(ids)
    assert listed(ada, page_size=1, page="last")["results"] == page["results"]


# ----------------------------------------------------------------------------------------------------- who sees what


def test_what_is_hidden_from_somebody_is_not_there_for_their_client(ada: Person, eve: Person) -> None:
    """Check a draft, requested by its numbers, which looks as if it never existed."""
    site, phase = ada.site, phase_of(ada)
    with reading(site.engine) as session:
        there = world.the_phase_task(session)
        place = session.get_one(Phase, phase).competition_id
        board = session.scalars(select(Board.id).where(Board.task_id == there.task_id)).first() or 0
    numbers = {"competitions": place, "phases": phase, "tasks": there.id, "leaderboards": board}
    for kind, number in numbers.items():
        assert eve.client.get(f"/api/{kind}/{number}/").status_code == 200, kind
    with writing(site.engine) as session:
        session.execute(update(Competition).values(stage=Stage.DRAFT))
    for kind, number in numbers.items():
        hidden, never = (eve.client.get(f"/api/{kind}/{one}/") for one in (number, 99_999))
        assert (hidden.status_code, hidden.text) == (404, never.text), kind
    assert eve.client.get(f"/api/can_make_submission/{phase}/").status_code == 404
    assert eve.client.get("/api/competitions/").json() == []
    assert eve.client.get("/api/tasks/").json()["results"] == []
    assert send(eve, hold(eve)).status_code == 404


def test_scores_under_an_embargo_are_not_there(ada: Person) -> None:
    number = sent(ada)
    document = ada.client.get("/api/v1/submissions").json()["submissions"][0]
    world.score(ada.site.engine, run_of(ada.site, document), 0.75)
    assert ada.client.get(f"/api/submissions/{number}/").json()["scores"][0]["score"] == "0.7500000000"
    hide(ada.site.engine, own_scores="never", board="hidden")
    found = ada.client.get(f"/api/submissions/{number}/").json()
    assert (found["status"], found["scores"]) == ("Finished", [])
    assert "does not show teams the scores" in found["status_details"]
    assert ada.client.get(f"/api/submissions/{number}/get_details/").json()["scoring_result"] is None
    assert ada.client.get(f"/api/submissions/{number}/scores.zip").status_code == 404
    phase = phase_of(ada)
    for board in ada.client.get("/api/leaderboards/", params={"phase": phase}).json():
        assert board["submissions"] == []
        assert ada.client.get(f"/api/leaderboards/{board['id']}/").json() == board


def test_a_phase_has_its_dates_and_its_open_files_which_come_zipped(ada: Person) -> None:
    ada.site.add_file("items.csv", b"id\n1\n")
    phase = ada.client.get(f"/api/phases/{phase_of(ada)}/").json()
    with reading(ada.site.engine) as session:
        declared = session.get_one(Phase, phase["id"])
        dates = (declared.starts_at, declared.ends_at)
    assert tuple(datetime.fromisoformat(phase[key]) for key in ("start", "end")) == dates
    (file,) = phase["tasks"][0]["public_datasets"]
    sent = ada.client.get(f"/api/datasets/{file['key']}/download/")
    assert sent.status_code == 200
    assert 'filename="items.csv.zip"' in sent.headers["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {"items.csv": b"id\n1\n"}


def test_the_address_that_clients_print_leads_to_the_page(ada: Person) -> None:
    with reading(ada.site.engine) as session:
        number = session.get_one(Phase, phase_of(ada)).competition_id
    found = ada.client.get(f"/competitions/{number}/", follow_redirects=False)
    assert (found.status_code, found.headers["location"]) == (303, "/competitions/idioms")
    assert ada.client.get("/competitions/99999/").status_code == 404
    with writing(ada.site.engine) as session:  # a name that is another one's number
        session.execute(update(Competition).where(Competition.id != number).values(name=str(number)))
    named = ada.client.get(f"/competitions/{number}/", follow_redirects=False)
    assert named.headers["location"] == f"/competitions/{number}"


def test_another_teams_number_is_not_there(ada: Person, eve: Person) -> None:
    number = sent(ada)
    for end in ("", "get_details/", "scores.zip"):
        assert eve.client.get(f"/api/submissions/{number}/{end}").status_code == 404
    assert listed(eve)["results"] == []
    assert [one["id"] for one in listed(ada)["results"]] == [number]


def test_a_board_has_the_names_ranks_and_values_of_our_own_api(ada: Person, eve: Person) -> None:
    for person, value in ((ada, 0.75), (eve, 0.5)):
        sent(person)
        document = person.client.get("/api/v1/submissions").json()["submissions"][0]
        world.score(person.site.engine, run_of(person.site, document), value)
    with ada.site.client() as nobody:
        boards = nobody.get("/api/leaderboards/", params={"phase": phase_of(ada)}).json()
        names = [one["name"] for one in nobody.get(BOARD.rpartition("/")[0].rpartition("/")[0]).json()["boards"]]
        assert len(names) == len(boards)
        for name, board in zip(names, boards, strict=True):
            ours = nobody.get(f"{BOARD.rpartition('/')[0]}/{name}").json()
            rows = [row for row in ours["rows"] if row["kind"] != "historic"]
            assert [(row["owner"], row["rank"]) for row in board["submissions"]] == [
                (row["team"], row["rank"]) for row in rows
            ]
            for theirs, row in zip(board["submissions"], rows, strict=True):
                values = [None if one["score"] is None else float(one["score"]) for one in theirs["scores"]]
                assert values == [cell["value"] for cell in row["cells"]]


# ------------------------------------------------------------------------------------------------------------ uploads


def test_a_held_upload_is_its_senders_and_for_a_day(ada: Person, eve: Person) -> None:
    key = hold(ada)
    assert send(eve, key).status_code == 404
    assert ada.client.put(f"/api/data/upload_completed/{key}/").status_code == 200
    assert eve.client.put(f"/api/data/upload_completed/{key}/").status_code == 404
    ada.site.set_clock(NOW + HELD)
    assert send(ada, key).status_code == 404
    assert ada.site.submissions() == 0


def test_the_sweep_forgets_what_nobody_submitted_in_a_day(ada: Person, eve: Person) -> None:
    hold(ada)
    ada.site.set_clock(NOW + timedelta(hours=1))
    hold(eve)
    clear_held_uploads(ada.site.engine, NOW + HELD)
    with reading(ada.site.engine) as session:
        (left,) = session.scalars(select(HeldUpload)).all()
        assert left.user_id == eve.user.id
    clear_held_uploads(ada.site.engine, NOW + HELD + timedelta(hours=1))
    with reading(ada.site.engine) as session:
        assert session.scalars(select(HeldUpload)).all() == []


def test_a_file_that_has_not_come_is_not_submitted(ada: Person) -> None:
    refused = send(ada, announce(ada).json()["key"])
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_uploaded_yet")


def test_what_came_to_an_address_stays(ada: Person) -> None:
    announced = announce(ada).json()
    answers = [ada.client.put(announced["sassy_url"], content=one) for one in (CONTENT, CONTENT, b"another")]
    assert [one.status_code for one in answers] == [200, 200, 409]
    with reading(ada.site.engine) as session:
        assert session.scalars(select(HeldUpload.size_bytes)).all() == [len(CONTENT)]


def test_nobody_holds_more_than_a_few(ada: Person) -> None:
    keys = []
    for second in range(HELD_AT_ONCE + 1):
        ada.site.set_clock(NOW + timedelta(seconds=second))
        keys.append(hold(ada))
    statuses = [
        ada.client.put(f"/api/data/upload_completed/{key}/").status_code for key in (keys[0], keys[1], keys[-1])
    ]
    assert statuses == [404, 200, 200]
    with reading(ada.site.engine) as session:
        assert len(session.scalars(select(HeldUpload)).all()) == HELD_AT_ONCE


def test_files_that_are_too_large_are_refused_before_and_while_they_come(ada: Person) -> None:
    site = ada.site
    limit = site.settings.upload_limit_bytes
    assert announce(ada, file_size=limit + 1).status_code == 413
    declare(site.engine, upload_limit_bytes=len(CONTENT) - 1)
    assert send(ada, hold(ada)).status_code == 413
    assert site.submissions() == 0


def test_the_same_key_is_the_same_submission(ada: Person) -> None:
    key = hold(ada)
    answers = [send(ada, key).json() for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert ada.site.submissions() == 1


def test_a_large_file_comes_whole(ada: Person) -> None:
    """Check a file that is larger than other bodies may be."""
    content = CONTENT + b"2,EN,zero_shot,0\n" * 20_000
    sent_ = send(ada, hold(ada, content))
    assert sent_.status_code == 201
    with reading(ada.site.engine) as session:
        ids = id_range(sent_.json()["id"])
        assert session.scalars(select(Submission.size_bytes).where(Submission.id.between(*ids))).all() == [len(content)]


@pytest.mark.parametrize("halt", [Halt.PAUSED, Halt.ARCHIVED])
def test_a_competition_at_rest_takes_nothing(ada: Person, halt: Halt) -> None:
    with writing(ada.site.engine) as session:
        session.execute(update(Competition).values(halt=halt, halt_reason="Moving."))
    told = ada.client.get(f"/api/can_make_submission/{phase_of(ada)}/").json()
    assert (told["can"], "Moving." in told["reason"]) == (False, True)
    assert send(ada, hold(ada)).status_code == 409


def test_the_reason_to_register_has_the_whole_address_of_the_page(ada: Person) -> None:
    with writing(ada.site.engine) as session:
        competition = session.scalars(select(Competition).where(Competition.name == world.COMPETITION)).one()
        competition.registration = {"mode": "open", "terms": "Be kind."}
    with log_in(ada.site, "nora") as nora:
        told = nora.get(f"/api/can_make_submission/{phase_of(ada)}/").json()
    page = f"{ada.site.url}/competitions/{world.COMPETITION}/registration"
    assert told == {"can": False, "reason": f"Please register for this competition first. See {page}."}


def test_the_request_that_submits_decides_whether_it_is_in_time(ada: Person) -> None:
    declare(ada.site.engine, ends_at=NOW + timedelta(hours=1))
    key = hold(ada)
    ada.site.set_clock(NOW + timedelta(hours=1))
    refused = send(ada, key)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "phase_not_open")


@pytest.mark.parametrize(
    "fields",
    [
        {"phase": "one"},
        {"phase": str(2**31)},
        {"phase": "9" * 5000},  # more digits than Python reads
        {"data": "mine"},
        {"tasks": "999999"},
        {"phase": "²"},
    ],
)
def test_wrong_fields_are_named(ada: Person, fields: dict[str, str]) -> None:
    form = {"phase": str(phase_of(ada)), "data": hold(ada), **fields}
    refused = ada.client.post("/api/submissions/", data=form)
    assert (refused.status_code, list(refused.json()["error"]["details"]["fields"])) == (422, list(fields))
    assert ada.client.post("/api/submissions/", json=[form]).status_code == 422


# ------------------------------------------------------------------------------------------------------------ log-ins


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    register(site, "nora")
    with site.client(**BROWSER) as client:
        client.follow_redirects = True
        client.get("/accounts/login/")
        yield client


def test_the_form_logs_in_with_the_cookies_token_alone(browser: httpx.Client) -> None:
    form = {"username": "nora", "password": PASSWORD}
    for token in ("", "guessed"):
        assert browser.post("/accounts/login/", data={**form, "csrfmiddlewaretoken": token}).status_code == 403
    form["csrfmiddlewaretoken"] = browser.cookies["csrftoken"]
    foreign = browser.post("/accounts/login/", data=form, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403
    answer = browser.post("/accounts/login/", data=form)
    assert (answer.status_code, answer.url.path) == (200, "/")
    assert "nora" in browser.get("/account").text


def test_a_wrong_password_logs_nobody_in(browser: httpx.Client) -> None:
    form = {"username": "nora", "password": "wrong", "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
    assert browser.post("/accounts/login/", data=form).status_code == 401
    assert "evergold_session" not in browser.cookies


def test_tokens_are_throttled_as_log_ins_and_end_when_they_are_revoked(site: Site) -> None:
    with log_in(site, "nora"), site.client() as client:
        form = {"username": "nora", "password": PASSWORD}

        def token() -> str:
            made: str = client.post("/api/api-token-auth/", data=form).json()["token"]
            return made

        first = token()
        assert token() == first
        listed = client.get("/api/v1/tokens", headers={"Authorization": f"Token {first}"}).json()["tokens"]
        (number,) = [one["id"] for one in listed]
        gone = client.delete(f"/api/v1/tokens/{number}", headers={"Authorization": f"Bearer {first}"})
        assert gone.status_code == 204
        second = token()
        assert second != first
        assert client.get("/api/my_profile/", headers={"Authorization": f"Token {first}"}).status_code == 401
        organised = client.put(
            "/api/v1/competitions/idioms/life", headers={"Authorization": f"Token {second}"}, json={}
        )
        assert (organised.status_code, organised.json()["error"]["code"]) == (403, "scope_missing")
        site.set_clock(NOW + timedelta(days=1))
        assert token() not in (first, second)
        wrong = [client.post("/api/api-token-auth/", data={**form, "password": "wrong"}) for _ in range(11)]
        assert [one.status_code for one in wrong] == [400] * 10 + [429]


@pytest.mark.parametrize("changed_by", ["account page", "mailed link"])
def test_another_password_ends_the_days_token(site: Site, changed_by: str) -> None:
    new = "a wholly different phrase"
    with log_in(site, "nora"), site.client() as client:

        def token(password: str) -> str:
            made = client.post("/api/api-token-auth/", data={"username": "nora", "password": password})
            assert made.status_code == 200, made.text
            secret: str = made.json()["token"]
            return secret

        def status(secret: str) -> int:
            return client.get("/api/my_profile/", headers={"Authorization": f"Token {secret}"}).status_code

        old = token(PASSWORD)
        with writing(site.engine) as session:
            nora = session.scalars(select(User).where(User.username == "nora")).one()
            _, own = create_token(session, nora, "ci", NOW)
            if changed_by == "account page":
                set_password(session, nora, new, NOW)
            else:
                link = make_mailed(session, nora, site.settings, NOW)
                use(session, link.rpartition("=")[2], new, site.settings, NOW)
        assert (status(old), status(own)) == (401, 200), "the token that she made herself is no password's"
        assert status(token(new)) == 200
        assert client.post("/api/api-token-auth/", data={"username": "nora", "password": PASSWORD}).status_code == 400


def test_a_log_in_that_a_new_password_overtakes_gives_no_token(site: Site) -> None:
    with log_in(site, "nora"), reading(site.engine) as session:
        nora = session.scalars(select(User).where(User.username == "nora")).one()
    with writing(site.engine) as session:
        set_password(session, session.get_one(User, nora.id), "a wholly different phrase", NOW)
    with pytest.raises(NotAuthenticated), writing(site.engine) as session:
        client_token(session, nora, PASSWORD, NOW)


def test_no_token_takes_the_name_of_those_that_stand_for_a_password(site: Site) -> None:
    with log_in(site, "nora"), writing(site.engine) as session:
        nora = session.scalars(select(User).where(User.username == "nora")).one()
        with pytest.raises(InvalidForm):
            create_token(session, nora, f" {PASSWORD_TOKENS}  ", NOW)


def test_a_switch_leaves_all_of_it_out() -> None:
    paths = {route.path for route in routes_of(create_app(Settings(codabench_api=False)).router.routes)}
    assert not [path for path in paths if path.startswith("/api/") and not path.startswith("/api/v1/")]
    assert not {"/accounts/login/", "/datasets/download/{key}/"} & paths
