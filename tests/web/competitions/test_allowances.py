"""Extensions in the browser, over the API and from the command line; and what the team sees of its own."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.base.api_links import API
from app.base.config import get_settings
from app.base.db import reading, writing
from app.boards.freezing import AFTER_CLOSE
from app.competitions.find import find_competition
from app.models import Role, User
from app.people.rights import grant_role
from evergold.cli import run
from evergold.cli.output import Code
from tests.competitions.embargo import freeze
from tests.rich_world import FIRST_ALLOWANCE
from tests.web.reading import SUBMIT_PAGE, text_of
from tests.web.site import BROWSER, Person, Site, csrf_of, log_in
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK, add_team, score, submit

PAGE = f"/competitions/{COMPETITION}/allowances"
PLACE = f"{API}/competitions/{COMPETITION}/allowances"
HERE = f"{API}/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}"
TEAM_PAGE = f"/competitions/{COMPETITION}/team"
WHY = "their cluster was down"


def organises(site: Site, user: User) -> None:
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)


@pytest.fixture
def olga(site: Site) -> Person:
    person = site.person("olga")
    organises(site, person.user)
    return person


def test_a_late_team_is_told_and_submits_and_others_do_not(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    add_team(site.engine, ada.user, name="Magpie")
    wanted = {"phase": PHASE, "team": "Magpie", "until": "2026-01-12T12:00:00Z", "extra_total": 1, "reason": WHY}
    granted = olga.client.put(PLACE, json=wanted).json()
    assert (granted["granted_by"], granted["is_ranked"]) == ("olga", False)
    assert olga.client.get(PLACE).json() == {"allowances": [granted]}
    site.set_clock(NOW + DAY + HOUR)
    told = ada.client.get(HERE).json()
    assert (told["state"], told["accepts_submissions"]) == ("closed", True)
    assert (told["quota"]["open_until"], told["quota"]["extra_total"]) == ("2026-01-12T12:00:00Z", 1)
    assert ada.submit().status_code == 202
    refused = eve.submit()
    assert refused.json()["error"]["code"] == "phase_not_open"
    assert eve.client.get(HERE).json()["accepts_submissions"] is False
    assert olga.client.delete(f"{PLACE}/{granted['id']}").status_code == 204
    assert ada.submit(b"another").json()["error"]["code"] == "phase_not_open"


@pytest.mark.usefixtures("cheap_passwords")
def test_organisers_grant_it_on_a_page_and_the_team_reads_it_where_it_submits(site: Site) -> None:
    with log_in(site, "ada") as browser:
        with reading(site.engine) as session:
            ada = session.scalars(select(User).where(User.username == "ada")).one()
        organises(site, ada)
        add_team(site.engine, ada, name="Magpie")
        form = {"csrf_token": csrf_of(browser.get(PAGE).text), "phase": PHASE, "team": "Magpie", "reason": WHY}
        wrong = browser.post(PAGE, data={**form, "until": "tomorrow", "extra_total": "few"})
        assert wrong.status_code == 422
        assert "'tomorrow' is not a date and time with a time zone" in text_of(wrong.text)
        assert "Write a whole number, or leave it empty." in text_of(wrong.text)
        assert 'value="tomorrow"' in wrong.text
        page = browser.post(PAGE, data={**form, "until": "2026-01-12 12:00 UTC", "extra_per_day": "2"})
        assert page.url.path == PAGE
        assert "Revoke" in page.text
        site.set_clock(NOW + DAY + HOUR)
        for address in (SUBMIT_PAGE, f"/competitions/{COMPETITION}/team"):
            told = text_of(browser.get(address).text)
            assert "Your team has an extension in Evaluation" in told
            close = "Sun 11 Jan 2026, 00:00 AoE (11 Jan, 12:00 UTC)"
            assert "2 extra submissions per day. The official results are frozen after" in told
            assert f"the phase closes, {close}, before" in told
            assert f"Reason: {WHY}" in told
        assert "data-submit" in browser.get(SUBMIT_PAGE).text
        overview = browser.get(f"/competitions/{COMPETITION}").text
        assert f'href="{SUBMIT_PAGE}"' in overview, "the tab is there for the late team"
        assert browser.get(f"/competitions/{COMPETITION}/submit").url.path == SUBMIT_PAGE
        with site.client(**BROWSER) as anybody:
            assert f'href="{SUBMIT_PAGE}"' not in anybody.get(f"/competitions/{COMPETITION}").text
        browser.post(f"{PAGE}/{FIRST_ALLOWANCE}/take-back", data={"csrf_token": form["csrf_token"]})
        assert "data-submit" not in browser.get(SUBMIT_PAGE).text


def test_the_command_grants_lists_and_takes_back(
    site: Site, ada: Person, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_team(site.engine, ada.user, name="Magpie")
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", site.engine.url.render_as_string(hide_password=False))
    get_settings.cache_clear()

    def evergold(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()  # what the server logged
        code = run(["allowance", *arguments])
        return code, capsys.readouterr().out

    place = f"{COMPETITION}/{PHASE}"
    code, out = evergold("grant", place, "--team", "Magpie", "--reason", WHY, "--extra-total", "2")
    assert (code, out) == (Code.OK, f"In {place}, Magpie is allowed: 2 more in total.\n")
    assert "Magpie\tevaluation\t2 more in total" in evergold("list", COMPETITION)[1]
    assert evergold("grant", place, "--team", "Nobody", "--reason", WHY, "--extra-total", "2")[0] != Code.OK
    assert evergold("take-back", COMPETITION, str(FIRST_ALLOWANCE)) == (Code.OK, "Revoked.\n")
    assert evergold("list", COMPETITION)[1] == "No team has an extension.\n"


@pytest.mark.usefixtures("cheap_passwords")
def test_pages_and_api_say_whether_late_entries_count_in_the_official_results(site: Site, eve: Person) -> None:
    close, later = NOW + DAY, "2026-01-12 12:00 UTC"
    score(site.engine, submit(site.engine, eve.user).run_id, 0.5)
    with log_in(site, "ada") as browser:
        with reading(site.engine) as session:
            ada = session.scalars(select(User).where(User.username == "ada")).one()
        organises(site, ada)
        add_team(site.engine, ada, name="Magpie")
        sent = {"csrf_token": csrf_of(browser.get(PAGE).text), "phase": PHASE, "team": "Magpie", "reason": WHY}
        form = {**sent, "until": later, "late": "ranked"}
        assert "The official results wait for late entries." in text_of(browser.post(PAGE, data=form).text)
        site.set_clock(close + AFTER_CLOSE)
        assert freeze(site.engine, site.now) == 0
        assert "The official results wait for late entries." in text_of(browser.get(SUBMIT_PAGE).text)
        browser.post(f"{PAGE}/{FIRST_ALLOWANCE}/take-back", data=sent)
        assert freeze(site.engine, site.now) == 2
        words = "Late entries do not count in the official results, which were frozen on 11 Jan 2026, 12:01 UTC."
        for told in (browser.post(PAGE, data=form), browser.get(SUBMIT_PAGE), browser.get(TEAM_PAGE)):
            assert words in text_of(told.text)
        organises(site, eve.user)
        assert [one["in_official"] for one in eve.client.get(PLACE).json()["allowances"]] == [False]
