"""A deadline rush in short (`python -m bench.rush`: at length), over real HTTP, on both databases."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, update

from app.base.db import writing
from app.models import Phase
from app.people import auth
from app.web.http.context import Server
from tests.chaos.rush import rush, wrongs
from tests.web.site import SUBMIT
from tests.whole import site_of
from tests.world import add_competition, add_user

pytestmark = pytest.mark.both

TEAMS, UPLOADS = 20, 80
LEAD_SECONDS = 2.0


@pytest.fixture
def tokens(engine: Engine) -> list[str]:
    add_competition(engine, per_day=None, rejected_per_hour=10**6, ends_at=None)
    found = []
    for number in range(TEAMS):
        user = add_user(engine, f"team{number}")
        with writing(engine) as session:
            found.append(auth.create_token(session, user, "test", datetime.now(UTC))[1])
    return found


def test_the_server_s_clock_alone_decides_and_nothing_is_lost_or_doubled(engine: Engine, tokens: list[str]) -> None:
    with site_of(engine) as site:
        site.app.state.server = Server(site.settings, engine)  # the real clock
        url = f"{site.url}{SUBMIT}"
        early = rush(url, tokens, TEAMS, datetime.now(UTC), lead_seconds=0.0, seed=1, name="early")
        ends_at = datetime.now(UTC) + timedelta(seconds=LEAD_SECONDS + 0.5)
        with writing(engine) as session:
            session.execute(update(Phase).values(ends_at=ends_at))
        tried = rush(url, tokens, UPLOADS, ends_at, LEAD_SECONDS, seed=6)
        wrong = wrongs(engine, [*early, *tried], ends_at)
    answers = Counter(one.status for one in tried)
    assert wrong == [], answers
    assert [one.status for one in early] == TEAMS * [202]
    assert answers[409] > 0, "those that began after the end, at least"
    assert len({one.key for one in tried}) == UPLOADS
