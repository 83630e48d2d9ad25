"""An annotated corpus from CUPT files: the text of every sentence, its unit (sentences that stay together), its MWEs as
numbers.

It is read by the same functions as gold is later, so that a split counts the MWEs that the evaluator will count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from evergold.scoring.archives import Limits, read_single
from evergold.scoring.cupt.codes import UNANNOTATED
from evergold.scoring.cupt.corpus import CuptGold, lemma_key, read_gold, read_training_mwes
from evergold.scoring.cupt.folders import PROBLEMS_PER_FILE
from evergold.scoring.cupt.lines import Header, opened, texts
from evergold.scoring.errors import InvalidFile, InvalidGold, Problems


def blanked(data: bytes) -> bytes:
    """Return the file with `_` in the whole MWE column, and no other byte changed."""
    _, header = opened(data, None, Problems(), InvalidFile)
    first, *rest = data.split(b"\n")
    return b"\n".join([first, *(_without_mwe(line, header) for line in rest)])


def _without_mwe(line: bytes, header: Header) -> bytes:
    if not line.strip() or header.is_comment(line):
        return line
    end = b"\r" if line.endswith(b"\r") else b""
    cells = line.removesuffix(b"\r").split(b"\t")
    cells[header.mwe] = UNANNOTATED
    return b"\t".join(cells) + end


#: Sentences that stay together: none, those of one source sentence, those of one document.
KeepTogether = Literal["sentence", "source_sent_id", "document"]
Numbers = npt.NDArray[np.int64]

UNLABELED = "<unlabeled>"

_GIB = 1024**3
_LIMITS = Limits(total_bytes=_GIB, member_bytes=_GIB)


@dataclass(frozen=True, slots=True)
class TestMwes:
    """m MWEs as test data count them: sentence, multiset of lemmas (a number) and category of each."""

    sentences: Numbers
    lemmas: Numbers
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrainingMwes:
    """k MWEs as training data count them: sentence and multiset of lemmas of each."""

    sentences: Numbers
    lemmas: Numbers


@dataclass(frozen=True, slots=True)
class AnnotatedCorpus:
    """n sentences in the order of the files.

    header: the first line of each file.
    texts: every sentence as in the file.
    words: number of words of each sentence, without ranges and empty nodes.
    units: number of the unit (0 to u - 1) to which each sentence belongs.
    test, training: the corpus's MWEs, as read from test and from training data; the two differ if a lemma is `_` or a
    code is on a range.
    lemma_count: number of multisets of lemmas.
    """

    header: bytes
    texts: tuple[bytes, ...]
    words: Numbers
    units: Numbers
    test: TestMwes
    training: TrainingMwes
    lemma_count: int

    @property
    def unit_count(self) -> int:
        """Number of units."""
        return int(self.units.max()) + 1

    def written(self, chosen: npt.NDArray[np.bool_]) -> bytes:
        """Return a CUPT file of the chosen sentences."""
        kept = [text + b"\n" for text, is_chosen in zip(self.texts, chosen.tolist(), strict=True) if is_chosen]
        return b"\n".join([self.header + b"\n" + kept[0], *kept[1:]]) + b"\n" if kept else self.header + b"\n"


def read_corpus(paths: Sequence[Path], together: KeepTogether = "sentence") -> AnnotatedCorpus:
    """Read the corpus that some files make up, one after the other.

    paths: annotated CUPT files, each plain or alone in a zip. Raises InvalidGold with the problems of all files: those
    of `read_gold`, other columns than in the first file, a file given twice, missing comments on which sentences stay
    together.
    """
    problems, reading = Problems(), _Reading()
    for path in paths:
        if path.resolve() in reading.files:
            problems.add("duplicate-file", "this file is given twice", file=path.name)
            continue
        reading.files.add(path.resolve())
        try:
            reading.add(read_single(path, _LIMITS, InvalidGold)[1], path.name, together, problems)
        except InvalidFile as invalid:
            problems.errors += invalid.problems[:PROBLEMS_PER_FILE]
            problems.omitted += len(invalid.problems[PROBLEMS_PER_FILE:]) + invalid.omitted
    problems.raise_if_any(InvalidGold)
    return reading.corpus()


@dataclass(slots=True)
class _Reading:
    """The data read so far, over all files."""

    files: set[Path] = field(default_factory=set)
    header: bytes | None = None
    names: tuple[str, ...] = ()
    texts: list[bytes] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    unit_of: dict[object, int] = field(default_factory=dict)
    lemmas: dict[bytes, int] = field(default_factory=dict)
    test: list[tuple[int, int, str]] = field(default_factory=list)
    training: list[tuple[int, int]] = field(default_factory=list)

    def add(self, raw: bytes, file: str, together: KeepTogether, problems: Problems) -> None:
        """Add one file."""
        gold = read_gold(raw, file)
        data, header = opened(raw, file, Problems(), InvalidGold)
        if self.header is None:
            self.header, self.names = data.partition(b"\n")[0], header.names
        elif self.names != header.names:
            message = f"its columns are {' '.join(header.names)}, those of the first file {' '.join(self.names)}"
            problems.add("other-columns", message, file=file, line=1)
        before = len(self.texts)
        self.texts += texts(data, header)
        self._add_units(_KEYS[together](self.texts[before:], file, problems))
        self.words += (_words(gold, place) for place in range(len(gold.items)))
        for sentence, key, category in _test_mwes(gold):
            self.test.append((before + sentence, self._number(key), category))
        for mwe in read_training_mwes(raw, file):
            self.training.append((before + mwe.sentence, self._number(mwe.lemmas)))

    def corpus(self) -> AnnotatedCorpus:
        """Return the corpus of all files."""
        sentences, lemmas = _columns([mwe[:2] for mwe in self.test])
        test = TestMwes(sentences, lemmas, tuple(mwe[2] for mwe in self.test))
        numbers = np.array(self.words, np.int64), np.array(self.units, np.int64)
        training = TrainingMwes(*_columns(self.training))
        return AnnotatedCorpus(self.header or b"", tuple(self.texts), *numbers, test, training, len(self.lemmas))

    def _add_units(self, keys: Sequence[object]) -> None:
        self.units += (self.unit_of.setdefault(key, len(self.unit_of)) for key in keys)

    def _number(self, lemmas: bytes) -> int:
        return self.lemmas.setdefault(lemmas, len(self.lemmas))


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Numbers, Numbers]:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def _test_mwes(gold: CuptGold) -> list[tuple[int, bytes, str]]:
    """Return sentence, lemmas and category of every MWE; repeated sets of tokens count once, as in scores."""
    found: dict[tuple[int, tuple[int, ...]], tuple[int, bytes, str]] = {}
    for sentence, tokens, category in gold.mwes:
        column = gold.lemmas[sentence].split(b"\t")
        key = lemma_key([column[token] for token in tokens])
        found.setdefault((sentence, tokens), (sentence, key, category or UNLABELED))
    return list(found.values())


def _words(gold: CuptGold, sentence: int) -> int:
    return sum(token_id.isdigit() for token_id in gold.items.ids(sentence))


# ---------------------------------------------------------------------------------------------------------------- units


def _alone(sentences: Sequence[bytes], file: str, problems: Problems) -> list[object]:
    return [(file, place) for place in range(len(sentences))]


def _source_sentences(sentences: Sequence[bytes], file: str, problems: Problems) -> list[object]:
    """Return the whole `source_sent_id` of each sentence; sentences without one are reported."""
    keys: list[object] = [_comment(text, b"source_sent_id") for text in sentences]
    if lacking := [place + 1 for place, key in enumerate(keys) if key is None]:
        message = (
            f"{len(lacking)} of {len(keys)} sentences have no `# source_sent_id`, the first is number {lacking[0]}"
        )
        problems.add("no-source-sentence", message, file=file)
    return keys


def _documents(sentences: Sequence[bytes], file: str, problems: Problems) -> list[object]:
    """Return a key for the document of each sentence: `# newdoc` begins a document; the same `newdoc id` means the same
    document.
    """
    keys: list[object] = []
    document: object = (file, 0)
    for place, text in enumerate(sentences):
        if any(line.lstrip(b"# \t").startswith(b"newdoc") for line in _comments(text)):
            document = _comment(text, b"newdoc id") or (file, place + 1)
        keys.append(document)
    if sentences and document == (file, 0):
        message = "no sentence has a `# newdoc`, so it is unknown where documents begin"
        problems.add("no-document", message, file=file)
    return keys


_KEYS: dict[KeepTogether, Callable[[Sequence[bytes], str, Problems], list[object]]] = {
    "sentence": _alone,
    "source_sent_id": _source_sentences,
    "document": _documents,
}


def _comments(text: bytes) -> list[bytes]:
    return [line for line in text.split(b"\n") if line[:1] == b"#"]


def _comment(text: bytes, name: bytes) -> bytes | None:
    for line in _comments(text):
        before, equals, value = line.partition(b"=")
        if equals and before.strip(b"# \t") == name and value.strip():
            return b" ".join(value.split())
    return None
