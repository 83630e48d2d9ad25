"""Webhooks are managed by their owners: over the API, in the browser, from the command line; secrets stay there."""

from __future__ import annotations

import io
import json
import re
import sys
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.base.api_links import API
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import AuditEntry, NewsKind, Right, Role, TokenScope, Webhook, WebhookDelivery
from app.news.sending import send_due
from app.people import auth
from app.people.rights import grant_role
from evergold.cli import run
from tests.receiver import receiver
from tests.web.site import Person, Site, csrf_of
from tests.world import COMPETITION, NOW

HERE = f"{API}/competitions/{COMPETITION}/webhooks"
TEAM = f"{API}/competitions/{COMPETITION}/team/webhooks"
ADDRESS = "https://chat.example.org/services/a-secret-path"
FORM = {"name": "Our chat", "address": ADDRESS, "kinds": ["board.changed"]}
PAGE = f"/competitions/{COMPETITION}/webhooks"


def organiser(site: Site, name: str, *rights: Right) -> Person:
    found = site.person(name)
    with writing(site.engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, found.user, Role.ORGANISER, NOW, rights=rights or list(Right))
    return found


def fields_of(answer: Any) -> set[str]:
    return set(answer.json()["error"]["details"]["fields"])


def test_a_webhook_from_its_beginning_to_its_end(site: Site) -> None:
    olga = organiser(site, "olga")
    made = olga.client.post(HERE, json=FORM).json()
    assert (made["audience"], made["address"], made["owner"]) == ("organisers", "https://chat.example.org/…", "olga")
    assert made["secret"].startswith("whsec_")
    [listed] = olga.client.get(HERE).json()["webhooks"]
    assert listed == {name: value for name, value in made.items() if name != "secret"}
    link = made["link"]
    changed = olga.client.put(link, json={**FORM, "address": "", "kinds": ["question.asked"], "is_disabled": True})
    assert (changed.json()["kinds"], changed.json()["disabled_at"] is not None) == (["question.asked"], True)
    assert olga.client.post(f"{link}/test").status_code == 409, "nothing is sent to it"
    olga.client.put(link, json={**FORM, "address": ""})
    newer = olga.client.post(f"{link}/secret").json()["secret"]
    assert newer != made["secret"]
    assert olga.client.post(f"{link}/test").status_code == 202
    [delivery] = olga.client.get(f"{link}/deliveries").json()["deliveries"]
    assert (delivery["kind"], delivery["status"]) == ("test", "waiting")
    assert delivery["next_attempt_at"] == "2026-01-10T12:00:00Z"
    assert olga.client.delete(link).status_code == 204
    assert olga.client.get(link).status_code == 404
    with reading(site.engine) as session:
        assert session.scalars(select(WebhookDelivery)).all() == []
        told = repr([(one.action, one.details) for one in session.scalars(select(AuditEntry))])
    assert "webhook.remove" in told
    for secret in (made["secret"], newer, "a-secret-path"):
        assert secret not in told


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"address": "http://chat.example.org/"}, "address"),
        ({"address": "https://127.0.0.1/"}, "address"),
        ({"address": "https://[::ffff:169.254.169.254]/"}, "address"),
        ({"address": ""}, "address"),
        ({"name": " "}, "name"),
        ({"kinds": []}, "kinds"),
        ({"kinds": ["test"]}, "kinds"),
        ({"kinds": ["question.asked"], "audience": "public"}, "kinds"),
        ({"audience": "team"}, "audience"),
        ({"bearer": "token"}, "bearer"),
        ({"form": "matrix", "bearer": "token"}, "address"),
        (
            {"form": "matrix", "address": "https://m.example.org/_matrix/client/v3/rooms/r/send/m.room.message"},
            "bearer",
        ),
    ],
)
def test_what_is_wrong_is_said_by_field(site: Site, wrong: dict[str, Any], field: str) -> None:
    olga = organiser(site, "olga")
    answer = olga.client.post(HERE, json={**FORM, **wrong})
    assert answer.status_code == 422
    assert field in fields_of(answer)
    assert olga.client.get(HERE).json()["webhooks"] == []


def test_organisers_ask_for_news_of_their_rights_and_keep_their_own(site: Site) -> None:
    olga, mel = organiser(site, "olga"), organiser(site, "mel", Right.MESSAGES)
    theirs = olga.client.post(HERE, json=FORM).json()["link"]
    assert mel.client.post(HERE, json={**FORM, "kinds": ["question.asked"]}).status_code == 201
    assert fields_of(mel.client.post(HERE, json={**FORM, "kinds": ["submission.scored"]})) == {"kinds"}
    assert [one["owner"] for one in mel.client.get(HERE).json()["webhooks"]] == ["mel"]
    for method, path in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/test"), ("POST", "/secret")):
        body = FORM if method == "PUT" else None
        assert mel.client.request(method, f"{theirs}{path}", json=body).status_code == 404
    assert [one["owner"] for one in olga.client.get(HERE).json()["webhooks"]] == ["olga", "mel"]


def test_whoever_changes_a_webhook_lends_it_their_eyes(site: Site) -> None:
    """An editor without the right to messages cannot keep news of questions going in another's name."""
    mel, edda = organiser(site, "mel", Right.MESSAGES), organiser(site, "edda", Right.EDIT)
    link = mel.client.post(HERE, json={**FORM, "kinds": ["question.asked"]}).json()["link"]
    elsewhere = {**FORM, "address": "https://edda.example.org/", "kinds": ["question.asked"]}
    assert fields_of(edda.client.put(link, json=elsewhere)) == {"kinds"}
    changed = edda.client.put(link, json={**elsewhere, "kinds": ["board.changed"]}).json()
    assert (changed["owner"], changed["address"]) == ("edda", "https://edda.example.org/…")


def test_the_answer_of_a_receiver_is_for_the_owner(site: Site) -> None:
    mel, edda = organiser(site, "mel", Right.MESSAGES), organiser(site, "edda", Right.EDIT)
    with receiver() as there:
        there.body = b"what the receiver repeats"
        settings = site.settings.model_copy(update={"webhook_ranges": "127.0.0.1/32", "webhook_http": True})
        link = mel.client.post(HERE, json={**FORM, "kinds": ["question.asked"]}).json()["link"]
        with writing(site.engine) as session:
            session.scalars(select(Webhook)).one().address = there.address
        mel.client.post(f"{link}/test")
        assert send_due(site.engine, settings, lambda: site.now + timedelta(minutes=1)) == 1
    logs = [one.client.get(f"{link}/deliveries").json()["deliveries"] for one in (mel, edda)]
    assert [log[0]["answer"] for log in logs] == ["what the receiver repeats", None]
    page = mel.client.get(link).json()["page"]
    pages = [site.browser(one.user).get(page).text for one in (mel, edda)]
    assert ["what the receiver repeats" in one for one in pages] == [True, False]
    assert {(log[0]["answered"], log[0]["next_attempt_at"]) for log in logs} == {(200, None)}


def test_a_team_has_its_own(site: Site) -> None:
    ada, bob = site.person("ada"), site.person("bob")
    ada.submit()
    bob.submit()
    made = ada.client.post(TEAM, json={**FORM, "kinds": ["submission.scored"]}).json()
    assert (made["audience"], made["is_of_team"]) == ("team", True)
    assert bob.client.get(TEAM).json()["webhooks"] == []
    assert bob.client.get(made["link"]).status_code == 404
    assert fields_of(ada.client.post(TEAM, json={**FORM, "kinds": ["gold.checked"]})) == {"kinds"}
    assert ada.client.get(HERE).status_code == 403, "those of the competition are for its organisers"


def test_administrators_have_those_of_the_server(site: Site) -> None:
    root = site.person("root", is_administrator=True)
    made = root.client.post(f"{API}/webhooks", json={**FORM, "kinds": ["run.failed"]}).json()
    assert made["competition"] is None
    assert organiser(site, "olga").client.get(made["link"]).status_code == 404


def test_tests_and_webhooks_have_a_bound(site: Site) -> None:
    olga = organiser(site, "olga")
    answers = [olga.client.post(HERE, json=FORM).status_code for _ in range(21)]
    assert answers == [201] * 20 + [409]
    tests = [olga.client.post(f"{API}/webhooks/1/test").status_code for _ in range(31)]
    assert tests == [202] * 30 + [429]


def test_the_pages_do_it_all_without_scripts(site: Site) -> None:
    olga = organiser(site, "olga").user
    browser = site.browser(olga)
    token = csrf_of(browser.get(PAGE).text)
    refused = browser.post(PAGE, data={"csrf_token": token, **FORM, "address": "https://10.0.0.1/"})
    assert refused.status_code == 422
    assert "private network" in refused.text
    made = browser.post(PAGE, data={"csrf_token": token, **FORM, "form": "standard"})
    page = made.url.path
    assert re.fullmatch(r"/webhooks/\d+", page)
    [secret] = re.findall(r"whsec_[\w+/=]+", made.text)
    assert "a-secret-path" not in made.text
    for deed, done in (("test", "The test is being sent"), ("secret", "new secret")):
        assert done in browser.post(f"{page}/{deed}", data={"csrf_token": token}).text
    assert secret not in browser.get(page).text
    nothing = browser.post(f"{page}/replay", data={"csrf_token": token, "first": "1", "last": "9"})
    assert nothing.status_code == 404, "the test still waits, and tests are not repeated"
    saved = browser.post(page, data={"csrf_token": token, "name": "Other", "kinds": "phase.opened"})
    assert "Saved." in saved.text
    left = browser.post(f"{page}/remove", data={"csrf_token": token})
    assert (left.url.path, "Other" in left.text) == (PAGE, False)


def test_its_page_shows_what_was_chosen_and_until_when_the_former_secret_signs(site: Site) -> None:
    olga = organiser(site, "olga")
    chosen = ["question.asked", "board.changed"]
    page = olga.client.post(HERE, json={**FORM, "kinds": chosen}).json()["page"]
    browser = site.browser(olga.user)
    told = browser.get(page).text
    assert sorted(re.findall(r'name="kinds" value="([\w.]+)" checked', told)) == sorted(chosen)
    offered = re.findall(r'name="kinds" value="([\w.]+)"', told)
    of_all = {NewsKind.BOARD_CHANGED, NewsKind.PHASE_OPENED, NewsKind.PHASE_CLOSED}
    assert told.count("organisers only") == len(set(offered) - of_all) == len(offered) - 3
    assert "The previous secret" not in told
    browser.post(f"{page}/secret", data={"csrf_token": csrf_of(told)})
    assert "The previous secret is valid until" in browser.get(page).text
    site.set_clock(NOW + timedelta(days=1))
    assert "The previous secret is valid until" not in site.browser(olga.user).get(page).text


def test_the_command_line_keeps_them(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    olga = organiser(site, "olga").user
    with writing(site.engine) as session:
        _, token = auth.create_token(session, olga, "cli", NOW, scopes=list(TokenScope))
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", token)

    def evergold(*arguments: str, stdin: str = "") -> Any:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        assert run(["webhook", *arguments]) == 0
        out = capsys.readouterr().out
        return json.loads(out[out.index("{") :]) if "--json" in arguments else out

    here = ("--competition", COMPETITION)
    kinds = ("--news", "board.changed", "--news", "run.failed")
    made = evergold("add", *here, "--name", "Chat", "--address", "-", *kinds, "--json", stdin=f"{ADDRESS}\n")
    number = str(made["id"])
    assert made["kinds"] == ["run.failed", "board.changed"]
    assert [one["id"] for one in evergold("list", *here, "--json")["webhooks"]] == [made["id"]]
    assert evergold("test", number, "--json")["kind"] == "test"
    assert evergold("log", number, "--json")["deliveries"][0]["status"] == "waiting"
    assert evergold("secret", number, "--json")["secret"] != made["secret"]
    evergold("remove", number)
    assert evergold("list", *here, "--json")["webhooks"] == []


def test_of_nothing_secret_there_is_a_word_in_exports(site: Site) -> None:
    olga = organiser(site, "olga")
    made = olga.client.post(HERE, json=FORM).json()
    declared = olga.client.get(f"{API}/competitions/{COMPETITION}/declaration").text
    assert made["secret"] not in declared
    assert "a-secret-path" not in declared
