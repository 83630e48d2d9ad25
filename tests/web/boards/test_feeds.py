"""Dates as a calendar, boards as a feed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from icalendar import Calendar
from lxml import etree
from sqlalchemy import update

from app.base.db import writing
from app.models import Phase
from tests import world
from tests.web.paraphrase_world import set_visibility
from tests.web.site import Person, Site
from tests.world import NOW

CALENDAR = "/api/v1/competitions/idioms/dates.ics"
FEED = "/api/v1/competitions/idioms/phases/evaluation/boards/zero-shot/feed.atom"
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture
def scored(site: Site, ada: Person, eve: Person) -> Site:
    world.score(site.engine, world.submit(site.engine, ada.user).run_id, 0.61803)
    world.score(site.engine, world.submit(site.engine, eve.user, NOW + timedelta(minutes=5)).run_id, 0.5)
    return site


def test_every_phase_opens_and_closes_in_the_calendar_and_keeps_its_identity_when_moved(site: Site) -> None:
    with site.client() as public:
        first = public.get(CALENDAR)
        events = {str(event["UID"]): event for event in Calendar.from_ical(first.content).walk("VEVENT")}
        assert {"idioms-evaluation-opens@evergold", "idioms-evaluation-closes@evergold"} <= set(events)
        closes = events["idioms-evaluation-closes@evergold"].decoded("DTSTART")
        assert public.get(CALENDAR, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
        site.set_clock(NOW + timedelta(hours=1))
        assert public.get(CALENDAR, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
        with writing(site.engine) as session:
            session.execute(update(Phase).values(ends_at=closes + timedelta(days=1)))
        moved = public.get(CALENDAR, headers={"If-None-Match": first.headers["ETag"]})
        found = {str(event["UID"]): event for event in Calendar.from_ical(moved.content).walk("VEVENT")}
        assert found["idioms-evaluation-closes@evergold"].decoded("DTSTART") == closes + timedelta(days=1)


def test_feed_has_the_latest_entry_first(scored: Site) -> None:
    with scored.client() as public:
        answer = public.get(FEED)
        assert answer.headers["Content-Type"].startswith("application/atom+xml")
        feed = etree.fromstring(answer.content)
        titles = [found.text for found in feed.findall("a:entry/a:title", ATOM)]
        assert [title.split(":")[1] for title in titles] == [" rank 2", " rank 1"]
        assert public.get(FEED, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_feed_of_a_hidden_board_is_empty_even_for_its_organiser(scored: Site) -> None:
    set_visibility(scored.engine, board="hidden")
    root = scored.person("root", is_administrator=True)
    with root.client:
        answer = root.client.get(FEED)
    assert answer.status_code == 200
    assert etree.fromstring(answer.content).findall("a:entry", ATOM) == []
    assert b"61" not in answer.content.replace(scored.url.encode(), b"")
