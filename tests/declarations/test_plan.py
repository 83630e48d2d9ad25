"""`plan_phases`: what apply would do and whom it would affect, without doing it; and how edits on the server last."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import joinedload

from app.base.db import reading, writing
from app.boards.snapshots import freeze
from app.declarations.apply.precedence import OnEdits
from app.declarations.blueprints.preview import boards_of, declaration_of
from app.declarations.views import EffectOut
from app.models import Board, Phase, RevisionSource, ScoringRun
from tests.beside import add_old_run
from tests.declarations.applying import HOUR, WHAT, counts, phase_task, submit
from tests.declarations.competition_folder import ITEMS, NOW
from tests.declarations.place import END, EVEN_LATER, LATER, Place, noted, said
from tests.rich_world import fresh
from tests.sealed import make_key, seal_gold
from tests.world import claim, finish, scores_of, sure

ChangeFolder = Callable[[Place], None]


def stored(place: Place) -> set[str]:
    return {path.name for path in place.storage.glob("??/*")}


def add_other(place: Place) -> None:
    """Another competition, in a file that the main one includes."""
    text = place.folder.phases.read_text("utf-8").replace("name: demo", "name: other").replace("more/*", "none/*")
    place.folder.write("more/other.yaml", text)
    for file in ("items.csv", "practice.csv", "template.csv", "majority.csv", "historic.csv"):
        place.folder.write(f"more/{file}", (place.folder.folder / file).read_text("utf-8"))


def without_practice(place: Place) -> None:
    text = place.folder.phases.read_text("utf-8")
    at, until = text.index("      - name: practice"), text.index("      - name: evaluation")
    place.folder.write("phases.yaml", text[:at] + text[until:])


# ----------------------------------------------------------------------------------------------------- plan and apply


def _swap(old: str, new: str, file: str = "phases.yaml") -> ChangeFolder:
    return lambda place: place.folder.change(old, new, file)


CHANGES: dict[str, ChangeFolder] = {
    "nothing": lambda place: None,
    "a deadline": _swap("00 AoE", "00 UTC"),
    "an entry rule": _swap("entry: last", "entry: all"),
    "another download": lambda place: place.folder.write("template.csv", "ID\n"),
    "other items": lambda place: place.folder.write("items.csv", ITEMS.replace("Red tape!", "Red tape.")),
    "another baseline": lambda place: place.folder.write(
        "majority.csv", "ID,Language,Setting,Label\n1,EN,zero_shot,0\n2,PT,zero_shot,0\n3,EN,zero_shot,0\n"
    ),
    "another gold": _swap("gold: demo/evaluation.csv", "gold: demo/corrected.csv"),
    "other options": _swap("languages: [en, pt]", "languages: [pt, en]"),
    "historic rows": _swap("Bo,,macro_f1,zero_shot/all,0.4\n", "", "historic.csv"),
    "a phase less": without_practice,
}


@pytest.mark.parametrize("name", CHANGES)
def test_apply_does_what_the_plan_says_and_the_plan_does_nothing(place: Place, name: str) -> None:
    submit(place.engine)
    CHANGES[name](place)
    rows, files, revisions = counts(place.engine), stored(place), len(place.history())
    planned = place.plan()
    assert (counts(place.engine), stored(place), len(place.history())) == (rows, files, revisions)
    assert [str(change) for change in planned.changes] == [str(change) for change in place.apply()]
    assert planned.changes_something is (name != "nothing")
    assert not place.plan().changes_something


def test_plan_of_an_empty_database_stores_no_file(each: Place) -> None:
    """The fixture has applied `demo`: another competition is new."""
    add_other(each)
    each.folder.write("more/template.csv", "ID,Language,Setting,Label\n9,EN,zero_shot,\n")
    before = stored(each)
    planned = each.plan()
    assert said(planned.changes)[0] == "added competition 'other'"
    assert stored(each) == before
    assert said(each.apply()) == said(planned.changes)


# ------------------------------------------------------------------------------------------------------------- effects


def the_effect(place: Place) -> EffectOut:
    (effect,) = place.plan().effects
    return effect


def test_effects_say_whose_deadline_moves(each: Place) -> None:
    submit(each.engine)
    each.folder.change("2026-07-01 00:00 AoE", LATER)
    effect = the_effect(each)
    assert (effect.competition, effect.phase, effect.task) == ("demo", "evaluation", "detection")
    assert (effect.teams, effect.submissions, effect.rescore) == (1, 1, 0)  # the baseline is no team of people
    assert effect.what[0] == "the deadline is Wed 8 Jul 2026, 00:00 AoE, before Wed 1 Jul 2026, 00:00 AoE"
    assert str(effect).startswith("demo/evaluation/detection (1 team with 1 submission): the deadline")


def test_effects_say_that_an_embargo_begins_and_that_it_is_lifted(place: Place) -> None:
    place.folder.change("entry: last\n", "entry: last\n        visibility: {public_from: close}\n")
    assert "its boards are hidden from now on: an embargo begins" in the_effect(place).what
    place.apply()
    place.folder.change("{public_from: close}", "{board: public}")
    assert "its boards are public at once: the embargo is lifted" in the_effect(place).what


def test_effects_say_that_an_embargo_moves_with_its_phase(place: Place) -> None:
    place.folder.change("entry: last\n", "entry: last\n        visibility: {public_from: close}\n")
    place.apply()
    place.folder.change("2026-07-01 00:00 AoE", LATER)
    assert (
        "its boards are public from Wed 8 Jul 2026, 00:00 AoE, before Wed 1 Jul 2026, 00:00 AoE"
        in the_effect(place).what
    )


def test_effects_say_that_a_phase_closes_or_opens_at_once(place: Place) -> None:
    place.folder.change("2026-07-01 00:00 AoE", "2026-05-20 00:00 UTC")
    assert "it is closed at once" in the_effect(place).what
    place.apply()
    place.folder.change("2026-05-20 00:00 UTC", "2026-07-01 00:00 AoE")
    assert "it is open at once" in the_effect(place).what


def test_effects_say_that_a_later_end_supersedes_official_results(each: Place) -> None:
    closed, sentence = "2026-05-20 00:00 UTC", "its official results of 20 May 2026, 00:00 UTC are superseded"
    each.folder.change("2026-07-01 00:00 AoE", closed)
    each.apply()
    with writing(each.engine) as session:
        phase = session.scalars(fresh(Phase).where(Phase.name == "evaluation")).one()
        board = session.scalars(fresh(Board).options(joinedload(Board.task))).first()
        assert board is not None
        freeze(session, phase, board, NOW)
    each.folder.change(closed, "2026-05-19 00:00 UTC")
    assert sentence not in "; ".join(the_effect(each).what), "nothing is frozen anew for an earlier end"
    each.folder.change("2026-05-19 00:00 UTC", LATER)
    assert f"{sentence}: they keep their address, and others are frozen when it closes again" in the_effect(each).what
    each.apply()
    each.folder.change(LATER, EVEN_LATER)
    assert sentence not in "; ".join(the_effect(each).what), "it is so already"
    each.folder.change(EVEN_LATER, closed)
    each.apply()
    each.folder.change(f'        end: "{closed}"\n', "")
    assert f"{sentence}: they keep their address, and the live board continues" in the_effect(each).what


def test_effects_say_limits_entry_rules_names_scores_and_digits(place: Place) -> None:
    place.folder.change(
        "        entry: last\n",
        "        entry: chosen\n        limits: {total: 3}\n        visibility: {names_from: close, precision: 3}\n",
    )
    assert the_effect(place).what == [
        "submissions in total: 3, before 50",
        "which submission counts: 'chosen' until Wed 1 Jul 2026, 00:00 AoE, else 'last', before 'last'",
        "teams have neutral names from now on",
        "decimals shown: 3, before 4",
        "its boards may look different",
    ]


def test_effects_say_that_more_digits_and_slices_are_shown(place: Place) -> None:
    entry = "        entry: last\n"
    place.folder.change(entry, f"{entry}        visibility: {{precision: full, slices: all}}\n")
    certain = "intervals, rank ranges and p are shown at once"
    shown = ["slices shown: all, before ranked", certain, "decimals shown: all, before 4"]
    assert the_effect(place).what == [*shown, "its boards may look different"]


@pytest.mark.parametrize("change", ["another gold", "other options", "other items"], ids=["gold", "options", "items"])
def test_effects_count_what_would_have_to_be_rescored(each: Place, change: str) -> None:
    run_id = submit(each.engine)
    finish(each.engine, sure(claim(each.engine, run_id, NOW)), scores_of("zero_shot/all", 0.5), NOW)
    submit(each.engine)  # waits: it is scored with what holds then
    with reading(each.engine) as session:
        submission_id = session.get_one(ScoringRun, run_id).submission_id
    add_old_run(each.engine, submission_id, 0.9)
    CHANGES[change](each)
    found = {effect.phase: effect for effect in each.plan().effects}
    assert (found["evaluation"].rescore, each.plan().rescore) == (1, 1)
    assert "1 submission to rescore: gold, items, options or parts have changed" in found["evaluation"].what


def test_the_preview_of_boards_names_each_with_its_phase_and_its_own_description(place: Place) -> None:
    place.folder.change('        title: "Practice"\n', '        title: "Practice"\n        description: "To try."\n')
    place.folder.change('        title: "Zero-shot"\n', '        title: "Zero-shot"\n        description: "Alone."\n')
    place.apply()
    declared = declaration_of(place.present().document)
    assert declared is not None
    shown = [(board.title, board.phase, board.description) for board in boards_of(declared, {})]
    assert shown == [("Zero-shot", "Practice", "Alone."), ("Zero-shot", "Evaluation", "Alone.")]


def test_a_title_affects_boards_and_nothing_else(place: Place) -> None:
    place.folder.change('"Zero-shot"', '"Z"')
    assert [effect.what for effect in place.plan().effects] == [["its boards may look different"]] * 2


# -------------------------------------------------------------------------------------------- edits and the file again


EDITED = (
    "'demo' was edited since its file was last applied, by command line (root), the last time on 1 Jun 2026, 00:00 UTC "
    "(revision 2): phases.evaluation.end from '2026-07-01 00:00 AoE' to '2026-07-08 00:00 AoE'"
)


@pytest.fixture
def edited(each: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr("getpass.getuser", lambda: "root")
    each.edit({END: LATER})
    return each


def ends_at(place: Place) -> datetime | None:
    return phase_task(place.engine, "evaluation").phase.ends_at


AS_EDITED = datetime(2026, 7, 8, 12, tzinfo=UTC)


def test_file_that_is_applied_again_leaves_edits_and_says_them_by_name(edited: Place) -> None:
    planned = edited.plan()
    assert not planned.changes_something
    changes = edited.apply(NOW + HOUR)
    assert (
        noted(changes)
        == noted(planned.changes)
        == [
            f"kept edits: {EDITED.partition(': ')[0]}: phases.evaluation.end stays '2026-07-08 00:00 AoE', in the file "
            "'2026-07-01 00:00 AoE'; the file has not changed"
        ]
    )
    assert ([change.keeps_edits for change in changes], said(changes)) == ([False], [])
    assert ends_at(edited) == AS_EDITED
    assert [revision.number for revision in edited.history()] == [1, 2]


def test_other_competitions_are_applied_beside_an_edited_one(edited: Place) -> None:
    add_other(edited)
    assert said(edited.apply())[0] == "added competition 'other'"
    assert ends_at(edited) == AS_EDITED


def test_edited_competition_is_still_brought_in_line(place: Place) -> None:
    """Check that a baseline that waited for its gold is submitted when that is there, with edits or without."""
    place.folder.change("            gold: demo/evaluation.csv\n", "")
    place.folder.change('"Majority"', '"Late"')
    place.apply()
    place.edit({"title": "A demo"})
    make_key(place.engine)
    seal_gold(place.engine, b"gold", places=["demo/evaluation/detection"])
    assert said(place.apply()) == [f"submitted baseline 'Late' to {WHAT}"]
    assert place.present().document["title"] == "A demo"


def test_overwriting_applies_the_file_and_keeps_the_edits_in_the_history(edited: Place) -> None:
    planned = edited.plan(on_edits=OnEdits.OVERWRITE)
    changes = edited.apply(on_edits=OnEdits.OVERWRITE)
    assert [str(change) for change in changes] == [str(change) for change in planned.changes]
    assert noted(changes) == [f"overwrote edits: {EDITED}. They stay in the history"]
    assert said(changes) == [
        "changed end of phase 'evaluation' of 'demo' from 2026-07-08 12:00 UTC to 2026-07-01 12:00 UTC"
    ]
    assert [revision.source for revision in edited.history()] == ["file", "edit", "file"]
    assert edited.apply() == []


def test_file_that_says_what_was_edited_has_caught_up(edited: Place) -> None:
    edited.folder.change("2026-07-01 00:00 AoE", LATER)
    assert edited.apply() == []
    assert [revision.source for revision in edited.history()] == ["file", "edit", RevisionSource.FILE]
    edited.folder.change(LATER, "2026-07-09 00:00 AoE")  # from here on the file's word counts again
    assert len(said(edited.apply())) == 1


def test_files_that_an_undo_brought_back_are_not_replaced_silently(place: Place) -> None:
    place.folder.write("template.csv", "ID,Language,Setting,Label\n")
    place.apply()
    place.go_back(1)
    (note,) = noted(place.apply())
    assert note.startswith("kept edits: 'demo' was edited since its file was last applied")
    assert "the content of template.csv stays 'sha256 " in note
    assert said(place.apply(on_edits=OnEdits.OVERWRITE)) == [f"replaced download 'template.csv' of {WHAT}"]


def test_edits_whose_files_are_gone_from_storage_are_left_and_nothing_breaks(place: Place) -> None:
    place.folder.write("template.csv", "ID,Language,Setting,Label\n")
    place.apply()
    place.go_back(1)
    for file in place.storage.glob("??/*"):
        file.unlink()
    place.folder.change('title: "Demo"', 'title: "Mine"')
    (change,) = place.apply()
    assert (change.keeps_edits, "a file is lost" in str(change)) == (True, True)
    assert place.present().document["title"] == "Demo"
