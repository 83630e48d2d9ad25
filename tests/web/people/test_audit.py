"""The audit log over the API: for administrators, page by page, and never for writing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.base.db import writing
from app.people import audit
from tests.web.site import Person, Site
from tests.world import NOW

AUDIT = "/api/v1/audit"


@pytest.fixture
def grace(site: Site) -> Iterator[Person]:
    """An administrator."""
    person = site.person("grace", is_administrator=True)
    with person.client:
        yield person


def test_administrators_read_it_page_by_page(site: Site, grace: Person) -> None:
    with writing(site.engine) as session:
        for number in range(4):
            audit.record(session, grace.user, "phase.extend", f"phase {number}", {"by": number}, now=NOW)
    seen, following = [], f"{AUDIT}?limit=3&action=phase"
    while following:
        page = grace.client.get(following).json()
        seen += [(entry["subject"], entry["actor"], entry["details"], entry["at"]) for entry in page["entries"]]
        following = page["next"]
    assert seen == [(f"phase {n}", "grace", {"by": n}, "2026-01-10T12:00:00Z") for n in (3, 2, 1, 0)]


def test_it_is_read_by_who_did_it_what_it_was_and_to_what(site: Site, grace: Person) -> None:
    with writing(site.engine) as session:
        for action, subject in (("phase.extend", "phase 1"), ("phase.extend", "phase 2"), ("row.mark", "phase 1")):
            audit.record(session, "olga", action, subject, now=NOW)

    def found(**asked: str | int) -> list[tuple[str, str]]:
        entries = grace.client.get(AUDIT, params=asked).json()["entries"]
        return [(entry["action"], entry["subject"]) for entry in entries]

    assert found(actor="olga", action="phase.extend") == [("phase.extend", "phase 2"), ("phase.extend", "phase 1")]
    assert found(actor="olga", subject="phase 1") == [("row.mark", "phase 1"), ("phase.extend", "phase 1")]
    assert found(actor="grace", action="row") == []
    page = grace.client.get(AUDIT, params={"actor": "olga", "limit": 2}).json()
    following = grace.client.get(page["next"]).json()
    assert [entry["action"] for entry in following["entries"]] == ["phase.extend"]
    assert following["next"] is None


def test_a_deed_over_the_api_has_the_id_of_its_request(grace: Person) -> None:
    grace.client.post("/api/v1/tokens", json={"name": "x"}, headers={"X-Request-ID": "trace-0123"})
    [entry, *_] = grace.client.get(f"{AUDIT}?actor=grace").json()["entries"]
    assert (entry["action"], entry["request_id"]) == ("token.create", "trace-0123")


def test_nobody_else_reads_it(site: Site, ada: Person) -> None:
    refused = ada.client.get(AUDIT)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    with site.client() as anonymous:
        assert anonymous.get(AUDIT).status_code == 401


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nobody_at_all_writes_it(grace: Person, method: str) -> None:
    for path in (AUDIT, f"{AUDIT}/1"):
        assert grace.client.request(method, path).status_code in (404, 405)
