"""Baselines of mwe-identification: MWEs annotated in training, found by their lemmas; nothing at all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evergold.baselines.baseline import Baseline, needs_training, read_languages, written_zip
from evergold.scoring.cupt.codes import NO_MWE
from evergold.scoring.cupt.corpus import read_gold
from evergold.scoring.cupt.folders import BLIND, DEV, SYSTEM, TEST, TRAIN
from evergold.scoring.cupt.lines import Header, Sentence, opened, sentences
from evergold.scoring.errors import InvalidItems, Problems
from evergold.scoring.mwe.options import Options

Lemmas = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """An MWE of training data: its usual category, and the largest distance between its first and last token."""

    category: str
    widest: int


#: By the first of an MWE's sorted lemmas.
Lexicon = Mapping[bytes, Mapping[Lemmas, Entry]]


def _lexicon(items: Path, training: Sequence[Path], options: Options) -> bytes:
    learned = {name: [data for _, data in files] for name, files in read_languages(training, (TRAIN, DEV)).items()}
    if not learned:
        raise needs_training(f"this baseline learns: give a folder or zip with <LANG>/{TRAIN}, or one CUPT file")
    return _written(items, {language: _learn(files) for language, files in learned.items()})


def _nothing(items: Path, training: Sequence[Path], options: Options) -> bytes:
    return _written(items, {})


# ------------------------------------------------------------------------------------------------------------ learning


def _learn(files: Sequence[bytes]) -> Lexicon:
    categories: defaultdict[Lemmas, Counter[str]] = defaultdict(Counter)
    widest: Counter[Lemmas] = Counter()
    for data in files:
        corpus = read_gold(data)
        for mwe in corpus.mwes:
            lemmas = corpus.lemmas[mwe.sentence].split(b"\t")
            key = tuple(sorted(lemmas[token].lower() for token in mwe.tokens))
            categories[key][mwe.category or ""] += 1
            widest[key] = max(widest[key], mwe.tokens[-1] - mwe.tokens[0])
    lexicon: defaultdict[bytes, dict[Lemmas, Entry]] = defaultdict(dict)
    for key, counts in categories.items():
        usual = min(counts, key=lambda category: (-counts[category], category))
        lexicon[key[0]][key] = Entry(usual, widest[key])
    return lexicon


# ------------------------------------------------------------------------------------------------------------- finding


def _find(lemmas: Sequence[bytes], lexicon: Lexicon) -> list[tuple[list[int], str]]:
    """Return positions and category of every entry whose lemmas all occur in a sentence, no wider apart than in
    training.

    Each entry is found once, where it is narrowest; in the order of the first tokens.
    """
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    for place, lemma in enumerate(lemmas):
        places[lemma].append(place)
    found = []
    for first in places:
        for key, entry in lexicon.get(first, {}).items():
            tokens = _narrowest(key, places)
            if tokens and tokens[-1] - tokens[0] <= entry.widest:
                found.append((tokens, entry.category))
    return sorted(found)


def _narrowest(key: Lemmas, places: Mapping[bytes, Sequence[int]]) -> list[int]:
    """Return the closest tokens with these lemmas; [] if a lemma does not occur often enough in the sentence."""
    wanted = Counter(key)
    if any(len(places.get(lemma, ())) < count for lemma, count in wanted.items()):
        return []
    best: list[int] = []
    for anchor in places[key[0]]:
        tokens = sorted(
            place
            for lemma, count in wanted.items()
            for place in sorted(places[lemma], key=lambda place: (abs(place - anchor), place))[:count]
        )
        if not best or tokens[-1] - tokens[0] < best[-1] - best[0]:
            best = tokens
    return best


# ------------------------------------------------------------------------------------------------------------- writing


def _written(items: Path, lexicons: Mapping[str, Lexicon]) -> bytes:
    """Return a zip with a file for each language, or just the file if the items are a single file."""
    blind = {language: files[0][1] for language, files in _by_preference(items).items()}
    if list(blind) == [""]:
        return _annotated(blind[""], next(iter(lexicons.values()), {}))
    return written_zip(
        {f"{name}/{SYSTEM}": _annotated(data, lexicons.get(name, {})) for name, data in sorted(blind.items())}
    )


def _by_preference(items: Path) -> dict[str, list[tuple[str, bytes]]]:
    """Return by language its files, the blind file first, so that gold in the same folder is not used."""
    found = read_languages([items], (BLIND, TEST))
    return {language: sorted(files, key=lambda file: file[0] != BLIND) for language, files in found.items()}


def _annotated(data: bytes, lexicon: Lexicon) -> bytes:
    """Return the file with the found MWEs in its MWE column."""
    content, header = opened(data, None, Problems(), InvalidItems)
    head = content.split(b"\n", 1)[0]
    blocks = [
        b"\n".join([*sentence.comments, *_rows(sentence, header, lexicon)]) for sentence in sentences(content, header)
    ]
    return b"\n\n".join([b"\n".join([head, blocks[0]]), *blocks[1:]]) + b"\n\n" if blocks else content


def _rows(sentence: Sentence, header: Header, lexicon: Lexicon) -> list[bytes]:
    rows = [row.split(b"\t") for row in sentence.rows]
    positions = [place for place, row in enumerate(rows) if b"-" not in row[header.id]]
    lemmas = [_lemma(rows[place], header) for place in positions]
    codes: defaultdict[int, list[bytes]] = defaultdict(list)
    for number, (tokens, category) in enumerate(_find(lemmas, lexicon), start=1):
        for token in tokens:
            with_category = category and token == tokens[0]
            codes[positions[token]].append(b"%d:%s" % (number, category.encode()) if with_category else b"%d" % number)
    for place, row in enumerate(rows):
        row[header.mwe] = b";".join(codes[place]) if place in codes else NO_MWE
    return [b"\t".join(row) for row in rows]


def _lemma(row: Sequence[bytes], header: Header) -> bytes:
    lemma = row[header.lemma] if header.lemma is not None else b"_"
    return (row[header.form] if lemma == b"_" else lemma).lower()


BASELINES = (
    Baseline(
        "lexicon",
        "Every MWE of the training data, found by its lemmas if they are no further apart than in training.",
        _lexicon,
        ".zip",
        learns=True,
    ),
    Baseline("nothing", "No MWE.", _nothing, ".zip"),
)
