"""Attacks on hidden gold by somebody who can write to the database, or is in the web process; the worker refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from nacl.public import PrivateKey
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import UNLIMITED_BYTES, FolderStorage
from app.competitions.visibility import Viewer, view_of
from app.gold.binding import Binding
from app.gold.recorded import KeysChanged, record_sealed
from app.gold.sealing import SealingWriter, key_id_of, list_as_public, unbound_line
from app.models import (
    CompetitionTask,
    GoldVersion,
    KeptBoard,
    Phase,
    PhaseTask,
    RunStatus,
    ScoringRun,
    SealedFile,
    SealedKey,
    SealedKind,
    User,
    WorkerKey,
)
from app.runs.report import unpacked_results
from tests.rich_rows import forget_gold
from tests.sealed import PLACE, file_and_keys, make_key, seal_gold
from tests.workers.files import GOLD, upload
from tests.world import COMPETITION, DAY, NOW, TASK, the_phase_task, the_run
from workers import gold
from workers.gold_commands import check_gold, make_public
from workers.gold_errors import SealBroken
from workers.keys import key_file, read_keys
from workers.score import read_outcomes, score_submission

OTHER_GOLD = "ID,DataID,Language,Label\n1,d1,EN,0\n2,d2,EN,1\n3,d3,EN,1\n4,d4,EN,1\n"
PRACTICE = f"{COMPETITION}/practice/{TASK}"


@pytest.fixture(autouse=True)
def _own_gold_alone(request: pytest.FixtureRequest) -> None:
    if "engine" in request.fixturenames:
        forget_gold(request.getfixturevalue("engine"))


@pytest.fixture(autouse=True)
def _worker(workplace: Path, engine: Engine, ada: User) -> Iterator[None]:
    """Set up a worker with its key, in an open phase whose gold is sealed and hidden, with an empty cache of gold."""
    gold._cache.clear()
    (workplace / "gold" / "gold.csv").unlink()
    make_key(engine)
    yield
    gold._cache.clear()


def declare_public(engine: Engine) -> None:
    """Run the one UPDATE with which every label could once be read."""
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(gold_is_public=True))


def ended(engine: Engine, ada: User) -> ScoringRun:
    run_id = upload(engine, ada)
    score_submission(run_id)
    return the_run(engine, run_id)


def items_of(engine: Engine, run: ScoringRun) -> int:
    """Return of how many items the database has something in clear."""
    with reading(engine) as session:
        packed = session.scalar(select(ScoringRun.item_results).where(ScoringRun.id == run.id))
    return len(unpacked_results(packed)) if packed else 0


# ----------------------------------------------------------------------------------------------- the public declaration


def test_one_update_opens_no_sealed_gold(engine: Engine, ada: User) -> None:
    seal_gold(engine, GOLD.encode())
    declare_public(engine)
    run = ended(engine, ada)
    assert (run.status, items_of(engine, run)) == (RunStatus.SCORED, 0)


def test_one_update_before_gold_is_put_does_not_seal_it_as_public(engine: Engine, ada: User) -> None:
    declare_public(engine)
    seal_gold(engine, GOLD.encode())
    assert items_of(engine, ended(engine, ada)) == 0


def test_one_update_opens_no_plain_gold(engine: Engine, ada: User, workplace: Path) -> None:
    (workplace / "gold" / "gold.csv").write_text(GOLD)
    declare_public(engine)
    run = ended(engine, ada)
    assert (run.status, items_of(engine, run)) == (RunStatus.SCORED, 0)


def test_another_name_for_hidden_plain_gold_opens_nothing(engine: Engine, ada: User, workplace: Path) -> None:
    """Check that a list with the public gold does not match a similar name in the database."""
    for name in ("practice/gold.csv", "practice-2/gold.csv", "gold.csv"):
        (workplace / "gold" / name).parent.mkdir(exist_ok=True)
        (workplace / "gold" / name).write_text(GOLD)
    list_as_public(workplace / "gold", ["practice"])
    declare_public(engine)
    for name, expected in (("practice/gold.csv", 4), ("practice-2/gold.csv", 0), ("gold.csv", 0)):
        with writing(engine) as session:
            session.execute(update(PhaseTask).values(gold=name))
        assert items_of(engine, ended(engine, ada)) == expected, name


def test_gold_that_was_sealed_as_public_shows_its_items_where_it_is_declared(engine: Engine, ada: User) -> None:
    seal_gold(engine, GOLD.encode(), public=True)
    assert items_of(engine, ended(engine, ada)) == 0, "not declared"
    declare_public(engine)
    assert items_of(engine, ended(engine, ada)) == 4


# ------------------------------------------------------------------------------------------------------------ exchanges


def test_hidden_gold_under_the_name_of_public_gold_is_not_opened(engine: Engine, ada: User) -> None:
    """The rows of a public phase are made to name the hidden file, with its commitment and its keys."""
    add_practice(engine)
    hidden = seal_gold(engine, GOLD.encode(), places=[PRACTICE])
    public = seal_gold(engine, OTHER_GOLD.encode(), public=True)
    declare_public(engine)
    with writing(engine) as session:
        values = {"sealed_file_id": hidden.sealed_file_id, "commitment": hidden.commitment}
        session.execute(update(GoldVersion).where(GoldVersion.id == public.id).values(values))
    run = ended(engine, ada)
    assert (run.status, items_of(engine, run)) == (RunStatus.QUEUED, 0)
    assert (run.failure or "").startswith("SealBroken")


def add_practice(engine: Engine) -> None:
    with writing(engine) as session:
        first = the_phase_task(session)
        phase = Phase(
            competition_id=first.phase.competition_id,
            name="practice",
            title="Practice",
            starts_at=NOW - DAY,
            entry_rule=first.phase.entry_rule,
            rejected_per_hour=60,
            upload_limit_bytes=10**6,
        )
        session.add(phase)
        session.flush()
        session.add(PhaseTask(phase_id=phase.id, task_id=first.task_id, gold=None))


@pytest.mark.parametrize("change", ["competition", "phase", "task", "task type", "version"])
def test_gold_opens_only_where_it_was_sealed_for(engine: Engine, ada: User, change: str) -> None:
    version = seal_gold(engine, GOLD.encode())
    assert ended(engine, ada).status == RunStatus.SCORED
    with writing(engine) as session:
        asked = the_phase_task(session)
        if change == "competition":
            asked.phase.competition.name = "other"
        elif change == "phase":
            asked.phase.name = "other"
        elif change == "task":
            asked.task.name = "other"
        elif change == "task type":
            columns = {"task_type": "idiom-similarity", "options": {}}
            session.execute(update(CompetitionTask).values(**columns))
        else:
            session.execute(update(GoldVersion).where(GoldVersion.id == version.id).values(number=7))
    run_id = upload_anyhow(engine, ada)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, (run.failure or "").partition(" ")[0]) == (RunStatus.QUEUED, "SealBroken"), change


def upload_anyhow(engine: Engine, ada: User) -> int:
    """A run that waits, made by hand: names in the way of an upload may be others now."""
    with writing(engine) as session:
        before = session.scalars(select(ScoringRun).order_by(ScoringRun.id.desc())).first()
        assert before is not None
        before.is_current = False
        run = ScoringRun(
            submission_id=before.submission_id,
            status=RunStatus.QUEUED,
            gold=before.gold,
            is_current=True,
            queued_at=NOW,
        )
        session.add(run)
        session.flush()
        return run.id


# ----------------------------------------------------------------------------------------------------------------- keys


def attacker_key(engine: Engine) -> PrivateKey:
    """A public key of somebody else among the workers' keys."""
    key = PrivateKey.generate()
    public = bytes(key.public_key)
    with writing(engine) as session:
        session.add(WorkerKey(key_id=key_id_of(public), public_key=public, created_at=NOW, retired_at=None))
    return key


def test_outcomes_are_sealed_to_no_key_that_only_the_database_has(engine: Engine, ada: User) -> None:
    seal_gold(engine, GOLD.encode())
    key = attacker_key(engine)
    run = ended(engine, ada)
    assert sealed_to(engine, run) == set(read_keys(key_file()))
    assert key_id_of(bytes(key.public_key)) not in sealed_to(engine, run)


def test_a_public_key_under_the_name_of_the_worker_s_gets_nothing(engine: Engine, ada: User) -> None:
    seal_gold(engine, GOLD.encode())
    with writing(engine) as session:
        session.execute(update(WorkerKey).values(public_key=bytes(PrivateKey.generate().public_key)))
    run = ended(engine, ada)
    with reading(engine) as session:
        assert read_outcomes(session, run.id), "the worker's own key opens them"


def test_where_no_key_of_the_worker_is_in_use_there_are_scores_and_no_outcomes(engine: Engine, ada: User) -> None:
    seal_gold(engine, GOLD.encode())
    attacker_key(engine)
    own = list(read_keys(key_file()))
    with writing(engine) as session:
        session.execute(update(WorkerKey).where(WorkerKey.key_id.in_(own)).values(retired_at=NOW))
    run = ended(engine, ada)
    assert (run.status, run.outcomes_id) == (RunStatus.SCORED, None)


def test_what_a_worker_sealed_to_a_key_that_was_retired_meanwhile_is_not_recorded(engine: Engine, ada: User) -> None:
    run = ended_with_outcomes(engine, ada)
    attacker_key(engine)
    with writing(engine) as session:
        session.execute(update(WorkerKey).where(WorkerKey.key_id.in_(sealed_to(engine, run))).values(retired_at=NOW))
    stray = SealingWriter(
        FolderStorage(get_settings().sealed_dir),
        UNLIMITED_BYTES,
        what=SealedKind.OUTCOMES,
        recipients={key_id: bytes(key.public_key) for key_id, key in read_keys(key_file()).items()},
    )
    stray.write(b"late")
    stray.finish()
    with pytest.raises(KeysChanged), writing(engine) as session:
        record_sealed(session, stray.sealed, NOW)


def ended_with_outcomes(engine: Engine, ada: User) -> ScoringRun:
    seal_gold(engine, GOLD.encode())
    run = ended(engine, ada)
    assert run.outcomes_id is not None
    return run


def sealed_to(engine: Engine, run: ScoringRun) -> set[str]:
    with reading(engine) as session:
        query = select(SealedKey.key_id).where(SealedKey.sealed_file_id == run.outcomes_id)
        return set(session.scalars(query))


def checks(engine: Engine) -> list[str]:
    """Return the findings of `evergold gold check`."""
    with reading(engine) as session:
        return [f"{one.what}: {one.fault}" for one in check_gold(session, key_file())]


@pytest.mark.both
def test_check_names_what_is_sealed_to_somebody_else(engine: Engine, ada: User) -> None:
    """Check gold that was put while the key of an attacker was among the workers'."""
    key = attacker_key(engine)
    seal_gold(engine, GOLD.encode())
    (said,) = [line for line in checks(engine) if line.startswith("sealed file")]
    assert f"also sealed to {key_id_of(bytes(key.public_key))}" in said


# -------------------------------------------------------------------------------------- the one way to make gold public


def test_the_workers_own_command_makes_gold_public_and_keeps_its_commitment(engine: Engine, ada: User) -> None:
    version = seal_gold(engine, GOLD.encode())
    ended(engine, ada)
    declare_public(engine)
    make_public(engine, PLACE, None, NOW)
    run = ended(engine, ada)
    assert items_of(engine, run) == 4
    with reading(engine) as session:
        assert session.get_one(GoldVersion, version.id).commitment == version.commitment
        assert session.get(SealedFile, version.sealed_file_id) is None, "the hidden file is used nowhere any more"


@pytest.mark.parametrize("knows", [True, False], ids=["now", "by an earlier version"])
def test_revealed_gold_shows_all_digits_of_its_scores(engine: Engine, ada: User, knows: bool) -> None:
    """Check that phases.yaml does not matter; an earlier version recorded revealed gold only in the sealed file."""
    seal_gold(engine, GOLD.encode())
    with writing(engine) as session:
        the_phase_task(session).phase.visibility = {}
    ended(engine, ada)
    assert digits(engine) == (4, 4)
    before = kept_by(engine)
    make_public(engine, PLACE, None, NOW)
    if not knows:
        with writing(engine) as session:
            session.execute(update(GoldVersion).values(is_public=False))
        make_public(engine, PLACE, None, NOW)
    assert digits(engine) == (None, 12)
    assert not before & kept_by(engine), "standings are chosen anew"


def digits(engine: Engine) -> tuple[int | None, int | None]:
    """Return the digits that everybody sees, and those that rank."""
    with reading(engine) as session:
        view = view_of(session, the_phase_task(session), Viewer(None, NOW))
    return view.precision, view.ranks_by


def kept_by(engine: Engine) -> set[str]:
    """The rules by which standings of the test's own task were chosen."""
    with reading(engine) as session:
        here = KeptBoard.phase_task_id == the_phase_task(session).id
        return set(session.scalars(select(KeptBoard.rules).where(here)))


def test_it_makes_gold_public_in_that_phase_alone(engine: Engine, ada: User) -> None:
    add_practice(engine)
    seal_gold(engine, GOLD.encode(), places=[PLACE, PRACTICE])
    declare_public(engine)
    make_public(engine, PRACTICE, None, NOW)
    assert items_of(engine, ended(engine, ada)) == 0


def test_without_the_private_key_the_command_makes_nothing_public(engine: Engine, ada: User) -> None:
    seal_gold(engine, GOLD.encode())
    key_file().unlink()
    with pytest.raises(Exception, match="this worker has no key"):
        make_public(engine, PLACE, None, NOW)


def test_doing_it_twice_seals_once(engine: Engine, ada: User) -> None:
    version = seal_gold(engine, GOLD.encode())
    make_public(engine, PLACE, None, NOW)
    files = sealed_file_of(engine, version)
    make_public(engine, PLACE, 1, NOW)
    assert sealed_file_of(engine, version) == files


def sealed_file_of(engine: Engine, version: GoldVersion) -> int:
    with reading(engine) as session:
        return session.get_one(GoldVersion, version.id).sealed_file_id


# ------------------------------------------------------------------------------------------- sealed before it was bound


def seal_unbound(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> GoldVersion:
    """Gold as it was sealed before."""
    with monkeypatch.context() as patched:
        patched.setattr(Binding, "line", lambda _: unbound_line(SealedKind.GOLD))
        return seal_gold(engine, GOLD.encode())


def test_gold_that_was_sealed_before_it_was_bound_is_scored_and_always_hidden(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = seal_unbound(engine, monkeypatch)
    with reading(engine) as session:
        sha256 = session.get_one(SealedFile, version.sealed_file_id).sha256
    assert file_and_keys(engine, sha256)[0].read_bytes().startswith(b"evergold-sealed 1 gold\n")
    declare_public(engine)
    run = ended(engine, ada)
    assert (run.status, items_of(engine, run)) == (RunStatus.SCORED, 0)
    said = " ".join(checks(engine))
    assert "version 1 (sealed by an older Evergold" in said
    assert "declared public, but hidden here" in said
    with pytest.raises(SealBroken, match="upload it again, with --public"):
        make_public(engine, PLACE, None, NOW)
