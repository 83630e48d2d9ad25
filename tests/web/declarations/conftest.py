"""A linguist at a server where anybody may organise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from app.base.db import writing
from app.models import User
from tests.web.declarations.linguist import Linguist
from tests.web.site import Site, log_in
from tests.world import NOW


@pytest.fixture
def ada(site: Site, cheap_passwords: None) -> Iterator[Linguist]:
    site.settings.organise = "anybody"
    with log_in(site, "ada") as browser:
        with writing(site.engine) as session:
            user = session.scalars(select(User).where(User.username == "ada")).one()
            user.email_confirmed_at = NOW
        yield Linguist(browser)
    site.settings.organise = "admins"
