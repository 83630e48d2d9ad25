"""Baselines of hidden gold: their scores reveal something of it, so they need the right to gold, and few
are allowed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from app.base.db import reading, writing
from app.base.errors import InvalidForm
from app.base.storage import FolderStorage, store_upload
from app.competitions.find import find_competition, find_phase_task
from app.declarations.apply.baselines import MOST_BASELINES, TooManyBaselines
from app.declarations.edits.checking import ProposedDeclaration
from app.declarations.edits.edit import Edit, Outcome, edit_values, edit_whole, go_back
from app.models import PhaseTask, RevisionSource, Right, Role, RunStatus, ScoringRun, Submission, User
from app.people.rights import RightMissing, grant_role
from tests.beside import add_old_run
from tests.declarations.competition_folder import MAJORITY, NOW
from tests.declarations.place import DEMO, Place

RIGHTS = {"editor": (Right.EDIT,), "keeper": (Right.EDIT, Right.GOLD)}


def organiser(place: Place, name: str) -> User:
    with writing(place.engine) as session:
        user = User(username=name, email=f"{name}@example.org", display_name=name, created_at=NOW)
        session.add(user)
        session.flush()
        grant_role(session, find_competition(session, DEMO), user, Role.ORGANISER, NOW, rights=RIGHTS[name])
    return user


def answers(number: int) -> str:
    """Return one of eight predictions."""
    rows = MAJORITY.splitlines()
    return "\n".join([rows[0], *(f"{row[:-1]}{number >> place & 1}" for place, row in enumerate(rows[1:]))]) + "\n"


def with_baselines(place: Place, files: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The declaration that holds with these baselines besides its own, by name: document and files."""
    present = place.present()
    document = copy.deepcopy(present.document)
    stored = {file.path: file.sha256 for file in present.files}
    asked = document["phases"][1]["tasks"]["detection"]
    for name, text in files.items():
        stored[f"{name}.csv"] = store_upload([text.encode()], FolderStorage(place.storage), 10**6).sha256
        asked["baselines"] = [*asked["baselines"], {"name": name, "file": f"{name}.csv"}]
    return document, stored


def edit(place: Place, by: User | None, document: dict[str, Any], files: Mapping[str, str], **more: Any) -> Outcome:
    storage, wanted = FolderStorage(place.storage), ProposedDeclaration(document, files, RevisionSource.EDIT)
    return edit_whole(place.engine, storage, Edit(DEMO, None, by, **more), wanted, NOW)


def runs(engine: Engine) -> int:
    with reading(engine) as session:
        return len(session.scalars(select(ScoringRun.id)).all())


@pytest.mark.parametrize("is_preview", [True, False])
def test_who_may_only_edit_adds_no_baseline_of_hidden_gold(place: Place, is_preview: bool) -> None:
    document, files = with_baselines(place, {f"probe-{one}": answers(one) for one in range(7)})
    before = runs(place.engine)
    with pytest.raises(RightMissing) as refused:
        edit(place, organiser(place, "editor"), document, files, is_preview=is_preview)
    assert refused.value.details == {"needed": ["gold"], "rights": ["edit"]}
    assert refused.value.message.startswith("Baselines on hidden gold are scored as soon as they are declared")
    assert "'probe-0'" in refused.value.message
    assert refused.value.message.endswith("can give it to you. Or do not change them.")
    assert (runs(place.engine), place.present().number) == (before, 1)


def test_calling_the_gold_public_opens_no_way_around(place: Place) -> None:
    editor = organiser(place, "editor")
    document, files = with_baselines(place, {"probe": answers(0)})
    document["phases"][1]["tasks"]["detection"]["gold_is_public"] = True
    with pytest.raises(RightMissing):
        edit(place, editor, document, files)
    storage = FolderStorage(place.storage)
    values = {"phases.evaluation.tasks.detection.gold_is_public": True}
    edit_values(place.engine, storage, Edit(DEMO, None, editor), values, NOW)
    with pytest.raises(RightMissing):
        edit(place, editor, document, files)


def test_neither_another_file_nor_another_name_nor_gold_to_come_is_a_way_around(place: Place) -> None:
    editor = organiser(place, "editor")
    document, files = with_baselines(place, {})
    files["majority.csv"] = store_upload([answers(5).encode()], FolderStorage(place.storage), 10**6).sha256
    with pytest.raises(RightMissing, match="'Majority'"):
        edit(place, editor, document, files)
    document, files = with_baselines(place, {})
    document["phases"][1]["tasks"]["detection"]["baselines"][0]["name"] = "Minority"
    with pytest.raises(RightMissing, match="'Minority'"):
        edit(place, editor, document, files)
    document, files = with_baselines(place, {})
    document["phases"].append({**document["phases"][1], "name": "later", "title": "Later"})
    document["phases"][2]["tasks"] = copy.deepcopy(document["phases"][2]["tasks"])
    document["phases"][2]["tasks"]["detection"]["gold"] = "sealed"
    with pytest.raises(RightMissing, match="'Majority'"):
        edit(place, editor, document, files)


def test_going_back_to_a_revision_with_baselines_needs_the_right_too(place: Place) -> None:
    editor, keeper = organiser(place, "editor"), organiser(place, "keeper")
    document, files = with_baselines(place, {})
    document["phases"][1]["tasks"]["detection"]["baselines"] = []
    assert edit(place, editor, document, files).revision == 2  # taking one away tells nothing
    storage = FolderStorage(place.storage)
    with pytest.raises(RightMissing):
        go_back(place.engine, storage, Edit(DEMO, None, editor), 1, NOW)
    assert go_back(place.engine, storage, Edit(DEMO, None, keeper), 1, NOW).revision == 3


def test_an_edit_that_leaves_the_baselines_alone_needs_no_more_than_before(place: Place) -> None:
    document, files = with_baselines(place, {})
    document["title"] = "Another title"
    document["phases"][1]["tasks"]["detection"]["baselines"][0]["method"] = "The majority's label"
    assert edit(place, organiser(place, "editor"), document, files).revision == 2


def test_who_may_touch_gold_adds_baselines_until_there_are_ten_in_the_phase(place: Place) -> None:
    keeper = organiser(place, "keeper")
    nine = {f"probe-{one}": answers(one % 8) for one in range(MOST_BASELINES - 1)}
    assert edit(place, keeper, *with_baselines(place, nine)).revision == 2
    with pytest.raises(InvalidForm) as refused:
        edit(place, keeper, *with_baselines(place, {"one-more": answers(3)}))
    (sentence,) = refused.value.details["fields"].values()
    assert "has 11 baselines on hidden gold, at most 10 are scored" in sentence
    document, files = with_baselines(place, {})
    document["phases"][1]["tasks"]["detection"]["baselines"][0]["name"] = "Minority"
    with pytest.raises(TooManyBaselines, match="'Minority' of .* at most 10 baselines a phase, changed files included"):
        edit(place, keeper, document, files)


def test_what_was_rejected_or_failed_told_nothing_and_is_not_counted(place: Place) -> None:
    keeper = organiser(place, "keeper")
    nine = {f"probe-{one}": answers(one % 8) for one in range(MOST_BASELINES - 1)}
    edit(place, keeper, *with_baselines(place, nine))
    with writing(place.engine) as session:
        some = select(ScoringRun.id).order_by(ScoringRun.id.desc()).limit(1).scalar_subquery()
        session.execute(update(ScoringRun).where(ScoringRun.id == some).values(status=RunStatus.REJECTED))
        rejected, one_of_nine = session.scalars(select(ScoringRun).order_by(ScoringRun.id.desc()).limit(2)).all()
    for run in (rejected, one_of_nine):
        add_old_run(place.engine, run.submission_id, 0.5)
    document, files = with_baselines(place, {})
    document["phases"][1]["tasks"]["detection"]["baselines"][0]["name"] = "Minority"
    assert edit(place, keeper, document, files).revision == 3


def test_calling_plain_gold_public_lifts_the_limit_for_operators_alone(place: Place) -> None:
    many = {f"probe-{one}": answers(one % 8) for one in range(MOST_BASELINES)}
    document, files = with_baselines(place, many)
    document["phases"][1]["tasks"]["detection"]["gold_is_public"] = True
    with pytest.raises(TooManyBaselines):
        edit(place, organiser(place, "keeper"), document, files)
    assert edit(place, None, document, files).revision == 2
    with reading(place.engine) as session:
        asked = find_phase_task(session, DEMO, "evaluation", "detection").id
        query = select(Submission.id).join(PhaseTask).where(PhaseTask.id == asked)
        assert len(session.scalars(query).all()) == MOST_BASELINES + 1


def test_check_says_that_a_phase_has_too_many(place: Place, tmp_path: Path) -> None:
    own = '              - {name: "Majority", file: majority.csv, method: "Always 1"}\n'
    more = "".join(own.replace("Majority", f"Majority {one}") for one in range(MOST_BASELINES))
    place.folder.change(own, own + more)
    (said,) = place.folder.said()
    assert "error: the phase 'evaluation' has 11 baselines on hidden gold, at most 10 are scored" in said
