"""The page of a result, once it is scored: the way back to a better one, and the comparison that comes later."""

from __future__ import annotations

from sqlalchemy import select

from app.base.db import reading, writing
from app.boards.statistics import Statistics, statistics_document
from app.boards.statistics_work import record_statistics
from app.models import Board, EntryRule, ScoringRun, User
from tests import world
from tests.competitions.embargo import declare, enter, hide
from tests.web.site import Site, log_in
from tests.world import HOUR, NOW, the_phase_task


def test_the_page_offers_the_way_back_where_the_newest_counts_and_is_worse(site: Site) -> None:
    declare(site.engine, entry_rule=EntryRule.LAST)
    with log_in(site, "ada") as browser:
        with reading(site.engine) as session:
            ada = session.scalars(select(User).where(User.username == "ada")).one()
        enter(site.engine, world.add_user(site.engine, "bea"), 0.55, minute=1)
        enter(site.engine, ada, 0.7, minute=2)
        worse = enter(site.engine, ada, 0.5, minute=3)
        site.set_clock(NOW + HOUR)
        page = browser.get(f"/submissions/{worse}").text
        assert "The submission before had 0.7000" in page
        assert "Go back to the one before" in page
        better = enter(site.engine, ada, 0.8, minute=4)
        assert "Go back to the one before" not in browser.get(f"/submissions/{better}").text


def test_the_page_asks_again_until_its_row_is_compared_and_announces_nothing_twice(site: Site) -> None:
    declare(site.engine, entry_rule=EntryRule.LAST)
    hide(site.engine, slices="all")
    with log_in(site, "ada") as browser:
        with reading(site.engine) as session:
            ada = session.scalars(select(User).where(User.username == "ada")).one()
        enter(site.engine, world.add_user(site.engine, "bea"), 0.55, minute=1)
        newest = enter(site.engine, ada, 0.7, minute=2)
        compare_now(site)
        site.set_clock(NOW + HOUR)
        asks = f'hx-get="/submissions/{newest}/live?seen=scored.compared"'
        assert asks not in browser.get(f"/submissions/{newest}").text
        enter(site.engine, world.add_user(site.engine, "cyd"), 0.6, minute=3)
        page = browser.get(f"/submissions/{newest}").text
        assert "How it compares with the other rows is being computed." in page
        assert asks in page
        again = browser.get(f"/submissions/{newest}/live?seen=scored.compared").text
        assert asks in again
        assert "announcement" not in again
        compare_now(site)
        assert asks not in browser.get(f"/submissions/{newest}/live?seen=scored.compared").text


def compare_now(site: Site) -> None:
    """Let a worker compare all rows that there are."""
    with writing(site.engine) as session:
        runs = frozenset(session.scalars(select(ScoringRun.id)))
        document = statistics_document(Statistics("key", runs, {}, {}))
        boards = list(session.scalars(select(Board.id)))
        record_statistics(session, the_phase_task(session).id, "0", {board: document for board in boards})
