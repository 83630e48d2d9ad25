"""A competition's life in the browser, over the API and from the command line."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.base.api_links import API
from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Right, Role, User
from app.people.rights import grant_role
from evergold.cli import run
from evergold.cli.output import Code
from tests.beside import one_right_each
from tests.web.reading import text_of
from tests.web.site import Client, Person, Site, csrf_of, log_in, secrets_of
from tests.world import COMPETITION, NOW

PAGE = f"/competitions/{COMPETITION}/life"
PLACE = f"{API}/competitions/{COMPETITION}/life"
WHY = "the gold of track B is corrected"


@pytest.fixture
def olga(site: Site) -> Person:
    person = site.person("olga")
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), person.user, Role.ORGANISER, NOW)
    return person


def test_a_pause_refuses_uploads_and_says_why(site: Site, ada: Person, olga: Person) -> None:
    assert ada.submit().status_code == 202
    paused = olga.client.put(PLACE, json={"stage": "published", "halt": "paused", "reason": WHY})
    assert paused.json() == {"stage": "published", "halt": "paused", "reason": WHY, "delete_at": None}
    refused = ada.submit(b"another")
    assert refused.status_code == 409
    assert refused.json()["error"]["details"] == {"reason": WHY}
    told = site.client().get(f"{API}/competitions/{COMPETITION}").json()
    assert (told["halt"], told["halt_reason"]) == ("paused", WHY)
    assert WHY in site.client().get(f"/competitions/{COMPETITION}").text
    assert olga.client.put(f"{PLACE}/deletion").json()["error"]["code"] == "impossible_stage"


def test_whoever_may_not_edit_it_does_not_delete_it(site: Site) -> None:
    organisers = {right: user for right, user in one_right_each(site.engine).items() if right is not Right.EDIT}
    clients = [Client(site.client(), *secrets_of(site.engine, user)) for user in organisers.values()]
    assert [client.send("POST", f"{PAGE}/deletion").status_code for client in clients] == [403] * 3
    with reading(site.engine) as session:
        assert find_competition(session, COMPETITION).delete_at is None


@pytest.mark.usefixtures("cheap_passwords")
def test_organisers_hide_it_and_delete_it_and_keep_it_on_a_page(site: Site) -> None:
    with log_in(site, "ada") as browser:
        with writing(site.engine) as session:
            ada = session.scalars(select(User).where(User.username == "ada")).one()
            grant_role(session, find_competition(session, COMPETITION), ada, Role.ORGANISER, NOW)
        form = {"csrf_token": csrf_of(browser.get(PAGE).text)}
        wrong = browser.post(PAGE, data={**form, "stage": "private", "halt": "paused"})
        assert wrong.status_code == 422
        assert "Give a reason: it is shown to everybody who wants to upload." in text_of(wrong.text)
        page = browser.post(PAGE, data={**form, "stage": "draft"})
        assert "Draft: only organisers and testers see it." in text_of(page.text)
        assert f'href="/competitions/{COMPETITION}"' in browser.get("/").text
        assert site.client().get(f"/competitions/{COMPETITION}").status_code == 404
        page = browser.post(f"{PAGE}/deletion", data=form)
        assert "Cancel the deletion" in page.text
        assert "Draft:" in text_of(browser.post(f"{PAGE}/deletion/stop", data=form).text)


def test_the_command_pauses_and_publishes_again(
    site: Site, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", site.engine.url.render_as_string(hide_password=False))
    get_settings.cache_clear()

    def evergold(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()  # what the server logged
        code = run(["life", *arguments])
        return code, capsys.readouterr().out

    assert evergold("set", COMPETITION, "--halt", "paused")[0] != Code.OK, "without a reason"
    assert evergold("set", COMPETITION, "--stage", "hidden")[0] == Code.USAGE
    paused = f"{COMPETITION} is published, paused: {WHY}.\n"
    assert evergold("set", COMPETITION, "--halt", "paused", "--reason", WHY) == (Code.OK, paused)
    assert evergold("set", COMPETITION, "--stage", "private")[1] == paused.replace("published", "private")
    assert "will be deleted " in evergold("delete", COMPETITION)[1]
    assert evergold("keep", COMPETITION)[1] == f"{COMPETITION} is draft.\n"
    with reading(site.engine) as session:
        assert find_competition(session, COMPETITION).delete_at is None
