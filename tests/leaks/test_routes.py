"""Every route answers every kind of visitor as the table says, and there is no route that the table does not know."""

from __future__ import annotations

import re
import sqlite3
from contextlib import ExitStack, closing

import pytest

from tests.boards.marks import HIDDEN, mark
from tests.competitions.allowing import allow
from tests.leaks.answers import plain
from tests.leaks.place import OTHERS, ROLES, Place
from tests.leaks.table import rows
from tests.web.bodies import body_of
from tests.web.routes import addresses


def test_the_table_knows_every_route_and_no_other(guarded: Place) -> None:
    there = {str(address) for address in addresses(guarded.site.app)}
    assert {"missing": sorted(there - set(rows())), "gone": sorted(set(rows()) - there)} == {"missing": [], "gone": []}


def test_whoever_organises_with_one_right_is_named_wherever_organisers_are() -> None:
    elsewhere, administrator = ROLES.index("organiser elsewhere"), ROLES.index("administrator")
    wrong = [
        address
        for address, statuses in rows().items()
        if (len(statuses) == len(ROLES)) is not (statuses[elsewhere] != statuses[administrator])
    ]
    assert wrong == []


def test_every_route_answers_everybody_as_the_table_says(guarded: Place) -> None:
    """Report all deviations at once; changes by a request are undone before the next."""
    expected, wrong = rows(), []
    with ExitStack() as clients:
        visitors = [clients.enter_context(guarded.client(role)) for role in ROLES]
        for address in addresses(guarded.site.app):
            answered = []
            for visitor in visitors[: len(expected.get(str(address), ()))]:
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


#: The parts of a path that tell things of one competition apart by a number, or by a name of the organisers' choice.
THINGS = (
    "allowance_id",
    "announcement_id",
    "hidden_id",
    "invitation_id",
    "mark_id",
    "number",
    "question_id",
    "report_id",
    "rescoring",
    "round_name",
    "run_id",
    "version",
)


def test_what_lies_in_one_competition_is_not_within_reach_of_the_organisers_of_another(guarded: Place) -> None:
    """Request an object of this competition under their own one, which they organise: it is not found, and stays."""
    engine = guarded.site.engine
    here = {"mark_id": str(mark(engine, "Gamma", HIDDEN)), "allowance_id": str(allow(engine, "Gamma", extra_total=1))}
    names = {**guarded.names, "competition": OTHERS, **here}
    asked = [
        address
        for address in addresses(guarded.site.app)
        if "{competition}" in address.template and any(f"{{{thing}}}" in address.template for thing in THINGS)
    ]
    assert {thing for thing in THINGS for address in asked if f"{{{thing}}}" in address.template} == set(THINGS)
    before, answered = contents(guarded), {}
    with guarded.client("organiser elsewhere") as elsa:
        for address in asked:
            path = re.sub(r"{(\w+)(?::\w+)?}", lambda found: names.get(found[1], "languages"), address.template)
            answered[str(address)] = elsa.send(address.method, path, **body_of(str(address), names)).status_code
    assert {address: status for address, status in answered.items() if status != 404} == {}
    assert contents(guarded) == before


def contents(guarded: Place) -> list[str]:
    """Return all contents of the database, except when tokens were last used."""
    with closing(sqlite3.connect(guarded.site.engine.url.database or "")) as database:
        return [line for line in database.iterdump() if not line.startswith('INSERT INTO "api_tokens"')]


def test_as_the_public_sees_it_is_what_people_who_are_not_logged_in_get(guarded: Place) -> None:
    """Compare, to the byte, all pages that an organiser may see as the public, whatever else there is for them."""
    described = guarded.site.app.openapi()["paths"]
    asked = [
        address
        for address in addresses(guarded.site.app)
        for parameter in described.get(address.template, {}).get(address.method.lower(), {}).get("parameters", ())
        if parameter["name"] == "as"
    ]
    assert len(asked) > 10
    with guarded.client("organiser") as olga, guarded.client("anonymous") as nobody:
        for path in [path for address in asked for path in guarded.fill_all(address)]:
            borrowed, public = olga.send("GET", f"{path}?as=public"), nobody.send("GET", path)
            if public.status_code == 401:  # the public's eyes are nobody's: no submission is theirs
                assert borrowed.status_code == 404 or borrowed.json()["submissions"] == [], path
            else:
                assert (borrowed.status_code, borrowed.text) == (public.status_code, public.text), path
