"""All languages of a paraphrasing task together: the numbers of every language and type, and their macro means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from evergold.scoring.option_types import ALL, MACRO
from evergold.scoring.paraphrase.files import GoldFile
from evergold.scoring.paraphrase.scores import (
    ItemScores,
    Measure,
    Paraphrased,
    Summary,
    masked_bertscores,
    never_removed,
    paraphrase,
    places_of_types,
    reference_texts,
    summarise,
)
from evergold.scoring.progress import report_progress
from evergold.scoring.task import TEXT_CHARACTERS, ItemResult

TYPE = "type/"
BERTSCORE, REMOVED = "bertscore", "removed"
DIVERSITY = ("variety", "entropy", "balance")
METRIC_NAMES = (BERTSCORE, REMOVED, *DIVERSITY)

#: The paraphrase of every id, by language.
AllTexts = Mapping[str, Mapping[str, str]]
AllGold = Mapping[str, GoldFile]
#: A language's summaries by split, `all` and `type/VID`; None if gold has no such item.
Summaries = Mapping[str, Summary | None]
#: Values of the metrics; None where one is undefined.
Numbers = Mapping[str, float | None]


def splits_of(types: Iterable[str]) -> tuple[str, ...]:
    """Return `all` and the split of every type."""
    return (ALL, *(TYPE + kind for kind in types))


def summaries_of(
    gold: GoldFile, types: Iterable[str], paraphrased: Paraphrased, bertscores: ItemScores | None = None
) -> dict[str, Summary | None]:
    """Return the summary of every split of one language."""
    places = {TYPE + kind: items for kind, items in places_of_types(gold, types).items()}
    return {
        ALL: summarise(paraphrased, bertscores),
        **{split: summarise(paraphrased, bertscores, items) for split, items in places.items()},
    }


class Measured(NamedTuple):
    """The measured items of one language."""

    paraphrased: Paraphrased
    bertscores: ItemScores


def measure_languages(gold: AllGold, predicted: AllTexts, measure: Measure) -> dict[str, Measured]:
    """Measure the items of every submitted language, in gold's order. Progress is reported in items."""
    files = {language: file for language, file in gold.items() if language in predicted}
    total, done = sum(len(file.items) for file in files.values()), 0
    found = {}
    for language, file in files.items():
        paraphrased = paraphrase(file, predicted[language], language)
        advance = partial(_advance, done, len(file.items), total)
        bertscores = masked_bertscores(file, predicted[language], paraphrased.removed, measure, language, advance)
        found[language] = Measured(paraphrased, bertscores)
        done += len(file.items)
        report_progress(done, total)
    return found


def language_outcomes(gold: GoldFile, measured: Measured | None) -> dict[str, Any]:
    """Return the outcomes per item; `predicted` is null if the language was not submitted.

    `{"items": ids, "mwe_types": …, "predicted": {"bertscore": …, "removed": …, "new_words": …}}`
    """
    predicted = measured and {
        BERTSCORE: measured.bertscores.tolist(),
        REMOVED: measured.paraphrased.removed.tolist(),
        "new_words": [list(words) for words in measured.paraphrased.new_words],
    }
    return {
        "items": [item.id for item in gold.items],
        "mwe_types": [item.mwe_type for item in gold.items],
        "predicted": predicted,
    }


def language_results(
    gold: GoldFile, texts: Mapping[str, str], language: str, outcomes: Mapping[str, Any]
) -> list[ItemResult]:
    """Return per item its paraphrase, both references, and as error its masked BERTScore minus 1.

    outcomes: those of the language, as `language_outcomes` returns them.
    """
    found = []
    for item, value in zip(gold.items, outcomes["predicted"][BERTSCORE], strict=True):
        splits = (f"{language}/{TYPE}{item.mwe_type}",) if item.mwe_type else (language,)
        references = " / ".join(dict.fromkeys((item.minimal, item.creative)))
        own = texts[item.id][:TEXT_CHARACTERS]
        found.append(ItemResult(item.id, splits, references[:TEXT_CHARACTERS], own, error=value - 1))
    return found


def numbers_of(summary: Summary | None) -> Numbers | None:
    """Return the metrics of a summary, in the order of METRIC_NAMES; None if there is none."""
    if summary is None:
        return None
    found = summary.diversity
    values = (summary.bertscore, summary.removed, float(found.richness), found.entropy, found.evenness)
    return dict(zip(METRIC_NAMES, values, strict=True))


def macro_numbers(gold: AllGold, summaries: Mapping[str, Summaries], split: str) -> dict[str, float] | None:
    """Return the mean of each metric over the languages whose gold has an item of the split; None if none has.

    A language that was not submitted counts as 0, and so does an undefined value in one that was.
    """
    kind = split.removeprefix(TYPE)
    having = [name for name, file in gold.items() if split == ALL or any(item.mwe_type == kind for item in file.items)]
    if not having:
        return None
    found = [numbers_of(summaries[name][split]) or {} if name in summaries else {} for name in having]
    return {metric: _mean([one.get(metric) for one in found]) for metric in METRIC_NAMES}


def language_document(
    gold: GoldFile, texts: Mapping[str, str] | None, language: str, types: Sequence[str]
) -> dict[str, Any] | None:
    """Return the report of one language; None if it was not submitted.

    For `all` and every type: items, removed, variety, entropy, balance and novel_words (null for a type without items),
    and never_removed.
    """
    if texts is None:
        return None
    summaries = summaries_of(gold, types, paraphrase(gold, texts, language))
    documents = {split.removeprefix(TYPE): _document(summary) for split, summary in summaries.items()}
    return {**documents, "never_removed": never_removed(gold, language)}


def reference_documents(gold: AllGold) -> dict[str, dict[str, Any]]:
    """Return, by kind of reference (creative, minimal) and language, the metrics of the reference texts as if they were
    a prediction, and the macro means.

    These are the anchors of the plot of quality against diversity.
    """
    kinds: dict[str, dict[str, Any]] = {}
    for language, file in gold.items():
        for kind, texts in reference_texts(file).items():
            kinds.setdefault(kind, {})[language] = _document(summarise(paraphrase(file, texts, language)))
    for documents in kinds.values():
        named = (REMOVED, *DIVERSITY)
        documents[MACRO] = {name: _mean([document[name] for document in documents.values()]) for name in named}
    return kinds


def _advance(done: int, items: int, total: int, share: float) -> None:
    report_progress(done + int(share * items), total)


def _document(summary: Summary | None) -> dict[str, Any] | None:
    numbers = numbers_of(summary)
    if summary is None or numbers is None:
        return None
    # Without BERTScore: it is among the scores, and is not computed a second time.
    named = {name: value for name, value in numbers.items() if name != BERTSCORE}
    return {"items": summary.items, **named, "novel_words": summary.novel_words}


def _mean(values: Sequence[float | None]) -> float:
    return sum(value or 0.0 for value in values) / len(values)
