"""Baselines of mwe-paraphrase: the sentence unchanged, and without the MWEs that are marked in trial data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from evergold.baselines.baseline import Baseline, needs_training, read_languages, written_zip
from evergold.scoring.paraphrase.files import BLIND, ID, TEST, BlindFile, GoldFile, read_blind, read_gold
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.paraphrase.prediction import PREDICTION, SYSTEM


def _copy(items: Path, training: Sequence[Path], options: Options) -> bytes:
    return _written(items, lambda language, sentence: _unmarked(sentence))


def _deletion(items: Path, training: Sequence[Path], options: Options) -> bytes:
    learned = {
        language: [read_gold(data, options.types, name) for name, data in files]
        for language, files in read_languages(training, (TEST,)).items()
    }
    if not learned:
        raise needs_training(f"this baseline learns: give trial data, a folder or zip with <LANG>/{TEST}, or one file")
    mwes = {language: _mwes(files) for language, files in learned.items()}
    return _written(items, lambda language, sentence: _without(sentence, mwes.get(language, [])))


def _mwes(files: Sequence[GoldFile]) -> list[frozenset[str]]:
    """Return the words of every marked MWE, longer ones first."""
    found = {frozenset(word.casefold() for word in item.mwe) for file in files for item in file.items}
    return sorted(found, key=lambda mwe: (-len(mwe), sorted(mwe)))


def _without(sentence: str, mwes: Sequence[frozenset[str]]) -> str:
    """Return the sentence without the words of the first MWE that is completely in it; unchanged if there is none."""
    words = sentence.split()
    bare = [word.strip(_PUNCTUATION).casefold() for word in words]
    mwe = next((mwe for mwe in mwes if mwe <= set(bare)), frozenset())
    kept = " ".join(word for word, plain in zip(words, bare, strict=True) if plain not in mwe)
    return _unmarked(kept if mwe else sentence)


def _unmarked(sentence: str) -> str:
    """Remove `[[` and `]]`: published sentences may have one of the two, which no submission may have."""
    return sentence.replace("[[", "").replace("]]", "")


_PUNCTUATION = ".,;:!?…\"'«»“”„’()[]"


def _written(items: Path, paraphrase: Callable[[str, str], str]) -> bytes:
    """Return a zip with a file for each language, or just the file if the items are a single file."""
    blind = {
        language: read_blind(min(files, key=lambda file: file[0] != BLIND)[1])
        for language, files in read_languages([items], (BLIND, TEST)).items()
    }
    if list(blind) == [""]:
        return _document(blind[""], partial(paraphrase, ""))
    return written_zip(_members(blind, paraphrase))


def _members(blind: Mapping[str, BlindFile], paraphrase: Callable[[str, str], str]) -> dict[str, bytes]:
    return {
        f"{language}/{SYSTEM}": _document(file, partial(paraphrase, language))
        for language, file in sorted(blind.items())
    }


def _document(file: BlindFile, paraphrase: Callable[[str], str]) -> bytes:
    rows = [{ID: id_, PREDICTION: paraphrase(sentence)} for id_, sentence in zip(file.ids, file.sentences, strict=True)]
    return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode()


BASELINES = (
    Baseline("copy", "Every sentence unchanged, which scores 0.", _copy, ".zip"),
    Baseline(
        "deletion",
        "The sentence without its expression, if the trial data mark the same expression; otherwise unchanged.",
        _deletion,
        ".zip",
        learns=True,
    ),
)
