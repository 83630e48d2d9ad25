"""Files of a task over HTTP: nobody gets next year's test data today, in any way."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update

from app.base.db import writing
from app.base.storage import storage_of, store_upload
from app.competitions.find import find_competition
from app.models import Competition, Phase, PhaseTask
from tests.web.reading import text_of
from tests.web.site import BROWSER, Person, Site
from tests.world import COMPETITION, DAY, NOW

TASK_PATH = "/api/v1/competitions/idioms/phases/evaluation/tasks/detection"
FILE = f"{TASK_PATH}/files/items.csv"
SECRET = b"ID,Sentence\n1,the-blind-sentence\n"
PAGES = ("/competitions/idioms/data", "/competitions/idioms/phases/evaluation/tasks/detection/submit")


@pytest.fixture
def early(site: Site) -> Site:
    """A phase that starts next year."""
    site.add_file("items.csv", SECRET, "Blind input")
    with writing(site.engine) as session:
        session.execute(update(Phase).values(starts_at=NOW + 365 * DAY, ends_at=NOW + 366 * DAY))
    return site


def declare(site: Site, **values: object) -> None:
    with writing(site.engine) as session:
        session.execute(update(PhaseTask).values(**values))


def test_before_its_moment_a_file_is_not_there_for_anybody_in_any_form(early: Site, ada: Person) -> None:
    with early.client() as anonymous:
        for client in (anonymous, ada.client):
            refused = client.get(FILE)
            assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_yet_there")
            (listed,) = client.get(TASK_PATH).json()["downloads"]
            assert (listed["is_open"], listed["sha256"]) == (False, None)
            tag = "b7cbc43d2a0ffd98d0b4e0a2d4ae4cf5"  # any: what somebody has from elsewhere tells them nothing here
            assert client.get(FILE, headers={"If-None-Match": f'"{tag}"'}).status_code == 404
            assert client.get(FILE, headers={"Range": "bytes=0-1"}).status_code == 404
        for path in PAGES:
            page = anonymous.get(path, headers=BROWSER).text + ada.client.get(path, headers=BROWSER).text
            assert "the-blind-sentence" not in page
            assert f'href="{FILE}"' not in page
            assert "items.csv" in page
        assert "Sun 10 Jan 2027, 00:00 AoE" in text_of(anonymous.get(PAGES[0], headers=BROWSER).text), (
            "pages say when it will be there"
        )


def test_who_has_the_file_already_learns_nothing_from_its_tag(early: Site) -> None:
    """Check 304, which would reveal that the file is the one that somebody has."""
    declare(early, files_from={"items.csv": "now"})
    with early.client() as anonymous:
        tag = anonymous.get(FILE).headers["ETag"]
        declare(early, files_from={})
        assert anonymous.get(FILE, headers={"If-None-Match": tag}).status_code == 404


def test_at_its_moment_it_is_there_and_cached_pages_follow(early: Site) -> None:
    declare(early, files_from={"items.csv": (NOW + timedelta(hours=1)).isoformat()})
    with early.client() as anonymous:
        assert f'href="{FILE}"' not in anonymous.get(PAGES[0], headers=BROWSER).text
        early.set_clock(NOW + timedelta(hours=1))
        assert f'href="{FILE}"' in anonymous.get(PAGES[0], headers=BROWSER).text
        assert anonymous.get(FILE).content == SECRET


def test_files_for_participants_want_a_log_in_and_what_there_is_to_accept(site: Site, ada: Person) -> None:
    site.add_file("items.csv", SECRET, "Blind input")
    with writing(site.engine) as session:
        session.execute(update(Competition).values(registration={"terms": "Be kind."}))
    with site.client() as anonymous:
        assert anonymous.get(FILE).status_code == 401
        assert "for participants" in text_of(anonymous.get(PAGES[0], headers=BROWSER).text)
    refused = ada.client.get(FILE)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "registration_needed")
    terms = ada.client.get("/api/v1/competitions/idioms/registration").json()["terms_sha256"]
    accepted = ada.client.put("/api/v1/competitions/idioms/registration", json={"accepted_terms_sha256": terms})
    assert accepted.status_code == 200, accepted.text
    had = ada.client.get(FILE)
    assert (had.content, had.headers["Cache-Control"]) == (SECRET, "private, no-cache")


def test_an_image_of_texts_is_got_by_its_own_address(site: Site) -> None:
    contents = {"one.png": b"the first", "two.webp": b"the second"}
    kept = {path: store_upload([content], storage_of(site.settings), 100) for path, content in contents.items()}
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).images = {
            path: {"sha256": stored.sha256, "type": f"image/{path.partition('.')[2]}"} for path, stored in kept.items()
        }
    with site.client(**BROWSER) as anonymous:
        got = [anonymous.get(f"/competitions/idioms/images/{stored.sha256}") for stored in kept.values()]
        nothing = anonymous.get(f"/competitions/idioms/images/{'0' * 64}")
    assert [(one.content, one.headers["Content-Type"]) for one in got] == [
        (b"the first", "image/png"),
        (b"the second", "image/webp"),
    ]
    assert nothing.status_code == 404
