"""Submissions of many languages: one file is unpacked at a time, by both task types that have languages in folders."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.archives import Limits
from evergold.scoring.errors import InvalidItems, InvalidPrediction, Problems
from evergold.scoring.language_folders import read_each_zipped, read_submitted
from evergold.scoring.tasks import get_task

GOLDEN = Path(__file__).parents[2] / "golden"
LANGUAGES = [f"l{letter}" for letter in "abcdefghijklmnop"]
MEMBER_BYTES = 1_000_000


def zipped(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def sixteen(path: Path, file_name: str, content: bytes) -> Path:
    return zipped(path, {f"{language.upper()}/{file_name}": content for language in LANGUAGES})


def peak_of(work: Callable[[], object]) -> int:
    work()  # what is loaded or kept at the first call is no part of a submission
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def padded_cupt() -> bytes:
    """The golden French prediction, its comments so long that the file has the size of a real one."""
    header, _, body = (GOLDEN / "mwe-identification/prediction/FR/test.system.cupt").read_bytes().partition(b"\n")
    return header + b"\n" + (b"# " + b"x" * 997 + b"\n") * (MEMBER_BYTES // 1000) + body


def padded_json() -> bytes:
    rows = json.loads((GOLDEN / "mwe-paraphrase/prediction/EN/test.system.json").read_text(encoding="utf-8"))
    return json.dumps(rows).encode() + b" \n" * (MEMBER_BYTES // 2)


@pytest.mark.parametrize(
    ("name", "gold", "system", "content"),
    [
        ("mwe-identification", "mwe-identification/gold/FR/test.cupt", "test.system.cupt", padded_cupt()),
        ("mwe-paraphrase", "mwe-paraphrase/items/EN/test.blind.json", "test.system.json", padded_json()),
    ],
)
def test_one_language_of_a_submission_is_held_at_a_time(
    name: str, gold: str, system: str, content: bytes, tmp_path: Path
) -> None:
    task: Any = get_task(name)
    for language in LANGUAGES:
        folder = tmp_path / "items" / language
        folder.mkdir(parents=True)
        (folder / system.replace("system", "blind")).write_bytes((GOLDEN / gold).read_bytes())
    options = task.options()
    items = task.read_items(tmp_path / "items", options)
    sent = sixteen(tmp_path / "sent.zip", system, content)
    assert list(task.read_prediction(sent, items, options).languages) == LANGUAGES
    # One file, what is made of it while it is read, and what is kept of all: not the sixteen million bytes of all.
    assert peak_of(lambda: task.read_prediction(sent, items, options)) < 5 * MEMBER_BYTES


def test_one_blind_file_of_a_zip_is_held_at_a_time(tmp_path: Path) -> None:
    path = sixteen(tmp_path / "blind.zip", "test.blind.cupt", bytes(MEMBER_BYTES))
    files = {language: f"{language.upper()}/test.blind.cupt" for language in LANGUAGES}
    sizes = read_each_zipped(path, files, lambda language, content, name: len(content), InvalidItems)
    assert sizes == dict.fromkeys(LANGUAGES, MEMBER_BYTES)
    work = lambda: read_each_zipped(path, files, lambda *_: 0, InvalidItems)  # noqa: E731 - called twice
    assert peak_of(work) < 3 * MEMBER_BYTES


def read_submission(path: Path, problems: Problems, **more: Any) -> dict[str, bytes]:
    return read_submitted(
        path, ["fr", "de"], "test.system.cupt", lambda _, content, name: content, problems, in_folders=True, **more
    )


def test_languages_come_in_the_order_of_the_task(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"DE/test.system.cupt": b"1", "FR/test.system.cupt": b"2"})
    assert list(read_submission(path, Problems()).items()) == [("fr", b"2"), ("de", b"1")]


def test_files_that_are_not_read_are_held_to_the_limits_all_the_same(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"FR/test.system.cupt": bytes(60), "README.md": bytes(60)})
    assert read_submission(path, Problems(), limits=Limits(total_bytes=120)) == {"fr": bytes(60)}
    with pytest.raises(InvalidPrediction, match="unpacks to more than 119 bytes"):
        read_submission(path, Problems(), limits=Limits(total_bytes=119))


def test_file_that_begins_like_a_zip_and_is_none_is_read_as_the_single_file_it_is(tmp_path: Path) -> None:
    path = tmp_path / "PK.cupt"
    path.write_bytes(b"PK is no header")
    with pytest.raises(InvalidPrediction, match="this is a single file: send a zip"):
        read_submission(path, Problems())
