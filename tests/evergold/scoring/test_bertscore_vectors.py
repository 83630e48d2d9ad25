"""Gold's vectors are encoded once: cached in memory and on disk, within bounds, and never trusted when damaged."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evergold.scoring.bert_files import CANDIDATES, SETTINGS, encoder

# isort: split
# Behind the check of bert_files that torch is there.
from evergold.scoring.bertscore import scores, vectors
from evergold.scoring.bertscore.encoders import encode
from evergold.scoring.bertscore.models import EncoderSettings, encoding_with
from evergold.scoring.bertscore.scores import embed
from evergold.scoring.bertscore.vectors import Vectors, find_vectors, keep_vectors, make_vectors, vectors_key

GOLD = ["the first reference", "the second one", "a third, longer reference"]
SHA256 = "0" * 64


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    vectors.forget_vectors()
    yield
    vectors.forget_vectors()


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the number of texts that each call encoded."""
    calls: list[int] = []

    def counting(*arguments: Any) -> Any:
        calls.append(len(arguments[1]))
        return encode(*arguments)

    monkeypatch.setattr(scores, "encode", counting)
    return calls


def some_vectors(texts: int, tokens: int = 10, width: int = 4) -> Vectors:
    """tokens * (4 + width * 4) bytes per text, and 8 for where it begins."""
    values = np.arange(texts * tokens * width, dtype=np.float32).reshape(-1, width)
    return make_vectors([str(text) for text in range(texts)], [[1] * tokens] * texts, values)


def assert_same(one: Vectors | None, other: Vectors) -> None:
    assert one is not None
    assert one.position == other.position
    for name in ("starts", "ids", "values"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


# ------------------------------------------------------------------------------------------------------ what is encoded


def test_gold_is_encoded_once_for_many_submissions(encoded: list[int]) -> None:
    first = embed(encoder(), GOLD, ["one", "two", GOLD[0]], gold_sha256=SHA256)
    second = embed(encoder(), GOLD, ["two", "three", "four"], gold_sha256=SHA256)
    assert encoded == [3, 2, 3]
    for text in (*GOLD, "two"):
        one, other = (
            found.values[slice(*found.starts[found.position[text] :][:2])] for found in (first, second)
        )  # fmt: skip
        assert one == pytest.approx(other, abs=1e-6)


def test_without_a_gold_nothing_is_kept(encoded: list[int]) -> None:
    for _ in range(2):
        embed(encoder(), GOLD, ["one"])
    assert encoded == [3, 1, 3, 1]


def test_gold_side_is_the_same_to_the_bit_whether_kept_or_not() -> None:
    places = np.arange(len(GOLD))
    cold = embed(encoder(), GOLD, CANDIDATES, gold_sha256=SHA256)
    warm = embed(encoder(), GOLD, CANDIDATES, gold_sha256=SHA256)
    alone = embed(encoder(), GOLD, CANDIDATES)
    for found in (warm, alone):
        end = found.starts[places[-1] + 1]
        assert np.array_equal(found.values[:end], cold.values[:end])


@pytest.mark.parametrize("changed", ["gold", "texts", "layer"])
def test_other_gold_or_another_model_is_encoded_anew(changed: str, encoded: list[int]) -> None:
    embed(encoder(), GOLD, [], gold_sha256=SHA256)
    embed(
        encoder(5 if changed == "layer" else 6),
        [*GOLD[:2], "changed"] if changed == "texts" else GOLD,
        [],
        gold_sha256="1" * 64 if changed == "gold" else SHA256,
    )
    assert encoded == [3, 3]


def test_another_process_finds_them_on_disk(tmp_path: Path, encoded: list[int]) -> None:
    with encoding_with(replace(SETTINGS, vectors_dir=tmp_path / "vectors")):
        cold = embed(encoder(), GOLD, ["one"], gold_sha256=SHA256)
        vectors.forget_vectors()
        assert_same(embed(encoder(), GOLD, ["one"], gold_sha256=SHA256), cold)
    assert encoded == [3, 1, 1]


def test_progress_is_a_share_that_rises_to_1(encoded: list[int]) -> None:
    shares: list[float] = []
    with encoding_with(replace(SETTINGS, token_budget=20)):
        embed(encoder(), GOLD, CANDIDATES, advance=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 5
    assert len(encoded) == 2


# ---------------------------------------------------------------------------------------------------------- the keeping


def test_memory_keeps_what_was_used_last_within_its_bytes() -> None:
    one = some_vectors(2)
    settings = EncoderSettings(memory_bytes=3 * one.size_bytes)
    for key in "abc":
        keep_vectors(key, one, settings)
    assert find_vectors("a", ["0", "1"], settings) is one  # and is now the one used last
    keep_vectors("d", one, settings)
    assert [key for key in "abcd" if find_vectors(key, ["0", "1"], settings)] == ["a", "c", "d"]


def test_what_is_larger_than_the_memory_is_not_kept() -> None:
    settings = EncoderSettings(memory_bytes=100)
    keep_vectors("a", some_vectors(2), settings)
    assert find_vectors("a", ["0", "1"], settings) is None


def test_disk_keeps_what_was_used_last_within_its_bytes(tmp_path: Path) -> None:
    one = some_vectors(2)
    keep_vectors("a", one, EncoderSettings(vectors_dir=tmp_path))
    size = (tmp_path / "a.npz").stat().st_size
    settings = EncoderSettings(vectors_dir=tmp_path, memory_bytes=0, disk_bytes=3 * size)
    for key in "bc":
        keep_vectors(key, one, settings)
    for age, key in enumerate("bca"):
        import os

        os.utime(tmp_path / f"{key}.npz", ns=(age * 10**9, age * 10**9))
    assert find_vectors("b", ["0", "1"], settings)  # read, so used last
    keep_vectors("d", one, settings)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz", "d.npz"]


def test_files_are_the_owners_only_and_whole(tmp_path: Path) -> None:
    keep_vectors("a", some_vectors(2), EncoderSettings(vectors_dir=tmp_path))
    (path,) = tmp_path.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def damaged(content: bytes) -> Iterator[bytes]:
    """The file cut off, empty, none of ours, and with each of its later bytes changed in turn."""
    yield content[: len(content) // 2]
    yield b""
    yield b"not a zip"
    for place in range(40, len(content), 7):
        yield content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]


def test_damaged_file_counts_as_not_there_or_holds_what_it_held(tmp_path: Path) -> None:
    """A changed byte that numpy does not mind (in padding, in a date) must not have changed the arrays."""
    settings = EncoderSettings(vectors_dir=tmp_path, memory_bytes=0)
    whole, texts = some_vectors(3), ["0", "1", "2"]
    keep_vectors("a", whole, settings)
    path = tmp_path / "a.npz"
    content = path.read_bytes()
    missing = 0
    for number, changed in enumerate(damaged(content)):
        path.write_bytes(changed)
        found = find_vectors("a", texts, settings)
        if found is None:
            missing += 1
        else:
            assert_same(found, whole)
        assert number > 2 or found is None
    assert missing > 50


@pytest.mark.parametrize(
    "changed",
    [
        {"starts": np.array([0, 10, 20])},
        {"starts": np.array([0, 10, 20, 29])},
        {"starts": np.array([0, 20, 10, 30])},
        {"ids": np.ones(30, dtype=np.int64)},
        {"values": np.zeros((29, 4), dtype=np.float32)},
        {"values": np.zeros((30, 4))},
        {"values": np.zeros(30, dtype=np.float32)},
        {"values": np.array([object()] * 30)},
        {"values": None},
    ],
    ids=["few-starts", "short-starts", "turned-starts", "ids", "rows", "doubles", "flat", "objects", "missing"],
)
def test_arrays_that_do_not_belong_together_count_as_not_there(tmp_path: Path, changed: dict[str, Any]) -> None:
    settings = EncoderSettings(vectors_dir=tmp_path)
    whole = some_vectors(3)
    arrays = {"starts": whole.starts, "ids": whole.ids, "values": whole.values, **changed}
    np.savez(tmp_path / "a.npz", **{name: array for name, array in arrays.items() if array is not None})
    assert find_vectors("a", ["0", "1", "2"], settings) is None


def test_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    settings = EncoderSettings(vectors_dir=blocked)
    keep_vectors("a", some_vectors(1), settings)
    assert find_vectors("a", ["0"], settings)
    vectors.forget_vectors()
    assert find_vectors("a", ["0"], settings) is None


def test_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **arrays: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    keep_vectors("a", some_vectors(1), EncoderSettings(vectors_dir=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_many_threads_read_and_write_the_same_file(tmp_path: Path) -> None:
    settings = EncoderSettings(vectors_dir=tmp_path, memory_bytes=0)
    whole, texts = some_vectors(50), [str(text) for text in range(50)]
    keep_vectors("a", whole, settings)
    wrong: list[object] = []

    def work() -> None:
        for _ in range(20):
            keep_vectors("a", whole, settings)
            found = find_vectors("a", texts, settings)
            if found is None or not np.array_equal(found.values, whole.values):
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_key_tells_texts_apart_that_are_the_same_when_joined() -> None:
    keys = {vectors_key(["ab", "c"]), vectors_key(["a", "bc"]), vectors_key(["abc"]), vectors_key(["c"], "ab")}
    assert len(keys) == 3  # parts stand before texts
