"""The way of a submission over the API: accepted, waited for, listed, got back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from sqlalchemy import event

from app.base import queue
from app.base.config import get_settings
from app.base.db import writing
from tests import world
from tests.web.site import CONTENT, SUBMIT, TASK_PATH, Person, Site, file_of, run_of, sha256
from tests.world import DAY, HOUR, NOW, SECOND


@contextmanager
def statements(site: Site) -> Iterator[list[str]]:
    """Yield a list to which each statement inside the block is added."""
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    event.listen(site.engine, "before_cursor_execute", note)
    yield asked
    event.remove(site.engine, "before_cursor_execute", note)


# ---------------------------------------------------------------------------------------------------------- accepted


def test_an_upload_is_accepted_with_its_address(site: Site, ada: Person) -> None:
    response = ada.submit(method="XLM-R large", description="seed 17")
    document = response.json()
    assert response.status_code == 202
    assert response.headers["Location"] == f"/api/v1/submissions/{document['id']}"
    assert document["status"] == "queued"
    assert document["queue_position"] == 1
    assert (document["method"], document["description"]) == ("XLM-R large", "seed 17")
    assert (document["filename"], document["size_bytes"]) == ("predictions.csv", len(CONTENT))
    assert document["sha256"] == sha256(CONTENT)
    assert document["submitted_at"] == "2026-01-10T12:00:00Z"
    assert file_of(site, CONTENT).read_bytes() == CONTENT


def test_the_worker_is_told_after_the_commit(site: Site, ada: Person) -> None:
    ada.submitted()
    messages = list((site.settings.data_dir / "broker" / "messages").iterdir())
    assert len(messages) == 1
    assert "workers.turns.take_turn" in messages[0].read_text()


def test_a_broker_that_is_down_does_not_matter(site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_BROKER_URL", "redis://127.0.0.1:1/0")
    get_settings.cache_clear()
    queue._sender.cache_clear()
    document = ada.submitted()
    world.score(site.engine, run_of(site, document), 0.5)
    assert ada.client.get(document["links"]["self"]).json()["status"] == "scored"


def test_a_name_in_another_script_survives(ada: Person) -> None:
    response = ada.client.post(
        SUBMIT, files={"file": ("предсказания — 予測.csv", CONTENT)}, data={"method": "naïve 方法"}
    )
    assert response.json()["filename"] == "предсказания — 予測.csv"
    assert response.json()["method"] == "naïve 方法"


def test_a_large_file_is_stored_byte_by_byte(site: Site, ada: Person) -> None:
    content = bytes(range(256)) * 3_900  # close to the phase's limit of 1,000,000 bytes
    ada.submitted(content)
    assert file_of(site, content).read_bytes() == content


# ----------------------------------------------------------------------------------------------------------- refused


def test_without_a_token_nothing_is_stored(site: Site) -> None:
    with site.client() as anonymous:
        response = anonymous.post(SUBMIT, files={"file": ("a.csv", CONTENT)})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert site.stored() == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (SUBMIT.replace("/idioms/", "/idiots/"), "There is no competition 'idiots'"),
        (SUBMIT.replace("/evaluation/", "/practice/"), "it has 'evaluation'"),
        (SUBMIT.replace("/detection/", "/similarity/"), "it has 'detection'"),
    ],
)
def test_an_unknown_target_is_told_with_what_there_is(site: Site, ada: Person, path: str, said: str) -> None:
    response = ada.submit(path=path)
    assert response.status_code == 404
    assert said in response.json()["error"]["message"]
    assert site.stored() == []


def test_one_second_after_the_end_is_too_late(site: Site, ada: Person) -> None:
    site.set_clock(NOW + DAY - SECOND)
    assert ada.submit().status_code == 202
    site.set_clock(NOW + DAY)  # half-open: the end itself is out
    response = ada.submit(b"another file")
    assert response.status_code == 409
    assert response.json()["error"]["code"] == "phase_not_open"
    assert response.json()["error"]["details"]["ends_at"] == "2026-01-11T12:00:00+00:00"
    assert site.submissions() == 1
    assert len(site.stored()) == 1


def test_the_clock_is_read_when_the_file_is_complete(site: Site, ada: Person) -> None:
    """An upload that begins in time and ends too late is too late."""

    def slowly() -> Any:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        time.sleep(0.3)
        site.set_clock(NOW + 2 * DAY)
        yield CONTENT + b"\r\n--b--\r\n"

    response = ada.client.post(SUBMIT, content=slowly(), headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert response.status_code == 409
    assert site.submissions() == 0


def test_the_eleventh_of_ten_waits_for_tomorrow(site: Site, ada: Person) -> None:
    for number in range(10):
        ada.submitted(b"file %d" % number)
    response = ada.submit(b"one more")
    assert response.status_code == 429
    assert response.json()["error"]["code"] == "limit_reached"
    assert response.json()["error"]["details"]["retry_at"] == "2026-01-11T00:00:00+00:00"
    assert response.headers["Retry-After"] == str(12 * 3600)
    assert ada.client.get(TASK_PATH).json()["quota"]["remaining"] == 0
    assert site.submissions() == 10
    assert sha256(b"one more") not in site.stored()


def test_gold_that_is_not_there_yet_is_said(site: Site, ada: Person) -> None:
    with writing(site.engine) as session:
        world.the_phase_task(session).gold = None
    response = ada.submit()
    assert (response.status_code, response.json()["error"]["code"]) == (409, "gold_missing")
    assert ada.client.get(TASK_PATH).json()["accepts_submissions"] is False


def test_rejected_uploads_are_capped_per_hour(site: Site, ada: Person) -> None:
    with writing(site.engine) as session:
        world.the_phase_task(session).phase.rejected_per_hour = 2
    for number in range(2):
        world.reject(site.engine, run_of(site, ada.submitted(b"bad %d" % number)))
    response = ada.submit(b"bad again")
    assert (response.status_code, response.json()["error"]["details"]["per"]) == (429, "hour")
    site.set_clock(NOW + HOUR + SECOND)
    assert ada.submit(b"bad again").status_code == 202


# ------------------------------------------------------------------------------------------------------- idempotency


def test_a_repeated_key_is_the_same_submission(site: Site, ada: Person) -> None:
    first = ada.submit(headers={"Idempotency-Key": "run-17"})
    again = ada.submit(headers={"Idempotency-Key": "run-17"})
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["id"] == again.json()["id"]
    assert first.headers["Location"] == again.headers["Location"]
    assert site.submissions() == 1
    assert len(list((site.settings.data_dir / "broker" / "messages").iterdir())) == 1


def test_a_repeated_key_still_works_after_the_end(site: Site, ada: Person) -> None:
    first = ada.submitted(headers={"Idempotency-Key": "run-17"})
    site.set_clock(NOW + 2 * DAY)
    assert ada.submitted(headers={"Idempotency-Key": "run-17"})["id"] == first["id"]


def test_a_second_try_of_what_waits_still_is_told_the_same_and_asks_no_more_than_the_first(
    site: Site, ada: Person
) -> None:
    key = {"Idempotency-Key": "run-17"}
    ada.submitted(b"another file")  # makes her team
    with statements(site) as asked_first:
        first = ada.submitted(headers=key, method="mBERT")
    with statements(site) as asked:
        again = ada.submitted(headers=key, method="mBERT")
    assert again == first
    assert len(asked) <= len(asked_first), asked


def test_a_second_try_tells_what_became_of_the_first_meanwhile(site: Site, ada: Person) -> None:
    key = {"Idempotency-Key": "run-17"}
    first = ada.submitted(headers=key)
    ada.client.put(f"{first['links']['self']}/withdrawal")
    assert ada.submitted(headers=key)["withdrawn_at"] is not None
    ada.client.delete(f"{first['links']['self']}/withdrawal")
    world.score(site.engine, run_of(site, first), 0.5)
    again = ada.submitted(headers=key)
    assert (again["status"], bool(again["scores"])) == ("scored", True)


def test_a_key_for_another_file_is_a_conflict(site: Site, ada: Person) -> None:
    first = ada.submitted(headers={"Idempotency-Key": "run-17"})
    response = ada.submit(b"another file", headers={"Idempotency-Key": "run-17"})
    assert response.status_code == 409
    assert response.json()["error"]["code"] == "idempotency_conflict"
    assert response.json()["error"]["details"]["submission"] == first["id"]


def test_a_key_for_another_competition_is_a_conflict(site: Site, ada: Person) -> None:
    world.add_competition(site.engine, name="other")
    ada.submitted(headers={"Idempotency-Key": "run-17"})
    response = ada.submit(path=SUBMIT.replace("/idioms/", "/other/"), headers={"Idempotency-Key": "run-17"})
    assert response.json()["error"]["code"] == "idempotency_conflict"


def test_keys_are_each_users_own(ada: Person, eve: Person) -> None:
    key = {"Idempotency-Key": "run-17"}
    assert ada.submitted(headers=key)["id"] != eve.submitted(b"another file", headers=key)["id"]


def test_a_key_that_is_too_long_is_refused(ada: Person) -> None:
    response = ada.submit(headers={"Idempotency-Key": "x" * 201})
    assert response.status_code == 422
    assert "Idempotency-Key" in response.json()["error"]["details"]["fields"]


def test_the_same_key_at_the_same_moment_is_one_submission(site: Site, ada: Person) -> None:
    answers: list[httpx.Response] = []
    barrier = threading.Barrier(6)

    def send() -> None:
        barrier.wait()
        answers.append(ada.submit(headers={"Idempotency-Key": "run-17"}))

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [202] * 6
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert site.submissions() == 1


def test_while_one_upload_is_written_little_else_is_looked_up(site: Site, ada: Person) -> None:
    """Check that declared data are loaded before: others wait for as long as the lock is held."""
    ada.submitted()
    with statements(site) as asked:
        ada.submit(content=b"another")
    assert asked.count("BEGIN IMMEDIATE") == 1
    inside = asked[asked.index("BEGIN IMMEDIATE") + 1 :]
    inside = inside[: next(place for place, one in enumerate(inside) if one.startswith("INSERT INTO runs")) + 1]
    # The team and what else others may change, the submission, its run.
    assert len(inside) <= 3
    assert not [one for one in inside if "FROM phase_tasks" in one or "FROM competitions" in one]
    # Besides: who sends it, whether they may see the competition, what was declared, what a refusal rests on that comes
    # before the file, its place in line, whether scoring is paused.
    assert len([one for one in asked if not one.startswith("BEGIN")]) <= 9, asked
