"""The running server as administrators see it: queue, storage, failed mails, refused requests, health, reports."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.administration.refusals import BY_ACCOUNT_KEPT, KEPT, forget_refused, list_refused
from app.base.db import reading, writing
from app.base.errors import LimitReached
from app.base.storage import storage_of, store_upload
from app.models import AuditEntry, OutgoingMail, RunStatus, ScoringRun, Worker
from app.people.mail import GIVEN_UP, send_mail
from app.runs.workers import announce_worker
from app.web.main import create_app
from tests import world
from tests.web.reading import text_of
from tests.web.site import Client, Person, Site, secrets_of
from tests.world import COMPETITION, NOW, TASK, the_run

API = "/api/v1/admin"


@pytest.fixture
def root(quick_site: Site) -> Person:
    return quick_site.person("root", is_administrator=True)


@pytest.fixture
def ada(quick_site: Site) -> Person:
    return quick_site.person("ada")


def queue(root: Person) -> dict[str, Any]:
    found = root.client.get(f"{API}/queue")
    assert found.status_code == 200, found.text
    document: dict[str, Any] = found.json()
    return document


def why(root: Person) -> list[tuple[str, int]]:
    """Reasons why runs of the test's own competition wait, with their number."""
    return [(one["waits_for"], one["count"]) for one in queue(root)["waiting"] if one["competition"] == COMPETITION]


def add_worker(site: Site, host: str = "scorer-1") -> None:
    with writing(site.engine) as session:
        worker = Worker(name=f"{host}:1", host=host, processes=1, queues=["cpu"], versions={}, models=[])
        worker.self_check_words, worker.started_at = [], NOW
        announce_worker(session, worker, site.now)


def deeds(site: Site) -> list[tuple[str, str]]:
    with reading(site.engine) as session:
        return [(one.action, one.subject) for one in session.scalars(select(AuditEntry).order_by(AuditEntry.id))]


# --------------------------------------------------------------------------------------------------------------- queue


def test_each_obstacle_of_a_waiting_run_is_named(quick_site: Site, root: Person, ada: Person) -> None:
    for number in range(2):
        world.submit(quick_site.engine, ada.user, content=str(number))
    assert why(root) == [("worker", 2)]
    add_worker(quick_site)
    assert why(root) == [("turn", 2)]
    with writing(quick_site.engine) as session:
        world.the_phase_task(session).gold = None
    assert why(root) == [("gold", 2)]
    held = {"place": f"{COMPETITION}/{TASK}", "reason": "The gold is wrong."}
    made = root.client.put(f"{API}/holds", json=held).json()
    assert (made["place"], made["held_by"]) == (held["place"], "root")
    assert why(root) == [("paused", 2)]
    assert queue(root)["waiting"][-1]["why"] == "Paused by root: The gold is wrong."
    assert root.client.delete(f"{API}/holds", params={"place": held["place"]}).status_code == 204
    assert root.client.delete(f"{API}/holds", params={"place": held["place"]}).status_code == 404
    assert deeds(quick_site)[-2:] == [
        ("scoring.pause", f"competition {COMPETITION}, task {TASK}"),
        ("scoring.resume", f"competition {COMPETITION}, task {TASK}"),
    ]


def test_a_drained_machine_is_marked_and_named_as_the_reason(quick_site: Site, root: Person, ada: Person) -> None:
    world.submit(quick_site.engine, ada.user)
    add_worker(quick_site)
    assert root.client.put(f"{API}/holds", json={"host": "scorer-1", "reason": "New disks."}).status_code == 200
    assert [one["is_drained"] for one in queue(root)["workers"]] == [True]
    assert why(root) == [("worker", 1)]


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"place": "nowhere", "reason": "x"}, 404),
        ({"place": f"{COMPETITION}/nothing", "reason": "x"}, 404),
        ({"place": COMPETITION, "host": "scorer-1", "reason": "x"}, 422),
        ({"place": COMPETITION, "reason": " "}, 422),
    ],
)
def test_only_what_is_there_is_held_and_for_a_reason(root: Person, form: dict[str, str], status: int) -> None:
    assert root.client.put(f"{API}/holds", json=form).status_code == status


def test_running_and_failed_runs_are_listed_and_failed_ones_run_again(
    quick_site: Site, root: Person, ada: Person
) -> None:
    runs = [world.submit(quick_site.engine, ada.user, content=str(number)).run_id for number in range(2)]
    world.fail(quick_site.engine, runs[0])
    world.claim(quick_site.engine, runs[1])
    found = queue(root)
    assert [one["run_id"] for one in found["running"] if one["competition"] == COMPETITION] == [runs[1]]
    assert root.client.post(f"{API}/failed-runs/queue-again", json={"runs": [runs[0]]}).json() == {"queued": 1}
    assert the_run(quick_site.engine, runs[0]).status == RunStatus.QUEUED
    assert ("run.queue_again", f"run {runs[0]}") in deeds(quick_site)


# ------------------------------------------------------------------------------------------------------ storage, mails


def submissions_of(found: dict[str, Any]) -> dict[str, Any]:
    """The submissions to the test's own competition; one was sent to an earlier phase."""
    rows: list[dict[str, Any]] = found["stored"]
    [row] = [one for one in rows if (one["competition"], one["kind"]) == (COMPETITION, "submissions")]
    return row


def test_storage_counts_by_competition_and_kind_and_what_nobody_owns(
    quick_site: Site, root: Person, ada: Person
) -> None:
    before = submissions_of(root.client.get(f"{API}/storage").json())
    storage = storage_of(quick_site.settings)
    owned = store_upload([b"mine"], storage, 100)
    store_upload([b"nobody's"], storage, 100)
    world.submit(quick_site.engine, ada.user, stored=owned)
    found = root.client.get(f"{API}/storage", params={"unowned": "true"}).json()
    after = submissions_of(found)
    assert (after["files"] - before["files"], after["size_bytes"] - before["size_bytes"]) == (1, 4)
    assert (found["unowned"]["files"], found["unowned"]["size_bytes"]) == (1, 8)
    assert {one["kind"] for one in found["stored"]} <= {
        "submissions",
        "files to download",
        "sealed gold",
        "sealed item scores",
        "declarations",
        "drafts",
    }
    assert all(0 < one["free_bytes"] <= one["total_bytes"] for one in found["space"])
    assert root.client.get(f"{API}/storage").json()["unowned"] is None


def test_a_failed_mail_says_why_and_is_sent_again(quick_site: Site, root: Person, ada: Person) -> None:
    with writing(quick_site.engine) as session:
        for number in range(2):
            mail = send_mail(session, ada.user, f"Subject {number}", "A secret text.", now=NOW)
            assert mail is not None
            mail.status, mail.ended_at, mail.last_error, mail.attempts = GIVEN_UP, NOW, "550 unknown", 3
    found = root.client.get(f"{API}/failed-mails")
    assert "secret" not in found.text
    assert [(one["subject"], one["reason"], one["attempts"]) for one in found.json()["failed"]] == [
        ("Subject 1", "550 unknown", 3),
        ("Subject 0", "550 unknown", 3),
    ]
    first = found.json()["failed"][-1]["id"]
    again = f"{API}/failed-mails/send-again"
    assert root.client.post(again, json={"mails": [first]}).json() == {"mails": 1}
    assert root.client.post(again, json={}).json() == {"mails": 1}
    assert root.client.post(again, json={}).json() == {"mails": 0}
    with reading(quick_site.engine) as session:
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.subject.startswith("Subject")))
        assert {(mail.status, mail.attempts) for mail in mails} == {("waiting", 0)}
    assert [one for one in deeds(quick_site) if one[0].startswith("mail")] == [("mail.send_again", "server")] * 2


# -------------------------------------------------------------------------------------------------------------- limits


def test_refused_requests_are_counted_by_hour_rule_and_account(quick_site: Site, root: Person, ada: Person) -> None:
    built = create_app(quick_site.settings).state
    assert built.rate_limits.on_refused == built.refusals.note
    limits, refusals = quick_site.app.state.rate_limits, quick_site.app.state.refusals
    limits.on_refused = refusals.note  # each test has counts of its own
    for _ in range(limits.rules.reports.limit):
        limits.hit(limits.rules.reports, str(ada.user.id), quick_site.now)
    for _ in range(2):
        with pytest.raises(LimitReached):
            limits.hit(limits.rules.reports, str(ada.user.id), quick_site.now)
    for _ in range(limits.rules.failed_address.limit + 2):
        limits.note(limits.rules.failed_address, "192.0.2.7")
    with pytest.raises(LimitReached):
        limits.check(limits.rules.failed_address, "192.0.2.7", quick_site.now)
    for _ in range(2):
        refusals.flush(quick_site.engine)  # counts are added once
    listed = root.client.get(f"{API}/refused-requests").json()["refused"]
    found = {(one["rule"], one["who"]): one["count"] for one in listed}
    assert found == {("failed-address", ""): 1, ("reports", ""): 2, ("reports", "ada"): 2}
    assert not any("192" in rule + who for rule, who in found)
    with writing(quick_site.engine) as session:
        forget_refused(session, quick_site.now + BY_ACCOUNT_KEPT + timedelta(hours=2))
        assert {one.who for one in list_refused(session)} == {""}
        forget_refused(session, quick_site.now + KEPT + timedelta(hours=2))
        assert list_refused(session) == []


# -------------------------------------------------------------------------------------------------------------- health


def test_health_has_every_part_in_one_view(quick_site: Site, root: Person, ada: Person) -> None:
    world.fail(quick_site.engine, world.submit(quick_site.engine, ada.user).run_id)
    parts = {one["name"]: one for one in root.client.get(f"{API}/health").json()["parts"]}
    assert {"version", "database", "migrations", "sweep", "workers", "broker", "backup", "mail", "scoring"} <= set(
        parts
    )
    assert not parts["backup"]["is_well"]
    assert not parts["scoring"]["is_well"]


# --------------------------------------------------------------------------------------------------------------- pages


def test_the_pages_show_it_and_their_forms_do_it(quick_site: Site, root: Person, ada: Person) -> None:
    run = world.submit(quick_site.engine, ada.user).run_id
    world.fail(quick_site.engine, run)
    with writing(quick_site.engine) as session:
        mail = send_mail(session, ada.user, "A subject", "Words.", now=NOW)
        assert mail is not None
        mail.status, mail.ended_at, mail.last_error = GIVEN_UP, NOW, "550 unknown"
    browser = Client(quick_site.client(), *secrets_of(quick_site.engine, root.user))
    shown = {
        "queue": "Run again",
        "storage": "Count them",
        "storage?unowned=1": "The sweep deletes them",
        "mails": "550 unknown",
        "limits": "No request was refused lately",
        "health": "not well",
        "moderation": "No text was reported",
    }
    for page, words in shown.items():
        found = browser.send("GET", f"/admin/{page}")
        assert (found.status_code, words in text_of(found.text)) == (200, True), page
    assert browser.send("POST", "/admin/queue/hold", data={"reason": "An upgrade."}).status_code == 303
    assert "An upgrade." in browser.send("GET", "/admin/queue").text
    wrong = browser.send("POST", "/admin/queue/hold", data={"place": "nowhere", "reason": "An upgrade."})
    assert (wrong.status_code, "There is no competition" in text_of(wrong.text)) == (404, True)
    assert browser.send("POST", "/admin/queue/resume").status_code == 303
    assert browser.send("POST", "/admin/queue/again", data={"run": str(run)}).status_code == 303
    assert browser.send("POST", "/admin/mails/send-again", data={"mail": str(mail.id)}).status_code == 303
    with reading(quick_site.engine) as session:
        assert session.get_one(ScoringRun, run).status == RunStatus.QUEUED
        assert session.get_one(OutgoingMail, mail.id).status == "waiting"
