"""Every route answers every kind of visitor as the table says, and there is no route that the table does not know."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.leaks.answers import plain
from tests.leaks.bodies import body_of
from tests.leaks.place import ROLES, Place
from tests.leaks.table import rows
from tests.web.routes import addresses


def test_the_table_knows_every_route_and_no_other(guarded: Place) -> None:
    there = {str(address) for address in addresses(guarded.site.app)}
    assert {"missing": sorted(there - set(rows())), "gone": sorted(set(rows()) - there)} == {"missing": [], "gone": []}


def test_every_route_answers_everybody_as_the_table_says(guarded: Place) -> None:
    """All that is wrong at once; what a request changed is as it was before the next."""
    expected, wrong = rows(), []
    with ExitStack() as clients:
        visitors = [clients.enter_context(guarded.client(role)) for role in ROLES]
        for address in addresses(guarded.site.app):
            answered = []
            for visitor in visitors:
                path, body = guarded.fill(address), body_of(str(address), guarded.names)
                answered.append(visitor.send(address.method, path, **body).status_code)
                if address.method != "GET":
                    guarded.restore()
            if tuple(answered) != expected.get(str(address)):
                wrong.append(f"{address.method:6} {address.template:90} {' '.join(map(str, answered))}")
    assert wrong == []


@pytest.mark.parametrize("role", ["other team", "annotator", "organiser elsewhere"])
def test_the_submission_of_others_answers_as_one_that_never_was(guarded: Place, role: str) -> None:
    theirs, never = guarded.names["submission_id"], "00000000-0000-4000-8000-000000000000"
    asked = [address for address in addresses(guarded.site.app) if "submission_id" in address.template]
    assert len(asked) > 10
    with guarded.client(role) as visitor:
        for address in asked:
            path, body = guarded.fill(address), body_of(str(address), guarded.names)
            answers = [visitor.send(address.method, path.replace(theirs, name), **body) for name in (theirs, never)]
            assert answers[0].status_code == answers[1].status_code == 404, path
            assert plain(answers[0]) == plain(answers[1]).replace(never, theirs)
