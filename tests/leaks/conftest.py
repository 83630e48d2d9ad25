"""The application of tests/web, here too: over HTTP, or, for those who ask thousands of times, in process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.base.config import get_settings
from tests.lanes import in_soak
from tests.leaks import place
from tests.leaks.place import Place
from tests.leaks.templates import Templates
from tests.s3 import new_bucket, s3_environment, s3_server
from tests.web.conftest import answering, empty_site, quick_empty_site, server  # noqa: F401, F811 (fixtures)
from tests.web.site import Site


@pytest.fixture(params=["folder", in_soak("bucket")])
def kept_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return where the server has its files."""
    if request.param == "bucket":
        for name, value in request.getfixturevalue("bucket").items():
            monkeypatch.setenv(name, value)
        get_settings.cache_clear()
    where: str = request.param
    return where


@pytest.fixture(scope="session")
def bucket() -> Iterator[dict[str, str]]:
    """Yield the settings of a server whose files are in this bucket."""
    with s3_server() as address:
        yield s3_environment(address, new_bucket(address))


@pytest.fixture
def guarded(
    kept_in: str,
    quick_empty_site: Site,  # noqa: F811
    cheap_passwords: None,
    templates: Templates,
) -> Iterator[Place]:
    """Yield a place whose hidden evaluation is over, its results frozen, and rounds of judging begun."""
    found = templates.copy(quick_empty_site, build_guarded, kept_in)
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
