"""No page, and nothing that the server does by itself, costs as much as ever was: it costs what it shows.

Everything that can be looked at is, with a short past and with a longer one (`tests.history`): what SQLite does for
each statement has to stay the same, and no plan walks through a table that grows.
"""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest
from sqlalchemy import Engine, func, select, text

from app.base.db import reading, writing
from app.competitions.find import find_competition, find_phase_task
from app.judging import selection
from app.models import Team
from app.operations import metrics
from app.rescoring.sets import drop_rescoring
from app.standings import kept
from app.submissions.accept import accept_submission
from tests import world
from tests.history import add_past
from tests.lanes import in_soak
from tests.leaks import place
from tests.leaks.bodies import body_of
from tests.leaks.place import Place
from tests.plans import statements, steps, walks
from tests.web.routes import addresses
from tests.world import COMPETITION, NOW, TASK
from workers import sweep

#: What was sent before the first look, and then until the second one: each list is longer than a page by then.
PAST, MORE = 1250, 1500
#: More than these steps for a page more, and it reads what it does not show. An index alone takes four for a row.
SLACK = 1000
#: What reads as much as ever was, and why it may.
GROWS = {
    "/api/v1/competitions/{competition}/predictions.zip": "sends everything",
    "/api/v1/competitions/{competition}/downloads.csv": "sends everything",
    "/api/v1/competitions/{competition}/participants": "counts what each person sent",
    "/api/v1/competitions/{competition}/participants.csv": "counts what each person sent",
    "/api/v1/competitions/{competition}/rescorings": "a set scores everything anew: how far it is",
    "/api/v1/competitions/{competition}/rescorings/{rescoring}": "the same",
    "/api/v1/competitions/{competition}/rescorings/{rescoring}/diff": "a board as if everything were scored anew",
    "/competitions/{competition}/rescoring/{rescoring}": "a board as if everything were scored anew",
}
#: A team's own quota counts what it sent to one task of a phase.
QUOTA = "SELECT count(*) FILTER (WHERE (runs.status NOT IN"

Costs = dict[str, Counter[str]]


@pytest.mark.parametrize("role", ["participant", "organiser", *map(in_soak, ["anonymous", "administrator"])])
def test_no_page_costs_as_much_as_ever_was(guarded: Place, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "TRIES_AT_MOST", 100)
    monkeypatch.setattr(selection, "MOST_SUBMISSIONS", 100)
    engine = guarded.site.engine
    add_past(engine, PAST)
    before, _ = look(guarded, role)
    add_past(engine, MORE)
    after, walked = look(guarded, role)
    assert walked == []
    grown = {
        (path, statement): (before[path][statement], number)
        for path, counted in after.items()
        for statement, number in counted.items()
        if number > before[path][statement] + SLACK and not statement.startswith(QUOTA)
    }
    assert {one: told for one, told in grown.items() if one[0] not in GROWS} == {}
    if role == "organiser":
        assert {path for path, _ in grown} == set(GROWS), "what does not grow need not be allowed to"


def look(guarded: Place, role: str) -> tuple[Costs, list[str]]:
    """At everything that there is to look at."""
    found: Costs = {}
    engine = guarded.site.engine
    with guarded.client(role) as visitor, steps(engine) as counted, statements(engine) as asked:
        for address in addresses(guarded.site.app):
            if address.method == "GET":
                counted.clear()
                visitor.send("GET", guarded.fill(address), **body_of(str(address), guarded.names))
                found[address.template] = counted.copy()
    assert len(asked) > 500
    return found, walks(engine, asked)


def test_what_the_server_does_by_itself_does_not_either(guarded: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeping, counting for monitoring, and what a new team sends: let in, claimed, scored, put on the boards."""
    engine, newcomers, counted = guarded.site.engine, count(), list[Counter[str]]()
    monkeypatch.setattr(sweep, "_forgotten_task_types", list)
    with writing(engine) as session:  # an open set is compared with all that was sent, each time
        drop_rescoring(session, find_competition(session, COMPETITION), 1, user=None, now=NOW)

    def work(newest_team: int) -> None:
        sweep.sweep(engine, NOW)
        sweep.check_standings(engine, newest_team)  # team by team, as much as it sent: these sent nothing before
        sweep.clear_rejected(engine, guarded.site.settings, NOW)
        sweep.clear_blueprints(engine, guarded.site.settings, NOW)
        with reading(engine) as session:
            metrics.exposition(session, NOW)
            metrics.usual_seconds(session, NOW)
        _send_as(engine, f"newcomer-{next(newcomers)}")

    for past in (PAST, MORE):
        add_past(engine, past)
        with reading(engine) as session:
            newest_team = session.scalars(select(func.max(Team.id))).one()
        work(newest_team)  # what was due
        with steps(engine) as found:
            work(newest_team)
        counted.append(found.copy())
    grown = {one: (counted[0][one], number) for one, number in counted[1].items() if number > counted[0][one] + SLACK}
    assert grown == {}


def _send_as(engine: Engine, username: str) -> None:
    user = world.add_user(engine, username)
    with writing(engine) as session:
        practice = find_phase_task(session, COMPETITION, "practice", TASK)
        upload = world.upload_of(username)
        accepted = accept_submission(session, user=user, phase_task=practice, upload=upload, now=NOW)
    place.score(engine, accepted.run_id, (0.4, 0.5))


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
