"""PARSEME 2.0's rule for removed MWEs and new words, and what is a word, in Japanese too."""

from __future__ import annotations

import sys

import pytest

from evergold.scoring.optional import MissingPackage
from evergold.scoring.paraphrase import segmentation
from evergold.scoring.paraphrase.removed import bare, find_edits, is_removed, mwe_words, without_marks
from evergold.scoring.paraphrase.segmentation import segment_words, segmentation_name

# ------------------------------------------------------------------------------------------------- MWEs and their words


@pytest.mark.parametrize(
    ("marked", "words"),
    [
        ("She [[kicked the bucket]] .", ("kicked", "the", "bucket")),
        ("Il [[remporte]] la [[course]] .", ("remporte", "course")),
        ("une [[chambre d' hôtel]]", ("chambre", "d'hôtel")),
        ("[[d' origine]]", ("d'origine",)),
        ("[[Petit -fils]] de", ("Petit-fils",)),
        ("[[à l' abattoir]]", ("à", "l'", "abattoir")),
        ("[[-fils]] ici", ("-fils",)),
        ("[[a d' -b c]]", ("a", "d'-b", "c")),
        ("[[a -b -c]]", ("a-b", "-c")),  # in pairs only
        ("[[d' d' eau]]", ("d'd'", "eau")),
        ("[[on\ntwo  lines]]", ("on", "two", "lines")),
        ("nothing [marked]", ()),
    ],
)
def test_words_of_an_mwe(marked: str, words: tuple[str, ...]) -> None:
    assert mwe_words(marked) == words


@pytest.mark.parametrize(
    ("word", "left"),
    [
        ("bucket.", "bucket"),
        ("«bucket»", "bucket"),
        ("(d'hôtel),", "d'hôtel"),
        ("l’eau", "l’eau"),
        ("arc-en-ciel!", "arc-en-ciel"),
        ("a–b—c", "a–b—c"),
        ("می\u200cرود،", "می\u200cرود"),
        ("cafe\u0301…", "cafe\u0301"),
        ("2.5%", "25"),
        ("`bucket`", "`bucket`"),  # the official script keeps the backtick
        ("a\u2010b\u2015c", "a\u2010b\u2015c"),
        ("\u05d1\u05be\u05d2", "\u05d1\u05be\u05d2"),
        ("a\u2e17b\u301cc\uff0dd", "abcd"),  # other dashes are punctuation
        ("...", ""),
    ],
)
def test_punctuation_is_taken_off_and_out_of_a_word(word: str, left: str) -> None:
    assert bare(word) == left


@pytest.mark.parametrize(
    ("sentence", "paraphrase", "removed"),
    [
        ("He kicked the bucket.", "He died.", True),
        ("He kicked the bucket.", "He kicked the big bucket.", False),  # only something new
        ("He kicked the bucket.", "He kicked the pail.", True),  # one of the words is enough
        ("He kicked the bucket.", "", True),  # every word is gone
        ("He kicked the bucket.", "He kicked the bucket.", False),
        ("He kicked the bucket today.", "He kicked the bucket now.", False),  # another word is gone
        ("He kicked the bucket.", "Kicked the bucket he.", True),  # moved: difflib has 'bucket.' replaced
    ],
)
def test_mwe_is_removed_when_a_word_of_it_is_deleted_or_replaced(sentence: str, paraphrase: str, removed: bool) -> None:
    mwe = ("kicked", "the", "bucket")
    assert is_removed(mwe, find_edits(sentence.split(), paraphrase.split())) is removed


def test_edits_keep_order_and_repetitions() -> None:
    edits = find_edits(["a", "b", "c", "d"], ["x", "a", "x", "y", "c"])
    assert edits.new == ("x", "x", "y")
    assert edits.gone == ("b", "d")


def test_marks_are_taken_out_with_the_white_space_they_stand_in() -> None:
    assert without_marks(" La [[musique sacrée]]") == "La musique sacrée"


# ------------------------------------------------------------------------------------------------------- Japanese words


def test_words_stand_between_white_space_but_in_japanese() -> None:
    assert segment_words("fr")("L' an\u00a01996  .") == ["L'", "an", "1996", "."]
    assert segmentation_name("fr") == "whitespace"


def test_japanese_is_split_by_the_analyser_that_the_signature_names() -> None:
    pytest.importorskip("sudachidict_core", reason="Japanese is tested where the extra 'bertscore' is installed")
    words = segment_words("ja")
    assert words("猫が窓辺で 寝ている。") == ["猫", "が", "窓辺", "で", "寝", "て", "いる", "。"]
    assert words(" \u3000") == words("") == []
    assert len(words("あ" * 10_000)) > 1000
    name = segmentation_name("ja")
    assert name.startswith("sudachipy-")
    assert name.endswith("+A")
    assert "sudachidict-core-20" in name


def test_without_the_analyser_japanese_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    segmentation._analyser.cache_clear()
    monkeypatch.setitem(sys.modules, "sudachipy", None)
    with pytest.raises(MissingPackage, match=r"sudachipy is needed for this: pip install 'evergold\[bertscore\]'"):
        segment_words("ja")("猫")
