"""Visibility: every setting before, at and after its moment, for every kind of viewer."""

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
    is_gold_hidden,
    min_decimals,
    own_scores_words,
    rounded,
    rounded_document,
    view_known,
    view_of,
    view_of_board,
    views_of,
    with_last_private_part,
)
from app.models import BoardShown, Competition, EntryRule, OwnScores, Phase, PhaseTask, Right, Role, Slices, User
from app.people.rights import grant_role
from evergold.scoring.halves import Half
from tests.beside import add_other_task, one_right_each
from tests.rich_world import NEIGHBOURS, OTHER_BOARDS
from tests.world import (
    COMPETITION,
    DAY,
    EARLIER_PHASE,
    HOUR,
    NOW,
    ONE_SHOT,
    PHASE,
    ZERO_SHOT,
    add_competition,
    add_user,
    the_phase_task,
)

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
    assert own_scores_words(View(own_scores=False)) == "This phase does not show teams the scores of their submissions."
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


def test_a_private_part_is_shown_from_its_moment_on() -> None:
    divided = Declared(is_divided=True, private_from=MOMENT)
    before, after = (decide(divided, moment) for moment in (MOMENT - INSTANT, MOMENT))
    assert (before.private, before.private_at, before.half) == (False, MOMENT, Half.PUBLIC)
    assert (after.private, after.private_at, after.half) == (True, None, Half.PRIVATE)
    organiser = View(is_divided=True, private=True, participants=before)
    assert organiser.half is Half.PUBLIC, "what ranks is the same for everybody"
    whole = decide(Declared(private_from=MOMENT), MOMENT)
    assert (whole.private, whole.half) == (False, None)


DIVIDED, SHOWN, NEVER = (View(is_divided=True, private=shown) for shown in (False, True, False))
SOON, LATER = (replace(DIVIDED, private_at=moment) for moment in (MOMENT, MOMENT + DAY))


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        (SOON, [], SOON),
        (SOON, [LATER], LATER),
        (LATER, [SOON], LATER),
        (SHOWN, [SOON, LATER], LATER),
        (SHOWN, [SHOWN, View()], SHOWN),
        (SOON, [View(private_at=MOMENT + 2 * DAY)], SOON),
        (SOON, [NEVER], NEVER),
        (View(), [LATER], View()),
    ],
)
def test_a_private_part_is_shown_no_earlier_than_those_whose_entries_stand_beside_it(
    own: View, others: list[View], expected: View
) -> None:
    assert with_last_private_part(own, *others) == expected
    organiser = View(is_divided=own.is_divided, private=own.is_divided, participants=own)
    beside = [View(is_divided=one.is_divided, private=one.is_divided, participants=one) for one in others]
    assert with_last_private_part(organiser, *beside) == replace(organiser, participants=expected)


def test_equal_views_have_equal_keys_and_others_others() -> None:
    views = [
        View(),
        View(board=RANKS),
        View(board_at=MOMENT),
        View(names=False),
        View(names_at=MOMENT),
        View(own_scores=False),
        View(own_scores_at=MOMENT),
        View(slices=Slices.NONE),
        View(slices_at=MOMENT),
        View(precision=2),
        View(ranks_by=2),
        View(precision=2, ranks_by=2),
        View(has_statistics=False),
        View(is_divided=True),
        View(private=True),
        View(private_at=MOMENT),
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
    """Check that intervals are shown with the usual digits; counts would reveal them all."""
    view = decide(declared({"precision": precision, "slices": "all"}), NOW)
    assert (view.ranks_by, view.has_statistics, view.has_details) == (ranks_by, has_statistics, has_details)


def test_public_gold_compares_by_twelve_decimals() -> None:
    """Check that more decimals are noise: 0.025 and 0.024999999999999994 are one mean of absolute errors, summed in two
    orders.
    """
    view = decide(declared({}, gold_is_public=True), NOW)
    assert (view.precision, view.ranks_by, view.ranks_exactly) == (None, 12, True)
    assert rounded(0.024999999999999994, view.ranks_by) == rounded(0.025000000000000022, view.ranks_by) == 0.025


def test_a_moment_alone_hides_until_then() -> None:
    """Check that `public_from` without `board` means an embargo."""
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


@pytest.mark.parametrize(
    ("of_phase", "of_task", "is_ladder"),
    [
        (EntryRule.LADDER, None, True),
        (EntryRule.LADDER, EntryRule.BEST, False),
        (EntryRule.BEST, EntryRule.LADDER, True),
        (EntryRule.BEST, None, False),
    ],
)
def test_a_ladder_tells_a_team_its_record_and_nothing_else(
    of_phase: EntryRule, of_task: EntryRule | None, is_ladder: bool
) -> None:
    phase = Phase(visibility={"own_scores": "after_close", "slices": "all"}, ends_at=MOMENT, entry_rule=of_phase)
    asked = PhaseTask(visibility={}, gold_is_public=False, entry={"entry": of_task} if of_task else {})
    found = declared_of(phase, asked)
    expected = (OwnScores.NEVER, Slices.NONE) if is_ladder else (OwnScores.AFTER_CLOSE, Slices.ALL)
    assert (found.own_scores, found.slices) == expected


def test_moments_are_each_their_own_and_a_frozen_board_keeps_its_close() -> None:
    said = {"public_from": "2026-02-01T00:00:00Z", "names_from": "2026-02-02T00:00:00Z"}
    phase = Phase(visibility=said, ends_at=MOMENT)
    asked = PhaseTask(visibility={}, private_part={"share": 0.5, "shown_from": "2026-02-03T00:00:00Z"})
    found = declared_of(phase, asked)
    assert (found.public_from, found.names_from, found.private_from, found.closes_at) == (
        *(datetime(2026, 2, day, tzinfo=UTC) for day in (1, 2, 3)),
        MOMENT,
    )
    assert (found.is_divided, found.is_anonymous) == (True, True)
    asked.private_part = {"share": 0.5}
    assert declared_of(phase, asked).private_from == MOMENT
    frozen = declared_of(phase, asked, closed_at=MOMENT - DAY)
    assert (frozen.closes_at, frozen.private_from) == (MOMENT - DAY, MOMENT - DAY)
    asked.private_part = {}
    assert (declared_of(phase, asked).private_from, declared_of(phase, asked).is_divided) == (None, False)


def test_sealed_gold_is_public_as_it_was_uploaded_whatever_is_declared() -> None:
    def is_hidden(sealed_is_public: bool | None, declared_public: bool, *, trusts: bool = True) -> bool:
        asked = PhaseTask(gold_is_public=declared_public, sealed_gold_is_public=sealed_is_public)
        return is_gold_hidden(asked, trusts_declaration=trusts)

    assert [is_hidden(None, said) for said in (True, False)] == [False, True]
    assert [is_hidden(None, said, trusts=False) for said in (True, False)] == [True, True]
    assert [is_hidden(public, said) for public in (True, False) for said in (True, False)] == [False, False, True, True]
    assert is_gold_hidden(None)


def test_a_task_overrides_its_phase_key_by_key() -> None:
    found = declared({"board": "hidden", "precision": 2, "slices": "none"}, {"board": "public", "precision": None})
    assert (found.board, found.precision, found.slices) == (PUBLIC, 4, Slices.NONE)


# ------------------------------------------------------------------------------------------------------------- viewers


@pytest.fixture
def embargoed(engine: Engine) -> Engine:
    """Return a competition in which everything that can be hidden is."""
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


def test_whoever_organises_without_the_right_to_submissions_sees_what_participants_do(embargoed: Engine) -> None:
    seeing = {right: seen(embargoed, user).is_organiser for right, user in one_right_each(embargoed).items()}
    assert seeing == {right: right is Right.SUBMISSIONS for right in Right}
    with reading(embargoed) as session:
        phase_task = the_phase_task(session)
        known = [view_known(session, phase_task, NOW, organises=organises) for organises in (False, True)]
    assert [view.is_organiser for view in known] == [False, True]
    assert known[0] == known[1].participants == seen(embargoed, None)


def test_each_board_is_seen_as_its_own_task_in_its_own_phase_says(embargoed: Engine) -> None:
    """Check all boards in one session, which caches what it has found; the neighbours have boards of these
    names, too.
    """
    add_other_task(embargoed, visibility={"board": "ranks_only", "precision": 3})
    with writing(embargoed) as session:
        found = find_competition(session, COMPETITION)
        session.get_one(Phase, found.phases[1].id).visibility = {"precision": 2, "slices": "none"}
    with reading(embargoed) as session:
        found = find_competition(session, COMPETITION)
        boards = {board.name: board for board in found.boards}
        views = {
            (phase.name, name): view_of_board(session, phase, boards[name], Viewer(None, NOW))
            for phase in found.phases
            for name in (boards if phase.name == PHASE else ("zero-shot", "one-shot"))
        }
        several = views_of(session, [one for phase in found.phases for one in phase.phase_tasks], Viewer(None, NOW))
        by_id = {one.id: (phase.name, one.task.name) for phase in found.phases for one in phase.phase_tasks}
    told = {place: (view.board, view.precision, view.only) for place, view in views.items()}
    ranking = frozenset({("macro_f1", ZERO_SHOT), ("macro_f1", ONE_SHOT)})
    assert told == {
        **{(PHASE, name): (HIDDEN, 1, ranking) for name in ("zero-shot", "one-shot")},
        **{(PHASE, name): (RANKS, 3, ranking) for name in OTHER_BOARDS},
        **{(EARLIER_PHASE, name): (PUBLIC, 2, ranking) for name in ("zero-shot", "one-shot")},
    }
    assert {by_id[number]: view.board for number, view in several.items()} == {
        (PHASE, "detection"): HIDDEN,
        (PHASE, "similarity"): RANKS,
        (EARLIER_PHASE, "detection"): PUBLIC,
    }


def test_what_ranks_is_that_of_the_tasks_own_boards(embargoed: Engine) -> None:
    """Check that the boards of another task, and boards of these names elsewhere, do not count."""
    add_other_task(embargoed)
    with writing(embargoed) as session:
        for place, metric in ((NEIGHBOURS, "accuracy"), (COMPETITION, "mcc")):
            for board in find_competition(session, place).boards:
                if place == NEIGHBOURS or board.name in OTHER_BOARDS:
                    board.rank_metric = metric
    assert seen(embargoed, None).only == frozenset({("macro_f1", ZERO_SHOT), ("macro_f1", ONE_SHOT)})


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
    """Check `-0.0`, which would reveal that a correlation is below zero."""
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
    """Check that of 500 neighbours about half rise; names by number would always or never."""
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
