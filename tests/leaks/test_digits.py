"""Digits of hidden gold and ends of intervals are in answers once they are declared, or nothing is hidden any more.

Else `test_differences`, which looks at every number of every answer for them, would look for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.leaks import place
from tests.leaks.digits import DIGITS, ENDS, USUAL, Tells, is_digit_of, is_end_of, telling
from tests.leaks.news import told_to
from tests.leaks.place import REVEAL, Place, give_all_but_submissions
from tests.leaks.templates import Templates
from tests.web.site import Site

BOARD = "/api/v1/competitions/idioms/phases/evaluation/boards/zero-shot"


@pytest.fixture
def unscored(quick_empty_site: Site, cheap_passwords: None, templates: Templates) -> Iterator[Place]:
    """Yield a place with everything but the outcomes."""
    found = templates.copy(quick_empty_site, place.build)
    give_all_but_submissions(found)
    yield found
    found.close()


def test_declared_or_public_they_are_there(unscored: Place) -> None:
    own = f"/api/v1/submissions/{unscored.submitted['alpha'][0]}"
    asked = [f"{BOARD}.csv", own, f"{BOARD}/pictures/progress"]
    place.reveal(unscored, DIGITS, {"precision": "full", "slices": "all"})
    declared = _leaks(unscored, is_digit_of(DIGITS), asked)
    place.reveal(unscored, DIGITS, USUAL)
    place.make_gold_public(unscored.site.engine)
    public = _leaks(unscored, is_digit_of(DIGITS), asked)
    for found in (declared, public):
        assert found[: len(asked)] == asked
        assert any(where.startswith("webhook for team: submission.scored") for where in found)
        assert any(where.startswith("webhook for public: board.changed") for where in found)


def test_declared_or_closed_the_ends_are_there(unscored: Place) -> None:
    own = f"/api/v1/submissions/{unscored.submitted['alpha'][0]}"
    asked = [BOARD, f"{BOARD}.csv", f"{BOARD}/pictures/forest", own]
    place.reveal(unscored, ENDS, {"precision": None, "slices": "all"}, ends_at=REVEAL)
    declared = _leaks(unscored, is_end_of(ENDS), asked)
    place.reveal(unscored, ENDS, USUAL)
    closed = _leaks(unscored, is_end_of(ENDS), asked)
    for found in (declared, closed):
        assert found[: len(asked)] == asked


def _leaks(unscored: Place, tells: Tells, paths: Sequence[str]) -> list[str]:
    """Return the paths and messages that reveal something to a participant."""
    with unscored.client("participant") as visitor:
        visitor.bare.headers["Accept-Encoding"] = "identity"
        answers = {path: visitor.send("GET", path).text for path in paths} | told_to(unscored, "participant")
    return [where for where, text in answers.items() if telling(text, tells)]
