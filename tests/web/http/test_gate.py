"""The gate before every address of a competition: what is hidden looks like nothing, and archives are left alone."""

from __future__ import annotations

import pytest

from app.base.api_links import API
from app.base.db import writing
from app.competitions.find import find_competition
from app.competitions.visibility import SeenAs, Viewer
from app.models import Halt, Role, Stage, TokenScope
from app.people import auth
from app.people.rights import grant_role
from app.web.http.identity import Visitor, viewer_as
from tests import world
from tests.web.routes import application
from tests.web.site import Person, Site
from tests.world import COMPETITION, NOW

HERE, NOWHERE = f"{API}/competitions/{COMPETITION}", f"{API}/competitions/nothing"


@pytest.fixture
def olga(site: Site) -> Person:
    """She organises it."""
    person = site.person("olga")
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), person.user, Role.ORGANISER, NOW)
    return person


def become(site: Site, stage: Stage = Stage.PUBLISHED, halt: Halt = Halt.NONE) -> None:
    with writing(site.engine) as session:
        here = find_competition(session, COMPETITION)
        here.stage, here.halt, here.halt_reason = stage, halt, "It is over."


@pytest.mark.parametrize("stage", [Stage.DRAFT, Stage.PRIVATE])
def test_what_is_not_published_looks_like_nothing_to_who_has_no_part_in_it(
    site: Site, ada: Person, olga: Person, stage: Stage
) -> None:
    with site.client() as anybody:
        assert [client.get(HERE).status_code for client in (anybody, ada.client, olga.client)] == [200] * 3
        become(site, stage)
        assert [client.get(HERE).status_code for client in (anybody, ada.client, olga.client)] == [404, 404, 200]
        hidden, missing = (ada.client.get(address).json()["error"]["message"] for address in (HERE, NOWHERE))
        assert hidden.replace(COMPETITION, "nothing") == missing


def test_an_archive_is_read_and_changed_in_nothing_but_its_people_and_its_life(site: Site, olga: Person) -> None:
    world.add_user(site.engine, "grace")
    become(site, halt=Halt.ARCHIVED)
    assert olga.client.get(HERE).status_code == 200
    refused = olga.client.post(f"{HERE}/questions", json={"title": "Why?", "text": "Why?"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "competition_archived")
    assert olga.client.put(f"{HERE}/roles/tester/grace").status_code == 200


def test_the_description_tells_who_changes_something_alone_that_an_archive_refuses_it() -> None:
    told = {
        (method, template)
        for template, operations in application().openapi()["paths"].items()
        for method, operation in operations.items()
        if "{competition}" in template and ("409" in operation["responses"]) == (method == "get")
    }
    assert told == {("get", f"{API}/competitions/{{competition}}/declaration.zip")}, "which gold may stand against"
    assert "409" not in application().openapi()["paths"][f"{API}/tokens"]["post"]["responses"]


def test_a_token_does_what_it_is_for_and_no_more(site: Site, olga: Person) -> None:
    world.add_user(site.engine, "grace")
    sent = []
    for scope in TokenScope:
        with writing(site.engine) as session:
            _, secret = auth.create_token(session, olga.user, str(scope), NOW, scopes=[scope])
        client = site.client(Authorization=f"Bearer {secret}")
        answers = [
            client.get(HERE),
            client.post(f"{HERE}/questions", json={"title": f"By {scope}?", "text": "Why?"}),
            client.put(f"{HERE}/roles/tester/grace"),
        ]
        sent.append([answer.status_code for answer in answers])
    reads, submits, creates, organises = [200, 403, 403], [200, 201, 403], [200, 403, 403], [200, 403, 200]
    assert sent == [reads, submits, creates, organises], "what all see, all see"


def test_a_token_that_may_not_organise_sees_what_participants_see(site: Site, olga: Person) -> None:
    with writing(site.engine) as session:
        tokens = [
            auth.create_token(session, olga.user, "test", NOW, scopes=scopes)[0]
            for scopes in ([*TokenScope], [TokenScope.READ, TokenScope.SUBMIT])
        ]
    whole, narrow = (Visitor(olga.user, token=token) for token in tokens)
    assert viewer_as(whole, NOW, None) == Viewer(olga.user, NOW)
    assert viewer_as(narrow, NOW, None) == Viewer(olga.user, NOW, SeenAs.PARTICIPANT)
    assert viewer_as(whole, NOW, SeenAs.PARTICIPANT) == Viewer(olga.user, NOW, SeenAs.PARTICIPANT)
    assert viewer_as(whole, NOW, SeenAs.PUBLIC) == Viewer(None, NOW, SeenAs.PUBLIC)
    assert viewer_as(Visitor(), NOW, None) == Viewer(None, NOW)
