"""A newer submission that is worse than the one before: the page of its result offers the way back."""

from __future__ import annotations

from sqlalchemy import select

from app.base.db import reading
from app.models import EntryRule, User
from tests import world
from tests.competitions.embargo import declare, enter
from tests.web.site import Site, log_in
from tests.world import HOUR, NOW


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
