"""Gold in a worker's folder that is listed as public, and how a folder of gold is committed to."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.storage import UNLIMITED_BYTES, FolderStorage
from app.gold.sealing import (
    PUBLIC_LIST,
    SALT_BYTES,
    SealingWriter,
    commitment_of,
    folder_files,
    is_listed_public,
    keeps_commitment,
    list_as_public,
    write_content,
)
from tests.sealed import BINDING, a_key


@pytest.mark.parametrize(
    ("name", "is_public"),
    [
        ("demo/practice", True),
        ("demo/practice/gold.csv", True),
        ("demo/evaluation", False),
        ("demo/practice-2", False),
        ("demo", False),
        ("practice", False),
        ("other/practice", False),
    ],
)
def test_what_lies_in_a_listed_folder_is_public_and_nothing_beside_it(
    tmp_path: Path, name: str, is_public: bool
) -> None:
    assert not is_listed_public(tmp_path, name)
    list_as_public(tmp_path, ["demo/practice"])
    assert is_listed_public(tmp_path, name) == is_public


def test_names_are_added_once_below_what_somebody_wrote(tmp_path: Path) -> None:
    (tmp_path / PUBLIC_LIST).write_text("# by hand\ndemo/practice  # since May\n", encoding="utf-8")
    list_as_public(tmp_path, ["demo/practice/gold.csv", "other.csv"])
    list_as_public(tmp_path, ["other.csv"])
    text = (tmp_path / PUBLIC_LIST).read_text(encoding="utf-8")
    assert text == "# by hand\ndemo/practice  # since May\nother.csv\n"


def test_files_of_a_folder_are_in_the_order_of_their_whole_names(tmp_path: Path) -> None:
    """A walk meets the files of a folder before those of the folders in it."""
    for name in ("b.csv", "a/x.csv", ".hidden/y.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert [name for name, _ in folder_files(tmp_path)] == ["a/x.csv", "b.csv"]


def test_gold_that_is_sealed_again_keeps_its_commitment_by_its_salt(tmp_path: Path) -> None:
    gold, salt = tmp_path / "gold.csv", b"s" * SALT_BYTES
    gold.write_bytes(b"id,label\n1,0\n")
    key_id, key = a_key()
    sealed = []
    for given in (salt, salt, None):
        writer = SealingWriter(
            FolderStorage(tmp_path / "sealed"),
            UNLIMITED_BYTES,
            what=BINDING,
            recipients={key_id: bytes(key.public_key)},
            salt=given,
        )
        write_content(gold, writer)
        writer.finish()
        sealed.append(writer.sealed)
    first, again, other = sealed
    assert first.commitment == again.commitment == commitment_of(salt, gold) != other.commitment
    assert first.file != again.file, "each has a key of its own"
    assert keeps_commitment(first.commitment.upper(), salt, gold)
    assert not keeps_commitment(other.commitment, salt, gold)
