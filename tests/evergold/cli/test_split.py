"""`evergold split`: what it writes, that it writes the same on any machine, and its words for what cannot be done."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from evergold.cli import run
from evergold.corpora.annotated import blanked
from tests.evergold.corpora.made_up import cupt, zipfian

SETTINGS = ["--unseen-test", "40", "--unseen-dev", "20", "--repeats", "10", "--seed", "7"]
FILES = {
    "train.cupt",
    "dev.cupt",
    "test.cupt",
    "test.blind.cupt",
    "report.md",
    "report.json",
    "ratio-test.svg",
    "ratio-dev.svg",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.cupt"
    path.write_text(cupt(zipfian(400, 2)), encoding="utf-8")
    return path


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_everything_is_written_and_the_parts_are_the_corpus(corpus: Path, tmp_path: Path) -> None:
    assert run(["split", str(corpus), *SETTINGS, "--out", str(tmp_path / "XX")]) == 0
    files = written(tmp_path / "XX")
    assert set(files) == FILES
    blocks = [block for part in ("train", "dev", "test") for block in sentences(files[f"{part}.cupt"])]
    assert sorted(blocks) == sorted(sentences(corpus.read_bytes()))
    assert files["test.blind.cupt"] == blanked(files["test.cupt"])
    for name in ("ratio-test.svg", "ratio-dev.svg"):
        assert ElementTree.fromstring(files[name]).get("role") == "img"  # noqa: S314 - our own text


def sentences(data: bytes) -> list[bytes]:
    return data.partition(b"\n")[2].strip(b"\n").split(b"\n\n")


def test_the_report_has_the_sizes_the_unseen_and_all_splits_tried(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["split", str(corpus), *SETTINGS, "--out", str(tmp_path / "XX"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((tmp_path / "XX" / "report.json").read_text())
    assert document["sources"][0]["sha256"] == hashlib.sha256(corpus.read_bytes()).hexdigest()
    assert [document[name] for name in ("unseen_test", "unseen_dev", "repeats", "seed")] == [40, 20, 10, 7]
    for name, against in (("test", "train+dev"), ("dev", "train")):
        split, part = document["splits"][name], document["parts"][name]
        assert len(split["tried"]) == 10
        assert split["cost"] == min(tried["cost"] for tried in split["tried"])
        assert part["unseen_against"][against]["mwes"] == split["unseen"]
        assert part["sentences"] == split["size"]
        assert sum(part["categories"].values()) == part["mwes"]
    text = (tmp_path / "XX" / "report.md").read_text()
    assert "| Part | Sentences | Tokens | MWEs | Unseen in train | Ratio | Unseen in train and dev | Ratio |" in text
    assert "| LVC.full |" in text
    assert "![Ratio against size](ratio-test.svg)" in text


def test_a_seed_gives_the_same_bytes_on_every_machine(corpus: Path, tmp_path: Path) -> None:
    """Check pinned bytes: another machine, or another NumPy, must not move what somebody has published
    with its seed.
    """
    for name in ("once", "again"):
        assert run(["split", str(corpus), *SETTINGS, "--out", str(tmp_path / name)]) == 0
    assert written(tmp_path / "once") == written(tmp_path / "again")
    pinned = {name: hashlib.sha256((tmp_path / "once" / name).read_bytes()).hexdigest()[:16] for name in PINNED}
    assert pinned == PINNED


PINNED = {
    "train.cupt": "3f60c0e862347143",
    "dev.cupt": "6b9029cf8c688691",
    "test.cupt": "bf1b1504b0c0571c",
    "ratio-test.svg": "acc87c58619b1e0d",
}


def test_no_dev_is_wanted(corpus: Path, tmp_path: Path) -> None:
    command = ["split", str(corpus), "--unseen-test", "40", "--unseen-dev", "0", "--repeats", "5"]
    assert run([*command, "--out", str(tmp_path / "XX")]) == 0
    assert set(written(tmp_path / "XX")) == FILES - {"dev.cupt", "ratio-dev.svg"}
    assert "Unseen in train | Ratio |\n" in (tmp_path / "XX" / "report.md").read_text()


def test_nothing_is_written_over(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "XX").mkdir()
    (tmp_path / "XX" / "dev.cupt").write_text("mine")
    assert run(["split", str(corpus), *SETTINGS, "--out", str(tmp_path / "XX")]) == 64
    assert "has dev.cupt already" in capsys.readouterr().err
    assert written(tmp_path / "XX") == {"dev.cupt": b"mine"}


def test_a_broken_corpus_is_told_line_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "corpus.cupt"
    path.write_text(cupt([["VID:a"], []]).replace("1:VID", "x"), encoding="utf-8")
    assert run(["split", str(path), "--out", str(tmp_path / "XX")]) == 6
    told = capsys.readouterr().err
    assert "The corpus is wrong." in told
    assert "corpus.cupt, line 3, column PARSEME:MWE: malformed MWE code `x`" in told
    assert not (tmp_path / "XX").exists()


@pytest.mark.parametrize(
    ("sentences", "wanted", "words"),
    [
        ([["VID:a"]] * 9, ("9", "1"), "The corpus has only 9 MWEs, fewer than the 10 that should be unseen."),
        (
            [["VID:a"]] * 9,
            ("3", "1"),
            "3 unseen MWEs in test are not possible: even with nearly everything in test",
        ),
        ([["VID:a"], ["VID:b"]], ("1", "1"), "The corpus has only 2 units to distribute over 3 parts."),
    ],
)
def test_what_cannot_be_had_is_said(
    sentences: list[list[str]],
    wanted: tuple[str, str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "corpus.cupt"
    path.write_text(cupt(sentences), encoding="utf-8")
    command = ["split", str(path), "--unseen-test", wanted[0], "--unseen-dev", wanted[1]]
    assert run([*command, "--out", str(tmp_path / "XX")]) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "XX").exists()


@pytest.mark.parametrize(
    "wrong", [["--repeats", "0"], ["--unseen-test", "0"], ["--seed", "-1"], ["--keep-together", "x"]]
)
def test_options_out_of_bounds_are_wrong_usage(wrong: list[str], corpus: Path, tmp_path: Path) -> None:
    assert run(["split", str(corpus), "--out", str(tmp_path / "XX"), *wrong]) == 64


@pytest.mark.parametrize(("unseen", "warned"), [(["40", "20"], True), (["10", "5"], False)])
def test_little_left_for_training_is_warned_of(
    unseen: list[str], warned: bool, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["split", str(corpus), "--unseen-test", unseen[0], "--unseen-dev", unseen[1], "--repeats", "5"]
    assert run([*command, "--out", str(tmp_path / "XX")]) == 0
    assert ("of the sentences are left in train" in capsys.readouterr().err) is warned
