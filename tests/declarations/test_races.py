"""Two organisers, and an apply, at the very same moment: exactly one succeeds, the others get an error."""

from __future__ import annotations

import pytest

from app.base.errors import EvergoldError
from tests.declarations.applying import phase_task
from tests.declarations.place import END, Place
from tests.threads import in_threads

pytestmark = pytest.mark.both


def _attempt(work: object) -> str:
    try:
        work()  # type: ignore[operator]
    except EvergoldError as refused:
        return refused.code
    return "made"


def test_of_many_edits_of_one_revision_one_is_made(each: Place) -> None:
    ends = [f"2026-07-{day:02} 00:00 UTC" for day in range(10, 16)]
    done = in_threads(len(ends), lambda n: _attempt(lambda: each.edit({END: ends[n]}, base=1)))
    assert sorted(done) == ["edit_conflict"] * (len(ends) - 1) + ["made"]
    assert [revision.number for revision in each.history()] == [1, 2]
    ends_at = phase_task(each.engine, "evaluation").phase.ends_at
    assert ends_at is not None
    assert f"{ends_at:%Y-%m-%d %H:%M} UTC" == ends[done.index("made")] == each.present().document["phases"][1]["end"]


def test_an_apply_and_an_edit_together_leave_the_edit_or_tell_the_editor(each: Place) -> None:
    each.folder.change('title: "Demo"', 'title: "From the file"')
    works = [
        lambda: _attempt(lambda: each.apply()),
        lambda: _attempt(lambda: each.edit({"title": "Edited"}, base=1)),
    ]
    applied, edited = in_threads(2, lambda n: works[n]())
    assert applied == "made"
    newest = each.present()
    assert (edited, newest.document["title"], newest.number) in {
        ("made", "Edited", 2),  # the edit was first: the file is not applied over it
        ("edit_conflict", "From the file", 2),
    }


def test_edits_of_what_holds_follow_each_other(each: Place) -> None:
    """Check that without a base each edit is made from what is current; those who are overtaken get an error, and may
    try again.
    """

    def until_made(number: int) -> None:
        while _attempt(lambda: each.edit({"summary": f"from {number}"})) != "made":
            pass

    in_threads(3, until_made)
    assert [revision.number for revision in each.history()] == [1, 2, 3, 4]
