"""Words about visibility: notices, previews, promises, official results, choices; in a shell, too."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from evergold.cli import run
from evergold.cli.output import Code
from tests import world
from tests.competitions.embargo import INSTANT, declare, freeze, hide
from tests.web import markup
from tests.web.planted import CLOSE, NAME, REVEAL, SCORE, Planted, planted_site
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, text_of
from tests.web.site import BROWSER, PASSWORD, Person, Site, csrf_of
from tests.world import COMPETITION, DAY, NOW, PHASE, TASK


@pytest.fixture
def planted(site: Site, eve: Person, cheap_passwords: None) -> Iterator[Planted]:
    """The planted score, in both settings, in a report, and carried over to a second phase."""
    with planted_site(site, eve) as found:
        yield found


def test_a_hidden_board_says_so_and_until_when(planted: Planted) -> None:
    hide(planted.site.engine, board="hidden", public_from=REVEAL)
    with planted.site.client(**BROWSER) as nobody:
        shown = nobody.get(BOARD_PAGE).text
        markup.check(shown)
        assert (
            "This board is hidden It will be shown automatically from Sat 10 Jan 2026, 02:00 AoE "
            "(10 Jan, 14:00 UTC) on." in text_of(shown)
        )
        competition = text_of(nobody.get(COMPETITION_PAGE).text)
        results = text_of(nobody.get(f"{COMPETITION_PAGE}/tasks/{TASK}/results").text)
    assert "The board is hidden until Sat 10 Jan 2026, 02:00 AoE (10 Jan, 14:00 UTC)" in competition
    assert "1 team" not in competition.split("Evaluation", 2)[2].split("Post")[0]
    assert "The board is hidden from everybody until Sat 10 Jan 2026, 02:00 AoE (10 Jan, 14:00 UTC)" in results
    with planted.site.client() as nobody:
        document = nobody.get(f"/api/v1{BOARD_PAGE}").json()
    assert (document["rows"], document["official"]) == ([], None)
    assert (document["visibility"]["board"], document["visibility"]["board_at"]) == ("hidden", "2026-01-10T14:00:00Z")


def test_organisers_are_told_what_others_do_not_see_and_can_look_as_they_do(planted: Planted) -> None:
    hide(planted.site.engine, board="hidden", public_from=REVEAL, names_from=REVEAL, precision=2)
    shown = planted.organiser_browser.get(BOARD_PAGE).text
    markup.check(shown)
    text = text_of(shown)
    assert "Hidden from participants." in text
    assert "The board is hidden from participants until Sat 10 Jan 2026, 02:00 AoE (10 Jan, 14:00 UTC)" in text
    assert NAME in text
    for seen_as, said in (
        ("participant", "This is how participants see"),
        ("public", "This is how people who are not logged in see"),
    ):
        shown = planted.organiser_browser.get(f"{BOARD_PAGE}?as={seen_as}").text
        markup.check(shown)
        text = text_of(shown)
        assert "This board is hidden" in text
        assert said in text
        assert NAME not in text
    assert planted.organiser_browser.get(f"{BOARD_PAGE}?as=nobody").status_code == 422


def test_scores_that_are_hidden_from_their_team_are_promised(planted: Planted) -> None:
    hide(planted.site.engine, own_scores="after_close", board="hidden", public_from="close")
    site, mine = planted.site, f"/api/v1/submissions/{planted.submission}"
    site.set_clock(CLOSE - INSTANT)
    document = planted.owner.client.get(mine).json()
    assert (document["status"], document["scores"], document["links"]["report"]) == ("scored", [], None)
    assert document["message"].endswith(
        "The scores of this phase are shown to teams on Sat 10 Jan 2026, 01:00 AoE (10 Jan, 13:00 UTC), when it ends."
    )
    report = planted.owner.client.get(f"{mine}/report")
    assert (report.status_code, report.json()["error"]["code"]) == (404, "scores_hidden")
    shown = planted.owner_browser.get(f"/submissions/{planted.submission}").text
    markup.check(shown)
    assert "when it ends" in text_of(shown)
    site.set_clock(CLOSE)
    assert len(planted.owner.client.get(mine).json()["scores"]) == 4
    assert planted.owner.client.get(f"{mine}/report").status_code == 200


def test_what_is_wrong_with_a_file_is_always_told(planted: Planted) -> None:
    hide(planted.site.engine, own_scores="never", board="hidden")
    accepted = world.submit(planted.site.engine, planted.owner.user, content="bad")
    world.reject(planted.site.engine, accepted.run_id)
    document = planted.owner.client.get(f"/api/v1/submissions/{accepted.submission.id}").json()
    assert (document["status"], document["problems"][0]["line"], document["problems_omitted"]) == ("rejected", 14, 2)


def test_official_results_and_the_everlasting_board_lead_to_each_other(planted: Planted) -> None:
    freeze(planted.site.engine, CLOSE + DAY)
    with planted.site.client(**BROWSER) as nobody:
        live, frozen = nobody.get(BOARD_PAGE).text, nobody.get(f"{BOARD_PAGE}/official").text
        markup.check(frozen)
        assert f'href="{BOARD_PAGE}/official"' in live
        assert f'href="{BOARD_PAGE}"' in frozen
        assert NAME in text_of(frozen)
        assert nobody.get(f"{BOARD_PAGE}/official/1").status_code == 200
        assert nobody.get(f"{BOARD_PAGE}/official/2").status_code == 404
    with planted.site.client() as nobody:
        document = nobody.get(f"/api/v1{BOARD_PAGE}").json()
        official = nobody.get(document["official"]["link"]).json()
        assert (official["official"]["number"], official["rows"]) == (1, document["rows"])
        lines = nobody.get(f"{document['official']['link']}?format=csv").text.splitlines()
        assert lines[1].startswith(f"1,{NAME},team,")
        again = nobody.get(document["official"]["link"])
        known = nobody.get(document["official"]["link"], headers={"If-None-Match": again.headers["ETag"]})
    assert known.status_code == 304


# -------------------------------------------------------------------------------------------------------------- choices


def test_a_team_chooses_on_the_page_and_over_the_api(planted: Planted) -> None:
    declare(planted.site.engine, entry_rule="chosen")
    later = world.submit(planted.site.engine, planted.owner.user, NOW + timedelta(minutes=1), content="later")
    world.score(planted.site.engine, later.run_id, 0.7)
    client, mine = planted.owner.client, f"/submissions/{planted.submission}"

    def top() -> Any:
        return client.get(f"/api/v1{BOARD_PAGE}").json()["rows"][0]["cells"][0]["value"]

    assert (top(), client.get(f"/api/v1{mine}").json()["choice"]) == (
        0.7,
        {"boards": [], "until": "2026-01-10T13:00:00Z"},
    )
    page = planted.owner_browser.get(mine).text
    markup.check(page)
    assert "Your team did not choose this one. Without a choice the latest counts." in text_of(page)
    form = {"csrf_token": csrf_of(page.split('/choice"')[1]), "board": "zero-shot", "action": "choose"}
    after = planted.owner_browser.post(f"{mine}/choice", data=form)
    assert "Your team chose this one for" in text_of(after.text)
    assert top() == SCORE
    assert client.delete(f"/api/v1{mine}/choice").json()["choice"]["boards"] == []
    assert top() == 0.7
    assert client.put(f"/api/v1{mine}/choice").json()["choice"]["boards"] == ["zero-shot", "one-shot"]
    assert client.put(f"/api/v1{mine}/choice?board=none").status_code == 404
    assert planted.other.client.put(f"/api/v1{mine}/choice").status_code == 404
    assert planted.organiser.client.put(f"/api/v1{mine}/choice").status_code == 403
    planted.site.set_clock(CLOSE)
    late = client.put(f"/api/v1{mine}/choice")
    assert (late.status_code, late.json()["error"]["code"]) == (409, "no_choice")
    refused = planted.owner_browser.post(f"{mine}/choice", data=form)
    assert refused.status_code == 409
    assert "Teams could choose until Sat 10 Jan 2026, 01:00 AoE (10 Jan, 13:00 UTC)" in text_of(refused.text)


def test_a_choice_by_a_forged_form_is_refused(planted: Planted) -> None:
    declare(planted.site.engine, entry_rule="chosen")
    answer = planted.owner_browser.post(f"/submissions/{planted.submission}/choice", data={"action": "choose"})
    assert answer.status_code == 403
    assert PASSWORD not in answer.text


def test_a_team_chooses_on_the_command_line(
    planted: Planted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site, mine = planted.site, str(planted.submission)
    declare(site.engine, entry_rule="chosen")
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", planted.owner.client.headers["Authorization"].removeprefix("Bearer "))
    assert run(["choose", mine, "--board", "one-shot"]) == Code.OK
    assert capsys.readouterr().out.endswith("This submission counts for your team on: one-shot.\n")
    assert run(["choose", mine, "--undo"]) == Code.OK
    assert capsys.readouterr().out.endswith("This submission is no longer chosen.\n")
    site.set_clock(CLOSE)
    assert run(["choose", mine]) == Code.REFUSED
    assert "Teams could choose until Sat 10 Jan 2026, 01:00 AoE (10 Jan, 13:00 UTC)" in capsys.readouterr().err


def test_the_command_line_says_what_is_hidden(
    planted: Planted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_SERVER", planted.site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", planted.owner.client.headers["Authorization"].removeprefix("Bearer "))
    hide(planted.site.engine, board="hidden", public_from=REVEAL, own_scores="after_close")
    assert run(["board", f"{COMPETITION}/{PHASE}/zero-shot"]) == Code.OK
    assert "This board is hidden until Sat 10 Jan 2026, 02:00 AoE" in capsys.readouterr().err
    assert run(["status", str(planted.submission)]) == Code.OK
    said = capsys.readouterr().out
    assert "are shown to teams on Sat 10 Jan 2026, 01:00 AoE (10 Jan, 13:00 UTC)" in said
    hide(planted.site.engine, precision=2)
    assert run(["status", str(planted.submission)]) == Code.OK
    assert "macro_f1\tzero-shot · all\t0.62\n" in capsys.readouterr().out
