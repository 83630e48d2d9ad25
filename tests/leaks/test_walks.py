"""No page, and nothing that the server does by itself, costs as much as there ever was: it costs as much as it shows.

Everything is requested with a short past and with a longer one (`tests.history`): SQLite's work for each statement has
to stay the same, and no plan may walk through a table that grows. With a million submissions:
`tests/soak/test_million.py`.
"""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.base.db import reading
from app.judging import selection
from app.standings import check
from tests.history import add_past
from tests.lanes import in_soak
from tests.leaks.place import Place
from tests.leaks.walking import GROWS, SLACK, OwnWork, look, more_costly, pages_that_grew
from tests.plans import statements, steps, walks

#: What was sent before the first look, and then until the second one: each list is longer than a page by then.
PAST, MORE = 1250, 1500


@pytest.mark.parametrize("role", ["participant", "organiser", *map(in_soak, ["anonymous", "administrator"])])
def test_no_page_costs_as_much_as_ever_was(guarded: Place, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "TRIES_AT_MOST", 100)
    monkeypatch.setattr(selection, "MOST_SUBMISSIONS", 100)
    engine = guarded.site.engine
    add_past(engine, PAST)
    before, _ = look(guarded, role)
    add_past(engine, MORE)
    after, walked = look(guarded, role)
    assert walked == []
    grown = pages_that_grew(before, after)
    assert {one: told for one, told in grown.items() if one[0] not in GROWS} == {}
    if role == "organiser":
        assert {path for path, _ in grown} == set(GROWS), "what does not grow need not be allowed to"


def test_what_the_server_does_by_itself_does_not_either(guarded: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    work, counted = OwnWork(guarded, monkeypatch), []
    for past in (PAST, MORE):
        add_past(guarded.site.engine, past)
        counted.append(work.costs())
    assert more_costly(*counted) == {}


def test_a_walk_would_be_seen(guarded: Place) -> None:
    engine = guarded.site.engine
    everything = "SELECT count(problems_omitted) FROM runs"
    counted = []
    for more in (100, 1000):
        add_past(engine, more)
        with statements(engine) as asked, steps(engine) as found, reading(engine) as session:
            session.execute(text(everything))
        assert len(walks(engine, asked)) == 1
        counted.append(found[everything])
    assert counted[1] > counted[0] + SLACK
