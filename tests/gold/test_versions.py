"""Versions of gold: numbered without a gap, even if several are put at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import Forbidden
from app.base.storage import UNLIMITED_BYTES, FolderStorage
from app.competitions.find import find_competition, find_phase_task
from app.competitions.organisers import OrganiserLimits, QuotaReached
from app.gold.recorded import current_keys
from app.gold.sealing import Sealed, SealingWriter, key_id_of
from app.gold.versions import SEALED_NAME, bind_gold, keep_gold, name_in_use, problem_words, put_gold
from app.models import GoldVersion, Right, Role, SealedKind, User
from app.people.rights import grant_role
from tests.beside import one_right_each
from tests.processes import wait_until
from tests.rich_world import fresh
from tests.sealed import PLACE, a_key, call_right, make_key, seal_gold, sealed_in
from tests.threads import in_threads, somebody_waits
from tests.world import COMPETITION, NOW, add_competition, add_user, answer_to


def sealed(engine: Engine, content: bytes) -> Sealed:
    """Return what is to become the next version, as the web process has it before it is recorded."""
    with reading(engine) as session:
        binding = bind_gold(session, [find_phase_task(session, *PLACE.split("/"))], is_public=False)
        keys = current_keys(session)
    writer = SealingWriter(FolderStorage(get_settings().sealed_dir), UNLIMITED_BYTES, what=binding, recipients=keys)
    writer.write(content)
    writer.finish()
    return writer.sealed


def test_of_those_who_put_gold_at_once_one_gets_the_number_and_the_others_are_told(engine: Engine) -> None:
    add_competition(engine)
    make_key(engine)
    files = [sealed(engine, f"gold {number}".encode()) for number in range(4)]
    folder = get_settings().sealed_dir
    assert sorted(in_threads(4, lambda number: put(engine, files[number]))) == ["accepted", *["version_taken"] * 3]
    with reading(engine) as session:
        assert [version.number for version in session.scalars(fresh(GoldVersion))] == [1]
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1, "nothing is left of what was refused"


def test_whoever_puts_gold_waits_for_who_came_first_and_sees_that_number_taken(postgresql_engine: Engine) -> None:
    """Check two at once: before the first is committed, the other has already asked which number comes next."""
    add_competition(postgresql_engine)
    make_key(postgresql_engine)
    first, second = (sealed(postgresql_engine, content) for content in (b"gold", b"other gold"))
    with ThreadPoolExecutor(1) as pool:
        with writing(postgresql_engine) as session:
            asked = find_phase_task(session, *PLACE.split("/"))
            put_gold(session, [asked], first, filename="gold.csv", user=None, now=NOW)
            late = pool.submit(put, postgresql_engine, second)
            wait_until(lambda: somebody_waits(postgresql_engine), "the second waits for the first")
        assert late.result(60) == "version_taken"


def put(engine: Engine, content: Sealed) -> str:
    folder = get_settings().sealed_dir
    return answer_to(lambda: keep_gold(engine, FolderStorage(folder), content, filename="gold.csv", user=None, now=NOW))


def test_only_who_organises_the_competition_puts_gold_and_of_others_nothing_is_left(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    make_key(sqlite_engine)
    anna, olga = (add_user(sqlite_engine, name) for name in ("anna", "olga"))
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        grant_role(session, here, anna, Role.ANNOTATOR, NOW)
        grant_role(session, here, olga, Role.ORGANISER, NOW)
    folder, before = get_settings().sealed_dir, sealed(sqlite_engine, b"gold")
    with pytest.raises(Forbidden):
        keep_gold(sqlite_engine, FolderStorage(folder), before, filename="gold.csv", user=anna, now=NOW)
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    [version] = keep_gold(
        sqlite_engine,
        FolderStorage(folder),
        sealed(sqlite_engine, b"gold"),
        filename="C:\\gold\\gold.csv",
        user=olga,
        now=NOW,
    )
    assert (version.number, version.created_by_id, version.filename) == (1, olga.id, "gold.csv")


@pytest.mark.parametrize("right", list(Right))
def test_the_right_to_gold_alone_is_needed(sqlite_engine: Engine, right: Right) -> None:
    add_competition(sqlite_engine)
    make_key(sqlite_engine)
    user = one_right_each(sqlite_engine)[right]
    accepted = answer_to(lambda: _keep(sqlite_engine, user=user))
    assert accepted == ("accepted" if right is Right.GOLD else "right_missing")


def test_the_command_line_adds_gold_where_its_owner_has_no_bytes_left(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    make_key(sqlite_engine)
    owner = add_user(sqlite_engine, "olga")
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        here.owner_id = owner.id
        grant_role(session, here, owner, Role.ORGANISER, NOW)
    limits = OrganiserLimits("anybody", competitions=1, bytes=len(b"gold") - 1)
    assert answer_to(lambda: _keep(sqlite_engine, user=owner, limits=limits)) == QuotaReached.code
    assert answer_to(lambda: _keep(sqlite_engine, user=None)) == "accepted"


def _keep(engine: Engine, *, user: User | None, limits: OrganiserLimits | None = None) -> list[GoldVersion]:
    """Four bytes of gold."""
    storage, content = FolderStorage(get_settings().sealed_dir), sealed(engine, b"gold")
    return keep_gold(engine, storage, content, filename="gold.csv", user=user, now=NOW, limits=limits)


def test_gold_that_waits_for_its_check_is_not_in_use(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine, gold=None)
    make_key(sqlite_engine)
    seal_gold(sqlite_engine, b"gold", checked=False)

    def name(declared: str | None) -> str | None:
        with reading(sqlite_engine) as session:
            return name_in_use(session, find_phase_task(session, *PLACE.split("/")).id, declared)

    assert [name(None), name(SEALED_NAME), name("gold.csv")] == [None, None, "gold.csv"]
    call_right(sqlite_engine)
    assert [name(None), name(SEALED_NAME), name("gold.csv")] == [SEALED_NAME, SEALED_NAME, "gold.csv"]


def test_a_sealed_file_says_whether_it_is_gold_or_outcomes(tmp_path: Path) -> None:
    key = a_key()[1]
    assert sealed_in(tmp_path, b"gold", key).kind is SealedKind.GOLD
    assert sealed_in(tmp_path, b"outcomes", key, what=SealedKind.OUTCOMES).kind is SealedKind.OUTCOMES


def test_a_key_is_called_by_the_first_sixteen_digits_of_its_sha256() -> None:
    # printf abc | sha256sum
    assert key_id_of(b"abc") == "ba7816bf8f01cfea"


@pytest.mark.parametrize(
    ("problems", "omitted", "said"),
    [
        (["id 3 twice"], 0, "id 3 twice"),
        (["id 3 twice"], 1, "id 3 twice (and 1 more)"),
        (["id 3 twice", "no label", "no id"], 4, "id 3 twice (and 6 more)"),
        ([], 0, "it cannot be read"),
    ],
)
def test_the_first_problem_is_said_and_how_many_others_there_are(problems: list[str], omitted: int, said: str) -> None:
    version = GoldVersion(problems=[{"sentence": one} for one in problems], problems_omitted=omitted)
    assert problem_words(version) == said
