"""Versions of gold are checked by a worker before their first use; faults are reported by line, without a label."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from nacl.exceptions import CryptoError
from nacl.public import Box, PrivateKey, PublicKey
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import FolderStorage, store_upload, stored_path
from app.competitions.find import find_phase_task
from app.declarations.apply.apply import apply_phases
from app.declarations.check import load_competitions
from app.declarations.setup.columns import read_description
from app.gold.checks import RESEND, ask_for_check, unanswered_checks
from app.gold.versions import GoldUnusable, publish_gold
from app.models import CompetitionTask, GoldCheck, GoldVersion, PhaseTask, RunStatus, SealedFile, Submission, User
from tests.declarations.competition_folder import (
    GOLD as DECLARED_GOLD,
    NOW as DECLARED_NOW,
    Competition,
    make_competition,
)
from tests.rescoring.rescored import start
from tests.sealed import make_key, seal_gold
from tests.workers.files import GOLD, upload
from tests.world import NOW, the_phase_task, the_run
from workers import gold
from workers.apart import Apart, Lost
from workers.keys import key_file
from workers.score import score_submission
from workers.version_check import check_gold_version

#: Line 3 has a label that nobody declared; line 5 repeats an id.
WRONG = "ID,DataID,Language,Label\n1,d1,EN,0\n2,d2,EN,SECRET\n3,d3,EN,1\n3,d4,EN,1\n"
ITEMS = "ID,Language,MWE,Target\n" + "".join(f"{number},EN,night owl,A night owl.\n" for number in range(1, 5))


@pytest.fixture(autouse=True)
def _worker(workplace: Path, engine: Engine, ada: User) -> Iterator[None]:
    """A worker with its key, and a phase whose gold is not there yet."""
    gold._cache.clear()
    make_key(engine)
    with writing(engine) as session:
        the_phase_task(session).gold = None
    yield
    gold._cache.clear()


def put(engine: Engine, content: str, *, publish: bool | None = None, reader: PrivateKey | None = None) -> GoldVersion:
    key = bytes(reader.public_key).hex() if reader else None
    return seal_gold(engine, content.encode(), publish=publish, checked=False, reader=key)


def checked(engine: Engine, version: GoldVersion) -> GoldVersion:
    check_gold_version(version.id)
    return look(engine, version)


def look(engine: Engine, version: GoldVersion) -> GoldVersion:
    with reading(engine) as session:
        return session.get_one(GoldVersion, version.id)


def problems(version: GoldVersion) -> list[str]:
    return [problem["sentence"] for problem in version.problems]


def test_gold_is_used_as_soon_as_it_was_found_right_and_not_before(engine: Engine, ada: User) -> None:
    version = put(engine, GOLD)
    assert (version.check_state, version.published_at) == (GoldCheck.WAITING, None)
    with reading(engine) as session:
        assert the_phase_task(session).gold is None, "submissions are refused until then"
    found = checked(engine, version)
    assert (found.check_state, found.published_at is not None, found.problems) == (GoldCheck.VALID, True, [])
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.SCORED


def test_gold_that_cannot_be_read_is_never_used_and_told_by_line_without_its_labels(engine: Engine) -> None:
    found = checked(engine, put(engine, WRONG))
    assert (found.check_state, found.published_at) == (GoldCheck.INVALID, None)
    assert problems(found) == ["line 3: bad value", "line 5: duplicate id"]
    assert "SECRET" not in repr(found.problems)
    with reading(engine) as session:
        assert the_phase_task(session).gold is None


def test_columns_are_reported_where_the_upload_asked_for_it_and_of_no_other_gold(engine: Engine) -> None:
    content = "ID,DataID,Language,Label\n" + "".join(f"{n},d{n},{'EN' if n % 2 else 'PT'},{n % 2}\n" for n in range(6))
    asked = checked(engine, seal_gold(engine, content.encode(), checked=False, described=True))
    assert asked.check_state == GoldCheck.VALID
    found = read_description(asked.description)
    assert found is not None
    assert found.is_plain
    assert [(one.name, one.different, one.values) for one in found.columns] == [
        ("ID", 6, ()),
        ("DataID", 6, ()),
        ("Language", 2, (("PT", 3), ("EN", 3))),
        ("Label", 2, (("0", 3), ("1", 3))),
    ], "what differs in each row is not listed"
    other = seal_gold(engine, content.encode(), checked=False)
    with writing(engine) as session:  # somebody who writes to the database would like to have it described
        session.execute(
            update(GoldVersion).where(GoldVersion.id == other.id).values(explanation=asked.explanation, problems=[])
        )
    assert checked(engine, other).explanation is None
    wrong = checked(engine, seal_gold(engine, WRONG.encode(), checked=False, described=True))
    assert (wrong.check_state, problems(wrong)) == (GoldCheck.INVALID, ["line 3: bad value", "line 5: duplicate id"])
    assert "SECRET" not in str(wrong.description), "a label that occurs once is not listed"


def opened(explanation: str | None, key: PrivateKey) -> Any:
    """Return what the uploader's browser reads."""
    assert explanation is not None
    sealed = base64.b64decode(explanation)
    return json.loads(Box(key, PublicKey(sealed[:32])).decrypt(sealed[32:]))


def test_wrong_values_are_explained_to_the_key_of_the_uploader_alone(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, theirs = PrivateKey.generate(), PrivateKey.generate()
    found = checked(engine, put(engine, WRONG, reader=mine))
    said = opened(found.explanation, mine)
    assert said["omitted"] == 0
    assert [one for one in said["problems"] if "SECRET" in one and "line 3" in one and "Label" in one]
    with pytest.raises(CryptoError):
        opened(found.explanation, theirs)
    assert problems(found) == ["line 3: bad value", "line 5: duplicate id"]
    logged = capsys.readouterr()
    assert "SECRET" not in repr(vars(found)) + logged.out + logged.err


def test_there_is_no_explanation_without_a_key_for_right_gold_or_under_other_options(engine: Engine) -> None:
    mine = PrivateKey.generate()
    assert checked(engine, put(engine, WRONG)).explanation is None
    assert checked(engine, put(engine, GOLD, reader=mine)).explanation is None
    version = put(engine, WRONG, reader=mine)
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(options={"languages": ["en"]}))
    found = checked(engine, version)
    assert ([one["code"] for one in found.problems], found.explanation) == (["other-options"], None)


def test_of_many_problems_as_many_are_explained_as_are_shown(engine: Engine) -> None:
    mine = PrivateKey.generate()
    rows = "".join(f"{number},d,EN,SECRET\n" for number in range(1, 31))
    said = opened(checked(engine, put(engine, f"ID,DataID,Language,Label\n{rows}", reader=mine)).explanation, mine)
    assert (len(said["problems"]), said["omitted"]) == (20, 10)


@pytest.mark.parametrize("reader", ["0" * 64, "01" + "00" * 31])
def test_a_key_of_low_order_gets_no_explanation(engine: Engine, reader: str) -> None:
    """Check it, since everybody could open what is sealed for such a key."""
    version = seal_gold(engine, WRONG.encode(), checked=False, reader=reader)
    assert checked(engine, version).explanation is None


def test_a_reader_that_somebody_writes_into_the_file_opens_nothing(engine: Engine) -> None:
    """The key is part of what every chunk is bound to."""
    mine, theirs = PrivateKey.generate(), PrivateKey.generate()
    version = put(engine, WRONG, reader=mine)
    with reading(engine) as session:
        sha256 = session.scalars(select(SealedFile.sha256).where(SealedFile.id == version.sealed_file_id)).one()
    file = stored_path(get_settings().sealed_dir, sha256)
    sealed_to, other = (bytes(one.public_key).hex().encode() for one in (mine, theirs))
    file.chmod(0o600)
    assert sealed_to in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(sealed_to, other))
    found = checked(engine, version)
    assert (found.published_at, found.explanation) == (None, None)
    assert "SECRET" not in repr(vars(found))


def test_labels_that_look_alike_are_told_by_line_without_a_label(engine: Engine) -> None:
    """Check a space behind a label: it would make a separate class, and score every team wrong."""
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(task_type="table", options={}))
    found = checked(engine, put(engine, "id,label\n1,pos\n2,neg\n3,pos \n4,Neg\n"))
    assert (found.check_state, found.published_at) == (GoldCheck.INVALID, None)
    assert problems(found) == ["line 4: spaces around value", "line 5: looks like another"]


def test_of_many_problems_the_first_are_told_and_the_rest_counted(engine: Engine) -> None:
    rows = "".join(f"{number},d,EN,SECRET\n" for number in range(1, 31))
    found = checked(engine, put(engine, f"ID,DataID,Language,Label\n{rows}"))
    assert (len(found.problems), found.problems_omitted) == (20, 10)


def test_gold_that_does_not_fit_the_items_is_told_by_the_names_that_everybody_has(engine: Engine) -> None:
    give_items(engine, ITEMS.replace("4,EN", "SPARE,EN"))
    found = checked(engine, put(engine, GOLD.replace("\n4,", "\nHIDDEN,")))
    assert found.check_state == GoldCheck.INVALID
    assert problems(found) == [
        "it has 1 that are not in the blind items",
        "it lacks 1 of the blind items: 'SPARE'",
    ]
    assert "HIDDEN" not in repr(found.problems)


@pytest.mark.parametrize(
    ("lost", "attempts"),
    [(Lost("its worker was stopped", is_stopped=True), 0), (Lost("its process was killed"), 1)],
)
def test_a_check_that_was_lost_is_done_again_and_a_stop_costs_no_attempt(
    engine: Engine, lost: Lost, attempts: int
) -> None:
    version = put(engine, GOLD)
    check_gold_version(version.id, run=lambda _: lambda: lost)
    found = look(engine, version)
    assert (found.check_state, found.check_attempts, found.check_failure) == (GoldCheck.WAITING, attempts, lost.reason)
    with writing(engine) as session:
        assert found.check_sent_at is not None
        assert unanswered_checks(session, found.check_sent_at + RESEND) == [version.id]
    assert checked(engine, version).check_state == GoldCheck.VALID


def test_a_check_that_kills_its_process_each_time_counts_as_unusable_in_the_end(engine: Engine) -> None:
    version = put(engine, GOLD)
    for _ in range(get_settings().attempts):
        check_gold_version(version.id, run=lambda _: lambda: Lost("its process was killed"))
    found = look(engine, version)
    assert (found.check_state, found.published_at) == (GoldCheck.INVALID, None)
    assert problems(found) == ["no worker could check it: its process was killed"]


@pytest.mark.parametrize("content", [GOLD, WRONG])
def test_another_process_finds_the_same(engine: Engine, content: str) -> None:
    here, apart = put(engine, content), put(engine, content)
    check_gold_version(here.id)
    check_gold_version(apart.id, run=Apart(threading.Event(), engine).run)
    assert look(engine, here).check_state == look(engine, apart).check_state != GoldCheck.WAITING
    assert look(engine, here).problems == look(engine, apart).problems


def give_items(engine: Engine, content: str) -> None:
    items = store_upload([content.encode()], FolderStorage(get_settings().storage_dir), 10**6).sha256
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(items_sha256=items))


def test_items_that_change_later_are_seen_by_another_check_and_what_is_used_stays(engine: Engine) -> None:
    give_items(engine, ITEMS)
    version = put(engine, GOLD)
    assert checked(engine, version).check_state == GoldCheck.VALID
    give_items(engine, ITEMS.replace("4,EN", "5,EN"))
    ask(engine, version)
    found = checked(engine, version)
    assert (found.check_state, found.published_at is not None) == (GoldCheck.INVALID, True)


def ask(engine: Engine, version: GoldVersion) -> None:
    with writing(engine) as session:
        ask_for_check(session, the_phase_task(session), version.number, None, NOW)


def test_under_other_options_than_it_was_sealed_with_no_line_is_told(engine: Engine) -> None:
    """Check it, since otherwise somebody who can write to the database could request the lines of one label after the
    other.
    """
    version = put(engine, GOLD)
    assert checked(engine, version).check_state == GoldCheck.VALID
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(options={"languages": ["pt"]}))
    ask(engine, version)
    found = checked(engine, version)
    assert found.check_state == GoldCheck.INVALID
    (told,) = found.problems
    assert told["line"] is None
    assert "options have changed" in told["sentence"]


def test_gold_exchanged_in_the_database_is_told_as_such(engine: Engine) -> None:
    first, second = put(engine, GOLD), put(engine, GOLD)
    with writing(engine) as session:
        session.execute(
            update(GoldVersion).where(GoldVersion.id == second.id).values(sealed_file_id=first.sealed_file_id)
        )
    assert "commitment" in problems(checked(engine, second))[0]


def test_a_worker_without_the_key_leaves_it_to_others_and_the_sweep_tells_them(engine: Engine) -> None:
    version = put(engine, GOLD)
    aside = key_file().rename(key_file().with_name("aside"))
    found = checked(engine, version)
    assert (found.check_state, found.check_attempts) == (GoldCheck.WAITING, 0)
    assert "this worker has no key" in (found.check_failure or "")
    with writing(engine) as session:
        assert unanswered_checks(session, NOW + timedelta(seconds=1)) == []
        told = found.check_sent_at
        assert told is not None
        assert unanswered_checks(session, told + RESEND) == [version.id]
    aside.rename(key_file())
    assert checked(engine, version).check_state == GoldCheck.VALID


def test_gold_over_which_workers_die_counts_as_unusable(engine: Engine) -> None:
    version = put(engine, GOLD)
    with writing(engine) as session:
        session.execute(update(GoldVersion).values(check_attempts=get_settings().attempts))
    found = checked(engine, version)
    assert found.check_state == GoldCheck.INVALID
    assert "its worker was lost 3 times" in problems(found)[0]


def test_a_later_version_that_is_published_while_it_is_checked_is_used_afterwards(engine: Engine) -> None:
    checked(engine, put(engine, GOLD))
    second = put(engine, GOLD)
    with writing(engine) as session:
        assert not publish_gold(session, the_phase_task(session), 2, user=None, now=NOW)
    assert look(engine, second).published_at is None
    assert checked(engine, second).published_at is not None


def test_a_version_that_was_found_right_after_a_newer_one_is_in_use_does_not_take_its_place(engine: Engine) -> None:
    first, second = put(engine, GOLD), put(engine, GOLD, publish=True)
    checked(engine, second)
    assert checked(engine, first).check_state == GoldCheck.VALID
    assert look(engine, first).published_at is None


def test_unusable_gold_is_not_published_and_no_set_is_scored_against_it(engine: Engine, ada: User) -> None:
    checked(engine, put(engine, GOLD))
    score_submission(upload(engine, ada))
    checked(engine, put(engine, WRONG))
    with pytest.raises(GoldUnusable, match="Version 2 cannot be used: line 3"), writing(engine) as session:
        publish_gold(session, the_phase_task(session), 2, user=None, now=NOW)
    with pytest.raises(GoldUnusable, match="cannot be used"):
        start(engine, gold_version=2)


# ------------------------------------------------------------------------------------------------------------ baselines


def test_baselines_that_waited_are_submitted_and_sent_as_their_gold_is_in_use(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr("workers.version_check.send_runs", lambda runs: sent.extend(run_id for run_id, _ in runs))
    folder = make_competition(tmp_path / "demo")
    folder.change("            gold: demo/evaluation.csv\n", "")
    assert runs_of_apply(engine, folder) == []
    place = "demo/evaluation/detection"
    version = seal_gold(engine, DECLARED_GOLD.encode(), places=[place], checked=False)
    assert checked(engine, version).published_at is not None, problems(look(engine, version))
    assert len(sent) == 1
    with reading(engine) as session:
        asked = find_phase_task(session, *place.split("/"))
        filenames = session.scalars(select(Submission.filename).where(Submission.phase_task_id == asked.id)).all()
    assert filenames == ["majority.csv"]
    assert runs_of_apply(engine, folder) == [], "write it once"


def runs_of_apply(engine: Engine, folder: Competition) -> list[int]:
    with writing(engine) as session:
        loaded = load_competitions(folder.phases)
        changes = apply_phases(session, loaded, storage=FolderStorage(get_settings().storage_dir), now=DECLARED_NOW)
    return [change.run_id for change in changes if change.run_id is not None]
