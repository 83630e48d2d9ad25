"""Competitions, phases and tasks over the API, and the files that everybody may download."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from app.base.db import writing
from app.competitions.find import find_competition, find_phase_task
from app.models import PublicFile
from tests import world
from tests.beside import add_other_task
from tests.competitions.allowing import allow
from tests.competitions.embargo import add_phase, declare
from tests.rich_world import NEIGHBOURS, OTHER_BOARDS, OTHER_TASK
from tests.web.site import TASK_PATH, Person, Site
from tests.world import COMPETITION, DAY, NOW, PHASE, TASK


def test_competitions_are_listed_with_all_their_parts(site: Site) -> None:
    with site.client() as anonymous:
        listed = anonymous.get("/api/v1/competitions").json()["competitions"]
        assert [one["name"] for one in listed] == ["idioms", NEIGHBOURS]
        competition = listed[0]
        assert anonymous.get(competition["link"]).json() == competition
        [phase, _] = competition["phases"]
        assert anonymous.get(phase["link"]).json() == phase
    assert (competition["name"], competition["title"]) == ("idioms", "Idioms")
    assert competition["tasks"] == [
        {"name": "detection", "title": "Detection", "type": "idiom-detection", "description": ""}
    ]
    assert (phase["state"], phase["entry_rule"]) == ("open", "best")
    assert (phase["starts_at"], phase["ends_at"]) == ("2026-01-09T12:00:00Z", "2026-01-11T12:00:00Z")
    assert phase["limits"] == {
        "per_day": 10,
        "per_week": None,
        "per_month": None,
        "total": None,
        "rejected_per_hour": 60,
        "upload_bytes": 1_000_000,
    }
    assert [board["name"] for board in phase["boards"]] == ["zero-shot", "one-shot"]


@pytest.mark.parametrize(
    ("now", "state"),
    [(NOW - DAY, "open"), (NOW - DAY * 1.0001, "upcoming"), (NOW + DAY, "closed"), (NOW + DAY * 0.9999, "open")],
)
def test_the_servers_clock_says_whether_a_phase_is_open(site: Site, now: object, state: str) -> None:
    site.now = now  # type: ignore[assignment]
    with site.client() as anonymous:
        assert anonymous.get(TASK_PATH).json()["state"] == state
        assert anonymous.get(TASK_PATH).json()["accepts_submissions"] is (state == "open")


def test_the_quota_is_the_viewers(site: Site, ada: Person) -> None:
    with site.client() as anonymous:
        assert anonymous.get(TASK_PATH).json()["quota"] is None
    assert ada.client.get(TASK_PATH).json()["quota"]["remaining"] == 10
    ada.submitted()
    quota = ada.client.get(TASK_PATH).json()["quota"]
    assert quota == {
        "used_today": 1,
        "used_week": 1,
        "used_month": 1,
        "used_total": 1,
        "rejected_last_hour": 0,
        "remaining": 9,
        "day_ends_at": "2026-01-11T00:00:00Z",
        "extra_per_day": 0,
        "extra_total": 0,
        "open_until": None,
    }


def test_each_limit_of_a_phase_stands_by_its_own_name(site: Site) -> None:
    limits = {"per_day": 1, "per_week": 2, "per_month": 3, "total": 4, "rejected_per_hour": 5, "upload_bytes": 6}
    counted = ("per_day", "per_week", "per_month", "total")
    columns: dict[str, Any] = {f"submissions_{name}": limits[name] for name in counted}
    declare(site.engine, **columns, rejected_per_hour=5, upload_limit_bytes=6)
    with site.client() as anonymous:
        assert anonymous.get(TASK_PATH).json()["limits"] == limits
        declare(site.engine, upload_limit_bytes=10**12)
        upload_bytes = anonymous.get(TASK_PATH).json()["limits"]["upload_bytes"]
    assert upload_bytes == site.settings.upload_limit_bytes, "the server's own limit, if it is less"


def test_the_quota_counts_each_span_for_itself(site: Site, ada: Person) -> None:
    """Check one submission today, two this week, three this month, and four in all."""
    declare(site.engine, starts_at=NOW - 30 * DAY)
    for days in (20, 8, 3, 0):
        world.submit(site.engine, ada.user, NOW - days * DAY, content=f"sent {days} days ago")
    world.reject(site.engine, world.submit(site.engine, ada.user, content="no predictions").run_id)
    allow(site.engine, "Ada", extra_per_day=5, extra_total=6, until=NOW + 2 * DAY)
    quota = ada.client.get(TASK_PATH).json()["quota"]
    used = ("used_today", "used_week", "used_month", "used_total", "rejected_last_hour")
    assert [quota[name] for name in used] == [1, 2, 3, 4, 1]
    assert (quota["extra_per_day"], quota["extra_total"], quota["open_until"]) == (5, 6, "2026-01-12T12:00:00Z")


def test_a_task_names_its_own_boards_alone(site: Site) -> None:
    add_other_task(site.engine)
    with site.client() as anonymous:
        found = [anonymous.get(TASK_PATH.replace(TASK, task)).json() for task in (TASK, OTHER_TASK)]
    assert [(one["phase"], one["name"], [board["name"] for board in one["boards"]]) for one in found] == [
        (PHASE, TASK, ["zero-shot", "one-shot"]),
        (PHASE, OTHER_TASK, list(OTHER_BOARDS)),
    ]


def test_tracks_have_a_name_a_title_and_a_description(site: Site) -> None:
    tracks = [{"name": "closed", "title": "Closed track", "description": "Only what was handed out."}]
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).tracks = tracks
    assert site.client().get(TASK_PATH).json()["tracks"] == tracks


def test_where_no_phase_is_open_there_is_no_form(site: Site, ada: Person) -> None:
    assert site.client().get("/competitions/idioms/submit").headers["Location"].endswith("/detection/submit")
    ada.submitted()
    site.now = NOW + 2 * DAY
    assert site.client().get("/competitions/idioms/submit").status_code == 404
    assert ada.client.get("/competitions/idioms/submit").status_code == 404
    allow(site.engine, "Ada", until=NOW + 3 * DAY)
    assert ada.client.get("/competitions/idioms/submit").status_code == 303


@pytest.mark.parametrize("path", ["/competitions/none", "/competitions/%00", "/competitions/idioms/phases/none"])
def test_what_is_unknown_is_404(site: Site, path: str) -> None:
    with site.client() as anonymous:
        response = anonymous.get(f"/api/v1{path}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


# --------------------------------------------------------------------------------------------------------- downloads


def test_a_public_file_is_an_attachment(site: Site) -> None:
    content = b"<script>alert(1)</script>"
    site.add_file("items.html", content, "Blind input")
    with site.client() as anonymous:
        [file] = anonymous.get(TASK_PATH).json()["downloads"]
        response = anonymous.get(file["link"])
        again = anonymous.get(file["link"], headers={"If-None-Match": response.headers["ETag"]})
    assert (file["name"], file["title"], file["size_bytes"]) == ("items.html", "Blind input", len(content))
    assert response.content == content
    assert response.headers["ETag"] == f'"{file["sha256"]}"'
    assert response.headers["Content-Disposition"].startswith('attachment; filename="items.html"')
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ("bytes=1-6", b"123456"),
        ("bytes=6-", b"6789"),
        ("bytes=-2", b"89"),
        ("bytes=8-99", b"89"),
        ("bytes=10-", None),
        ("bytes=6-1", None),
        ("bytes=-0", None),
        ("bytes=-", None),
        ("bytes=0-1,3-4", None),
        ("lines=1-2", None),
        ("nonsense", None),
    ],
)
def test_a_broken_download_can_go_on(site: Site, asked: str, got: bytes | None) -> None:
    site.add_file("items.csv", b"0123456789")
    with site.client() as anonymous:
        response = anonymous.get(f"{TASK_PATH}/files/items.csv", headers={"Range": asked})
    if got is None:
        assert (response.status_code, response.json()["error"]["code"]) == (416, "range_not_satisfiable")
    else:
        assert (response.status_code, response.content) == (206, got)


@pytest.mark.parametrize("name", ["other.csv", "..%2f..%2fevergold.db", "%2e%2e", "items.csv%00"])
def test_only_declared_files_are_there(site: Site, name: str) -> None:
    site.add_file("items.csv", b"ID")
    with site.client() as anonymous:
        assert anonymous.get(f"{TASK_PATH}/files/{name}").status_code == 404


def test_gold_has_no_address(site: Site, ada: Person) -> None:
    assert "gold.csv" not in ada.client.get(TASK_PATH).text
    assert "gold.csv" not in ada.client.get("/api/v1/competitions").text
    assert ada.client.get(f"{TASK_PATH}/files/gold.csv").status_code == 404


def test_a_lost_file_is_said_and_not_a_fault(site: Site) -> None:
    site.add_file("items.csv", b"ID")
    for path in site.settings.storage_dir.rglob("*"):
        if path.is_file():
            path.unlink()
    with site.client() as anonymous:
        response = anonymous.get(f"{TASK_PATH}/files/items.csv")
    assert response.status_code == 404
    assert "storage" in response.json()["error"]["message"]


def test_a_task_of_two_phases_has_its_own_files(site: Site) -> None:
    world.add_competition(site.engine, name="other")
    site.add_file("items.csv", b"ID")
    with site.client() as anonymous:
        assert anonymous.get(TASK_PATH.replace("idioms", "other")).json()["downloads"] == []


def test_a_file_is_there_from_a_moment_of_its_own_phase(site: Site) -> None:
    """Unless another one is declared, when its phase opens."""
    add_phase(site.engine, "next", starts_at=NOW + DAY, position=2)
    site.add_file("items.csv", b"ID")
    with writing(site.engine) as session:
        first, later = (find_phase_task(session, COMPETITION, phase, TASK) for phase in (PHASE, "next"))
        [file] = session.scalars(select(PublicFile).where(PublicFile.phase_task_id == first.id))
        session.add(PublicFile(phase_task_id=later.id, name="items.csv", title="", sha256=file.sha256, size_bytes=2))
    with site.client() as anonymous:
        shown = {
            phase: anonymous.get(TASK_PATH.replace(PHASE, phase)).json()["downloads"][0]["available_from"]
            for phase in (PHASE, "next")
        }
    assert shown == {PHASE: "2026-01-09T12:00:00Z", "next": "2026-01-11T12:00:00Z"}
