"""Who sees what when: every setting before, at and after its moment, for every kind of viewer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.boards.view import neutral_name
from app.competitions.find import find_competition
from app.competitions.visibility import (
    Declared,
    SeenAs,
    View,
    Viewer,
    decide,
    declared_of,
    min_decimals,
    own_scores_words,
    rounded,
    rounded_document,
    view_of,
)
from app.models import BoardShown, Competition, OwnScores, Phase, PhaseTask, Role, Slices, User
from app.people.rights import grant_role
from tests.world import COMPETITION, DAY, HOUR, NOW, ZERO_SHOT, add_competition, add_user, the_phase_task

MOMENT = NOW + HOUR
INSTANT = timedelta(microseconds=1)
HIDDEN, RANKS, PUBLIC = BoardShown.HIDDEN, BoardShown.RANKS_ONLY, BoardShown.PUBLIC


# ------------------------------------------------------------------------------------------------------------ deciding


@pytest.mark.parametrize(
    ("declared", "before", "after"),
    [
        (Declared(), PUBLIC, PUBLIC),
        (Declared(board=HIDDEN), HIDDEN, HIDDEN),
        (Declared(board=RANKS), RANKS, RANKS),
        (Declared(board=HIDDEN, public_from=MOMENT), HIDDEN, PUBLIC),
        (Declared(board=RANKS, public_from=MOMENT), RANKS, PUBLIC),
    ],
)
def test_a_board_opens_at_its_moment_and_not_an_instant_before(
    declared: Declared, before: BoardShown, after: BoardShown
) -> None:
    assert decide(declared, MOMENT - INSTANT).board is before
    assert decide(declared, MOMENT).board is after
    assert decide(declared, MOMENT + DAY).board is after


def test_a_view_says_when_it_changes_and_then_no_more() -> None:
    declared = Declared(
        board=HIDDEN,
        public_from=MOMENT,
        is_anonymous=True,
        names_from=MOMENT,
        own_scores=OwnScores.AFTER_CLOSE,
        closes_at=MOMENT,
    )
    before, after = decide(declared, MOMENT - INSTANT), decide(declared, MOMENT)
    assert (before.board_at, before.names_at, before.own_scores_at) == (MOMENT, MOMENT, MOMENT)
    assert (after.board_at, after.names_at, after.own_scores_at) == (None, None, None)
    assert before.key != after.key
    assert decide(declared, MOMENT - DAY).key == before.key
    assert decide(declared, MOMENT + DAY).key == after.key


@pytest.mark.parametrize(
    ("rule", "closes_at", "before", "after"),
    [
        (OwnScores.AT_ONCE, MOMENT, True, True),
        (OwnScores.AFTER_CLOSE, MOMENT, False, True),
        (OwnScores.AFTER_CLOSE, None, False, False),
        (OwnScores.NEVER, MOMENT, False, False),
    ],
)
def test_own_scores(rule: OwnScores, closes_at: datetime | None, before: bool, after: bool) -> None:
    declared = Declared(own_scores=rule, closes_at=closes_at)
    assert decide(declared, MOMENT - INSTANT).own_scores is before
    assert decide(declared, MOMENT).own_scores is after


def test_why_a_team_sees_no_scores_is_said_and_nothing_where_it_does() -> None:
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert own_scores_words(View()) == ""
    assert own_scores_words(View(own_scores=False)) == "This phase shows teams no scores of their submissions."
    assert own_scores_words(View(own_scores=False, own_scores_at=moment)) == (
        "The scores of this phase are shown to teams on Sun 1 Mar 2026, 00:00 AoE (1 Mar, 12:00 UTC), when it ends."
    )


@pytest.mark.parametrize(
    ("declared", "before", "after"),
    [
        (Declared(), True, True),
        (Declared(is_anonymous=True, names_from=MOMENT), False, True),
        (Declared(is_anonymous=True), False, False),
    ],
)
def test_names(declared: Declared, before: bool, after: bool) -> None:
    assert decide(declared, MOMENT - INSTANT).names is before
    assert decide(declared, MOMENT).names is after


@pytest.mark.parametrize(
    ("slices", "precision", "expected"),
    [(Slices.ALL, None, True), (Slices.ALL, 3, False), (Slices.COLUMNS, None, False), (Slices.NONE, None, False)],
)
def test_details_of_reports_are_there_only_where_nothing_is_held_back(
    slices: Slices, precision: int | None, expected: bool
) -> None:
    assert decide(Declared(slices=slices, precision=precision), NOW).has_details is expected


def test_equal_views_have_equal_keys_and_others_others() -> None:
    views = [
        View(),
        View(board=RANKS),
        View(names=False),
        View(own_scores=False),
        View(precision=2, ranks_by=2),
        View(has_statistics=False),
        View(only=frozenset({("macro_f1", "all")})),
        View(participants=View()),
        View(participants=View(board=HIDDEN)),
    ]
    assert len({view.key for view in views}) == len(views)
    assert View(only=frozenset({("a", "b"), ("c", "d")})).key == View(only=frozenset({("c", "d"), ("a", "b")})).key


# ------------------------------------------------------------------------------------------------------------ declared


def declared(
    phase: dict[str, Any],
    task: dict[str, Any] | None = None,
    ends_at: datetime | None = MOMENT,
    *,
    gold_is_public: bool = False,
) -> Declared:
    asked = PhaseTask(visibility=task or {}, gold_is_public=gold_is_public)
    return declared_of(Phase(visibility=phase, ends_at=ends_at), asked)


def test_nothing_declared_shows_four_decimals_of_the_ranking_score_of_hidden_gold() -> None:
    assert declared({}) == Declared(slices=Slices.RANKED, precision=4, is_gold_hidden=True, closes_at=MOMENT)


def test_nothing_declared_shows_everything_of_public_gold() -> None:
    assert declared({}, gold_is_public=True) == Declared(closes_at=MOMENT)


@pytest.mark.parametrize("gold_is_public", [False, True])
def test_declared_digits_and_slices_hold_for_any_gold(gold_is_public: bool) -> None:
    whole = declared({"precision": "full", "slices": "all"}, gold_is_public=gold_is_public)
    assert (whole.precision, whole.slices) == (None, Slices.ALL)
    some = declared({"precision": 6, "slices": "columns"}, gold_is_public=gold_is_public)
    assert (some.precision, some.slices) == (6, Slices.COLUMNS)
    none = declared({"precision": 0}, gold_is_public=gold_is_public)
    assert none.precision == 0


def test_ranked_slices_end_with_the_phase() -> None:
    before, after = (decide(declared({}), moment) for moment in (MOMENT - INSTANT, MOMENT))
    assert (before.slices, before.slices_at, before.shows_ranking_scores_only) == (Slices.RANKED, MOMENT, True)
    assert (after.slices, after.slices_at, after.shows_ranking_scores_only) == (Slices.ALL, None, False)
    assert before.key != after.key
    endless = decide(declared({}, ends_at=None), NOW + 999 * DAY)
    assert (endless.slices, endless.slices_at) == (Slices.RANKED, None)


@pytest.mark.parametrize("slices", [None, "ranked", "none", "columns", "all"])
def test_statistics_of_hidden_gold_appear_with_the_close_or_where_all_slices_are_declared(slices: str | None) -> None:
    said = {"slices": slices}
    before, after = (decide(declared(said), moment) for moment in (MOMENT - INSTANT, MOMENT))
    assert (before.has_statistics, after.has_statistics) == (slices == "all", True)
    assert (before.key == after.key) == (slices == "all")
    assert decide(declared(said, ends_at=None), NOW + 999 * DAY).has_statistics == (slices == "all")
    assert decide(declared(said, gold_is_public=True), NOW).has_statistics
    coarse = declared({**said, "precision": 3})
    assert not any(decide(coarse, moment).has_statistics for moment in (NOW, MOMENT))


@pytest.mark.parametrize(
    ("precision", "ranks_by", "has_statistics", "has_details"),
    [
        (None, 4, True, False),
        (2, 2, False, False),
        (4, 4, True, False),
        (10, 10, True, False),
        ("full", 12, True, True),
    ],
)
def test_what_follows_from_digits(
    precision: int | str | None, ranks_by: int, has_statistics: bool, has_details: bool
) -> None:
    """Intervals are shown beside the usual digits; counts would tell them all."""
    view = decide(declared({"precision": precision, "slices": "all"}), NOW)
    assert (view.ranks_by, view.has_statistics, view.has_details) == (ranks_by, has_statistics, has_details)


def test_public_gold_compares_by_twelve_decimals() -> None:
    """More are rounding noise: 0.025 and 0.024999999999999994 are one mean of absolute errors, summed in two orders."""
    view = decide(declared({}, gold_is_public=True), NOW)
    assert (view.precision, view.ranks_by, view.ranks_exactly) == (None, 12, True)
    assert rounded(0.024999999999999994, view.ranks_by) == rounded(0.025000000000000022, view.ranks_by) == 0.025


def test_a_moment_alone_hides_until_then() -> None:
    """Whoever writes `public_from` and forgets `board` means an embargo."""
    assert declared({"public_from": "2026-01-10T13:00:00Z"}).board is HIDDEN
    assert declared({"public_from": "2026-01-10T13:00:00Z", "board": "public"}).board is HIDDEN
    assert declared({"public_from": "2026-01-10T13:00:00Z", "board": "ranks_only"}).board is RANKS


def test_close_is_the_end_of_the_phase_wherever_it_is_moved_to() -> None:
    said = {"public_from": "close", "names_from": "close"}
    assert declared(said).public_from == declared(said).names_from == MOMENT
    assert declared(said, ends_at=MOMENT + DAY).public_from == MOMENT + DAY
    endless = declared(said, ends_at=None)
    assert decide(endless, NOW + 999 * DAY).board is HIDDEN
    assert decide(endless, NOW + 999 * DAY).names is False


def test_a_task_overrides_its_phase_key_by_key() -> None:
    found = declared({"board": "hidden", "precision": 2, "slices": "none"}, {"board": "public", "precision": None})
    assert (found.board, found.precision, found.slices) == (PUBLIC, 4, Slices.NONE)


# ------------------------------------------------------------------------------------------------------------- viewers


@pytest.fixture
def embargoed(engine: Engine) -> Engine:
    """Everything that can be held back is."""
    add_competition(engine)
    with writing(engine) as session:
        the_phase_task(session).phase.visibility = {
            "board": "hidden",
            "own_scores": "never",
            "names_from": "close",
            "slices": "none",
            "precision": 1,
        }
    return engine


def seen(engine: Engine, viewer: User | None, seen_as: SeenAs | None = None) -> View:
    with reading(engine) as session:
        return view_of(session, the_phase_task(session), Viewer(viewer, NOW, seen_as))


def test_organisers_see_everything_and_what_others_do_not(embargoed: Engine) -> None:
    helper = add_user(embargoed, "helper")
    everybody = seen(embargoed, None)
    assert seen(embargoed, helper) == everybody
    with writing(embargoed) as session:
        grant_role(session, find_competition(session, COMPETITION), helper, Role.ORGANISER, NOW)
    for organiser in (helper, add_user(embargoed, "root", is_administrator=True)):
        view = seen(embargoed, organiser)
        assert replace(view, participants=None, ranks_by=12) == View()
        assert (view.is_organiser, view.participants, view.ranks_by) == (True, everybody, 1)


def test_organisers_of_another_competition_and_annotators_see_what_participants_do(embargoed: Engine) -> None:
    add_competition(embargoed, name="other")
    other, annotator = add_user(embargoed, "other"), add_user(embargoed, "annotator")
    with writing(embargoed) as session:
        competitions = {one.name: one for one in session.scalars(select(Competition))}
        grant_role(session, competitions["other"], other, Role.ORGANISER, NOW)
        grant_role(session, competitions["idioms"], annotator, Role.ANNOTATOR, NOW)
        phase_task = the_phase_task(session)
        views = {view_of(session, phase_task, Viewer(user, NOW)) for user in (other, annotator, None)}
    assert len(views) == 1
    assert views.pop().board is HIDDEN


@pytest.mark.parametrize("seen_as", list(SeenAs))
def test_borrowed_eyes_see_what_participants_see(embargoed: Engine, seen_as: SeenAs) -> None:
    root = add_user(embargoed, "root", is_administrator=True)
    assert seen(embargoed, root, seen_as) == seen(embargoed, None)


def test_slices_leave_what_ranks_or_what_stands_in_columns(engine: Engine) -> None:
    add_competition(engine)
    only: dict[Slices, Any] = {}
    for slices in Slices:
        with writing(engine) as session:
            the_phase_task(session).phase.visibility = {"slices": slices.value}
        only[slices] = seen(engine, None).only
    ranking = {("macro_f1", ZERO_SHOT), ("macro_f1", "one_shot/all")}
    assert only[Slices.NONE] == only[Slices.RANKED] == ranking
    judged = {("human_score", ZERO_SHOT), ("human_score", "one_shot/all")}  # a column of the board once it is published
    assert only[Slices.COLUMNS] == ranking | judged | {("accuracy", ZERO_SHOT), ("accuracy", "one_shot/all")}
    assert only[Slices.ALL] is None
    assert View(only=only[Slices.NONE]).shows("macro_f1", ZERO_SHOT)
    assert not View(only=only[Slices.NONE]).shows("accuracy", ZERO_SHOT)


# -------------------------------------------------------------------------------------------------------------- digits


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        (0.5, None, 0.5),
        (0.123456, 3, 0.123),
        (0.125, 2, 0.12),  # half to even; 0.125 is exact in binary
        (0.375, 2, 0.38),
        (2.5, 0, 2.0),
        (9.87654, 4, 9.8765),
        (12.34567, 4, 12.346),  # five digits, as of a value below ten
        (-123456.78, 4, -123460.0),
        (153.0, 0, 153.0),
        (8796093022207.5, 4, 8796100000000.0),  # a mean of squares that would tell 44 labels
        (123456.123456789, 12, 123456.1234568),
        (None, 2, None),
    ],
)
def test_rounding_is_half_even(value: float | None, decimals: int | None, expected: float | None) -> None:
    assert rounded(value, decimals) == expected


def test_zero_has_no_sign() -> None:
    """`-0.0` would tell that a correlation is below zero."""
    assert str(rounded(-0.0004, 2)) == "0.0"


def test_a_document_is_rounded_wherever_it_has_fractions() -> None:
    document = {"mean": 0.123456, "counts": [3, 4], "all": [{"q": 0.98765}], "name": "0.123456", "none": None}
    assert rounded_document(document, 2) == {
        "mean": 0.12,
        "counts": [3, 4],
        "all": [{"q": 0.99}],
        "name": "0.123456",
        "none": None,
    }
    assert rounded_document(document, None) is document


def test_of_two_precisions_the_coarser_holds() -> None:
    assert [min_decimals(None, None), min_decimals(2, None), min_decimals(None, 3), min_decimals(2, 3)] == [
        None,
        2,
        3,
        2,
    ]


# --------------------------------------------------------------------------------------------------------------- names


def test_neutral_names_are_stable_and_each_teams_own() -> None:
    names = [neutral_name("salt", 1, team_id) for team_id in range(1, 501)]
    assert names == [neutral_name("salt", 1, team_id) for team_id in range(1, 501)]
    assert len(set(names)) == 500
    assert all(len(name) == len("Team K7QXB2") for name in names)


def test_neutral_names_follow_no_order_and_are_others_elsewhere() -> None:
    """Of 500 neighbours about half rise; a name by number would always or never."""
    names = [neutral_name("salt", 1, team_id) for team_id in range(1, 501)]
    rising = sum(one < other for one, other in zip(names, names[1:], strict=False))
    assert 200 < rising < 300
    assert not {*names} & {neutral_name("other salt", 1, team_id) for team_id in range(1, 501)}
    assert not {*names} & {neutral_name("salt", 2, team_id) for team_id in range(1, 501)}


def test_every_competition_has_a_salt_of_its_own(engine: Engine) -> None:
    for name in ("one", "other"):
        add_competition(engine, name=name)
    with reading(engine) as session:
        salts = list(session.scalars(select(Competition.neutral_salt)))
    assert len(set(salts)) == len(salts) > 1
    assert all(len(salt) == 32 for salt in salts)
