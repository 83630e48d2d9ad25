"""Withdrawing a submission in the browser, over the API and from the command line."""

from __future__ import annotations

import csv
import io
import re
import zipfile

import pytest
from sqlalchemy import update

from app.base.api_links import API
from app.base.db import writing
from app.models import User
from evergold.cli import run
from evergold.cli.output import Code
from tests import world
from tests.rich_world import EARLIER_TEAM, last_run
from tests.web.reading import SUBMIT_PAGE, text_of
from tests.web.site import BOARD, CONTENT, Person, Site, csrf_of, log_in, run_of
from tests.world import COMPETITION, DAY, NOW

#: What the server logs to the same place.
LOGGED = re.compile(r"\d{4}-\d\d-\d\dT\S+ \[")


def upload(page: str) -> list[tuple[str, tuple[str | None, bytes | str]]]:
    return [("csrf_token", (None, csrf_of(page))), ("file", ("predictions.csv", CONTENT))]


def rows(site: Site) -> list[str]:
    with site.client() as visitor:
        return [row["team"] for row in visitor.get(BOARD).json()["rows"]]


@pytest.mark.usefixtures("cheap_passwords")
def test_its_page_takes_it_back_and_says_so_to_organisers_too(site: Site) -> None:
    with log_in(site, "ada") as browser:
        sent = browser.post(SUBMIT_PAGE, files=upload(browser.get(SUBMIT_PAGE).text))
        page = sent.url.path
        world.score(site.engine, last_run(site.engine), 0.5)
        assert rows(site) == ["ada"]
        form = browser.get(page).text
        assert ">Withdraw</button>" in form
        answer = browser.post(f"{page}/withdrawal", data={"csrf_token": csrf_of(form)})
        assert answer.url.path == page
        assert "Withdrawn 10 Jan 2026" in text_of(answer.text)
        assert ">Withdraw</button>" not in answer.text
        assert "withdrawn" in text_of(browser.get(f"/competitions/{COMPETITION}/runs").text)
    assert rows(site) == []
    with log_in(site, "grace") as browser:
        with writing(site.engine) as session:
            session.execute(update(User).where(User.username == "grace").values(is_administrator=True))
        answer = browser.get(f"{API}/competitions/{COMPETITION}/predictions.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as exported:
        lines = csv.DictReader(io.StringIO(exported.read("manifest.csv").decode("utf-8-sig"), newline=""))
        (line,) = (one for one in lines if one["team"] != EARLIER_TEAM)
    assert (line["withdrawn_at"], line["stands_on"]) == ("2026-01-10T12:00:00+00:00", "")


def test_too_late_is_said_with_both_moments(site: Site, ada: Person) -> None:
    mine = ada.submitted()
    site.set_clock(NOW + DAY)
    answer = ada.client.put(f"{API}/submissions/{mine['id']}/withdrawal")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_withdrawable")
    assert "until Sun 11 Jan 2026, 00:00 AoE (11 Jan, 12:00 UTC)" in answer.json()["error"]["message"]
    assert ada.client.get(f"{API}/submissions/{mine['id']}").json()["withdrawn_at"] is None


def test_the_command_withdraws_once_one_is_sure(
    site: Site, ada: Person, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = ada.submitted()
    world.score(site.engine, run_of(site, mine), 0.5)
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", ada.client.headers["Authorization"].removeprefix("Bearer "))
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert run(["withdraw", mine["id"]]) != Code.OK
    assert rows(site) == ["Ada"]
    capsys.readouterr()
    assert run(["withdraw", mine["id"], "--yes"]) == Code.OK
    out = [line for line in capsys.readouterr().out.splitlines() if not LOGGED.match(line)]
    assert out == ["Withdrawn: this submission counts on no board. Your team and the organisers still see it."]
    assert rows(site) == []
