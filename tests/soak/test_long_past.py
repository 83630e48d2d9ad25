"""With two hundred thousand submissions in the database nothing costs more than with twenty thousand: neither what
anybody can look at, nor what the server does by itself. EVERGOLD_TEST_SUBMISSIONS=1000000 has as many."""

from __future__ import annotations

import os

import pytest

from app.standings.kept import TRIES_AT_MOST
from tests.history import add_past, add_senders
from tests.leaks.conftest import bucket, guarded, templates  # noqa: F401 (fixtures)
from tests.leaks.place import Place
from tests.leaks.walking import GROWS, OwnWork, look, more_costly, pages_that_grew
from tests.web.conftest import answering, quick_empty_site  # noqa: F401 (fixtures)

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

#: Until the first look every list is longer than a page, and than the tries that are looked at one by one.
FEW, MANY, TEAMS = 20_000, int(os.environ.get("EVERGOLD_TEST_SUBMISSIONS", "200000")), 300
#: What looks at tries, and what looking at one may take.
TRIES = "SELECT runs.id, teams.id AS id_1, teams.kind, submissions.id AS id_2, submissions.track"
STEPS_FOR_A_TRY = 600


@pytest.fixture
def kept_in() -> str:
    """Files matter little here: they are in a folder."""
    return "folder"


def test_nothing_costs_more_with_a_long_past(
    guarded: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine, work = guarded.site.engine, OwnWork(guarded, monkeypatch)
    senders = add_senders(engine, TEAMS)
    add_past(engine, FEW, senders)
    roles = ("anonymous", "participant", "organiser", "administrator")
    before, done_before = {role: look(guarded, role)[0] for role in roles}, work.costs()
    add_past(engine, MANY - FEW, senders)
    for role in roles:
        after, walked = look(guarded, role)
        assert walked == [], role
        grown = pages_that_grew(before[role], after)
        assert {one: told for one, told in grown.items() if not _may_grow(*one, told[1])} == {}, role
    assert more_costly(done_before, work.costs()) == {}


def _may_grow(path: str, statement: str, steps: int) -> bool:
    """Ranks of long ago rest on the tries of whoever did something since, as long as these are not too many."""
    return path in GROWS or (statement.startswith(TRIES) and steps < STEPS_FOR_A_TRY * TRIES_AT_MOST)
