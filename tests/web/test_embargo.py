"""What is hidden is hidden everywhere: planted scores and names are searched for in the answer of every GET route."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from sqlalchemy import select

from app.cli import run
from app.cli.output import Code
from app.db import writing
from app.models import ApiToken, Competition, PublicFile, Role, ScoringRun, User
from app.roles import grant_role
from app.runs import record_scores
from scoring.task import Score
from tests import world
from tests.app.embargo import INSTANT, add_phase, declare, freeze, hide
from tests.web import markup
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, text_of
from tests.web.site import BROWSER, PASSWORD, Person, Site, csrf_of, log_in
from tests.world import COMPETITION, DAY, HOUR, NOW, ONE_SHOT, PHASE, TASK, ZERO_SHOT

#: The planted score, and what would give it away: its digits, as a fraction, in percent, and those of its half.
SCORE = 0.6180339887
SIGNS = ("0.618", "61.80", "6180339", "0.309", "30.90", "3090169", "281/455")
#: The planted report: counts tell a score as well as its digits do.
TEXT = "* MWE-based: P=281/455=0.6180 R=281/455=0.6180 F=0.6180"
NAME = "Quixotic Zephyr"
REVEAL = NOW + 2 * HOUR
CLOSE = NOW + HOUR

Get = Callable[[str], httpx.Response]


@dataclass
class Planted:
    """A site with the planted submission, and whoever looks at it: nobody known, another team, its own, organisers."""

    site: Site
    submission: UUID
    owner: Person
    other: Person
    organiser: Person
    helper: Person
    nobody: httpx.Client
    owner_browser: httpx.Client
    organiser_browser: httpx.Client


@pytest.fixture
def planted(site: Site, eve: Person, cheap_passwords: None) -> Iterator[Planted]:
    """The score in both settings, in a report, and carried over to a second phase."""
    declare(site.engine, ends_at=CLOSE)
    add_phase(site.engine, "post", starts_at=NOW - DAY, carry_over=PHASE)
    with log_in(site, "quixote") as owner_browser, log_in(site, "sancho") as organiser_browser:
        owner, helper = token_of(site, owner_browser, "quixote"), token_of(site, organiser_browser, "sancho")
        with writing(site.engine) as session:
            competition = session.scalars(select(Competition)).one()
            grant_role(session, competition, helper.user, Role.ORGANISER, NOW)
        root = site.person("root", is_administrator=True)
        world.add_team(site.engine, owner.user, name=NAME)
        submission = plant(site, owner)
        with owner.client, helper.client, root.client, site.client() as nobody:
            yield Planted(site, submission, owner, eve, root, helper, nobody, owner_browser, organiser_browser)


def token_of(site: Site, browser: httpx.Client, username: str) -> Person:
    """The same person with a token, for the API."""
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
    page = browser.get("/account").text
    form = dict(
        re.findall(r'name="(\w+)" value="(\w+)"', page.split('action="/account/tokens"')[1].split("</form>")[0])
    )
    fields = {**form, "name": "test", "scopes": ["read", "submit", "organise"], "csrf_token": csrf_of(page)}
    page = browser.post("/account/tokens", data=fields).text
    secret = re.search(r"evg_[A-Za-z0-9_-]{20,}", page)
    assert secret, "no token was made"
    return Person(site, user, site.client(Authorization=f"Bearer {secret[0]}"))


def plant(site: Site, person: Person) -> UUID:
    accepted = world.submit(site.engine, person.user, content="planted", method="a windmill")
    held = world.sure(world.claim(site.engine, accepted.run_id))
    scores = [*world.scores_of(ZERO_SHOT, SCORE), *world.scores_of(ONE_SHOT, SCORE)]
    slice_ = Score("macro_f1", "zero_shot/en", SCORE, None, "idiom-detection:1|macro_f1|zero_shot/en")
    with writing(site.engine) as session:
        record_scores(
            session,
            held,
            scores=[*scores, slice_],
            columns=frozenset((score.metric, score.split) for score in scores),
            task_version=1,
            aggregates={"by_language": {"en": {"f1": SCORE, "counts": [281, 455]}}},
            texts={"official": TEXT},
            now=NOW,
        )
    return accepted.submission.id


# ---------------------------------------------------------------------------------------------------- every GET route


def get_paths(planted: Planted) -> list[str]:
    """Every GET route with its parameters filled in; what only another room knows gets something harmless."""
    site = planted.site
    with writing(site.engine) as session:
        run_id = session.scalars(select(ScoringRun.id)).first()
        files = session.scalars(select(PublicFile.name)).all()
    known = {
        "competition": [COMPETITION],
        "phase": [PHASE, "post"],
        "board": ["zero-shot"],
        "task": [TASK],
        "submission_id": [str(planted.submission)],
        "number": ["1"],
        "run_id": [str(run_id)],
        "name": ["official", "probes", *files],
    }
    paths: list[str] = []
    for route in iter_route_contexts(site.app.routes):
        if "GET" in (route.methods or ()):
            paths += filled(route.path or "", known)
    assert len(paths) > 50
    return paths


def filled(template: str, known: dict[str, list[str]]) -> Iterable[str]:
    found = re.search(r"\{(\w+)(?::\w+)?\}", template)
    if found is None:
        yield template
        return
    for value in known.get(found[1], ["1"]):
        yield from filled(template.replace(found[0], value, 1), known)


def answers(planted: Planted, client: httpx.Client) -> Iterator[tuple[str, str]]:
    """(path, everything that was answered: status, headers, body) of every GET route; a browser asks for pages, whoever
    has a token for the rest, and who has neither for everything."""
    asks = {planted.owner_browser: False, planted.organiser_browser: False, planted.owner.client: True}.get(client)
    for path in get_paths(planted):
        if asks is not None and path.startswith("/api/") is not asks:
            continue
        kinds = ("application/json", "text/csv") if "/boards/" in path else ("application/json",)
        for accept in kinds if path.startswith("/api/") else ("text/html",):
            response = client.get(path, headers={"Accept": accept}, follow_redirects=False)
            assert response.status_code != 500, (path, response.text)
            heads = "\n".join(f"{name}: {value}" for name, value in response.headers.items() if name != "x-request-id")
            yield f"{path} as {accept}", f"{response.status_code}\n{heads}\n{response.text}"


def told(planted: Planted, client: httpx.Client, signs: Iterable[str]) -> list[str]:
    """The answers in which one of the signs stands."""
    return [path for path, answer in answers(planted, client) for sign in signs if sign in answer]


def outsiders(planted: Planted) -> list[httpx.Client]:
    return [planted.nobody, planted.other.client]


# -------------------------------------------------------------------------------------------------------------- scores


def test_the_score_is_found_where_nothing_is_hidden(planted: Planted) -> None:
    """Else the tests below would find nothing because they look at nothing."""
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
        assert str(planted.submission) not in found
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
    assert told(planted, planted.organiser.client, SIGNS)
    assert told(planted, planted.organiser_browser, SIGNS)


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
        assert all("/submissions" in path for path in found), "its own submission, and no board"


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
        assert nobody.get(f"/api/v1{BOARD_PAGE}.csv").text.endswith(",0.62,0.31\r\n")
    report = planted.owner.client.get(f"/api/v1/submissions/{planted.submission}/report").json()
    assert {score["value"] for score in report["scores"]} == {0.62, 0.31}
    assert (report["aggregates"], report["links"]["texts"]) == ({}, {})
    text = planted.owner.client.get(f"/api/v1/submissions/{planted.submission}/report/official.txt")
    assert (text.status_code, text.json()["error"]["code"]) == (404, "not_found")


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
        assert told(planted, client, ("zero_shot/en", "0.309", "3090169", "281/455", '"counts"')) == []
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
        assert told(planted, client, (NAME,))


# --------------------------------------------------------------------------------------------- lifting, tags, counting


def tag(site: Site, path: str) -> str:
    with site.client() as nobody:
        return nobody.get(path).headers["ETag"]


@pytest.mark.parametrize(
    "path",
    [
        f"/api/v1{BOARD_PAGE}",
        f"/api/v1{BOARD_PAGE}.csv",
        f"/api/v1{COMPETITION_PAGE}/phases/post/boards/zero-shot",
        f"/api/v1{COMPETITION_PAGE}/tasks/{TASK}/results",
        f"/api/v1{COMPETITION_PAGE}/tasks/{TASK}/results.csv",
    ],
)
def test_the_answer_changes_at_the_very_moment_and_its_tag_with_it(planted: Planted, path: str) -> None:
    site = planted.site
    hide(site.engine, board="hidden", public_from=REVEAL)
    before = tag(site, path)
    site.set_clock(REVEAL - INSTANT)
    with site.client() as nobody:
        assert nobody.get(path, headers={"If-None-Match": before}).status_code == 304
        site.set_clock(REVEAL)
        lifted = nobody.get(path, headers={"If-None-Match": before})
    assert lifted.status_code == 200
    assert any(sign in lifted.text for sign in SIGNS)


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


def test_a_hidden_board_says_so_and_until_when(planted: Planted) -> None:
    hide(planted.site.engine, board="hidden", public_from=REVEAL)
    with planted.site.client(**BROWSER) as nobody:
        shown = nobody.get(BOARD_PAGE).text
        markup.check(shown)
        assert "This board is hidden It is shown from 2026-01-10 14:00 UTC on, by itself." in text_of(shown)
        competition = text_of(nobody.get(COMPETITION_PAGE).text)
        results = text_of(nobody.get(f"{COMPETITION_PAGE}/tasks/{TASK}/results").text)
    assert "The board is hidden until 2026-01-10 14:00 UTC" in competition
    assert "1 team" not in competition.split("Evaluation", 2)[2].split("Post")[0]
    assert "The board is hidden from everybody until 2026-01-10 14:00 UTC" in results
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
    assert "The board is hidden from participants until 2026-01-10 14:00 UTC" in text
    assert NAME in text
    for seen_as, said in (("participant", "So participants see"), ("public", "So people who are not logged in see")):
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
        "The scores of this phase are shown to teams at 2026-01-10 13:00 UTC, when it ends."
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
    assert "Your team did not choose this one. Without a choice the last counts." in text_of(page)
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
    page = planted.owner_browser.post(f"{mine}/choice", data=form)
    assert page.status_code == 409
    assert "Teams could choose until 2026-01-10 13:00 UTC" in text_of(page.text)


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
    assert capsys.readouterr().out == "Your team stands with this submission on: one-shot.\n"
    assert run(["choose", mine, "--undo"]) == Code.OK
    assert capsys.readouterr().out == "This submission is chosen no longer.\n"
    site.set_clock(CLOSE)
    assert run(["choose", mine]) == Code.REFUSED
    assert "Teams could choose until 2026-01-10 13:00 UTC" in capsys.readouterr().err


def test_the_command_line_says_what_is_hidden(
    planted: Planted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_SERVER", planted.site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", planted.owner.client.headers["Authorization"].removeprefix("Bearer "))
    hide(planted.site.engine, board="hidden", public_from=REVEAL, own_scores="after_close")
    assert run(["board", f"{COMPETITION}/{PHASE}/zero-shot"]) == Code.OK
    assert "This board is hidden until 2026-01-10 14:00 UTC." in capsys.readouterr().err
    assert run(["status", str(planted.submission)]) == Code.OK
    said = capsys.readouterr().out
    assert "are shown to teams at 2026-01-10 13:00 UTC" in said
    hide(planted.site.engine, precision=2)
    assert run(["status", str(planted.submission)]) == Code.OK
    assert "macro_f1\tzero_shot/all\t0.62\n" in capsys.readouterr().out
