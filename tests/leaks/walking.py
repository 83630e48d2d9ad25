"""The costs of looking at everything, and of what the server does by itself: in steps of SQLite's machine for each
statement, or in rows that PostgreSQL meets, so that a short past and a long one can be compared on any machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from itertools import count

import pytest
from sqlalchemy import Engine, func, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions import limits
from app.competitions.find import find_competition, find_phase_task
from app.models import Team
from app.operations import metrics
from app.people.act import Act
from app.rescoring.sets import drop_rescoring
from app.submissions.accept import Sender, accept_submission
from tests import world
from tests.leaks import place
from tests.leaks.place import Place
from tests.plans import rows_met, statements, steps, walks
from tests.web.bodies import body_of
from tests.web.routes import addresses
from tests.world import COMPETITION, NOW, TASK
from workers import sweep

#: More than these steps, or rows, for a page more, and a quarter of what it took, and it reads what it does not show.
#: An index alone takes four steps for a row; a quarter: where the planner of a large database takes the same rows in
#: another order.
SLACK, SAME = 1000, 1.25
EXPORTS = {
    "/api/v1/competitions/{competition}/predictions.zip": "sends everything",
    "/api/v1/competitions/{competition}/downloads.csv": "sends everything",
}
#: What reads as much as ever was, and why it may.
GROWS = {
    **EXPORTS,
    "/api/v1/competitions/{competition}/grades.csv": "reads the scores of all that each team sent",
    "/api/v1/competitions/{competition}/participants": "counts what each person sent",
    "/api/v1/competitions/{competition}/participants.csv": "counts what each person sent",
    "/api/v1/competitions/{competition}/rescorings": "a set scores everything anew: how far it is",
    "/api/v1/competitions/{competition}/rescorings/{rescoring}": "the same",
    "/api/v1/competitions/{competition}/rescorings/{rescoring}/diff": "a board as if everything were scored anew",
    "/competitions/{competition}/rescoring/{rescoring}": "a board as if everything were scored anew",
}
#: What a team's own quota counts, of all that it sent to one task of a phase: a statement with these names is one.
QUOTA = tuple(f" AS {column}" for column in limits.COUNTED.selected_columns.keys())  # noqa: SIM118 (of a collection)

Steps = Mapping[str, int]


def look(guarded: Place, role: str, *, without: Collection[str] = ()) -> tuple[dict[str, Counter[str]], list[str]]:
    """Look at everything; return the costs by template and statement, and SQLite's plans that are walks.

    without: templates to leave out.
    """
    found: dict[str, Counter[str]] = {}
    engine = guarded.site.engine
    with guarded.client(role) as visitor, costs(engine) as counted, statements(engine) as asked:
        for address in addresses(guarded.site.app):
            if address.method == "GET" and address.template not in without:
                counted.clear()
                visitor.send("GET", guarded.fill(address), **body_of(str(address), guarded.names))
                found[address.template] = counted.copy()
    assert len(asked) > 500, len(asked)
    return found, walks(engine, asked) if engine.dialect.name == "sqlite" else []


def costs(engine: Engine) -> AbstractContextManager[Counter[str]]:
    """Return a context manager that counts what the database does for each statement inside the block."""
    return steps(engine) if engine.dialect.name == "sqlite" else rows_met(engine)


def more_costly(before: Steps, after: Steps) -> dict[str, tuple[int, int]]:
    """Return the statements that cost more than before, with both costs."""
    return {
        statement: (before.get(statement, 0), number)
        for statement, number in after.items()
        if number > SAME * before.get(statement, 0) + SLACK
    }


def pages_that_grew(before: Mapping[str, Steps], after: Mapping[str, Steps]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the costs that grew, by template and statement, except those of quotas."""
    return {
        (path, statement): told
        for path, counted in after.items()
        for statement, told in more_costly(before[path], counted).items()
        if not all(column in statement for column in QUOTA)
    }


class OwnWork:
    """The server's own work: sweeping, counting for monitoring, and letting in, claiming, scoring and ranking the files
    of a new team.
    """

    def __init__(self, guarded: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        self._settings, self._engine, self._newcomers = guarded.site.settings, guarded.site.engine, count()
        monkeypatch.setattr(sweep, "_forgotten_task_types", list)
        with writing(self._engine) as session:  # an open set is compared with all that was sent, each time
            drop_rescoring(Act(session, None, NOW, get_settings()), find_competition(session, COMPETITION), 1)

    def costs(self) -> Counter[str]:
        """Return the costs of doing it a second time: the first time does what was due."""
        with reading(self._engine) as session:
            newest_team = session.scalars(select(func.max(Team.id))).one()
        self._do(newest_team)
        with costs(self._engine) as found:
            self._do(newest_team)
        return found.copy()

    def _do(self, newest_team: int) -> None:
        sweep.sweep(self._engine, NOW)
        sweep.check_standings(self._engine, newest_team)  # team by team, as much as it sent: these sent nothing before
        sweep.clear_rejected(self._engine, self._settings, NOW)
        sweep.clear_held_uploads(self._engine, NOW)
        sweep.clear_blueprints(self._engine, self._settings, NOW)
        with reading(self._engine) as session:
            metrics.exposition(session, NOW)
            metrics.usual_seconds(session, NOW)
        _send_as(self._engine, f"newcomer-{next(self._newcomers)}")


def _send_as(engine: Engine, username: str) -> None:
    user = world.add_user(engine, username)
    with writing(engine) as session:
        practice = find_phase_task(session, COMPETITION, "practice", TASK)
        upload = world.upload_of(username)
        accepted = accept_submission(session, practice, upload, Sender(user, NOW))
    place.score(engine, accepted.run_id, (0.4, 0.5))
