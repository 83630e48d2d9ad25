"""Merging a changed file with edits on the server: key by key; only what both changed needs an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import joinedload

from app.base.db import writing
from app.base.storage import FolderStorage
from app.boards.snapshots import freeze
from app.competitions.find import find_competition
from app.declarations.apply.precedence import OnEdits
from app.declarations.edits.export import export_folder
from app.declarations.revisions.merging import Merge, Side, merge_documents, merge_files
from app.models import Board, Phase, Revision, RevisionSource
from tests.declarations.applying import phase_task, submit
from tests.declarations.competition_folder import NOW, Competition as Folder
from tests.declarations.place import DEMO, END, EVEN_LATER, LATER, Place, noted, said
from tests.rich_world import fresh

TITLE = 'title: "Demo"'
MINE = 'changed title of \'demo\' from "Demo" to "Mine"'

# ------------------------------------------------------------------------------------------------------ documents alone


def merged(base: dict[str, Any], file: dict[str, Any], server: dict[str, Any], prefer: Side | None = None) -> Merge:
    return merge_documents(base, file, server, prefer)


def test_each_side_keeps_what_it_alone_changed_added_or_removed() -> None:
    base = {"name": "demo", "title": "Demo", "summary": "One", "website": "https://a.example", "limits": {"total": 3}}
    file = {"name": "demo", "title": "Mine", "summary": "One", "limits": {"total": 3, "per_day": 1}}
    server = {**base, "summary": "Two", "limits": {"per_week": 2}, "contact": "a@example.org"}
    found = merged(base, file, server)
    expected = {"name": "demo", "title": "Mine", "summary": "Two", "limits": {"per_day": 1, "per_week": 2}}
    assert (found.document, found.conflicts) == ({**expected, "contact": "a@example.org"}, [])
    assert [str(one) for one in found.kept] == [
        "summary from 'One' to 'Two'",
        "limits.total from '3' to nothing",
        "limits.per_week from nothing to '2'",
        "contact from nothing to 'a@example.org'",
    ]


def phases(*names: str, **titles: str) -> dict[str, Any]:
    return {"phases": [{"name": name, "title": titles.get(name, name)} for name in names]}


def test_named_elements_are_merged_one_by_one_wherever_they_stand() -> None:
    found = merged(phases("a", "b", "c"), phases("a", "x", "b", "c", b="B"), phases("c", "a", "b", "y", a="A"))
    assert found.document == phases("c", "a", "x", "b", "y", a="A", b="B")
    assert found.conflicts == []


def test_two_new_orders_and_a_removed_element_that_was_changed_are_conflicts() -> None:
    found = merged(phases("a", "b", "c"), phases("b", "a", "c"), phases("c", "b", "a"))
    assert [one.path for one in found.conflicts] == ["phases (order)"]
    found = merged(phases("a", "b"), phases("a"), phases("a", "b", b="B"), Side.FILE)
    assert [(one.path, one.file) for one in found.conflicts] == [("phases.b", None)]
    assert found.document == phases("a")


def test_lists_without_names_are_one_value() -> None:
    base, file, server = ({"columns": [{"metric": one} for one in names]} for names in ("ab", "abc", "zab"))
    assert merged(base, file, base).document == file
    found = merged(base, file, server, Side.SERVER)
    assert ([one.path for one in found.conflicts], found.document) == (["columns"], server)


@pytest.mark.parametrize(("prefer", "title"), [(None, "B"), (Side.SERVER, "B"), (Side.FILE, "A")])
def test_conflicts_have_all_three_values_and_the_preferred_one_holds(prefer: Side | None, title: str) -> None:
    found = merged({"title": "Demo"}, {"title": "A"}, {"title": "B"}, prefer)
    assert [str(one) for one in found.conflicts] == [
        "title is 'A' in the file, 'B' on the server; it was 'Demo' before"
    ]
    assert found.document == {"title": title}


def test_contents_of_files_are_merged_by_path() -> None:
    base = {"same": "1", "mine": "1", "theirs": "1", "both": "1", "gone": "1"}
    file = {"same": "1", "mine": "2", "theirs": "1", "both": "2", "added": "1"}
    server = {"same": "1", "mine": "1", "theirs": "2", "both": "3", "gone": "1", "image": "1"}
    chosen, conflicts = merge_files(base, file, server, None)
    assert conflicts == ["both"]
    assert {path for path, side in chosen.items() if side is Side.FILE} == {"same", "mine", "added"}
    assert merge_files(base, file, server, Side.FILE)[0]["both"] is Side.FILE


# ------------------------------------------------------------------------------------------------------------- applying


def test_a_file_and_an_edit_are_merged_and_both_are_kept(each: Place) -> None:
    each.edit({END: LATER})
    each.folder.change(TITLE, 'title: "Mine"')
    planned = each.plan()
    changes = each.apply()
    assert [str(one) for one in changes] == [str(one) for one in planned.changes]
    assert said(changes) == [MINE]
    assert "phases.evaluation.end stays '2026-07-08 00:00 AoE', in the file '2026-07-01 00:00 AoE'" in noted(changes)[0]
    document = each.present().document
    assert (document["title"], document["phases"][1]["end"]) == ("Mine", LATER)
    assert [one.source for one in each.history()] == ["file", "edit", "file", "merge"]
    assert each.history()[2].document["phases"][1]["end"] == "2026-07-01 00:00 AoE"  # as the file was read
    assert (said(each.apply()), len(each.history())) == ([], 4)


def test_what_the_server_takes_back_later_stays_taken_back(place: Place) -> None:
    place.edit({END: LATER})
    place.folder.change(TITLE, 'title: "Mine"')
    place.apply()
    place.edit({"title": "Theirs"})
    place.folder.change('title: "Practice"', 'title: "Warming up"')
    assert said(place.apply()) == ["changed title of phase 'practice' of 'demo' from \"Practice\" to \"Warming up\""]
    assert place.present().document["title"] == "Theirs"


def test_moments_that_mean_the_same_are_no_conflict(place: Place) -> None:
    place.edit({END: LATER})
    place.folder.change("2026-07-01 00:00 AoE", "2026-07-08 12:00 UTC")
    assert place.apply() == []
    assert [one.source for one in place.history()] == ["file", "edit", "file"]


def test_a_conflict_names_both_values_and_the_command_and_changes_nothing(place: Place) -> None:
    place.edit({END: LATER})
    place.folder.change("2026-07-01 00:00 AoE", EVEN_LATER)
    place.folder.change(TITLE, 'title: "Mine"')
    (change,) = place.apply()
    assert change.keeps_edits
    assert f"{END} is '{EVEN_LATER}' in the file, '{LATER}' on the server; it was '2026-07-01 00:00 AoE'" in str(change)
    assert "`evergold apply --conflicts file`" in str(change)
    assert (place.present().number, place.present().document["title"]) == (2, "Demo")


@pytest.mark.parametrize(("on_edits", "end"), [(OnEdits.FILE, EVEN_LATER), (OnEdits.SERVER, LATER)])
def test_a_conflict_is_decided_for_one_side_and_stays_decided(place: Place, on_edits: OnEdits, end: str) -> None:
    place.edit({END: LATER, "summary": "Edited"})
    place.folder.change("2026-07-01 00:00 AoE", EVEN_LATER)
    place.folder.change(TITLE, 'title: "Mine"')
    assert MINE in said(place.apply(on_edits=on_edits))
    document = place.present().document
    assert (document["phases"][1]["end"], document["summary"], document["title"]) == (end, "Edited", "Mine")
    assert [one.keeps_edits for one in place.apply()] == [False]


def forget_files(place: Place) -> None:
    """A competition may have been made in the browser: no revision of it is a file's."""
    with writing(place.engine) as session:
        demo = find_competition(session, DEMO)
        session.execute(update(Revision).where(Revision.competition_id == demo.id).values(source=RevisionSource.EDIT))


def test_a_changed_export_is_merged_with_what_was_edited_since(place: Place, tmp_path: Path) -> None:
    place.edit({END: LATER})
    forget_files(place)
    home = Folder(tmp_path / "home")
    export_folder(place.present(), DEMO, FolderStorage(place.storage), home.folder)
    place.edit({"summary": "Edited since"})
    home.change(f"end: {LATER}", f"end: {EVEN_LATER}", "competition.yaml")
    home.write("phases.yaml", 'version: 1\ninclude: ["competition.yaml"]\n')
    moved = Place(place.engine, home)
    changes = moved.apply()
    assert len(said(changes)) == 1
    assert "changed end of phase 'evaluation'" in said(changes)[0]
    document = place.present().document
    assert (document["summary"], document["phases"][1]["end"]) == ("Edited since", EVEN_LATER)


def test_an_export_without_its_first_line_is_left_alone_where_no_file_is_known(place: Place) -> None:
    forget_files(place)
    place.folder.change(TITLE, 'title: "Mine"')
    (change,) = place.apply()
    assert (change.keeps_edits, "begin with `evergold export yaml demo`" in str(change)) == (True, True)


@pytest.mark.parametrize(
    "mark", ["Revision 2 of 'demo', of 2020-01-01 00:00 UTC, by grace.", "Revision 999999999 of 'demo'"]
)
def test_the_mark_of_another_server_is_no_base(place: Place, mark: str) -> None:
    place.edit({END: LATER})
    place.folder.write("phases.yaml", f"# {mark}\n" + place.folder.phases.read_text("utf-8"))
    place.folder.change("2026-07-01 00:00 AoE", EVEN_LATER)
    assert [one.keeps_edits for one in place.apply()] == [True]


def test_what_is_not_valid_together_is_left_alone_with_the_reason(place: Place) -> None:
    place.edit({END: "2026-06-20 00:00 UTC"})
    place.folder.change('start: "2026-05-01 00:00 UTC"', 'start: "2026-06-25 00:00 UTC"')
    (change,) = place.apply()
    assert change.keeps_edits
    assert "Together with these edits the file is not valid: " in str(change)
    assert place.present().number == 2


def test_files_of_both_sides_go_into_a_merge(place: Place) -> None:
    place.folder.write("template.csv", "ID,Language,Setting,Label\n")
    place.apply()
    place.go_back(1)
    theirs = {file.path: file.sha256 for file in place.present().files}
    place.folder.write("practice.csv", (place.folder.folder / "practice.csv").read_text("utf-8").replace("!", "."))
    assert "replaced the items of 'detection' in phase 'practice' of 'demo'" in said(place.apply())
    now = {file.path: file.sha256 for file in place.present().files}
    assert {path for path in now if now[path] != theirs[path]} == {"practice.csv"}


def test_an_end_that_supersedes_official_results_says_so_where_it_is_applied(place: Place) -> None:
    place.folder.change("2026-07-01 00:00 AoE", "2026-05-20 00:00 UTC")
    place.apply()
    submit(place.engine, "practice")
    with writing(place.engine) as session:
        wanted = select(Phase).where(Phase.id == phase_task(place.engine, "evaluation").phase_id)
        phase = session.scalars(wanted).one()
        board = session.scalars(fresh(Board).options(joinedload(Board.task))).one()
        freeze(session, phase, board, NOW)
    place.edit({"title": "Edited"})
    place.folder.change("2026-05-20 00:00 UTC", LATER)
    note = (
        "phase 'evaluation' of 'demo' is open again: its official results of 20 May 2026, 00:00 UTC are superseded: "
        "they keep their address, and others are frozen when it closes again"
    )
    assert note in noted(place.plan().changes)
    assert note in noted(place.apply())


def test_a_base_that_this_version_cannot_read_is_compared_as_it_was_written(place: Place) -> None:
    place.edit({END: LATER})
    with writing(place.engine) as session:
        demo = find_competition(session, DEMO)
        first = session.scalars(select(Revision).where(Revision.competition_id == demo.id, Revision.number == 1)).one()
        first.document = {**first.document, "from_the_future": 1}
    place.folder.change(TITLE, 'title: "Mine"')
    assert said(place.apply()) == [MINE]
    assert place.present().document["phases"][1]["end"] == LATER
