"""Method cards through the API, the pages and the command line: with an upload, changed, frozen, read on boards."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading
from app.models import User
from evergold.cli import run
from evergold.cli.output import Code
from tests import world
from tests.cards.writing import ask, required, write
from tests.competitions.embargo import freeze, hide
from tests.web.site import BOARD, CONTENT, Person, Site, csrf_of, log_in, run_of
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK

LOGGED = re.compile(r"\d{4}-\d\d-\d\dT\S+ \[")
LINK = "https://example.org/code"
FORM = f"/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}/submit"
CARD = {"code": LINK, "summary": "How it works.", "fields": {"parameters": 560, "ensemble": False}}


def errors_of(response: httpx.Response) -> dict[str, str]:
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (422, "invalid_form")
    fields: dict[str, str] = error["details"]["fields"]
    return fields


def scored(site: Site, person: Person, **fields: Any) -> dict[str, Any]:
    submission = person.submitted(**fields)
    world.score(site.engine, run_of(site, submission), 0.7)
    return submission


# ----------------------------------------------------------------------------------------------------- with an upload


def test_a_card_comes_as_json_or_in_fields_of_its_own(site: Site, ada: Person, eve: Person) -> None:
    ask(site.engine)
    by_json = ada.submitted(method="XLM-R", card=json.dumps(CARD))
    fields: dict[str, Any] = {
        "method": "XLM-R",
        "code": LINK,
        "summary": "How it works.",
        "field-parameters": "560",
        "field-ensemble": "no",
    }
    by_fields = eve.submitted(**fields)
    cards = [
        person.client.get(f"/api/v1/submissions/{sent['id']}/card").json()["card"]
        for person, sent in ((ada, by_json), (eve, by_fields))
    ]
    assert cards[0] == cards[1]
    assert cards[0]["answers"] == [
        {"name": "parameters", "title": "Parameters (millions)", "value": 560},
        {"name": "ensemble", "title": "Ensemble", "value": False},
    ]


def test_all_that_is_missing_is_told_before_anything_is_stored(site: Site, ada: Person) -> None:
    ask(site.engine, required("parameters", "family"), "code")
    refused = ada.submit(
        track="closed", method="m" * 201, card=json.dumps({"paper": "x", "fields": {"family": "none"}})
    )
    assert set(errors_of(refused)) == {"track", "method", "code", "paper", "fields.parameters", "fields.family"}
    assert site.submissions() == 0
    assert site.stored() == []


@pytest.mark.parametrize("card", ["[]", "{", "5", "[" * 20_000, '{"fields": []}', '{"fields": 5}', '{"method": 5}'])
def test_a_card_that_is_none_is_refused(site: Site, ada: Person, card: str) -> None:
    ask(site.engine, required("parameters"))
    assert errors_of(ada.submit(card=card))
    assert site.submissions() == 0


def test_where_nothing_is_asked_uploads_are_as_ever(site: Site, ada: Person) -> None:
    submission = ada.submitted(method="XLM-R")
    found = ada.client.get(f"/api/v1/submissions/{submission['id']}/card").json()
    assert (found["card"]["method"], found["version"], found["history"]) == ("XLM-R", 0, [])


def test_an_accepted_upload_sent_again_is_the_same_though_more_is_asked_by_now(site: Site, ada: Person) -> None:
    first = ada.submitted(headers={"Idempotency-Key": "k"})
    ask(site.engine, required("parameters"), "code")
    assert ada.submitted(headers={"Idempotency-Key": "k"})["id"] == first["id"]
    assert site.submissions() == 1


# ------------------------------------------------------------------------------------------------------------- the API


def test_a_card_is_changed_as_a_whole(site: Site, ada: Person) -> None:
    ask(site.engine)
    submission = scored(site, ada, method="XLM-R", card=json.dumps(CARD))
    address = f"/api/v1/submissions/{submission['id']}/card"
    before = ada.client.get(BOARD).json()
    assert before["card_columns"] == [
        {"name": "parameters", "title": "Parameters (millions)"},
        {"name": "ensemble", "title": "Ensemble"},
    ]
    changed = ada.client.put(address, json={"method": "mBERT", "fields": {"parameters": 110}}, params={"version": 1})
    assert changed.status_code == 200
    assert changed.json()["card"]["code"] == "", "what is left out is empty then"
    assert [one["changed"] for one in changed.json()["history"]] == [
        ["Summary", "Code", "Parameters (millions)", "Ensemble"],
        ["Method", "Summary", "Code", "Parameters (millions)", "Ensemble"],
    ]
    after = ada.client.get(BOARD).json()
    assert after["version"] != before["version"]
    (row,) = after["rows"]
    assert (row["method"], row["card"]["answers"]) == (
        "mBERT",
        [{"name": "parameters", "title": "Parameters (millions)", "value": 110}],
    )
    told = ada.client.put(address, json={"method": "late"}, params={"version": 1})
    assert (told.status_code, told.json()["error"]["code"]) == (409, "card_changed")


def test_everything_wrong_with_a_card_is_told_by_field(site: Site, ada: Person) -> None:
    ask(site.engine, required("ensemble"))
    submission = ada.submitted(card=json.dumps({"fields": {"ensemble": True}}))
    address = f"/api/v1/submissions/{submission['id']}/card"
    wrong = {"paper": "javascript:alert(1)", "languages": ["x" * 41], "fields": {"parameters": "big", "colour": 5}}
    fields = errors_of(ada.client.put(address, json=wrong))
    assert set(fields) == {"paper", "languages", "fields.parameters", "fields.ensemble", "fields.colour"}
    assert ada.client.get(address).json()["version"] == 1


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"{",
        b'{"method": 5}',
        b'{"languages": "en"}',
        b'{"fields": {"parameters": [1]}}',
        b'{"method": "\\ud800"}',
        b'{"fields": {"parameters": 1e999}}',
        b'{"fields": {"parameters": ' + b"9" * 5_000 + b"}}",
        b'{"summary": "\\u0000"}',
        b'{"other": 1}',
    ],
)
def test_nothing_that_is_sent_breaks_it(site: Site, ada: Person, body: bytes) -> None:
    ask(site.engine)
    submission = ada.submitted()
    address = f"/api/v1/submissions/{submission['id']}/card"
    answer = ada.client.put(address, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert ada.client.get(address).json()["version"] == 0


def test_a_frozen_card_is_refused_and_says_so(site: Site, ada: Person) -> None:
    submission = scored(site, ada)
    address = f"/api/v1/submissions/{submission['id']}/card"
    assert ada.client.get(address).json()["is_editable"] is True
    site.set_clock(NOW + DAY + HOUR)
    freeze(site.engine, site.now)
    refused = ada.client.put(address, json={"method": "late"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "card_frozen")
    found = ada.client.get(address).json()
    assert (found["is_editable"], found["frozen_at"]) == (False, "2026-01-11T13:00:00Z")


def test_cards_are_read_by_their_team_and_organisers(site: Site, ada: Person, eve: Person) -> None:
    submission = ada.submitted(card=json.dumps({"code": LINK}))
    address = f"/api/v1/submissions/{submission['id']}/card"
    assert eve.client.get(address).status_code == 404
    assert eve.client.put(address, json={}).status_code == 404
    root = site.person("root", is_administrator=True)
    with root.client:
        found = root.client.get(address).json()
        assert (found["card"]["code"], found["is_editable"]) == (LINK, False)
        assert root.client.put(address, json={}).status_code == 403


def test_csv_has_what_stands_on_the_board(site: Site, ada: Person, eve: Person) -> None:
    ask(site.engine, [{**field, "on_board": True} for field in required()])
    said = {"parameters": -5, "training": "=1+1", "family": "encoder"}
    scored(site, ada, method="m", card=json.dumps({"fields": said}))
    scored(site, eve, method="n")
    lines = ada.client.get(f"{BOARD}.csv").text.splitlines()
    assert ",source,card parameters,card family,card ensemble,card training,macro_f1 zero_shot/all" in lines[0]
    assert any(",-5,encoder,,'=1+1,0.7," in line for line in lines)
    hide(site.engine, names_from="close")
    assert "card " not in eve.client.get(f"{BOARD}.csv").text


def test_tables_for_papers_have_them_and_can_choose(site: Site, ada: Person) -> None:
    ask(site.engine)
    scored(site, ada, card=json.dumps(CARD))
    whole = ada.client.get(f"{BOARD}/table").text
    assert "| Ada | 560 | no | **0.7000** |" in whole
    params = {"column": ["card parameters", "macro_f1 zero_shot/all"]}
    chosen = ada.client.get(f"{BOARD}/table", params=params).text
    assert chosen.splitlines()[0] == r"| \# | Team | Parameters (millions) | F1 |"
    refused = ada.client.get(f"{BOARD}/table", params={"column": "card colour"})
    assert (refused.status_code, "`card parameters`" in refused.text) == (422, True)


# --------------------------------------------------------------------------------------------------------------- pages


def user(site: Site, username: str) -> User:
    with reading(site.engine) as session:
        return session.scalars(select(User).where(User.username == username)).one()


def test_the_form_asks_and_keeps_what_was_typed(site: Site, cheap_passwords: None) -> None:
    ask(site.engine, required("parameters"), "code")
    with log_in(site) as browser:
        page = browser.get(FORM).text
        assert 'name="field-parameters"' in page
        typed = {"csrf_token": csrf_of(page), "method": "XLM-R", "summary": "<b>How</b>", "field-family": "decoder"}
        files = {"file": ("predictions.csv", CONTENT)}
        refused = browser.post(FORM, data=typed, files=files)
        assert refused.status_code == 422
        assert refused.text.count("The organisers require this.") == 2
        assert "&lt;b&gt;How&lt;/b&gt;" in refused.text
        assert '<option value="decoder" selected>' in refused.text
        assert site.submissions() == 0
        typed |= {"csrf_token": csrf_of(refused.text), "code": LINK, "field-parameters": "560"}
        accepted = browser.post(FORM, data=typed, files=files)
        assert (accepted.status_code, site.submissions()) == (200, 1)
        assert LINK in accepted.text, "the submission's page shows its card"
        assert "Change the card" in accepted.text


def test_the_card_is_changed_on_its_page(site: Site, cheap_passwords: None) -> None:
    ask(site.engine)
    with log_in(site) as browser:
        ada = user(site, "ada")
        sent = world.submit(site.engine, ada, method="XLM-R").submission.id
        address = f"/submissions/{sent}/card"
        page = browser.get(address).text
        typed = {"csrf_token": csrf_of(page), "version": "0", "method": "XLM-R", "languages": "en pt"}
        wrong = browser.post(address, data={**typed, "paper": "nowhere", "field-ensemble": "yes"})
        assert wrong.status_code == 422
        assert 'value="nowhere"' in wrong.text
        assert '<option value="yes" selected>' in wrong.text
        saved = browser.post(address, data={**typed, "paper": LINK, "field-ensemble": "yes"})
        assert saved.status_code == 200
        assert f'<a href="{LINK}" rel="nofollow ugc noopener noreferrer">' in saved.text
        again = browser.get(address).text
        assert "Paper, Languages, Ensemble" in again
        assert 'value="en pt"' in again
        late = browser.post(address, data={**typed, "method": "other"})
        assert (late.status_code, "somebody on your team".casefold() in late.text.casefold()) == (409, True)
        assert 'value="other"' in late.text, "what was typed is kept"
        assert browser.post(address, data={**typed, "csrf_token": "x"}).status_code == 403
        site.set_clock(NOW + DAY + HOUR)


def test_boards_show_what_is_asked_for_them(site: Site, ada: Person) -> None:
    ask(site.engine)
    scored(site, ada, card=json.dumps({"fields": {"parameters": 560}}))
    with site.client(Accept="text/html") as anybody:
        page = anybody.get(BOARD.removeprefix("/api/v1")).text
        assert '<th scope="col">Parameters (millions)</th>' in page
        assert '<td class="answer"><bdi>560</bdi></td>' in page


def test_a_method_is_cut_where_links_to_paper_and_code_take_its_room(site: Site, ada: Person) -> None:
    submission = scored(site, ada, method="Contrastive encoder, long")
    page = BOARD.removeprefix("/api/v1")
    with site.client(Accept="text/html") as anybody:
        assert '<span class="who"><span class="name">' in anybody.get(page).text
        links = {"paper": "https://papers.example.org/one.pdf", "code": "https://code.example.org/one"}
        write(site.engine, UUID(submission["id"]), ada.user, method="Contrastive encoder, long", **links)
        assert '<span class="who long" title="Ada · Contrastive encoder, long">' in anybody.get(page).text


def test_a_public_board_from_memory_follows_a_change(site: Site, ada: Person) -> None:
    ask(site.engine)
    submission = scored(site, ada, method="before")
    page = BOARD.removeprefix("/api/v1")
    with site.client(Accept="text/html") as anybody:
        assert "before" in anybody.get(page).text
        write(site.engine, UUID(submission["id"]), ada.user, method="afterwards")
        assert "afterwards" in anybody.get(page).text


# -------------------------------------------------------------------------------------------------------- command line


def test_the_command_line_shows_and_changes_a_card(
    site: Site, ada: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(site.engine, required("parameters"))
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", ada.client.headers["Authorization"].removeprefix("Bearer "))

    def evergold(*arguments: object) -> tuple[int, str, str]:
        code = run([str(one) for one in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        # The server logs to the same place.
        out = "".join(line for line in captured.out.splitlines(keepends=True) if not LOGGED.match(line))
        return code, out, captured.err

    file, card = tmp_path / "p.csv", tmp_path / "card.yaml"
    file.write_bytes(CONTENT)
    card.write_text(f"code: {LINK}\nfields: {{parameters: 560, training: 'yes'}}\n")
    place = f"{COMPETITION}/{PHASE}/{TASK}"
    code, _, err = evergold("submit", file, "--to", place, "--no-wait")
    assert (code, "fields.parameters: The organisers require this." in err) == (Code.ERROR, True)
    code, out, _ = evergold("submit", file, "--to", place, "--no-wait", "--method", "m", "--card", card, "--json")
    assert code == Code.OK
    id_ = json.loads(out)["id"]
    code, out, _ = evergold("card", id_)
    assert (code, out.splitlines()) == (
        Code.OK,
        ["About\tSaid", "System\tm", "Method\tm", f"Code\t{LINK}", "Parameters (millions)\t560", "Training\tyes"],
    )
    assert "System\tMagpie XL\n" in evergold("card", id_, "--set", "system=Magpie XL")[1]
    code, out, err = evergold("card", id_, "--set", "parameters=110", "--set", "languages=en, pt", "--set", "code=")
    assert (code, "Languages\ten, pt" in out, "Code" in out) == (Code.OK, True, False)
    assert "ada: Code, Languages, Parameters (millions)" in err
    assert evergold("card", id_, "--set", "colour=red")[0] == Code.USAGE
    assert evergold("card", id_, "--set", "parameters=")[0] == Code.ERROR
    card.write_text("- no\n")
    assert evergold("card", id_, "--from", card)[0] == Code.USAGE
    card.write_text("fields: {parameters: 7}\n")
    code, out, _ = evergold("card", id_, "--from", card, "--json")
    assert json.loads(out)["card"]["answers"] == [{"name": "parameters", "title": "Parameters (millions)", "value": 7}]
