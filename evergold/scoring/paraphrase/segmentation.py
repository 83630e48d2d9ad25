"""Split texts into words: at white space, Japanese by a morphological analyser (SudachiPy, which works offline)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from threading import Lock
from typing import Any

from evergold.scoring.optional import load_package

JAPANESE = "ja"
#: Sudachi's shortest units, on which spaCy's `ja_core_news_sm`, used by PARSEME, is built.
_MODE = "A"
#: There is one analyser, since its dictionary is large, and it is not safe for two threads at once.
_one_at_a_time = Lock()


def segment_words(language: str) -> Callable[[str], list[str]]:
    """Return the function that splits texts of this language (a code in lower case) into words; no word has white
    space.

    Raises MissingPackage for Japanese if sudachipy or its dictionary is not installed.
    """
    return _segment_japanese if language == JAPANESE else str.split


def segmentation_name(language: str) -> str:
    """Return the name of this language's segmenter, with versions, for signatures. Raises MissingPackage as
    `segment_words` does.
    """
    if language != JAPANESE:
        return "whitespace"
    _analyser()
    return f"sudachipy-{version('sudachipy')}+sudachidict-core-{version('sudachidict-core')}+{_MODE}"


def _segment_japanese(text: str) -> list[str]:
    with _one_at_a_time:
        surfaces = [str(morpheme.surface()) for morpheme in _analyser().tokenize(text)]
    return [surface for surface in surfaces if surface.strip()]


@lru_cache(maxsize=1)
def _analyser() -> Any:
    sudachi = load_package("sudachipy", extra="bertscore")
    load_package("sudachidict_core", extra="bertscore")
    return sudachi.Dictionary(dict="core").tokenizer(mode=getattr(sudachi.SplitMode, _MODE))
