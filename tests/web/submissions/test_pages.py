"""The upload form, a submission's page in every state, and the list of one's own."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.base.packing import packed
from app.competitions.find import find_competition
from app.models import CompetitionTask, ScoringRun, User
from app.people import auth
from app.runs.claims import claim_run
from app.runs.outcomes import record_rejection
from evergold.scoring.errors import Problems
from evergold.scoring.program.options import Audience
from evergold.scoring.tables.row_problems import Fault, note_faults
from tests import world
from tests.beside import add_other_task
from tests.competitions.embargo import add_phase, enter
from tests.rich_world import OTHER_TASK, fresh
from tests.web import markup
from tests.web.reading import BOARD_PAGE, SUBMIT_PAGE, rows_of, text_of, visit
from tests.web.site import BROWSER, CONTENT, Site, csrf_of, log_in
from tests.world import COMPETITION, DAY, NOW, PHASE, SECOND, TASK

# ------------------------------------------------------------------------------------------------------------- upload


def form_of(browser: httpx.Client, content: bytes = CONTENT, **fields: str) -> dict[str, Any]:
    """Return what a browser sends when the form of the upload page is submitted."""
    page = browser.get(SUBMIT_PAGE).text
    action = html.unescape(re.findall(r'action="([^"]*/submit[^"]*)"', page)[0])
    data = {"csrf_token": csrf_of(page.split("<main")[1]), "method": "", "description": "", **fields}
    return {"url": action, "data": data, "files": {"file": ("predictions.csv", content)}}


def test_an_upload_leads_to_its_submission(site: Site) -> None:
    with log_in(site) as browser:
        response = browser.post(**form_of(browser, method="XLM-R", description="line 1\nline 2"))
        assert response.history[0].status_code == 303
        markup.check(response.text)
        found = text_of(response.text)
    assert "Queued" in found
    assert "next in line" in found
    assert "XLM-R" in found
    assert "line 1" in found


def test_the_form_says_what_is_needed(site: Site) -> None:
    site.add_file("template.csv", b"ID,Language,Setting,Label\n1,EN,zero_shot,\n", "Template")
    with log_in(site) as browser:
        found = text_of(browser.get(SUBMIT_PAGE).text)
    assert "ID,Language,Setting,Label 1,EN,zero_shot," in found
    assert "10 left today" in found
    assert "Deadline Sun 11 Jan 2026, 00:00 AoE (11 Jan, 12:00 UTC) The deadline applies" in found
    assert "up to 977 KiB" in found


def test_the_form_leads_to_the_other_open_phases_of_its_task_and_to_the_tasks_of_its_phase(site: Site) -> None:
    add_other_task(site.engine)
    add_phase(site.engine, "practice", starts_at=NOW - DAY, position=2)
    add_phase(site.engine, "later", starts_at=NOW + DAY, position=3)
    phases = f"/competitions/{COMPETITION}/phases"
    with log_in(site) as browser:
        found = {
            (phase, task): re.findall(rf'href="{phases}/([^"]+)/submit"', toolbar_of(browser, phase, task))
            for phase, task in ((PHASE, TASK), (PHASE, OTHER_TASK), ("practice", TASK), ("later", TASK))
        }
    here, other, practice, later = (
        f"{phase}/tasks/{task}"
        for phase, task in ((PHASE, TASK), (PHASE, OTHER_TASK), ("practice", TASK), ("later", TASK))
    )
    assert found == {
        (PHASE, TASK): [here, practice, here, other],
        (PHASE, OTHER_TASK): [here, other],
        ("practice", TASK): [here, practice],
        ("later", TASK): [here, practice, later],
    }


def toolbar_of(browser: httpx.Client, phase: str, task: str) -> str:
    page = browser.get(f"/competitions/{COMPETITION}/phases/{phase}/tasks/{task}/submit").text
    return page.partition('class="toolbar"')[2].partition("<form")[0]


def test_who_is_not_registered_finds_the_way_where_a_file_was_refused(site: Site) -> None:
    with log_in(site) as browser:
        form = form_of(browser)
        with writing(site.engine) as session:
            find_competition(session, COMPETITION).registration = {"mode": "open", "terms": "Be kind."}
        refused = browser.post(**form)
    assert refused.status_code == 403
    assert 'role="alert"' in refused.text
    assert f'class="button" href="/competitions/{COMPETITION}/registration"' in refused.text


def test_the_form_offers_every_system_that_the_team_has_in_this_task(site: Site) -> None:
    with log_in(site) as browser:
        for number, system in enumerate(("Crow", "Jay")):
            browser.post(**form_of(browser, b"file %d" % number, system=system))
        page = browser.get(SUBMIT_PAGE).text
    assert re.findall(r'<option value="(Crow|Jay)"', page) == ["Jay", "Crow"]


def test_a_double_click_submits_once(site: Site) -> None:
    with log_in(site) as browser:
        form = form_of(browser)
        first, second = (browser.post(**form) for _ in range(2))
        assert first.url == second.url
        assert site.submissions() == 1
        browser.post(**form_of(browser, again="yes"))  # a new form, the same file: meant twice
        assert site.submissions() == 2


def test_going_back_gets_a_new_form(site: Site) -> None:
    with log_in(site) as browser:
        assert browser.get(SUBMIT_PAGE).headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("prepare", "content", "status", "said"),
    [
        (lambda site: None, b"", 422, "The file is empty"),
        (lambda site: None, b"x" * 1_000_001, 413, "larger than"),
        (lambda site: site.set_clock(NOW + DAY + SECOND), CONTENT, 409, "closed Sun 11 Jan 2026, 00:00 AoE"),
        (lambda site: site.set_clock(NOW - DAY - SECOND), CONTENT, 409, "opens Fri 9 Jan 2026, 00:00 AoE"),
    ],
    ids=["empty", "too large", "too late", "too early"],
)
def test_a_refused_upload_comes_back_with_the_reason(
    site: Site, prepare: Callable[[Site], None], content: bytes, status: int, said: str
) -> None:
    with log_in(site) as browser:
        form = form_of(browser, content, method="my <method>")
        prepare(site)
        response = browser.post(**form)
    markup.check(response.text)
    assert response.status_code == status
    assert said in text_of(response.text)
    assert 'role="alert"' in response.text
    if status != 409:
        assert 'value="my &lt;method&gt;"' in response.text
    assert site.submissions() == 0


def test_an_upload_without_its_token_is_refused(site: Site) -> None:
    with log_in(site) as browser:
        form = form_of(browser)
        for token in ("", "wrong"):
            form["data"] = {"csrf_token": token}
            assert browser.post(**form).status_code == 403
        form["data"] = {}
        assert browser.post(**form).status_code == 403
    assert (site.submissions(), site.stored()) == (0, [])


def test_an_upload_of_somebody_who_was_logged_out_leads_back(site: Site) -> None:
    with log_in(site) as browser:
        form = form_of(browser)
        browser.cookies.clear()
        browser.follow_redirects = False
        response = browser.post(**form)
    assert response.headers["Location"] == f"/login?next={SUBMIT_PAGE}&done=expired"


@pytest.mark.parametrize(
    ("used", "said"),
    [(10, "Your team has used all its submissions of today"), (9, "1 left today")],
)
def test_the_form_knows_the_quota(site: Site, used: int, said: str) -> None:
    with log_in(site) as browser:
        for number in range(used):
            browser.post(**form_of(browser, b"file %d" % number))
        assert said in text_of(browser.get(SUBMIT_PAGE).text)


def test_a_team_finds_itself_on_the_board(site: Site) -> None:
    with log_in(site) as browser:
        browser.post(**form_of(browser))
        with reading(site.engine) as session:
            run_id = session.scalars(fresh(ScoringRun)).one().id
        world.score(site.engine, run_id, 0.75)
        assert '<span class="badge mine">you</span>' in browser.get(BOARD_PAGE).text
    assert "badge mine" not in visit(site, BOARD_PAGE)


# --------------------------------------------------------------------------------------------------------- submission


@pytest.fixture
def sent(site: Site) -> tuple[Site, str, int]:
    """A site with one submission of ada's: its page, and its run."""
    user = world.add_user(site.engine, "grace")
    accepted = world.submit(site.engine, user, method="mBERT")
    return site, f"/submissions/{accepted.submission.id}", accepted.run_id


def seen_by_grace(site: Site, path: str) -> httpx.Response:
    """Grace's tokens work on pages, too."""
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == "grace")).one()
        _, secret = auth.create_token(session, user, "test", NOW)
    with site.client(**BROWSER, Authorization=f"Bearer {secret}") as browser:
        return browser.get(path)


def test_a_waiting_page_goes_on_by_itself(sent: tuple[Site, str, int]) -> None:
    site, path, _ = sent
    page = seen_by_grace(site, path).text
    markup.check(page)
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page
    assert f'hx-get="{path}/live?seen=queued"' in page
    assert "htmx.min.js" in page


def test_a_scored_page_shows_standing_scores_and_signatures(sent: tuple[Site, str, int]) -> None:
    site, path, run_id = sent
    world.score(site.engine, run_id, 0.7037)
    page = seen_by_grace(site, path).text
    markup.check(page)
    found = text_of(page)
    assert "<title>Scored 0.7037: Detection · Evergold</title>" in page
    assert "zero-shot 0.7037 rank 1 of 1 Macro F1 · counts: best submission" in found
    assert "Part Macro F1 Accuracy zero-shot · all 0.7037" in found
    assert "one-shot · all – undefined: not entered" in found
    assert "Macro F1 zero-shot · all 0.7037 idiom-detection:1|macro_f1|zero_shot/all" in found
    assert "refresh" not in page
    assert "htmx" not in page


def test_one_mistake_on_every_line_is_one_kind_of_problem_and_nothing_was_scored(sent: tuple[Site, str, int]) -> None:
    """434 equal mistakes: twenty named by line, the others as one more."""
    site, page, run_id = sent
    problems = Problems()
    note_faults(
        "bad-label",
        "Label",
        list(range(2, 436)),
        lambda line: Fault(line, "invalid label '2': expected 0 or 1", "2"),
        problems,
    )
    with writing(site.engine) as session:
        held = world.sure(claim_run(session, run_id, worker="worker:1", lease_seconds=60, now=NOW))
        record_rejection(session, held, problems=problems.errors, omitted=0, now=NOW)
    found = seen_by_grace(site, page).text
    assert "1 kind of problem on 434 lines" in text_of(found)
    assert 'class="steps"' not in found, "progress is shown while there is any"


def test_a_submission_of_another_phase_leads_to_the_board_of_that_phase(site: Site) -> None:
    add_phase(site.engine, "practice", starts_at=NOW - DAY, position=2)
    grace = world.add_user(site.engine, "grace")
    sent_to = {
        phase: enter(site.engine, grace, 0.5, phase=phase, minute=minute)
        for minute, phase in enumerate((PHASE, "practice"), start=1)
    }
    for phase, one in sent_to.items():
        page = seen_by_grace(site, f"/submissions/{one}").text
        standings = re.findall(r'href="[^"]*/phases/([a-z]+)/boards/zero-shot', page.partition("<main")[2])
        assert set(standings) == {phase}


def test_the_title_follows_the_state(sent: tuple[Site, str, int]) -> None:
    site, page, run_id = sent
    world.reject(site.engine, run_id)
    live = seen_by_grace(site, f"{page}/live?seen=queued").text
    assert re.search(r"<title>\s*Rejected: Detection", live)


@pytest.mark.parametrize("path", ["/submissions/not-an-id", "/judging/rounds/x/items/y/0x", "/validations/1"])
def test_an_id_that_is_none_is_an_address_that_is_none(site: Site, path: str) -> None:
    with log_in(site) as browser:
        answer = browser.get(path, headers=BROWSER)
    assert answer.status_code == 404
    assert "Page not found" in answer.text
    assert "valid" not in text_of(answer.text).lower()


def test_a_rejected_page_lists_the_problems_by_line(sent: tuple[Site, str, int]) -> None:
    site, path, run_id = sent
    world.reject(site.engine, run_id)
    page = seen_by_grace(site, path).text
    markup.check(page)
    found = text_of(page)
    assert "3 problems" in found
    assert "14 id 203 appears twice, first on line 9" in found
    assert "… and 2 more problems" in found
    assert "uses none of your quota" in found


def test_a_failed_page_says_that_it_was_us(sent: tuple[Site, str, int]) -> None:
    site, path, run_id = sent
    world.fail(site.engine, run_id)
    page = seen_by_grace(site, path).text
    assert "not your fault" in text_of(page)
    assert "Broken" not in page


def test_the_live_part_comes_when_the_state_changes(sent: tuple[Site, str, int]) -> None:
    site, path, run_id = sent
    part = seen_by_grace(site, f"{path}/live?seen=running").text  # something else was seen: no waiting
    markup.check_names(markup.read(part.replace('id="announcement"', "")))
    assert "seen=queued" in part
    world.score(site.engine, run_id, 0.5)
    part = seen_by_grace(site, f"{path}/live?seen=queued").text
    assert 'hx-swap-oob="innerHTML">Scored.' in part
    assert "hx-get" not in part


def test_others_learn_nothing(sent: tuple[Site, str, int]) -> None:
    site, path, _ = sent
    with log_in(site) as browser:
        theirs, unknown = browser.get(path), browser.get("/submissions/00000000-0000-4000-8000-000000000000")
        live = browser.get(f"{path}/live")
    assert (theirs.status_code, unknown.status_code, live.status_code) == (404, 404, 404)
    assert "does not exist, or it is not yours" in theirs.text


def test_my_submissions_are_paged(site: Site) -> None:
    with log_in(site) as browser:
        for number in range(10):
            browser.post(**form_of(browser, b"file %d" % number))
        page = browser.get("/submissions").text
    markup.check(page)
    assert len(rows_of(page)) == 10
    assert 'rel="next"' not in page


def test_the_log_of_a_program_is_shown_with_its_page_where_it_made_one(site: Site) -> None:
    with log_in(site) as browser:
        with reading(site.engine) as session:
            ada = session.scalars(select(User).where(User.username == "ada")).one()
        submission_id = enter(site.engine, ada, 0.5)
        with writing(site.engine) as session:
            task = session.get_one(CompetitionTask, world.the_phase_task(session).task_id)
            shown = {"stdout": Audience.TEAMS, "details": Audience.TEAMS}
            task.task_type, task.options = "program", {"metrics": [{"name": "f1", "title": "F1"}], "shown": shown}
        pages = list[str]()
        for log in ({"stdout": "read 3 lines"}, {"stdout": "read 3 lines", "page": "<p>A <b>map</b></p>"}):
            with writing(site.engine) as session:
                run = session.scalars(select(ScoringRun).where(ScoringRun.submission_id == submission_id)).one()
                run.program_log = packed(log)
            pages.append(browser.get(f"/submissions/{submission_id}").text)
    without, with_one = pages
    assert all("read 3 lines" in page for page in pages)
    assert "Its page" not in without
    assert "<summary>Its page</summary>" in with_one
    assert "A <b>map</b>" in with_one
