"""The application of tests/web, here too: over HTTP, or, for those who ask thousands of times, in process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.leaks import place
from tests.leaks.place import Place
from tests.web.conftest import answering, empty_site, quick_empty_site, server  # noqa: F401, F811 (fixtures)
from tests.web.site import Site


@pytest.fixture
def guarded(quick_empty_site: Site, cheap_passwords: None) -> Iterator[Place]:  # noqa: F811 (the fixture)
    """The hidden evaluation over, its results frozen, rounds of judging begun."""
    found = place.build(quick_empty_site)
    place.reveal(found)
    place.judge(found, place.TEAMS)
    found.save()
    yield found
    found.close()
