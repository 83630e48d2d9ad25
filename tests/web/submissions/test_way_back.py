"""The page of a result, once it is scored: the way back to a better one, and the comparison that comes later."""

from __future__ import annotations

from functools import partial

from sqlalchemy import select

from app.base.db import reading, writing
from app.boards.statistics import Statistics, statistics_document
from app.boards.statistics_work import record_statistics
from app.models import Board, EntryRule, ScoringRun, Submission, User
from tests import world
from tests.competitions.embargo import declare, enter, hide
from tests.web.site import Site, csrf_of, log_in
from tests.world import DAY, HOUR, NOW, the_phase_task


def test_the_page_offers_the_way_back_where_the_newest_counts_and_is_worse(site: Site) -> None:
    declare(site.engine, entry_rule=EntryRule.LAST)
    with log_in(site, "ada") as browser:
        with reading(site.engine) as session:
            ada = session.scalars(select(User).where(User.username == "ada")).one()
        enter(site.engine, world.add_user(site.engine, "bea"), 0.55, minute=1)
        enter(site.engine, ada, 0.7, minute=2)
        worse = enter(site.engine, ada, 0.5, minute=3)
        site.set_clock(NOW + HOUR)
        page = browser.get(f"/submissions/{worse}").text
        assert "had <strong>0.7000</strong>" in page
        assert "Go back to my better one" in page
        assert "counts, with 0.7000." in page, "said before it is withdrawn"
        site.set_clock(NOW + 2 * DAY)
        assert "Go back to my better one" not in browser.get(f"/submissions/{worse}").text, "the phase has closed"
        site.set_clock(NOW + HOUR)
        better = enter(site.engine, ada, 0.8, minute=4)
        assert "Go back to my better one" not in browser.get(f"/submissions/{better}").text


def test_going_back_withdraws_all_that_came_after_the_best_one_and_shows_it(site: Site) -> None:
    """0.8 is two submissions back: the one before the worst, 0.6, is not the better one that people look for."""
    declare(site.engine, entry_rule=EntryRule.LAST)
    with log_in(site, "ada") as browser:
        ada = scored_ada(site)
        best, between, worst = (
            enter(site.engine, ada, value, minute=at) for at, value in ((1, 0.8), (2, 0.6), (3, 0.5))
        )
        site.set_clock(NOW + HOUR)
        page = browser.get(f"/submissions/{worst}").text
        assert "had <strong>0.8000</strong>" in page
        assert "this one and 1 other after that are withdrawn" in page
        sent = {"csrf_token": csrf_of(page), "also": str(between), "back": str(best)}
        for name in ("also", "back"):
            assert f'name="{name}" value="{sent[name]}"' in page
        answer = browser.post(f"/submissions/{worst}/withdrawal", data=sent)
        assert str(answer.url).endswith(f"/submissions/{best}")
        assert "counts: latest submission" in answer.text
        for gone in (between, worst):
            assert "it counts on no board" in browser.get(f"/submissions/{gone}").text


def test_nobody_withdraws_a_submission_of_another_team_on_the_way_back(site: Site) -> None:
    declare(site.engine, entry_rule=EntryRule.LAST)
    with log_in(site, "ada") as browser:
        of_bea = enter(site.engine, world.add_user(site.engine, "bea"), 0.55, minute=1)
        own = enter(site.engine, scored_ada(site), 0.5, minute=3)
        site.set_clock(NOW + HOUR)
        sent = {"csrf_token": csrf_of(browser.get(f"/submissions/{own}").text), "also": str(of_bea)}
        assert browser.post(f"/submissions/{own}/withdrawal", data=sent).status_code == 404
        with reading(site.engine) as session:
            assert [one.withdrawn_at for one in map(partial(session.get_one, Submission), (of_bea, own))] == [
                None,
                None,
            ]


def scored_ada(site: Site) -> User:
    with reading(site.engine) as session:
        return session.scalars(select(User).where(User.username == "ada")).one()


def test_where_teams_choose_both_are_a_choice(site: Site) -> None:
    """The latest counts without a choice. Going back chooses the better one; the worse one links to it."""
    declare(site.engine, entry_rule=EntryRule.CHOSEN, without_choice=EntryRule.LAST)
    with log_in(site, "ada") as browser:
        ada = scored_ada(site)
        better, worse = enter(site.engine, ada, 0.7, minute=2), enter(site.engine, ada, 0.5, minute=3)
        site.set_clock(NOW + HOUR)
        page = browser.get(f"/submissions/{worse}").text
        assert page.count('value="choose">Keep this one') == 1
        assert f'action="/submissions/{better}/choice"' in page
        sent = {"csrf_token": csrf_of(page), "board": "zero-shot"}
        assert browser.post(f"/submissions/{better}/choice", data=sent).status_code in (200, 303)
        page = browser.get(f"/submissions/{worse}").text
        assert "Go back to my better one" not in page
        assert f'<a href="/submissions/{better}">another one counts</a> with 0.7000' in page


def test_the_best_that_counts_is_linked_and_the_last_row_is_said_to_go(site: Site) -> None:
    with log_in(site, "ada") as browser:
        ada = scored_ada(site)
        better = enter(site.engine, ada, 0.7, minute=2)
        site.set_clock(NOW + HOUR)
        assert "then your team has no row." in browser.get(f"/submissions/{better}").text
        worse = enter(site.engine, ada, 0.5, minute=3)
        page = browser.get(f"/submissions/{worse}").text
        assert f'<a href="/submissions/{better}">another one counts</a> with 0.7000' in page
        assert "Go back" not in page, "the better one counts anyway"
        assert "counts, with 0.5000." in browser.get(f"/submissions/{better}").text


def test_where_teams_see_no_scores_nothing_says_which_is_better(site: Site) -> None:
    with log_in(site, "ada") as browser:
        ada = scored_ada(site)
        better, worse = enter(site.engine, ada, 0.7, minute=2), enter(site.engine, ada, 0.5, minute=3)
        hide(site.engine, own_scores="never")
        site.set_clock(NOW + HOUR)
        for one in (better, worse):
            page = browser.get(f"/submissions/{one}").text
            assert "another one counts" not in page
            assert "then your" not in page
            assert "Go back" not in page


def test_the_page_asks_again_until_its_row_is_compared_and_announces_nothing_twice(site: Site) -> None:
    declare(site.engine, entry_rule=EntryRule.LAST)
    hide(site.engine, slices="all")
    with log_in(site, "ada") as browser:
        with reading(site.engine) as session:
            ada = session.scalars(select(User).where(User.username == "ada")).one()
        enter(site.engine, world.add_user(site.engine, "bea"), 0.55, minute=1)
        newest = enter(site.engine, ada, 0.7, minute=2)
        compare_now(site)
        site.set_clock(NOW + HOUR)
        asks = f'hx-get="/submissions/{newest}/live?seen=scored.compared"'
        assert asks not in browser.get(f"/submissions/{newest}").text
        enter(site.engine, world.add_user(site.engine, "cyd"), 0.6, minute=3)
        page = browser.get(f"/submissions/{newest}").text
        assert "The comparison with the other rows is being computed." in page
        assert asks in page
        again = browser.get(f"/submissions/{newest}/live?seen=scored.compared").text
        assert asks in again
        assert "announcement" not in again
        compare_now(site)
        assert asks not in browser.get(f"/submissions/{newest}/live?seen=scored.compared").text


def compare_now(site: Site) -> None:
    """Let a worker compare all rows that there are."""
    with writing(site.engine) as session:
        runs = frozenset(session.scalars(select(ScoringRun.id)))
        document = statistics_document(Statistics("key", runs, {}, {}))
        boards = list(session.scalars(select(Board.id)))
        record_statistics(session, the_phase_task(session).id, "0", {board: document for board in boards})
