"""Hidden scores and names are hidden everywhere: planted ones are searched for in the answer of every GET route."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from app.base.db import writing
from app.models import ApiToken
from tests import world
from tests.competitions.embargo import INSTANT, declare, freeze, hide
from tests.web.planted import CLOSE, NAME, REVEAL, SIGNS, Planted, outsiders, planted_site, tells, told
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, text_of
from tests.web.site import BROWSER, Site
from tests.world import DAY, NOW, ONE_SHOT, TASK, ZERO_SHOT


@pytest.fixture
def planted(quick_site: Site, cheap_passwords: None) -> Iterator[Planted]:
    """The planted score, in both settings, in a report, and carried over to a second phase."""
    with planted_site(quick_site, quick_site.person("eve")) as found:
        yield found


# -------------------------------------------------------------------------------------------------------------- scores


def test_the_score_is_found_where_nothing_is_hidden(planted: Planted) -> None:
    """Check it, since otherwise the tests below could find nothing because they look at nothing."""
    freeze(planted.site.engine, CLOSE + DAY)
    for client in (planted.nobody,):
        found = " ".join(told(planted, client, SIGNS))
        for path in (
            f"/api/v1{BOARD_PAGE} ",
            f"/api/v1{BOARD_PAGE}.csv ",
            f" {BOARD_PAGE} ",
            f"{BOARD_PAGE}/official ",
            f"/api/v1{BOARD_PAGE}/official/1 ",
            f"{COMPETITION_PAGE}/phases/post/boards/zero-shot ",
            f"{COMPETITION_PAGE}/tasks/{TASK}/results ",
            f"{COMPETITION_PAGE}/tasks/{TASK}/results.csv ",
        ):
            assert path in found
        assert f"/submissions/{planted.submission}" not in found
    mine = " ".join(told(planted, planted.owner.client, SIGNS))
    for path in ("", "/report", "/report.csv", "/report/official.txt"):
        assert f"/api/v1/submissions/{planted.submission}{path} " in mine
    assert f" /submissions/{planted.submission} " in " ".join(told(planted, planted.owner_browser, SIGNS))


def test_a_hidden_score_is_in_no_answer_to_anybody(planted: Planted) -> None:
    hide(planted.site.engine, board="hidden", public_from=REVEAL, own_scores="never")
    freeze(planted.site.engine, CLOSE + DAY)
    planted.site.set_clock(REVEAL - INSTANT)
    for client in (*outsiders(planted), planted.owner.client, planted.owner_browser):
        assert told(planted, client, SIGNS) == []
    assert tells(planted, planted.organiser.client, SIGNS)
    assert tells(planted, planted.organiser_browser, SIGNS)


def test_borrowed_eyes_and_tokens_for_less_see_no_hidden_score(planted: Planted) -> None:
    hide(planted.site.engine, board="hidden", public_from=REVEAL, own_scores="never")
    paths = [
        *(f"{prefix}{BOARD_PAGE}" for prefix in ("", "/api/v1")),
        f"/api/v1{BOARD_PAGE}.csv",
        f"/api/v1{COMPETITION_PAGE}/tasks/{TASK}/results",
        f"{COMPETITION_PAGE}/tasks/{TASK}/results",
        f"/api/v1/submissions/{planted.submission}",
        f"/api/v1/submissions/{planted.submission}/report",
        f"/submissions/{planted.submission}",
        f"/submissions/{planted.submission}/report",
    ]
    for path in paths:
        client = planted.helper.client if path.startswith("/api") else planted.organiser_browser
        assert any(sign in client.get(path).text for sign in SIGNS), path
        for seen_as in ("participant", "public"):
            answer = client.get(path, params={"as": seen_as}).text
            assert not [sign for sign in SIGNS if sign in answer], path
    with writing(planted.site.engine) as session:
        for token in session.scalars(select(ApiToken).where(ApiToken.user_id == planted.helper.user.id)):
            token.scopes = "read"
    for path in (path for path in paths if path.startswith("/api")):
        assert not [sign for sign in SIGNS if sign in planted.helper.client.get(path).text], path


def test_a_team_sees_its_own_score_and_nobody_else_does(planted: Planted) -> None:
    hide(planted.site.engine, board="hidden", public_from=REVEAL)
    for client in (planted.nobody,):
        assert told(planted, client, SIGNS) == []
    for client in (planted.owner.client, planted.owner_browser):
        found = told(planted, client, SIGNS)
        assert found
        its_own = ("/submissions", f"{COMPETITION_PAGE}/runs ")
        assert all(any(place in path for place in its_own) for path in found), "its own submission, and no board"


@pytest.mark.soak
def test_ranks_alone_tell_no_score(planted: Planted) -> None:
    hide(planted.site.engine, board="ranks_only", own_scores="after_close")
    declare(planted.site.engine, ends_at=REVEAL)
    for client in (planted.nobody, planted.owner.client, planted.owner_browser):
        assert told(planted, client, SIGNS) == []
    with planted.site.client() as nobody:
        (row,) = nobody.get(f"/api/v1{BOARD_PAGE}").json()["rows"]
    assert (row["rank"], row["team"], row["entries"], row["achieved_at"]) == (1, NAME, None, None)


def test_digits_beyond_the_precision_are_in_no_answer(planted: Planted) -> None:
    hide(planted.site.engine, precision=2)
    declare(planted.site.engine, phase="post", visibility={"precision": 2})
    freeze(planted.site.engine, CLOSE + DAY)
    for client in (planted.nobody, planted.owner.client, planted.owner_browser):
        assert told(planted, client, SIGNS) == []
    with planted.site.client() as nobody:
        assert nobody.get(f"/api/v1{BOARD_PAGE}").json()["rows"][0]["cells"][0]["value"] == 0.62
        assert "0.62" in text_of(nobody.get(BOARD_PAGE, headers=BROWSER).text)
        assert nobody.get(f"/api/v1{BOARD_PAGE}.csv").text.endswith(",0.62,0.31,macro_f1 zero_shot/all\r\n")
    report = planted.owner.client.get(f"/api/v1/submissions/{planted.submission}/report").json()
    assert {score["value"] for score in report["scores"]} == {0.62, 0.31}
    assert (report["aggregates"], report["links"]["texts"]) == ({}, {})
    text = planted.owner.client.get(f"/api/v1/submissions/{planted.submission}/report/official.txt")
    assert (text.status_code, text.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.soak
def test_slices_that_are_not_shown_are_in_no_answer(planted: Planted) -> None:
    hide(planted.site.engine, slices="none")
    report = planted.owner.client.get(f"/api/v1/submissions/{planted.submission}/report").json()
    assert {(score["metric"], score["split"]) for score in report["scores"]} == {
        ("macro_f1", ZERO_SHOT),
        ("macro_f1", ONE_SHOT),
    }
    submission = planted.owner.client.get(f"/api/v1/submissions/{planted.submission}").json()
    assert {score["metric"] for score in submission["scores"]} == {"macro_f1"}
    for client in (planted.nobody, planted.owner.client, planted.owner_browser):
        assert told(planted, client, ("zero_shot/en", "0.309", "3090169", "281/455", '"counts":[', '"counts": [')) == []
    hide(planted.site.engine, slices="columns")
    report = planted.owner.client.get(f"/api/v1/submissions/{planted.submission}/report").json()
    assert {score["split"] for score in report["scores"]} == {ZERO_SHOT, ONE_SHOT}
    assert report["aggregates"] == {}


# --------------------------------------------------------------------------------------------------------------- names


def test_a_hidden_name_is_in_no_answer_to_others(planted: Planted) -> None:
    site = planted.site
    hide(site.engine, names_from=REVEAL)
    freeze(site.engine, CLOSE + DAY)
    for client in outsiders(planted):
        assert told(planted, client, (NAME, "windmill", "quixote")) == []
    site.set_clock(REVEAL)
    for client in outsiders(planted):
        assert tells(planted, client, (NAME,))


def test_a_name_that_is_hidden_for_ever_is_in_no_answer_to_others(planted: Planted) -> None:
    """A class hides names while the phase is open, when it has closed, and on official results."""
    site = planted.site
    hide(site.engine, names_from="never")
    freeze(site.engine, CLOSE + DAY)
    for moment in (NOW, CLOSE + DAY, REVEAL + 100 * DAY):
        site.set_clock(moment)
        for client in outsiders(planted):
            assert told(planted, client, (NAME, "windmill", "quixote")) == []


# --------------------------------------------------------------------------------------------- lifting, tags, counting


def tag(site: Site, path: str) -> str:
    with site.client() as nobody:
        return nobody.get(path).headers["ETag"]


def test_the_answer_changes_at_the_very_moment_and_its_tag_with_it(planted: Planted) -> None:
    site = planted.site
    hide(site.engine, board="hidden", public_from=REVEAL)
    for path in (
        f"/api/v1{BOARD_PAGE}",
        f"/api/v1{BOARD_PAGE}.csv",
        f"/api/v1{COMPETITION_PAGE}/phases/post/boards/zero-shot",
        f"/api/v1{COMPETITION_PAGE}/tasks/{TASK}/results",
        f"/api/v1{COMPETITION_PAGE}/tasks/{TASK}/results.csv",
    ):
        site.set_clock(NOW)
        before = tag(site, path)
        site.set_clock(REVEAL - INSTANT)
        with site.client() as nobody:
            assert nobody.get(path, headers={"If-None-Match": before}).status_code == 304, path
            site.set_clock(REVEAL)
            lifted = nobody.get(path, headers={"If-None-Match": before})
        assert lifted.status_code == 200, path
        assert any(sign in lifted.text for sign in SIGNS), path


@pytest.mark.parametrize("suffix", ["", ".csv"])
def test_the_tag_of_what_is_hidden_does_not_count(planted: Planted, suffix: str) -> None:
    site = planted.site
    hide(site.engine, board="hidden", public_from=REVEAL)
    paths = [f"/api/v1{BOARD_PAGE}{suffix}", f"/api/v1{COMPETITION_PAGE}/tasks/{TASK}/results{suffix}"]
    before = [tag(site, path) for path in paths]
    pages = [visit_as_nobody(site, path) for path in (BOARD_PAGE, COMPETITION_PAGE)]
    world.score(site.engine, world.submit(site.engine, planted.other.user, content="more").run_id, 0.7)
    assert [tag(site, path) for path in paths] == before
    assert [visit_as_nobody(site, path) for path in (BOARD_PAGE, COMPETITION_PAGE)] == pages


def visit_as_nobody(site: Site, path: str) -> str:
    with site.client(**BROWSER) as nobody:
        return text_of(nobody.get(path).text)
