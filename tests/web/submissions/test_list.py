"""One's own submissions: narrowed, over time, side by side; with no word of scores that teams do not see."""

from __future__ import annotations

import html
import re
from uuid import UUID

import pytest
from sqlalchemy import select, update

from app.base.db import writing
from app.models import Board, EntryRule, ScoreRow, ScoringRun, User
from app.web.submissions.list import PAGE_LENGTH
from tests import world
from tests.beside import add_other_task, enter_other
from tests.competitions.embargo import add_phase, enter
from tests.rich_world import OTHER_TASK
from tests.web import markup
from tests.web.reading import text_of
from tests.web.site import BROWSER, Person, Site
from tests.world import COMPETITION, DAY, HOUR, NOW, ONE_SHOT, PHASE, TASK

LIST = "/submissions"
HERE = f"{LIST}?competition={COMPETITION}&phase={PHASE}&task={TASK}"


def send(
    site: Site, user: User, hours: int, method: str, zero_shot: float | None, one_shot: float | None = None
) -> UUID:
    """Add a submission of so many hours ago, scored."""
    accepted = world.submit(site.engine, user, NOW - hours * HOUR, method=method, content=method)
    world.score(site.engine, accepted.run_id, zero_shot, one_shot)
    return accepted.submission.id


@pytest.fixture
def three(site: Site, ada: Person) -> list[UUID]:
    """0.5, then worse, then better."""
    return [
        send(site, ada.user, 3, "first", 0.5),
        send(site, ada.user, 2, "second", 0.4, 0.6),
        send(site, ada.user, 1, "third", 0.7),
    ]


def page(person: Person, path: str, status: int = 200) -> str:
    """Return the page as this person's browser gets it: tokens work there, too."""
    answer = person.client.get(path, headers=BROWSER)
    assert answer.status_code == status, answer.text
    markup.check(answer.text)
    return answer.text


def hide(site: Site, **visibility: object) -> None:
    with writing(site.engine) as session:
        world.the_phase_task(session).phase.visibility = {**world.SHOWN_WHOLE, **visibility}


# ---------------------------------------------------------------------------------------------------------------- list


def test_the_list_is_narrowed_by_state(site: Site, ada: Person, three: list[UUID]) -> None:
    waiting = world.submit(site.engine, ada.user, NOW, content="waiting").submission.id
    assert str(waiting) in page(ada, f"{LIST}?status=queued")
    assert str(waiting) not in page(ada, f"{LIST}?status=scored")
    assert "No matches" in page(ada, f"{LIST}?status=failed")
    assert str(waiting) in page(ada, f"{LIST}?status=nonsense")


def test_the_list_is_narrowed_by_place(site: Site, ada: Person, three: list[UUID]) -> None:
    add_phase(site.engine, "practice", starts_at=NOW - 5 * HOUR)
    found = page(ada, f"{LIST}?phase=practice")
    assert "No matches" in found
    found = page(ada, HERE)
    assert all(str(one) in found for one in three)
    assert "No matches" in page(ada, f"{LIST}?competition=nowhere&status=scored")
    assert "No matches" in page(ada, f"{LIST}?task=%00")


def test_the_next_page_is_narrowed_as_well(site: Site, ada: Person) -> None:
    with writing(site.engine) as session:
        world.the_phase_task(session).phase.submissions_per_day = None
    for number in range(31):
        world.submit(site.engine, ada.user, NOW + number * world.SECOND, content=str(number))
    found = page(ada, f"{LIST}?status=queued&phase={PHASE}")
    assert f"/submissions?phase={PHASE}&amp;status=queued&amp;after=" in found


def test_the_api_narrows_by_state_with_the_same_word(ada: Person, three: list[UUID]) -> None:
    answer = ada.client.get("/api/v1/submissions", params={"status": "scored", "limit": 2}).json()
    assert [one["method"] for one in answer["submissions"]] == ["third", "second"]
    assert "status=scored" in answer["next"]
    assert ada.client.get("/api/v1/submissions", params={"status": "failed"}).json()["submissions"] == []
    assert ada.client.get("/api/v1/submissions", params={"status": "nonsense"}).status_code == 422


# ----------------------------------------------------------------------------------------------------- scores over time


def test_scores_over_time_are_drawn_and_told(ada: Person, three: list[UUID]) -> None:
    found = page(ada, LIST)  # there is one place alone
    assert found.count('class="fig-mark') == 3
    assert found.count('class="fig-mark fig-hollow"') == 1, "the second was no record"
    assert "3 submissions from 10 Jan 2026 to 10 Jan 2026; the best is 0.7000, the last 0.7000." in found
    told = text_of(found)
    assert "first 0.5000 – the first yes" in told
    assert "second 0.4000 −0.1000" in told
    assert "third 0.7000 +0.3000 yes" in told


def test_another_board_can_be_looked_at(ada: Person, three: list[UUID]) -> None:
    found = page(ada, f"{HERE}&board=one-shot")
    assert "0.6000" in text_of(found)
    assert 'class="fig-mark' not in found, "one point is no course"


def test_of_several_places_none_is_guessed(site: Site, ada: Person, three: list[UUID]) -> None:
    world.add_competition(site.engine, name="other")
    world.submit(site.engine, ada.user, competition="other")
    assert "Scores over time" not in page(ada, LIST)
    assert "Scores over time" in page(ada, f"{LIST}?competition={COMPETITION}")


@pytest.mark.parametrize("own_scores", ["never", "after_close"])
def test_hidden_scores_leave_no_trace(site: Site, ada: Person, three: list[UUID], own_scores: str) -> None:
    hide(site, own_scores=own_scores)
    found = page(ada, LIST)
    assert "Scores over time" not in found
    assert not any(value in found for value in ("0.7", "0.5000", "yes"))
    compared = page(ada, f"/submissions/compare?a={three[2]}")
    assert "better" not in text_of(compared)
    assert "0.7" not in compared


def test_a_ladder_tells_nothing_here(site: Site, ada: Person, three: list[UUID]) -> None:
    with writing(site.engine) as session:
        world.the_phase_task(session).phase.entry_rule = EntryRule.LADDER
    assert "Scores over time" not in page(ada, LIST)


def test_no_more_digits_than_the_phase_shows(site: Site, ada: Person) -> None:
    hide(site, precision=2)
    ids = [send(site, ada.user, 2, "first", 0.50123), send(site, ada.user, 1, "second", 0.50891)]
    for path in (LIST, f"/submissions/compare?a={ids[0]}&b={ids[1]}"):
        found = page(ada, path)
        assert "0.501" not in found
        assert "0.5089" not in found
        assert "0.0077" not in found
        assert "+0.01" in text_of(found)


def test_nobody_sees_the_course_of_others(ada: Person, eve: Person, three: list[UUID]) -> None:
    found = page(eve, HERE)
    assert "Scores over time" not in found
    assert not any(str(one) in found for one in three)


# -------------------------------------------------------------------------------------------------------- side by side


def test_two_stand_side_by_side_with_who_is_better(ada: Person, three: list[UUID]) -> None:
    told = text_of(page(ada, f"/submissions/compare?a={three[0]}&b={three[1]}"))
    assert "Macro F1 zero-shot · all 0.5000 0.4000 −0.1000 ▼ older" in told
    assert "Macro F1 one-shot · all – not entered 0.6000 –" in told
    assert "The newer one is better in 0 scores, the older one in 2 scores; 0 scores are equal." in told


def test_the_older_stands_left_in_whatever_order_they_are_named(ada: Person, three: list[UUID]) -> None:
    forth, back = (text_of(page(ada, f"/submissions/compare?a={three[a]}&b={three[b]}")) for a, b in ((1, 2), (2, 1)))
    for told in (forth, back):
        assert "Macro F1 zero-shot · all 0.4000 0.7000 +0.3000 ▲ newer" in told
    document = ada.client.get(f"/api/v1/submissions/{three[2]}/comparison/{three[1]}").json()
    assert (document["a"], document["b"]) == (str(three[1]), str(three[2]))


def test_what_boards_rank_by_stands_first(site: Site, ada: Person, three: list[UUID]) -> None:
    with writing(site.engine) as session:
        session.execute(update(Board).values(rank_split=ONE_SHOT))
    document = ada.client.get(f"/api/v1/submissions/{three[1]}/comparison/{three[2]}").json()
    assert (document["scores"][0]["metric"], document["scores"][0]["split"]) == ("macro_f1", ONE_SHOT)


def test_the_one_before_is_what_one_is_compared_with(ada: Person, three: list[UUID]) -> None:
    told = text_of(page(ada, f"/submissions/compare?a={three[2]}"))
    assert "Macro F1 zero-shot · all 0.4000 0.7000" in told


def test_the_one_before_is_of_the_same_phase_if_there_is_one(site: Site, ada: Person) -> None:
    add_phase(site.engine, "practice", starts_at=NOW - DAY)
    send(site, ada.user, 3, "first", 0.5)
    enter(site.engine, ada.user, 0.25, phase="practice", at=NOW - 2 * HOUR)
    last = send(site, ada.user, 1, "last", 0.7)
    assert "Macro F1 zero-shot · all 0.5000 0.7000" in text_of(page(ada, f"/submissions/compare?a={last}"))


def test_alone_there_is_nothing_to_compare_with(site: Site, ada: Person) -> None:
    one = send(site, ada.user, 1, "only", 0.5)
    assert "Nothing to compare with" in page(ada, f"/submissions/compare?a={one}")


def test_what_was_computed_differently_is_not_compared(site: Site, ada: Person, three: list[UUID]) -> None:
    with writing(site.engine) as session:
        of_run = select(ScoringRun.id).where(ScoringRun.submission_id == three[0])
        old = ScoreRow.signature + "|old"
        session.execute(update(ScoreRow).where(ScoreRow.run_id.in_(of_run)).values(signature=old))
    told = text_of(page(ada, f"/submissions/compare?a={three[0]}&b={three[2]}"))
    assert "Macro F1 zero-shot · all 0.5000 0.7000 computed differently, not comparable" in told
    assert "The newer one is better in 0 scores, the older one in 0 scores" in told


def test_only_what_one_may_see_is_compared(site: Site, ada: Person, eve: Person, three: list[UUID]) -> None:
    hers = send(site, eve.user, 1, "hers", 0.9)
    assert ada.client.get(f"/submissions/compare?a={three[0]}&b={hers}", headers=BROWSER).status_code == 404
    assert eve.client.get(f"/submissions/compare?a={three[0]}", headers=BROWSER).status_code == 404
    assert "does not exist, or it is not yours" in page(ada, f"/submissions/compare?a={hers}", 404)


def test_what_cannot_be_compared_is_said(site: Site, ada: Person, three: list[UUID]) -> None:
    waiting = world.submit(site.engine, ada.user, NOW, content="waiting").submission.id
    assert "the same submission twice" in page(ada, f"/submissions/compare?a={three[0]}&b={three[0]}", 409)
    assert "that were scored" in page(ada, f"/submissions/compare?a={waiting}&b={three[0]}", 409)
    assert ada.client.get("/submissions/compare", headers=BROWSER).status_code == 422
    assert ada.client.get("/submissions/compare?a=x", headers=BROWSER).status_code == 422


# ------------------------------------------------------------------------------------------------------ of one place

RUNS = f"/competitions/{COMPETITION}/runs"


@pytest.fixture
def places(site: Site, ada: Person) -> None:
    """First a run in an earlier phase, then one, and one to another task, in the test's own."""
    add_phase(site.engine, "practice", starts_at=NOW - 2 * DAY)
    enter(site.engine, ada.user, 0.25, phase="practice", at=NOW - 20 * HOUR)
    send(site, ada.user, 2, "newest of both phases", 0.5)
    add_other_task(site.engine)
    enter_other(site.engine, ada.user, 0.75)


def shown(person: Person, query: str) -> str:
    """Return which task and phase are shown."""
    found = re.search(r"My submissions, ([^<]+)</h2>", page(person, f"{RUNS}?{query}"))
    return found[1] if found else ""


@pytest.mark.usefixtures("places")
def test_runs_of_a_task_or_a_phase_are_those_of_the_newest(ada: Person) -> None:
    assert shown(ada, f"task={TASK}") == "Detection, Evaluation"
    assert shown(ada, "phase=practice") == "Detection, Practice"
    assert shown(ada, f"phase=practice&task={OTHER_TASK}") == ""


@pytest.mark.usefixtures("places")
def test_the_tabs_beside_runs_lead_to_the_place_that_they_are_of(ada: Person) -> None:
    for phase, task, board in (("practice", TASK, "zero-shot"), (PHASE, OTHER_TASK, "near")):
        found = page(ada, f"{RUNS}?phase={phase}&task={task}")
        assert f'href="/competitions/{COMPETITION}/phases/{phase}/boards/{board}"' in found
        assert f'href="/competitions/{COMPETITION}/phases/{phase}/tasks/{task}/submit"' in found


def test_a_page_of_runs_that_is_not_there_is_the_last_one(ada: Person, three: list[UUID]) -> None:
    found = page(ada, f"{RUNS}?page=9")
    assert all(str(one) in found for one in three)


@pytest.mark.usefixtures("places")
def test_each_tab_of_runs_leads_to_some(ada: Person) -> None:
    """The other task was not sent to in the earlier phase."""
    for task in (TASK, OTHER_TASK):
        tabs = re.findall(rf'href="{RUNS}\?([^"#]+)"', page(ada, f"{RUNS}?phase={PHASE}&task={task}"))
        assert len(tabs) > 2
        assert all(shown(ada, html.unescape(query)) for query in tabs)


def test_runs_have_no_column_of_a_board_that_none_of_them_entered(site: Site, ada: Person) -> None:
    send(site, ada.user, 3, "one setting", 0.5)
    assert "one-shot" not in text_of(page(ada, RUNS))
    send(site, ada.user, 2, "both settings", 0.5, 0.6)
    assert "one-shot" in text_of(page(ada, RUNS))


def test_the_second_page_of_runs_goes_on_where_the_first_ends(site: Site, ada: Person) -> None:
    with writing(site.engine) as session:
        world.the_phase_task(session).phase.submissions_per_day = None
        world.the_phase_task(session).phase.starts_at = NOW - 9 * DAY
    sent = [send(site, ada.user, 40 - number, f"run {number}", 0.5) for number in range(PAGE_LENGTH + 1)]
    first, second = (page(ada, f"{RUNS}?page={number}") for number in (1, 2))
    assert [[str(one) in found for one in (sent[0], sent[-1])] for found in (first, second)] == [
        [False, True],
        [True, False],
    ]
