"""Gold that is sealed for several phases at once, and for phases to come: each has its own number and options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import UNLIMITED_BYTES, FolderStorage
from app.competitions.find import find_competition, find_phase_task
from app.competitions.organisers import OrganiserLimits, QuotaReached
from app.gold.binding import Binding, options_digest
from app.gold.recorded import KeysChanged, current_keys, record_sealed, unrecord_sealed
from app.gold.sealing import Sealed, SealingWriter
from app.gold.versions import (
    bind_gold,
    gold_place,
    keep_gold,
    list_gold,
    newest_in_use,
    put_gold,
    use_gold_put_ahead,
)
from app.models import GoldVersion, Role, SealedFile, SealedKey, User, WorkerKey
from app.people.rights import grant_role
from evergold.scoring.tasks import TASKS
from tests import rich_rows
from tests.competitions.embargo import add_phase
from tests.rich_world import fresh
from tests.sealed import call_right, make_key, seal_gold
from tests.world import COMPETITION, DAY, EARLIER_PHASE, NOW, PHASE, TASK, add_competition, add_user, answer_to

LATER, GOLD = "later", b"gold"


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    """Return a database with the task in two phases, with other options in the earlier one."""
    add_competition(sqlite_engine)
    make_key(sqlite_engine)
    return sqlite_engine


def binding_of(engine: Engine, *phases: str, public: bool = False) -> Binding:
    with reading(engine) as session:
        asked = [find_phase_task(session, COMPETITION, phase, TASK) for phase in phases]
        return bind_gold(session, asked, is_public=public)


def sealed(engine: Engine, binding: Binding, content: bytes = GOLD) -> Sealed:
    with reading(engine) as session:
        keys = current_keys(session)
    storage = FolderStorage(get_settings().sealed_dir)
    writer = SealingWriter(storage, UNLIMITED_BYTES, what=binding, recipients=keys)
    writer.write(content)
    writer.finish()
    return writer.sealed


def keep(
    engine: Engine,
    binding: Binding,
    *,
    user: User | None = None,
    limits: OrganiserLimits | None = None,
    content: bytes = GOLD,
) -> list[GoldVersion]:
    storage, content_sealed = FolderStorage(get_settings().sealed_dir), sealed(engine, binding, content)
    return keep_gold(engine, storage, content_sealed, filename="gold.csv", user=user, now=NOW, limits=limits)


def test_each_phase_has_its_own_number_options_and_program(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = TASKS["idiom-detection"]
    monkeypatch.setitem(TASKS, "idiom-detection", replace(kind, bound_to=repr))
    rich_rows.add_gold(engine, COMPETITION, PHASE, TASK, NOW, in_use=False)
    for first, other in ((PHASE, EARLIER_PHASE), (EARLIER_PHASE, PHASE)):
        binding = binding_of(engine, first, other)
        assert binding.versions == {PHASE: 2, EARLIER_PHASE: 1}
        assert binding.options == {PHASE: options_digest({}), EARLIER_PHASE: options_digest({"languages": ["GL"]})}
        assert binding.programs[PHASE] != binding.programs[EARLIER_PHASE]
        with reading(engine) as session:
            for phase, number in binding.versions.items():
                place = gold_place(find_phase_task(session, COMPETITION, phase, TASK), number)
                assert binding.covers(place)
                assert not binding.covers(replace(place, program="another"))
                assert binding.is_of(replace(place, program="another"))


def test_options_are_the_same_in_whatever_order_they_are_written() -> None:
    assert options_digest({"a": 1, "b": 2}) == options_digest({"b": 2, "a": 1}) != options_digest({"a": 2, "b": 1})


def test_gold_of_two_phases_counts_in_each_of_them(engine: Engine) -> None:
    owner = add_user(engine, "olga")
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        here.owner_id = owner.id
        grant_role(session, here, owner, Role.ORGANISER, NOW)
    few, enough = (
        OrganiserLimits("anybody", competitions=1, bytes=size) for size in (2 * len(GOLD) - 1, 2 * len(GOLD))
    )
    binding = binding_of(engine, PHASE, EARLIER_PHASE)
    assert answer_to(lambda: keep(engine, binding, user=owner, limits=few)) == QuotaReached.code
    assert answer_to(lambda: keep(engine, binding, user=owner, limits=enough)) == "accepted"
    with reading(engine) as session:
        numbers = [
            [one.number for one in list_gold(session, find_phase_task(session, COMPETITION, phase, TASK))]
            for phase in (PHASE, EARLIER_PHASE)
        ]
    assert numbers == [[1], [1]]


def test_the_first_version_is_used_by_itself_until_one_is_in_use(engine: Engine) -> None:
    def in_use() -> int:
        with reading(engine) as session:
            return newest_in_use(session, find_phase_task(session, COMPETITION, PHASE, TASK))

    seal_gold(engine, b"prepared", publish=False)
    assert in_use() == 0
    seal_gold(engine, b"the first that nobody kept back")
    assert in_use() == 2
    seal_gold(engine, b"a correction")
    assert in_use() == 2


# ------------------------------------------------------------------------------------------------------ put ahead


def put_ahead(engine: Engine, content: bytes, *, public: bool) -> GoldVersion:
    """Put gold for the present phase, prepared, and for the next one."""
    binding = binding_of(engine, PHASE, public=public).ahead(PHASE, [LATER, PHASE])
    assert binding.versions[PHASE] == len(versions_of(engine, PHASE)) + 1, "a phase that is there keeps its number"
    assert set(binding.options) == {PHASE, LATER}
    with writing(engine) as session:
        asked = [find_phase_task(session, COMPETITION, PHASE, TASK)]
        (version,) = put_gold(
            session, asked, sealed(engine, binding, content), filename="ahead.csv", publish=False, user=None, now=NOW
        )
    call_right(engine, version.id)
    return version


def versions_of(engine: Engine, phase: str) -> list[GoldVersion]:
    with reading(engine) as session:
        return list_gold(session, find_phase_task(session, COMPETITION, phase, TASK))


def use(engine: Engine, phase: str, user: User) -> GoldVersion | None:
    with writing(engine) as session:
        asked = find_phase_task(session, COMPETITION, phase, TASK)
        storage = FolderStorage(get_settings().sealed_dir)
        return use_gold_put_ahead(session, storage, asked, user=user, now=NOW + DAY)


@pytest.mark.parametrize("public", [True, False])
def test_a_new_phase_begins_with_the_newest_gold_that_was_sealed_for_it(engine: Engine, public: bool) -> None:
    """Check that it does not matter whether the gold is in use where it was put."""
    user = add_user(engine, "olga")
    seal_gold(engine, b"for one phase alone")
    ahead = put_ahead(engine, b"for both", public=public)
    for phase in (LATER, "much-later"):
        add_phase(engine, phase, starts_at=NOW + DAY)
    found = use(engine, LATER, user)
    assert found is not None
    assert (found.number, found.commitment, found.sealed_file_id) == (1, ahead.commitment, ahead.sealed_file_id)
    assert (found.filename, found.content_bytes, found.created_by_id) == ("ahead.csv", len(b"for both"), user.id)
    assert (found.is_public, found.publish_when_valid, found.created_at) == (public, True, NOW + DAY)
    assert use(engine, LATER, user) is None, "it has gold by now"
    assert use(engine, "much-later", user) is None, "none was sealed for it"


def test_what_was_sealed_for_it_once_is_not_used_once_there_is_newer_gold(engine: Engine) -> None:
    put_ahead(engine, b"for both", public=False)
    seal_gold(engine, b"corrected, for one phase alone")
    add_phase(engine, LATER, starts_at=NOW + DAY)
    assert use(engine, LATER, add_user(engine, "olga")) is None


def test_gold_put_ahead_is_recorded_in_the_phases_that_are_there(engine: Engine) -> None:
    binding = binding_of(engine, PHASE, EARLIER_PHASE).ahead(PHASE, [LATER])
    versions = keep(engine, binding)
    assert [one.number for one in versions] == [1, 1]
    assert [len(versions_of(engine, phase)) for phase in (PHASE, EARLIER_PHASE)] == [1, 1]


# ----------------------------------------------------------------------------------------------------------- the keys


def retire(engine: Engine, key_ids: Iterable[str]) -> None:
    with writing(engine) as session:
        for key in session.scalars(select(WorkerKey).where(WorkerKey.key_id.in_(list(key_ids)))):
            key.retired_at = NOW


def test_gold_needs_one_of_its_keys_in_use(engine: Engine) -> None:
    """Check a rotation, which seals again what any of them opens."""
    first = set(sealed(engine, binding_of(engine, PHASE)).keys)
    make_key(engine)
    both = sealed(engine, binding_of(engine, PHASE))
    assert first < both.keys.keys()
    retire(engine, first)
    with writing(engine) as session:
        record_sealed(session, both, NOW)
    retire(engine, both.keys)
    with writing(engine) as session, pytest.raises(KeysChanged):
        record_sealed(session, both, NOW)


def test_what_is_taken_back_goes_with_its_keys_and_leaves_others(engine: Engine) -> None:
    binding = binding_of(engine, PHASE)
    with writing(engine) as session:
        ids = [record_sealed(session, sealed(engine, binding, content), NOW) for content in (b"one", b"two", b"three")]
    with writing(engine) as session:
        unrecord_sealed(session, ids[1])
    with reading(engine) as session:
        files = session.scalars(fresh(SealedFile).order_by(SealedFile.id)).all()
        keys = session.scalars(fresh(SealedKey).order_by(SealedKey.sealed_file_id)).all()
    assert [file.id for file in files] == [key.sealed_file_id for key in keys] == [ids[0], ids[2]]
