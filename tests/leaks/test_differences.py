"""Two servers that differ only in what is hidden answer every GET route byte for byte alike.

It is one server whose hidden outcomes are exchanged: so ids, names, times and tags stay, and any difference reveals
something, be it a digit, an order, a count, an ETag, a length or an error. Where the same outcomes are shown, the
answers do differ, otherwise this would compare nothing. Requests are answered in process: test_canaries checks that
HTTP reveals no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from tests.leaks import place
from tests.leaks.answers import plain
from tests.leaks.digits import DIGITS, ENDS, USUAL, Tells, is_digit_of, is_end_of, telling
from tests.leaks.news import told_to
from tests.leaks.paths import OUTSIDERS, paths_of
from tests.leaks.place import EMBARGO, HIDDEN, REVEAL, TEAMS, Hidden, Place, give_all_but_submissions
from tests.leaks.templates import Templates
from tests.web.site import Site

#: What organisers are asked: who sees all is asked only whether what is hidden is there at all.
BOARD = "/api/v1/competitions/idioms/phases/evaluation/boards/zero-shot"
PRIVATE = f"{BOARD}?part=private"
RESCORING = "/competitions/idioms/rescoring"


Private = Mapping[str, tuple[float | None, float | None]]


@dataclass(frozen=True)
class Pair:
    """Two outcomes that the viewers must not distinguish under this visibility. private: scores of a private part of
    the items, where these differ; sure: the scores behind intervals and tests, likewise. each_commit: the viewers with
    each commit; none: the pair is for soak. ends_at: the end, where the evaluation is still open. untold: the numbers
    of the first outcome that no answer may have.
    """

    what: str
    one: Hidden
    other: Hidden
    visibility: Mapping[str, Any]
    looking: Sequence[str] = ("anonymous", "participant")
    judged: Sequence[str] = TEAMS
    told_on_purpose: frozenset[str] = frozenset()
    private: tuple[Private, Private] | None = None
    sure: tuple[Private, Private] | None = None
    each_commit: Sequence[str] = ()
    ends_at: datetime | None = None
    untold: Tells | None = None


#: How long scoring takes as a rule, of all runs of the server that were scored lately: of one more, too.
USUAL_TIME = frozenset({"/status"})
PAIRS = [
    Pair(
        "scores, and with them the order",
        HIDDEN,
        {"alpha": (0.31, 0.23), "beta": (0.81, None), "gamma": (0.99, 0.98)},
        EMBARGO,
        OUTSIDERS,
        each_commit=("participant", "editor"),
    ),
    Pair(
        "a rejection",
        HIDDEN,
        {**HIDDEN, "gamma": None},
        EMBARGO,
        ("anonymous", "other team", "editor"),
        ("alpha", "beta"),
        USUAL_TIME,
    ),
    Pair("whether anybody took part", HIDDEN, {}, EMBARGO, ("anonymous", "annotator", "editor"), (), USUAL_TIME),
    Pair(
        "values where only ranks are shown",
        HIDDEN,
        {"alpha": (0.95, 0.93), "beta": (0.62, 0.54), "gamma": (0.35, None)},
        {"board": "ranks_only", "own_scores": "never"},
    ),
    Pair(
        "digits beyond the precision, and the order that they would give",
        {"alpha": (0.614, 0.514), "beta": (0.612, 0.512), "gamma": (0.2, None)},
        {"alpha": (0.611, 0.511), "beta": (0.613, 0.513), "gamma": (0.2, None)},
        {"precision": 2},
    ),
    Pair(
        "digits beyond the usual ones of hidden gold",
        DIGITS,
        {"alpha": (0.61401123, 0.51401187), "beta": (0.61404411, 0.51404432), "gamma": (0.2, None)},
        USUAL,
        OUTSIDERS,
        each_commit=("participant", "editor"),
        untold=is_digit_of(DIGITS),
    ),
    Pair(
        "scores beside the ranking one while the phase is open",
        ENDS,
        {team: of and (of[1], of[0]) for team, of in ENDS.items()},
        USUAL,
        OUTSIDERS,
        each_commit=("participant", "editor"),
        ends_at=REVEAL,
        untold=is_end_of(ENDS),
    ),
    Pair(
        "how sure scores are while the phase is open",
        HIDDEN,
        HIDDEN,
        USUAL,
        OUTSIDERS,
        sure=(
            {"alpha": (0.93, 0.85), "beta": (0.74, 0.66), "gamma": (0.57, None)},
            {"alpha": (0.51, 0.43), "beta": (0.51, 0.43), "gamma": (0.95, None)},
        ),
        each_commit=("participant",),
        ends_at=REVEAL,
    ),
    Pair(
        "the private part of the items",
        HIDDEN,
        HIDDEN,
        {},
        OUTSIDERS,
        private=(
            {"alpha": (0.31, 0.23), "beta": (0.81, None), "gamma": (0.99, 0.98)},
            {"alpha": (0.71, 0.63), "beta": (0.21, 0.9), "gamma": (0.39, None)},
        ),
        each_commit=("participant",),
    ),
]


def _lane(pair: Pair) -> list[pytest.MarkDecorator]:
    """Return no mark for pairs tested with each commit (the one that changes everything, and those that no other
    includes), else soak.
    """
    return [] if pair.each_commit else [pytest.mark.soak]


@pytest.fixture
def unscored(quick_empty_site: Site, cheap_passwords: None, templates: Templates) -> Iterator[Place]:
    """Yield a place with everything but the outcomes."""
    found = templates.copy(quick_empty_site, place.build)
    give_all_but_submissions(found)
    yield found
    found.close()


@pytest.mark.parametrize("pair", [pytest.param(pair, marks=_lane(pair), id=pair.what) for pair in PAIRS])
def test_what_is_hidden_makes_no_difference(unscored: Place, pair: Pair, pytestconfig: pytest.Config) -> None:
    """Compare all answers; with --soak for every viewer, and also single pictures, whose page has the same numbers.

    Where numbers are searched for, pictures are read with each commit.
    """
    is_deep = pytestconfig.getoption("--soak")
    roles = pair.looking if is_deep else pair.each_commit
    one, other = (_everything(unscored, pair, of, roles, is_deep or pair.untold is not None) for of in (0, 1))
    different = [asked for asked in one if one[asked] != other[asked] and asked[1] not in pair.told_on_purpose]
    assert [f"{role} {path}" for role, path in different if role != "organiser"] == []
    asked = PRIVATE if pair.private else _report(unscored) if pair.ends_at and not pair.sure else BOARD
    assert ("organiser", asked) in different, "organisers see it: so it was there to be told"
    told = [what for role, what in different if role == "organiser" and what.startswith("webhook for organisers")]
    assert told or pair.private or pair.sure, "and so are their webhooks"
    if pair.untold is not None:
        _check_only_organisers_read(one, pair.untold)


def _check_only_organisers_read(answers: Mapping[tuple[str, str], str], tells: Tells) -> None:
    """Check that no answer has such a number, except those to organisers."""
    found = {asked: told for asked, answer in answers.items() if (told := telling(answer, tells))}
    assert {asked: told for asked, told in found.items() if asked[0] != "organiser"} == {}
    assert found, "organisers read all digits: so they were there to be told"


@pytest.mark.soak
def test_the_same_differences_are_seen_once_they_are_shown(unscored: Place) -> None:
    unscored.site.set_clock(REVEAL)
    pair = PAIRS[0]
    one, other = (_everything(unscored, pair, of, ["anonymous"], False) for of in (0, 1))
    told = {path.partition("?")[0] for (_, path) in one if one["anonymous", path] != other["anonymous", path]}
    for path in ("", ".csv", "/official", "/official/1", "/table", "/feed.atom"):
        assert f"/api/v1/competitions/idioms/phases/evaluation/boards/zero-shot{path}" in told
    for page in ("phases/evaluation/boards/zero-shot", "phases/post/boards/zero-shot", "tasks/detection/results"):
        assert f"/competitions/idioms/{page}" in told
    assert "/competitions/idioms/judging/human" in told


@pytest.mark.soak
def test_the_private_part_is_seen_everywhere_once_it_is_shown(unscored: Place) -> None:
    unscored.site.set_clock(REVEAL)
    one, other = (_everything(unscored, PAIRS[-1], of, ["anonymous", "participant"], False) for of in (0, 1))
    told = {path for (role, path) in one if role == "anonymous" and one[role, path] != other[role, path]}
    assert {BOARD, PRIVATE, f"{BOARD}.csv", f"{BOARD}/official", f"{BOARD}/table", f"{BOARD}/feed.atom"} <= told
    assert f"{BOARD}?part=public" not in told
    assert "/competitions/idioms/tasks/detection/results" in told
    assert "/api/v1/competitions/idioms/phases/evaluation/rankings/overall" in told
    mine = {path for (role, path) in one if role == "participant" and one[role, path] != other[role, path]}
    assert any(path.startswith("/api/v1/submissions/") for path in mine)


def _everything(
    unscored: Place, pair: Pair, of: int, roles: Sequence[str], pictures: bool
) -> dict[tuple[str, str], str]:
    """Return what each role gets from every address, by role and address."""
    hidden = (pair.one, pair.other)[of]
    place.reveal(unscored, hidden, pair.visibility, pair.private[of] if pair.private else None, ends_at=pair.ends_at)
    if pair.sure:
        runs = {team: run for team, (_, run) in unscored.submitted.items()}
        place.keep_statistics(unscored.site.engine, {runs[team]: values for team, values in pair.sure[of].items()})
    if pair.judged:
        place.judge(unscored, pair.judged)
    return _answers(unscored, roles, pictures)


def _report(unscored: Place) -> str:
    return f"/api/v1/submissions/{unscored.submitted['alpha'][0]}/report"


@pytest.mark.soak
def test_an_open_rescoring_set_makes_no_difference(unscored: Place, pytestconfig: pytest.Config) -> None:
    """Show every board with everything scored, then score all of it otherwise in a set."""
    is_deep = pytestconfig.getoption("--soak")
    place.reveal(unscored, HIDDEN, {})
    before = _answers(unscored, OUTSIDERS, is_deep)
    place.reveal(unscored, HIDDEN, {})
    place.rescore(unscored.site.engine, "evaluation")
    during = _answers(unscored, OUTSIDERS, is_deep)
    told = [asked for asked in before if before[asked] != during[asked]]
    assert [f"{role} {path}" for role, path in told if role != "organiser"] == []
    assert ("organiser", RESCORING) in told, "organisers see it: so it was there to be told"
    with unscored.client("organiser") as organiser, unscored.client("anonymous") as anybody:
        assert organiser.send("POST", "/api/v1/competitions/idioms/rescorings/2/publish").status_code == 200
        assert plain(anybody.send("GET", BOARD)) != before["anonymous", BOARD]


def _answers(unscored: Place, roles: Sequence[str], pictures: bool) -> dict[tuple[str, str], str]:
    """Return the answers by role and address, and the four of organisers; pictures: True to add single ones."""
    paths = [path for path in paths_of(unscored) if pictures or "/pictures/" not in path]
    found = {}
    for role, asked in [
        *((role, paths) for role in roles),
        ("organiser", [BOARD, PRIVATE, RESCORING, _report(unscored)]),
    ]:
        with unscored.client(role) as visitor:
            visitor.bare.headers["Accept-Encoding"] = "identity"  # compressed answers are compared by no reader
            for path in asked:
                answer = visitor.send("GET", path)
                assert answer.status_code != 500, (role, path)
                found[role, path] = plain(answer)
        found |= {(role, what): message for what, message in told_to(unscored, role).items()}
    return found
