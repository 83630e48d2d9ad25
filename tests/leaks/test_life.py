"""A hidden competition responds at every address like one that never existed; a paused or archived one refuses with its
reason, whoever asks.
"""

from __future__ import annotations

import re

import pytest

from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Halt, Stage
from app.web.http.routers import OPEN_IN_ARCHIVES
from tests.leaks.answers import plain
from tests.leaks.place import Place
from tests.web.bodies import body_of
from tests.web.routes import Address, addresses

NEVER = "never-was"


def put(guarded: Place, stage: Stage, halt: Halt = Halt.NONE) -> None:
    """And as it is now, after each request that may have changed something."""
    with writing(guarded.site.engine) as session:
        found = find_competition(session, "idioms")
        found.stage, found.halt, found.halt_reason = stage, halt, "said why"
        found.life_version += 1


def of_competition(guarded: Place) -> list[Address]:
    return [one for one in addresses(guarded.site.app) if "{competition}" in one.template]


def differing(guarded: Place, role: str, asked: list[Address]) -> list[str]:
    wrong = []
    with guarded.client(role) as visitor:
        for address in asked:
            path, body = guarded.fill(address), body_of(str(address), guarded.names)
            never = re.sub("(?<=/competitions/)idioms(?=/|$|[.])", NEVER, path)
            assert never != path, path
            answers = [visitor.send(address.method, one, **body) for one in (path, never)]
            same = plain(answers[0]).replace("idioms", NEVER) == plain(answers[1])
            if not same or {answer.status_code for answer in answers} != {404}:
                wrong.append(f"{address}: {[answer.status_code for answer in answers]}")
    return wrong


def test_who_may_not_see_it_finds_nothing_anywhere(guarded: Place) -> None:
    put(guarded, Stage.DRAFT)
    asked = [address for address in of_competition(guarded) if address.method == "GET"]
    assert len(asked) > 60
    assert differing(guarded, "anonymous", asked) == []
    pages = [address for address in asked if not address.is_api]
    assert differing(guarded, "organiser elsewhere", pages[:10]) == []


@pytest.mark.soak
@pytest.mark.parametrize("role", ["anonymous", "participant", "other team", "annotator", "organiser elsewhere"])
@pytest.mark.parametrize("stage", [Stage.DRAFT, Stage.PRIVATE])
def test_nobody_without_a_part_in_it_does_nor_changes_anything(guarded: Place, stage: Stage, role: str) -> None:
    """Check that each of these answers comes before the route, so that nothing is written, either."""
    if stage is Stage.PRIVATE and role in ("participant", "other team", "annotator"):
        pytest.skip("they belong to it")
    put(guarded, stage)
    assert differing(guarded, role, of_competition(guarded)) == []


def test_nor_on_any_list(guarded: Place) -> None:
    lists = ("/", "/search?q=idioms", "/sitemap.xml", "/api/v1/competitions", "/status")
    with guarded.client("organiser elsewhere") as elsa, guarded.client("anonymous") as nobody:
        for is_seen in (True, False):  # what the server keeps from the first time it gives up at once
            found = ["/competitions/idioms" in who.send("GET", path).text for who in (elsa, nobody) for path in lists]
            assert found == ([True, True, True, True, False] if is_seen else [False] * 5) * 2
            put(guarded, Stage.DRAFT)


@pytest.mark.parametrize(
    ("stage", "sees", "sees_not"),
    [
        (Stage.DRAFT, ("organiser", "administrator"), ("participant", "annotator", "organiser elsewhere")),
        (Stage.PRIVATE, ("organiser", "participant", "annotator", "administrator"), ("organiser elsewhere",)),
    ],
)
def test_who_may_see_it_sees_all_that_they_saw_before(
    guarded: Place, stage: Stage, sees: tuple[str, ...], sees_not: tuple[str, ...]
) -> None:
    put(guarded, stage)
    for role in (*sees, *sees_not):
        with guarded.client(role) as visitor:
            for path in ("/competitions/idioms", "/api/v1/competitions/idioms"):
                assert visitor.send("GET", path).status_code == (200 if role in sees else 404), (role, path)


def test_what_was_public_a_moment_ago_is_not_answered_from_memory(guarded: Place) -> None:
    path = "/competitions/idioms/phases/practice/boards/zero-shot"
    with guarded.client("anonymous") as nobody:
        etag = nobody.send("GET", path).headers["etag"]
        assert nobody.bare.get(path, headers={"If-None-Match": etag}).status_code == 304
        put(guarded, Stage.DRAFT)
        assert nobody.bare.get(path, headers={"If-None-Match": etag}).status_code == 404


@pytest.mark.parametrize(
    ("halt", "code"), [(Halt.PAUSED, "competition_paused"), (Halt.ARCHIVED, "competition_archived")]
)
def test_uploads_are_refused_with_the_reason(guarded: Place, halt: Halt, code: str) -> None:
    put(guarded, Stage.PUBLISHED, halt)
    uploads = [
        one for one in of_competition(guarded) if re.search("/tasks/{task}/(submissions|validations)$", one.template)
    ]
    uploads = [one for one in uploads if one.method == "POST"]
    assert len(uploads) == 2
    with guarded.client("participant") as alpha:
        for address in uploads:
            answer = alpha.send("POST", guarded.fill(address), **body_of(str(address), guarded.names))
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, f"competition_{halt}"), address
            assert "said why" in answer.json()["error"]["message"]
        task = "/competitions/idioms/phases/practice/tasks/detection"
        assert alpha.send("GET", f"/api/v1{task}").json()["accepts_submissions"] is False
        page = alpha.send("GET", f"{task}/submit").text
        assert "said why" in page
        assert "data-submit" not in page


def test_an_archive_is_changed_by_nobody(guarded: Place) -> None:
    """Send to every address that writes as an administrator; the one that ends the archiving still works."""
    put(guarded, Stage.PUBLISHED, Halt.ARCHIVED)
    writes = [one for one in of_competition(guarded) if one.method not in ("GET", "HEAD")]
    closed = [one for one in writes if not any(place in one.template for place in OPEN_IN_ARCHIVES)]
    assert len(closed) > 50
    with guarded.client("administrator") as root:
        for address in closed:
            answer = root.send(address.method, guarded.fill(address), **body_of(str(address), guarded.names))
            assert answer.status_code == 409, address
        answer = root.send("PUT", "/api/v1/competitions/idioms/life", json={"stage": "published"})
        assert (answer.status_code, answer.json()["halt"]) == (200, "none")


@pytest.mark.parametrize("path", ["card", "withdrawal", "choice"])
def test_nor_are_its_submissions(guarded: Place, path: str) -> None:
    put(guarded, Stage.PUBLISHED, Halt.ARCHIVED)
    mine = f"/api/v1/submissions/{guarded.names['submission_id']}/{path}"
    with guarded.client("participant") as alpha, guarded.client("other team") as beta:
        answer = alpha.send("PUT", mine, json={"method": "ours"})
        assert answer.json()["error"]["code"] == "competition_archived"
        assert beta.send("PUT", mine, json={"method": "ours"}).status_code == 404
