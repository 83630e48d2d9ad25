"""Gold: found only inside the workers' folder, parsed once, read again when it was replaced."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from app.base.config import get_settings
from app.base.storage import FolderStorage, store_upload
from app.gold.binding import Binding, GoldPlace, options_digest
from app.gold.sealing import unbound_line
from app.models import SealedKind
from app.runs.claims import Claim, SealedGold
from evergold.scoring.errors import InvalidGold, InvalidItems
from evergold.scoring.task import AnyTask, Options, read_options
from evergold.scoring.tasks import TASKS
from tests.sealed import a_key, sealed_in
from tests.workers.files import GOLD
from workers import gold
from workers.gold import gold_folder, items_in_storage, read_gold, read_items, read_sealed_gold
from workers.gold_errors import GoldNotFound, GoldRefused, SealBroken
from workers.keys import key_file, read_keys, write_keys

TASK = TASKS["idiom-detection"]
OPTIONS = read_options(TASK)


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    gold._cache.clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The default gold folder, with gold.csv in it."""
    found = tmp_path / "var" / "gold"
    found.mkdir(parents=True)
    (found / "gold.csv").write_text(GOLD)
    return found


@dataclass
class Counting:
    """The task type, keeping a list of the gold files that were really read."""

    task: AnyTask
    read: list[Path]


@pytest.fixture
def counting() -> Counting:
    read: list[Path] = []

    def read_and_count(path: Path, options: Any) -> Any:
        read.append(path)
        return TASK.read_gold(path, options)

    return Counting(replace(TASK, read_gold=read_and_count), read)


def claim_with(items_sha256: str | None) -> Claim:
    return Claim(1, "token", 1, uuid4(), "0" * 64, 1, TASK.name, {}, "gold.csv", items_sha256)


# -------------------------------------------------------------------------------------------------------------- folder


def test_gold_lies_beside_the_data_unless_the_worker_is_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gold_folder() == tmp_path / "var" / "gold"
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(tmp_path / "safe"))
    assert gold_folder() == tmp_path / "safe"
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", "")
    assert gold_folder() == tmp_path / "var" / "gold", "empty is not the current folder"


def test_settings_that_the_web_process_has_say_nothing_of_gold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", "/safe")
    settings = get_settings()
    assert "gold" not in " ".join(type(settings).model_fields)
    assert "/safe" not in repr(settings)


@pytest.mark.parametrize("name", ["", ".", "/etc/passwd", "../secret.csv", "a/../../secret.csv", "..", "/"])
def test_a_name_never_leads_out_of_the_folder(folder: Path, name: str) -> None:
    (folder.parent / "secret.csv").write_text(GOLD)
    with pytest.raises(InvalidGold, match="gold folder"):
        read_gold(TASK, OPTIONS, name)


def test_gold_that_is_not_there_is_said_by_name(folder: Path) -> None:
    with pytest.raises(GoldNotFound, match="gold 'test/gold.csv' is not in this worker's gold folder"):
        read_gold(TASK, OPTIONS, "test/gold.csv")


def test_gold_may_lie_in_a_folder_of_the_folder(folder: Path) -> None:
    (folder / "test").mkdir()
    (folder / "test" / "gold.csv").write_text(GOLD)
    assert list(read_gold(TASK, OPTIONS, "test/gold.csv").labels) == [0, 0, 1, 1]


# --------------------------------------------------------------------------------------------------------------- cache


def test_gold_is_parsed_once(folder: Path, counting: Counting) -> None:
    first, second = (read_gold(counting.task, OPTIONS, "gold.csv") for _ in range(2))
    assert first is second
    assert counting.read == [folder / "gold.csv"]


def test_gold_that_was_replaced_is_read_anew(folder: Path) -> None:
    assert list(read_gold(TASK, OPTIONS, "gold.csv").labels) == [0, 0, 1, 1]
    new = folder / "new.csv"
    new.write_text(GOLD.replace("EN,0", "EN,1"))
    new.replace(folder / "gold.csv")
    assert list(read_gold(TASK, OPTIONS, "gold.csv").labels) == [1, 1, 1, 1]


def test_gold_that_was_replaced_within_one_second_by_the_same_size_is_read_anew(folder: Path) -> None:
    read_gold(TASK, OPTIONS, "gold.csv")
    before = (folder / "gold.csv").stat()
    (folder / "gold.csv").write_text(GOLD.replace("EN,0", "EN,1"))
    os.utime(folder / "gold.csv", ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))
    assert list(read_gold(TASK, OPTIONS, "gold.csv").labels) == [1, 1, 1, 1]


def test_gold_of_the_same_content_is_parsed_once_whatever_it_is_called_and_whenever_it_was_written(
    folder: Path, counting: Counting
) -> None:
    first = read_gold(counting.task, OPTIONS, "gold.csv")
    (folder / "copy.csv").write_text(GOLD)
    os.utime(folder / "gold.csv", ns=(1, 1))
    assert read_gold(counting.task, OPTIONS, "gold.csv") is first
    assert read_gold(counting.task, OPTIONS, "copy.csv") is first


def test_files_of_a_folder_count_with_their_names(folder: Path) -> None:
    for language in ("en", "pt"):
        (folder / "languages" / language).mkdir(parents=True)
        (folder / "languages" / language / "gold.csv").write_text(language)
    before = gold._sha256(folder / "languages")
    (folder / "languages" / "en" / "gold.csv").write_text("pt")
    (folder / "languages" / "pt" / "gold.csv").write_text("en")
    assert gold._sha256(folder / "languages") != before


def test_a_file_of_a_folder_by_another_name_is_other_gold(folder: Path) -> None:
    (folder / "languages").mkdir()
    (folder / "languages" / "en.csv").write_text("gold")
    before = gold._sha256(folder / "languages")
    (folder / "languages" / "en.csv").rename(folder / "languages" / "pt.csv")
    assert gold._sha256(folder / "languages") != before


def test_other_options_are_another_reading(folder: Path, counting: Counting) -> None:
    read_gold(counting.task, OPTIONS, "gold.csv")
    read_gold(counting.task, read_options(TASK, {"labels": ["0", "1", "2"]}), "gold.csv")
    assert len(counting.read) == 2


def test_of_sealed_gold_too_other_options_are_another_reading(tmp_path: Path) -> None:
    """Check that two phases with one sealed file and other options are each scored against their own reading."""
    task = replace(TASK, read_gold=lambda path, options: options)
    said = {"a": {"languages": ["EN"]}, "b": {"languages": ["PT"]}}
    asked = {phase: read_options(TASK, options) for phase, options in said.items()}
    digests = {phase: options_digest(options) for phase, options in said.items()}
    binding = Binding("idioms", "detection", TASK.name, {"a": 1, "b": 1}, digests)
    key_id, key = a_key()
    write_keys(key_file(), {key_id: key})
    sealed = sealed_in(get_settings().sealed_dir, b"gold", key, what=binding)
    for phase, options in asked.items():
        place = GoldPlace("idioms", phase, "detection", TASK.name, 1, digests[phase])
        claimed = SealedGold(sealed.file.sha256, sealed.commitment, sealed.keys, place)
        assert read_sealed_gold(task, options, claimed).content is options


def test_sealed_gold_that_was_read_before_is_still_for_its_own_place_alone(tmp_path: Path) -> None:
    task = replace(TASK, read_gold=lambda path, options: options)
    digest = options_digest({})
    key_id, key = a_key()
    write_keys(key_file(), {key_id: key})
    binding = Binding("idioms", "detection", TASK.name, {"a": 1}, {"a": digest})
    sealed = sealed_in(get_settings().sealed_dir, b"gold", key, what=binding)
    places = [GoldPlace("idioms", phase, "detection", TASK.name, 1, digest) for phase in ("a", "b")]
    here, elsewhere = (SealedGold(sealed.file.sha256, sealed.commitment, sealed.keys, place) for place in places)
    read_sealed_gold(task, OPTIONS, here)
    with pytest.raises(SealBroken, match="upload it there again"):
        read_sealed_gold(task, OPTIONS, elsewhere)


@pytest.mark.parametrize("is_public", [False, True])
def test_sealed_gold_is_public_only_where_its_seal_says_so(tmp_path: Path, is_public: bool) -> None:
    """Check that declaring it on the server is not enough: the person who sealed it decides."""
    digest = options_digest({})
    binding = Binding("idioms", "detection", TASK.name, {"a": 1}, {"a": digest}, is_public=is_public)
    key_id, key = a_key()
    write_keys(key_file(), {key_id: key})
    sealed = sealed_in(get_settings().sealed_dir, b"gold", key, what=binding)
    place = GoldPlace("idioms", "a", "detection", TASK.name, 1, digest)
    claimed = SealedGold(sealed.file.sha256, sealed.commitment, sealed.keys, place)
    task = replace(TASK, read_gold=lambda path, options: options)
    assert read_sealed_gold(task, OPTIONS, claimed).is_public is is_public


@dataclass(frozen=True)
class OneFile:
    """A file as one kind of data that workers read, and the readings of it."""

    content: str
    read: Callable[[AnyTask, Options], Any]


def plain_gold(content: str) -> OneFile:
    name = f"{content}.csv"
    (gold_folder() / name).write_text(content)
    return OneFile(content, lambda task, options: read_gold(task, options, name))


def unbound_gold(content: str) -> OneFile:
    """Two tasks may have the same file of such gold, which says no place."""
    claimed = unbound(content)
    return OneFile(content, lambda task, options: read_sealed_gold(task, options, claimed).content)


def unbound(content: str, program: str = "") -> SealedGold:
    """Gold as it was sealed before it was bound, claimed for a place. program: the digest of what would open it."""
    if not read_keys(key_file()):
        write_keys(key_file(), dict([a_key()]))
    (key,) = read_keys(key_file()).values()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Binding, "line", lambda _: unbound_line(SealedKind.GOLD))
        sealed = sealed_in(get_settings().sealed_dir, content.encode(), key)
    place = GoldPlace("idioms", "a", "detection", TASK.name, 1, "", program)
    return SealedGold(sealed.file.sha256, sealed.commitment, sealed.keys, place)


def blind_file(content: str) -> OneFile:
    stored = store_upload([content.encode()], FolderStorage(get_settings().storage_dir), 1000)
    return OneFile(content, lambda task, options: items_in_storage(task, options, stored.sha256))


@pytest.mark.parametrize("make", [plain_gold, unbound_gold, blind_file])
def test_what_is_read_of_a_file_is_of_one_task_type_and_its_options(
    folder: Path, make: Callable[[str], OneFile]
) -> None:
    """Check that tasks that share a file are each scored against what their own type reads in it, by their options."""

    def naming(name: str) -> AnyTask:
        def read(path: Path, options: Options) -> tuple[str, Options, str]:
            return name, options, path.read_text()

        return replace(TASK, name=name, read_gold=read, read_items=read)

    asked = [
        (one, task, options)
        for one in (make("first"), make("second"))
        for task in (naming("detection"), naming("similarity"))
        for options in (OPTIONS, read_options(TASK, {"languages": ["PT"]}))
    ]
    found = [one.read(task, options) for one, task, options in asked]
    assert found == [(task.name, options, one.content) for one, task, options in asked]


def test_sealed_gold_that_was_read_before_still_has_to_match_its_commitment(tmp_path: Path) -> None:
    """Check that a published commitment that is not that of the file is refused, in whatever order they are read."""
    task = replace(TASK, read_gold=lambda path, options: options)
    claimed = unbound("gold")
    read_sealed_gold(task, OPTIONS, claimed)
    with pytest.raises(SealBroken, match="does not match its commitment"):
        read_sealed_gold(task, OPTIONS, replace(claimed, commitment="0" * 64))


def test_gold_that_was_sealed_for_no_program_is_opened_for_none(tmp_path: Path) -> None:
    with pytest.raises(GoldRefused, match="sealed for another program"):
        read_sealed_gold(TASK, OPTIONS, unbound(GOLD, program="a digest"))


def test_what_could_not_be_read_is_not_kept(folder: Path) -> None:
    (folder / "gold.csv").write_text("ID,DataID,Language,Label\n1,d1,EN,7\n")
    for _ in range(2):
        with pytest.raises(InvalidGold):
            read_gold(TASK, OPTIONS, "gold.csv")
    assert not gold._cache


def test_only_the_last_used_are_kept(folder: Path, counting: Counting) -> None:
    names = [f"gold-{number}.csv" for number in range(gold.KEPT)]
    for name in names:
        (folder / name).write_text(GOLD.replace("d1", name))
    for name in ["gold.csv", *names[:-1], "gold.csv", names[-1]]:  # gold.csv is used in between, gold-0.csv is not
        read_gold(counting.task, OPTIONS, name)
    assert len(gold._cache) == gold.KEPT
    counting.read.clear()
    read_gold(counting.task, OPTIONS, "gold.csv")
    assert counting.read == []
    read_gold(counting.task, OPTIONS, names[0])
    assert counting.read == [folder / names[0]]


# --------------------------------------------------------------------------------------------------------------- items


def test_items_come_from_gold_where_there_is_no_blind_file(folder: Path) -> None:
    items = read_items(TASK, OPTIONS, claim_with(None), read_gold(TASK, OPTIONS, "gold.csv"))
    assert list(items.ids) == ["1", "2", "3", "4"]


def test_items_come_from_the_blind_file_where_there_is_one(folder: Path) -> None:
    blind = store_upload([b"ID,Language\n2,EN\n1,EN\n"], FolderStorage(get_settings().storage_dir), 1000)
    items = read_items(TASK, OPTIONS, claim_with(blind.sha256), gold=None)
    assert list(items.ids) == ["2", "1"]


def test_a_blind_file_that_is_not_in_storage_is_the_organisers_fault(folder: Path) -> None:
    with pytest.raises(InvalidItems, match="not in storage"):
        read_items(TASK, OPTIONS, claim_with("0" * 64), gold=None)
