"""The application of tests/web, here too: over HTTP, or, for those who ask thousands of times, in process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.leaks import place
from tests.leaks.place import Place
from tests.leaks.templates import Templates
from tests.web.conftest import answering, empty_site, quick_empty_site, server  # noqa: F401, F811 (fixtures)
from tests.web.site import Site


@pytest.fixture
def guarded(quick_empty_site: Site, cheap_passwords: None, templates: Templates) -> Iterator[Place]:  # noqa: F811
    """The hidden evaluation over, its results frozen, rounds of judging begun."""
    found = templates.copy(quick_empty_site, build_guarded)
    yield found
    found.close()


def build_guarded(site: Site) -> Place:
    built = place.build(site)
    place.reveal(built)
    place.judge(built, place.TEAMS)
    return built


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return Templates(tmp_path_factory.mktemp("places"))
