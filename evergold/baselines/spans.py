"""Baselines of sequence-labelling: no span at all, and spans labelled in training, found again word for word."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evergold.baselines.baseline import Baseline, needs_training
from evergold.scoring.archives import read_single
from evergold.scoring.errors import InvalidItems, Problems
from evergold.scoring.spans import OUTSIDE, spans_of
from evergold.scoring.tables.json_lines import is_json_lines
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.span_files import check_tags, read_conll, read_spans
from evergold.scoring.tasks.sequence_labelling import TASK, SequenceOptions

#: The type of every labelled text, as words or as a whole.
Lexicon = Mapping[tuple[str, ...], str]


def _nothing(items: Path, training: Sequence[Path], options: SequenceOptions) -> bytes:
    return str(TASK.template(TASK.read_items(items, options), options)).encode()


def _lexicon(items: Path, training: Sequence[Path], options: SequenceOptions) -> bytes:
    counts: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    data = read_single(items, error=InvalidItems)[1]
    for path in training:
        for words, type_ in _labelled(path, options):
            counts[words][type_] += 1
    if not counts:
        raise needs_training("this baseline learns: give labelled data in the form of the items, with texts")
    lexicon = {words: min(types, key=lambda name: (-types[name], name)) for words, types in counts.items()}
    return "".join(_in_texts(data, lexicon) if is_json_lines(data) else _in_sentences(data, lexicon)).encode()


def _labelled(path: Path, options: SequenceOptions) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the words of every labelled span and its type; in texts that are not split, a span is one word."""
    data, problems = read_single(path, error=InvalidItems)[1], Problems()
    if is_json_lines(data):
        for text in read_spans(data, options.types, problems, others=True):
            whole = text.values.get("text")
            for span in text.spans or ():
                if isinstance(whole, str):
                    yield (whole[span.start : span.end],), span.type
    else:
        sentences, faults = read_conll(data, problems), RowProblems()
        tags = check_tags(sentences, options.scheme, options.types, faults)
        faults.report(problems)
        for sentence, own in zip(sentences, tags, strict=True):
            for span in spans_of(own, options.scheme, options.reading):
                yield sentence.tokens[span.start : span.end], span.type
    problems.raise_if_any(InvalidItems)


def _in_sentences(data: bytes, lexicon: Lexicon) -> Iterator[str]:
    """Yield the text of a file, sentence by sentence, with the longest known spans tagged from left to right."""
    longest = max(map(len, lexicon))
    for number, sentence in enumerate(read_conll(data, Problems())):
        tags, place = [OUTSIDE] * len(sentence.tokens), 0
        while place < len(tags):
            ends = range(min(place + longest, len(tags)), place, -1)
            end = next((end for end in ends if sentence.tokens[place:end] in lexicon), None)
            if end is not None:
                type_ = lexicon[sentence.tokens[place:end]]
                tags[place:end] = [f"B-{type_}", *[f"I-{type_}"] * (end - place - 1)]
            place = end or place + 1
        yield "\n" * bool(number) + "".join(
            f"{token}\t{tag}\n" for token, tag in zip(sentence.tokens, tags, strict=True)
        )


def _in_texts(data: bytes, lexicon: Lexicon) -> Iterator[str]:
    """Yield the lines of a file with the longest known spans marked from left to right, at word boundaries."""
    known = sorted((text for (text,) in lexicon), key=lambda text: (-len(text), text))
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, known)) + r")(?!\w)")
    for text in read_spans(data, None, Problems(), others=True):
        whole = text.values.get("text")
        matches = pattern.finditer(whole) if isinstance(whole, str) else iter(())
        spans = [[match.start(), match.end(), lexicon[(match.group(),)]] for match in matches]
        yield json.dumps({"id": text.id, "spans": spans}, ensure_ascii=False) + "\n"


BASELINES = (
    Baseline("nothing", "No span.", _nothing, ".txt"),
    Baseline(
        "lexicon",
        "Every text that is labelled in the training data, wherever it occurs, with its most frequent type.",
        _lexicon,
        ".txt",
        learns=True,
    ),
)
