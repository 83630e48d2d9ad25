"""Revisions: every apply or edit that means something else keeps one, with its files; earlier ones can hold again."""

from __future__ import annotations

import hashlib

import pytest
from sqlalchemy import Engine, delete, select

from app.base.db import reading, writing
from app.base.errors import InvalidForm, NotFound
from app.base.storage import stored_path
from app.competitions.find import find_competition
from app.declarations.edits.fields import Value
from app.declarations.revisions.kept import list_revisions
from app.models import AuditEntry, PublicFile, Revision, RevisionFile, RevisionSource, Submission
from app.operations.unowned import named_in_tables
from tests.declarations.applying import HOUR, phase_task, submit
from tests.declarations.competition_folder import ITEMS, NOW, TEMPLATE
from tests.declarations.place import END, LATER, Place, noted, said
from tests.rich_world import NEIGHBOURS, fresh, own


def add_revision(engine: Engine, competition: str) -> None:
    """The eighth of another competition: revisions have numbers of their own in each."""
    with writing(engine) as session:
        here = find_competition(session, competition)
        revision = Revision(competition_id=here.id, number=8, source=RevisionSource.EDIT, made_at=NOW, author="Nina")
        revision.document, revision.fingerprint, revision.changes = {}, "0" * 64, []
        session.add(revision)


def test_first_apply_keeps_the_declaration_as_it_was_written(each: Place) -> None:
    (revision,) = each.history()
    assert (revision.number, revision.source, revision.author) == (1, RevisionSource.FILE, "the test")
    assert list(revision.document)[:2] == ["name", "title"]  # in the organiser's order
    assert revision.document["phases"][1]["end"] == "2026-07-01 00:00 AoE"  # in the organiser's words
    assert revision.changes[0] == "added competition 'demo'"


def test_every_file_of_a_revision_lies_in_storage_and_is_owned(place: Place) -> None:
    files = {file.path: file.sha256 for file in place.present().files}
    assert set(files) == {"items.csv", "practice.csv", "template.csv", "majority.csv", "historic.csv"}
    assert files["items.csv"] == hashlib.sha256(ITEMS.encode()).hexdigest()
    assert all(stored_path(place.storage, sha256).is_file() for sha256 in files.values())
    assert named_in_tables(place.engine, files.values()) == set(files.values())


def test_what_means_the_same_is_no_new_revision(place: Place) -> None:
    place.apply(NOW + HOUR)
    place.folder.change('"2026-05-01 00:00 UTC"', '"2026-05-01 02:00 +02:00"')
    place.apply(NOW + HOUR)
    assert [revision.number for revision in place.history()] == [1]


def test_another_content_of_a_file_is_a_new_revision(place: Place) -> None:
    place.folder.write("template.csv", "ID,Language,Setting,Label\n")
    place.apply()
    assert [len(revision.changes) for revision in place.history()][1:] == [1]


def test_edit_keeps_a_revision_with_who_when_why_and_what(each: Place) -> None:
    outcome = each.edit({END: LATER}, note="As announced", now=NOW + HOUR)
    expected = "changed end of phase 'evaluation' of 'demo' from 2026-07-01 12:00 UTC to 2026-07-08 12:00 UTC"
    assert (outcome.base, outcome.revision, said(outcome.changes)) == (1, 2, [expected])
    revision = each.present()
    assert (revision.number, revision.source, revision.note) == (2, RevisionSource.EDIT, "As announced")
    assert revision.author.startswith("command line")
    assert revision.made_at == NOW + HOUR
    assert revision.changes == [expected]
    assert revision.document["phases"][1]["end"] == LATER
    ends_at = phase_task(each.engine, "evaluation").phase.ends_at
    assert ends_at is not None
    assert ends_at.isoformat() == "2026-07-08T12:00:00+00:00"


def test_edit_is_in_the_audit_log(place: Place) -> None:
    add_revision(place.engine, NEIGHBOURS)
    place.edit({"title": "A demo"})
    with reading(place.engine) as session:
        entry = session.scalars(fresh(AuditEntry)).one()
    assert (entry.action, entry.subject, entry.details["revision"]) == ("competition.edit", "competition demo", 2)


def test_edit_raises_the_version_of_the_boards(place: Place) -> None:
    place.edit({"phases.evaluation.visibility.precision": 2})
    assert phase_task(place.engine, "evaluation").board_version == 1
    assert phase_task(place.engine, "practice").board_version == 0


def test_preview_says_the_same_as_the_edit_and_changes_nothing(place: Place) -> None:
    values: dict[str, Value] = {END: LATER, "title": "A demo", "phases.practice.limits.total": 12}
    preview = place.edit(values, preview=True)
    assert (preview.revision, len(place.history())) == (None, 1)
    made = place.edit(values)
    assert [str(change) for change in preview.changes] == [str(change) for change in made.changes]
    assert (preview.effects, preview.fingerprint) == (made.effects, made.fingerprint)


def test_edit_that_means_nothing_else_keeps_nothing(place: Place) -> None:
    outcome = place.edit({END: "2026-07-01 12:00 UTC"})
    assert (outcome.revision, outcome.changes) == (None, [])


def test_value_taken_away_falls_back_to_the_default(place: Place) -> None:
    place.edit({"phases.evaluation.entry": None, "phases.practice.limits.per_day": None})
    document = place.present().document
    assert "entry" not in document["phases"][1]
    assert document["phases"][0]["limits"] == {"total": 10}


def test_values_of_a_task_in_a_phase_go_before_the_phase_s(place: Place) -> None:
    place.edit({"phases.evaluation.tasks.detection.limits.total": 3})
    assert phase_task(place.engine, "evaluation").limits == {"total": 3}


# -------------------------------------------------------------------------------------------------------------- faults


def test_every_fault_is_told_at_once_by_its_name_and_nothing_changes(place: Place) -> None:
    with pytest.raises(InvalidForm) as refused:
        place.edit(
            {
                END: "2026-01-01 00:00 UTC",
                "phases.practice.limits.per_day": "many",
                "phases.practice.start": "2026-01-01",
                "phases.evaluation.visibility.names_from": "2026-04-01 00:00 UTC",
                "website": "example.org",
            }
        )
    fields = refused.value.details["fields"]
    assert fields.keys() == {
        END,
        "phases.practice.limits.per_day",
        "phases.practice.start",
        "phases.evaluation.visibility.names_from",
        "website",
    }
    assert fields[END] == "The phase ends before it starts: 2026-01-01 00:00 UTC, 2026-05-01 00:00 UTC."
    assert fields["phases.practice.limits.per_day"] == "'per_day' must be a whole number of at least 1, but is 'many'."
    assert len(place.history()) == 1


def test_value_that_contradicts_what_was_not_edited_is_told_where_it_stands(place: Place) -> None:
    place.edit({"phases.evaluation.visibility.public_from": "close"})
    with pytest.raises(InvalidForm) as refused:
        place.edit({END: None})
    assert list(refused.value.details["fields"]) == ["phases.evaluation.visibility.public_from"]


@pytest.mark.parametrize(
    "name",
    [
        "phases.evaluation.tasks.detection.gold",
        "phases.evaluation.tasks.detection.items",
        "tasks.detection.options",
        "boards.zero-shot.columns",
        "phases.nothing.end",
        "name",
        "",
    ],
)
def test_gold_files_options_and_names_cannot_be_edited(place: Place, name: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        place.edit({name: "other/gold.csv"})
    assert refused.value.details["fields"][name].startswith("This cannot be edited here")


@pytest.mark.parametrize("name", ["title", "phases.practice.start", "boards.zero-shot.title"])
def test_what_is_needed_cannot_be_taken_away(place: Place, name: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        place.edit({name: ""})
    assert refused.value.details["fields"] == {name: "This is needed."}


def test_text_that_no_database_keeps_is_refused_by_name(place: Place) -> None:
    with pytest.raises(InvalidForm) as refused:
        place.edit({"description": "a\0b", "title": "two\nlines"})
    assert refused.value.details["fields"].keys() == {"description", "title"}


def test_competition_from_before_revisions_says_how_to_get_one(place: Place) -> None:
    with writing(place.engine) as session:
        session.execute(delete(RevisionFile))
        session.execute(delete(Revision))
    with pytest.raises(NotFound, match="No declaration of 'demo' is stored yet: `evergold apply`"):
        place.edit({"title": "A demo"})
    place.apply()
    assert place.edit({"title": "A demo"}).revision == 2


# ---------------------------------------------------------------------------------------------------------------- undo


def test_earlier_revision_holds_again_as_a_new_one(each: Place) -> None:
    add_revision(each.engine, NEIGHBOURS)
    each.edit({END: LATER, "title": "A demo"})
    outcome = each.go_back(1)
    assert outcome.revision == 3
    assert sorted(said(outcome.changes)) == [
        "changed end of phase 'evaluation' of 'demo' from 2026-07-08 12:00 UTC to 2026-07-01 12:00 UTC",
        'changed title of \'demo\' from "A demo" to "Demo"',
    ]
    first, _, third = each.history()
    assert (third.source, third.document, third.fingerprint) == (
        RevisionSource.UNDO,
        first.document,
        first.fingerprint,
    )


def test_the_history_comes_in_pages_by_number(place: Place) -> None:
    """Numbers are counted in each competition, ids are not."""
    add_revision(place.engine, NEIGHBOURS)
    for title in ("Two", "Three", "Four"):
        place.edit({"title": title})
    with reading(place.engine) as session:
        demo = find_competition(session, "demo")
        first = list_revisions(session, demo, limit=2)
        then = list_revisions(session, demo, limit=2, before=first[-1].number)
    assert [one.number for one in (*first, *then)] == [4, 3, 2, 1]


def test_going_back_brings_earlier_files_back(place: Place) -> None:
    place.folder.write("template.csv", "ID,Language,Setting,Label\n")
    place.apply()
    (place.folder.folder / "template.csv").unlink()  # storage has both
    outcome = place.go_back(1)
    assert said(outcome.changes) == ["replaced download 'template.csv' of 'detection' in phase 'evaluation' of 'demo'"]
    with reading(place.engine) as session:
        sha256 = session.scalars(select(PublicFile.sha256).where(PublicFile.title == "Template")).one()
    assert sha256 == hashlib.sha256(TEMPLATE.encode()).hexdigest()
    assert outcome.revision == 3


def test_going_back_never_loses_a_submission(each: Place) -> None:
    each.folder.change(
        "      - name: evaluation\n",
        '      - name: trial\n        title: "Trial"\n        start: "2026-05-01 00:00 UTC"\n'
        "        tasks: {detection: {gold: demo/trial.csv, items: items.csv}}\n      - name: evaluation\n",
    )
    each.apply()
    submit(each.engine, "trial")
    outcome = each.go_back(1)
    assert "left alone: 'detection' in phase 'trial' of 'demo' is no longer declared but has submissions" in noted(
        outcome.changes
    )
    with reading(each.engine) as session:
        assert len(session.scalars(own(Submission)).all()) == 2  # a person's, and the baseline's


def test_preview_of_going_back_changes_nothing(place: Place) -> None:
    place.edit({"title": "A demo"})
    assert said(place.go_back(1, preview=True).changes) == ['changed title of \'demo\' from "A demo" to "Demo"']
    assert place.present().number == 2


def test_going_back_to_what_never_was_is_not_found(place: Place) -> None:
    with pytest.raises(NotFound, match="has no revision 7"):
        place.go_back(7)


# ---------------------------------------------------------------------------------------------- the file after an edit


def test_an_export_with_a_changed_line_is_applied(place: Place) -> None:
    place.apply()
    place.edit({END: LATER})
    place.folder.change('end: "2026-07-01 00:00 AoE"', f'end: "{LATER}"')  # as the export has it
    place.folder.change('title: "Practice"', 'title: "Warming up"')
    changes = place.apply()
    assert not any(change.keeps_edits for change in changes)
    assert said(changes) == ["changed title of phase 'practice' of 'demo' from \"Practice\" to \"Warming up\""]
    assert place.present().document["phases"][1]["end"] == LATER
