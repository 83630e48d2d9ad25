"""The running server of tests/web, for these tests too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.leaks import place
from tests.leaks.place import Place
from tests.web.conftest import empty_site, server  # noqa: F401 (fixtures)
from tests.web.site import Site


@pytest.fixture
def guarded(empty_site: Site, cheap_passwords: None) -> Iterator[Place]:  # noqa: F811
    """The hidden evaluation over, its results frozen, rounds of judging begun."""
    found = place.build(empty_site)
    place.reveal(found)
    place.judge(found, place.TEAMS)
    found.save()
    yield found
    found.saved.close()
