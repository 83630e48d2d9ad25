"""Intervals, ranges of ranks and clusters reveal no more than the scores next to them. `test_differences` compares
every answer where something is hidden; here single rules are tested, and rows that are hidden by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from sqlalchemy import select

from app.base.db import reading
from app.models import EntryRule, User
from tests.boards.marks import HIDDEN as HIDDEN_ROW, mark
from tests.boards.places import board
from tests.competitions.embargo import INSTANT, declare
from tests.leaks import place
from tests.leaks.answers import plain
from tests.leaks.place import HIDDEN, REVEAL, Place
from tests.leaks.templates import Templates
from tests.web.site import Site
from tests.world import NOW

BOARD = "/api/v1/competitions/idioms/phases/evaluation/boards/zero-shot"
PAGE = "/competitions/idioms/phases/evaluation/boards/zero-shot"
ASKED = (
    BOARD, f"{BOARD}.csv", f"{BOARD}/table?intervals=true", f"{BOARD}/table?format=latex&intervals=true", PAGE,
    f"{BOARD}/pictures", f"{BOARD}/pictures/forest", f"{BOARD}/pictures/pairs", f"{PAGE}/pictures",
    f"{PAGE}/pictures/forest.svg", f"{PAGE}/pictures/pairs.svg",
)  # fmt: skip
OUTSIDERS = ("anonymous", "participant", "other team")


@pytest.fixture
def unscored(quick_empty_site: Site, cheap_passwords: None, templates: Templates) -> Iterator[Place]:
    found = templates.copy(quick_empty_site, place.build)
    yield found
    found.close()


def seen(unscored: Place, role: str) -> dict[str, Any]:
    with unscored.client(role) as visitor:
        answer: dict[str, Any] = visitor.send("GET", BOARD).json()
    return answer


def told(board: Mapping[str, Any]) -> tuple[str, bool, bool]:
    """Return the state, whether there is any interval, and whether there is any range or cluster."""
    cells = [cell["interval"] for row in board["rows"] for cell in row["cells"]]
    ranges = [row[name] for row in board["rows"] for name in ("rank_range", "cluster")]
    has_range = any(one is not None for one in ranges)
    assert (board["statistics"]["version"] == board["version"]) == has_range
    return board["statistics"]["state"], any(cells), has_range


ALL, NOTHING, WITHHELD = ("current", True, True), ("none", False, False), ("withheld", False, False)
#: What is declared, and what those see who do not organise.
DECLARED: list[tuple[dict[str, Any], tuple[str, bool, bool]]] = [
    ({}, ALL),
    ({"slices": "none"}, ALL),
    ({"board": "hidden"}, NOTHING),
    ({"board": "ranks_only"}, NOTHING),
    ({"precision": 2}, WITHHELD),
    ({"precision": None, "slices": None}, ALL),
]


def test_they_are_shown_where_scores_are_with_four_decimals_or_more_and_to_whom(unscored: Place) -> None:
    for visibility, outsiders in DECLARED:
        place.reveal(unscored, HIDDEN, visibility)
        for role in OUTSIDERS:
            assert told(seen(unscored, role)) == outsiders, (visibility, role)
        assert told(seen(unscored, "organiser")) == ALL, visibility


#: The same while the phase is open and its gold hidden; whether a team reads of its own runs how sure they are.
DECLARED_WHILE_OPEN: list[tuple[dict[str, Any], tuple[str, bool, bool], bool]] = [
    ({"precision": None, "slices": None}, WITHHELD, False),
    ({"slices": "columns"}, WITHHELD, False),
    ({"slices": "none"}, WITHHELD, False),
    ({"precision": None, "slices": "all"}, ALL, True),
]


def test_while_a_phase_with_hidden_gold_is_open_they_are_shown_with_all_slices_alone(unscored: Place) -> None:
    for visibility, outsiders, is_sure in DECLARED_WHILE_OPEN:
        place.reveal(unscored, HIDDEN, visibility, ends_at=REVEAL)
        for role in OUTSIDERS:
            assert told(seen(unscored, role)) == outsiders, (visibility, role)
        assert told(seen(unscored, "organiser")) == ALL, visibility
        assert pictures_of(unscored, "anonymous") == ({"forest", "pairs"} if is_sure else set()), visibility
        assert _own_statistics(unscored) == [(is_sure, is_sure)] * 2, visibility


def test_they_appear_when_the_phase_closes_or_its_gold_is_public(unscored: Place) -> None:
    usual = {"precision": None, "slices": None}
    place.reveal(unscored, HIDDEN, usual, ends_at=REVEAL)
    with unscored.client("anonymous") as anybody:
        assert "Intervals, rank ranges and p are not shown while the phase is open." in anybody.send("GET", PAGE).text
    unscored.site.set_clock(REVEAL - INSTANT)
    before = seen(unscored, "anonymous")
    assert told(before) == WITHHELD
    unscored.site.set_clock(REVEAL)
    after = seen(unscored, "anonymous")
    assert told(after) == ALL
    assert after["version"] != before["version"]
    unscored.site.set_clock(NOW)
    place.reveal(unscored, HIDDEN, usual, ends_at=REVEAL)
    place.make_gold_public(unscored.site.engine)
    assert told(seen(unscored, "anonymous")) == ALL
    assert _own_statistics(unscored) == [(True, True)] * 2


def test_rows_carried_over_bring_no_intervals_that_their_phase_does_not_show(unscored: Place) -> None:
    """Check that the later phase shows all of its own; rows of the one that is still open are there, too."""
    for visibility, expected in (({"slices": "columns"}, WITHHELD), ({"slices": "all"}, ALL)):
        place.reveal(unscored, HIDDEN, visibility, ends_at=REVEAL)
        with unscored.client("anonymous") as anybody:
            post = anybody.send("GET", BOARD.replace("evaluation", "post")).json()
        assert [row["carried_from"] for row in post["rows"]] == ["evaluation"] * 3
        assert told(post) == expected, visibility


def _own_statistics(unscored: Place) -> list[tuple[bool, bool]]:
    """Return whether a team's page and API show the interval of its score, and its comparison, by board."""
    submission = unscored.submitted["alpha"][0]
    with unscored.client("participant") as alpha:
        page = alpha.send("GET", f"/submissions/{submission}").text
        standings = alpha.send("GET", f"/api/v1/submissions/{submission}").json()["standings"]
    found = [(bool(one["interval"]), bool(one["rivals"])) for one in standings]
    assert ("95 % interval" in page) == any(has_interval for has_interval, _ in found)
    return found


def pictures_of(unscored: Place, role: str) -> set[str]:
    """Return which of the pictures that show statistics this role gets, in any way."""
    with unscored.client(role) as visitor:
        listed = {one["name"] for one in visitor.send("GET", f"{BOARD}/pictures").json()["pictures"]}
        page = visitor.send("GET", f"{PAGE}/pictures").text
        for name in ("forest", "pairs"):
            ways = [visitor.send("GET", f"{BOARD}/pictures/{name}"), visitor.send("GET", f"{PAGE}/pictures/{name}.svg")]
            there = {name in listed, f'id="{name}"' in page, *(way.status_code == 200 for way in ways)}
            assert len(there) == 1, (role, name)
    return listed & {"forest", "pairs"}


def test_pictures_of_intervals_and_pairs_are_where_the_board_tells_them(unscored: Place) -> None:
    for visibility, (_, has_intervals, _) in DECLARED:
        place.reveal(unscored, HIDDEN, visibility)
        shown = {"forest", "pairs"} if has_intervals else set()
        assert pictures_of(unscored, "anonymous") == pictures_of(unscored, "other team") == shown, visibility
    assert pictures_of(unscored, "organiser") == {"forest", "pairs"}
    declare(unscored.site.engine, entry_rule=EntryRule.LADDER, ladder_step=0.05)
    assert pictures_of(unscored, "organiser") == set()


def test_a_ladder_tells_records_and_nobody_how_sure_they_are(unscored: Place) -> None:
    place.reveal(unscored, HIDDEN, {})
    declare(unscored.site.engine, entry_rule=EntryRule.LADDER, ladder_step=0.05)
    for role in (*OUTSIDERS, "organiser"):
        assert told(seen(unscored, role)) == NOTHING, role


def test_nobody_learns_of_a_pair_with_a_hidden_row(unscored: Place) -> None:
    """Check that the results of comparisons with Gamma's row, which was hidden later, and even their existence, are
    visible only to those who see the row.
    """
    answers = []
    for gamma in ((0.99, 0.98), (0.01, 0.02), (0.73, 0.63)):
        place.reveal(unscored, {**HIDDEN, "gamma": gamma}, {})
        mark(unscored.site.engine, unscored.submitted["gamma"][0], HIDDEN_ROW)
        with unscored.client("anonymous") as anybody, unscored.client("other team") as beta:
            answers.append([plain(who.send("GET", path)) for who in (anybody, beta) for path in ASKED])
        assert told(seen(unscored, "anonymous")) == ALL
        assert [row["rank_range"] for row in seen(unscored, "anonymous")["rows"]] == [
            {"best": 1, "worst": 1},
            {"best": 2, "worst": 2},
        ]
    assert answers[0] == answers[1] == answers[2]


def test_a_hidden_row_that_was_not_compared_yet_makes_no_board_wait(unscored: Place) -> None:
    place.reveal(unscored, HIDDEN, {})
    mark(unscored.site.engine, unscored.submitted["gamma"][0], HIDDEN_ROW)
    seen_rows = {unscored.submitted[team][1]: HIDDEN[team] or (None, None) for team in ("alpha", "beta")}
    place.keep_statistics(unscored.site.engine, seen_rows)
    assert told(seen(unscored, "anonymous")) == ALL
    assert told(seen(unscored, "organiser")) == ALL


def test_pairs_are_told_of_rows_whose_scores_are_seen_and_of_no_hidden_one(unscored: Place) -> None:
    engine = unscored.site.engine
    with reading(engine) as session:
        users = {user.username: user for user in session.scalars(select(User))}
    beta, gamma, olga = (users[name] for name in ("beta", "gamma", "olga"))
    for visibility, outsiders in DECLARED:
        place.reveal(unscored, HIDDEN, visibility)
        counts = [len(board(engine, viewer=viewer).pair_tests) for viewer in (None, beta, olga)]
        assert counts == [3 if outsiders == ALL else 0] * 2 + [3], visibility
    place.reveal(unscored, HIDDEN, {})
    mark(engine, unscored.submitted["gamma"][0], HIDDEN_ROW)
    for viewer in (None, gamma, olga):
        (pair,) = board(engine, viewer=viewer).pair_tests
        assert set(pair) == {unscored.submitted[team][0] for team in ("alpha", "beta")}
    declare(engine, entry_rule=EntryRule.LADDER, ladder_step=0.05)
    assert board(engine, viewer=olga).pair_tests == {}


def test_a_team_reads_on_its_own_page_what_it_reads_on_the_board(unscored: Place) -> None:
    """Check the certainty of its own scores, too, where it sees four decimals of them, whatever the board shows."""
    never = {"own_scores": "never"}
    for visibility, outsiders in [*DECLARED, (never, NOTHING), ({"board": "hidden", **never}, NOTHING)]:
        place.reveal(unscored, HIDDEN, visibility)
        submission = unscored.submitted["alpha"][0]
        with unscored.client("participant") as alpha:
            page = alpha.send("GET", f"/submissions/{submission}").text
            standings = alpha.send("GET", f"/api/v1/submissions/{submission}").json()["standings"]
        is_sure = visibility.get("precision") is None and "own_scores" not in visibility
        assert ("interval" in page) == is_sure, visibility
        assert ("ignificant difference from every other team" in page) == (outsiders == ALL), visibility
        assert [(bool(one["interval"]), bool(one["rivals"])) for one in standings] == (
            [] if "own_scores" in visibility else [(is_sure, outsiders == ALL)] * 2
        ), visibility


def test_a_row_says_whom_it_is_told_apart_from(unscored: Place) -> None:
    for visibility, outsiders in (({}, True), ({"precision": 2}, False)):
        place.reveal(unscored, HIDDEN, visibility)
        with unscored.client("anonymous") as anybody:
            page = anybody.send("GET", f"{PAGE}/rows/{unscored.submitted['beta'][0]}").text
            both = "&".join(f"row={unscored.submitted[team][0]}" for team in ("alpha", "beta"))
            beside = anybody.send("GET", f"{PAGE}/compare?{both}").text
        assert [words in page for words in ("95 % interval</th>", "Compared with the other rows")] == [outsiders] * 2
        assert page.count("significantly better</td>") == page.count("significantly worse</td>") == int(outsiders)
        assert ["p, corrected" in beside, "paired:" in beside] == [outsiders] * 2


def test_a_page_says_it_in_words_and_draws_it(unscored: Place) -> None:
    place.reveal(unscored, HIDDEN, {})
    with unscored.client("anonymous") as anybody:
        page = anybody.send("GET", PAGE).text
    assert page.count('class="interval"') == 3
    assert page.count(' cluster"') == 2, "three teams, each better than the next"
    assert "95 % interval: " in page
    assert "Reproduce these numbers" not in page, "its gold is hidden"
    place.make_gold_public(unscored.site.engine)
    with unscored.client("anonymous") as anybody:
        assert "evergold compare FIRST SECOND --task" in anybody.send("GET", f"{PAGE}?compact=1").text
    place.reveal(unscored, HIDDEN, {"precision": 2})
    with unscored.client("anonymous") as anybody:
        page = anybody.send("GET", PAGE).text
    assert "interval" not in page.partition("<tbody>")[2]
