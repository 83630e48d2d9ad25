"""Stored files on their way out: whole or in part, for everybody or for some, and written down where for some."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from app.base.api_links import API
from app.base.db import reading, writing
from app.models import FileDownload, PhaseTask
from app.web.http.files import RangeNotSatisfiable, check_range
from tests.rich_world import fresh
from tests.web.site import Person, Site
from tests.world import COMPETITION, PHASE, TASK

FILES = f"{API}/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}/files"
LIMITED, OPEN = f"{FILES}/limited.csv", f"{FILES}/open.csv"


@pytest.mark.parametrize("header", [None, "bytes=0-", "bytes=9-9", "bytes=2-5", "bytes=-1", "bytes=0-99"])
def test_a_part_of_the_file_may_be_asked_for(header: str | None) -> None:
    check_range(header, 10)


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=5-2", "bytes=-0", "bytes=-", "lines=1-2", "bytes=0-1,3-4"])
def test_what_is_no_part_of_the_file_is_refused(header: str) -> None:
    with pytest.raises(RangeNotSatisfiable):
        check_range(header, 10)


@pytest.fixture
def site(site: Site) -> Site:
    """Return a server with a file for participants, and one for everybody."""
    for name in ("limited.csv", "open.csv"):
        site.add_file(name, name.encode())
    with writing(site.engine) as session:
        audiences = {"limited.csv": "participants", "open.csv": "everyone"}
        session.execute(update(PhaseTask).values(files_for=audiences))
    return site


def written_down(site: Site) -> list[str]:
    with reading(site.engine) as session:
        return [one.file for one in session.scalars(fresh(FileDownload).order_by(FileDownload.id))]


def test_what_is_for_participants_is_shared_with_nobody_and_each_download_is_written_down(
    site: Site, ada: Person
) -> None:
    got = ada.client.get(LIMITED)
    assert (got.content, got.headers["Cache-Control"]) == (b"limited.csv", "private, no-cache")
    assert ada.client.get(LIMITED, headers={"If-None-Match": got.headers["ETag"]}).status_code == 304
    assert written_down(site) == ["limited.csv"], "what one has already is no download"
    with site.client() as anybody:
        assert anybody.get(LIMITED).status_code == 401


def test_what_is_for_everybody_is_kept_by_whoever_passes_it_on_and_written_down_by_nobody(
    site: Site, ada: Person
) -> None:
    with site.client() as anybody:
        answers = [client.get(OPEN) for client in (ada.client, anybody)]
    assert [one.content for one in answers] == [b"open.csv"] * 2
    assert {one.headers["Cache-Control"] for one in answers} == {"public, no-cache"}
    assert written_down(site) == []
