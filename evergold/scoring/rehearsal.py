"""Simulated systems made from gold before a competition, and the number of items of each language.

Item by item, a simulated system is right with a fixed chance, and wrong in typical ways: another label, some noise, an
expression overlooked, cut short or found where there is none. `resampling.power` explains their purpose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evergold.scoring.cupt.corpus import Mwe
from evergold.scoring.cupt.prediction import PredictedMwes
from evergold.scoring.mwe.counts import GoldMwes
from evergold.scoring.mwe.options import Options as MweOptions
from evergold.scoring.spans import Span
from evergold.scoring.tables.options import ALL, TableOptions
from evergold.scoring.tables.settings import Prediction as SettingsPrediction
from evergold.scoring.task import AnyTask
from evergold.scoring.tasks import (
    idiom_detection,
    idiom_similarity,
    meaning_matching,
    multi_label,
    mwe_identification,
    mwe_paraphrase,
    ranking,
    sequence_labelling,
    table,
)

#: Chance that a simulated system is right.
RIGHT = 0.75
#: Standard deviation of the noise, as a multiple of gold's.
_NOISE = 1.0

Chance = np.random.Generator


def simulated(task: AnyTask, gold: Any, options: Any, number: int) -> Any | None:
    """Return the prediction of simulated system `number`, always the same; None if the task type has no simulation."""
    make = _SIMULATED.get(task.name)
    return make(gold, options, np.random.Generator(np.random.Philox(key=number))) if make else None


def sizes_by_language(task: AnyTask, gold: Any) -> dict[str, int]:
    """Count the items of each language (or group, or `all`): sentences, pairs, compounds, or annotated MWEs."""
    count = _SIZES.get(task.name)
    return dict(count(gold)) if count else {}


# ------------------------------------------------------------------------------------------------------------ systems


def _labels(labels: Any, kinds: int, chance: Chance) -> Any:
    """Return the right labels, some replaced by another one."""
    other = (labels + chance.integers(1, kinds, len(labels))) % kinds
    return np.where(chance.random(len(labels)) < RIGHT, labels, other)


def _noisy(values: Any, chance: Chance) -> Any:
    return values + chance.normal(0.0, _NOISE * (float(np.std(values)) or 1.0), len(values))


def _in_first(settings: Sequence[str], values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(settings), settings[0]: values}


def _detection(gold: idiom_detection.Gold, options: idiom_detection.Options, chance: Chance) -> SettingsPrediction:
    values = _labels(gold.labels, len(options.labels), chance)
    return SettingsPrediction(gold.items, _in_first(options.settings, values))


def _matching(
    gold: meaning_matching.Gold, options: meaning_matching.MatchingOptions, chance: Chance
) -> meaning_matching.RankedPrediction:
    labels = SettingsPrediction(gold.items, _in_first(options.settings, _labels(gold.labels, 2, chance)))
    return meaning_matching.RankedPrediction(labels, dict.fromkeys(options.settings))


def _similarity(gold: idiom_similarity.Gold, options: idiom_similarity.Options, chance: Chance) -> SettingsPrediction:
    """Predict Sims with noise; if a row's target is the system's own Sim for another item, both items get the same Sim,
    apart from noise.
    """
    known = ~np.isnan(gold.sims)
    values = chance.permutation(np.resize(gold.sims[known] if known.any() else np.zeros(1), len(gold.items.ids)))
    values[gold.rows[known]] = gold.sims[known]
    values[gold.rows[~known]] = values[gold.others[~known]]
    return SettingsPrediction(gold.items, _in_first(options.settings, _noisy(values, chance)))


def _table(gold: table.Gold, options: TableOptions, chance: Chance) -> table.Prediction:
    ids, values = gold.items.ids, gold.values
    if options.kind == "numbers":
        answers = [repr(float(value)) for value in _noisy(np.array(values, dtype=np.float64), chance)]
    elif options.kind == "labels":
        names = sorted(set(gold.items.labels or values))
        numbers = np.array([names.index(value) for value in values])
        answers = [names[place] for place in (_labels(numbers, len(names), chance) if len(names) > 1 else numbers)]
    else:
        answers = [" ".join(word for word in value.split() if chance.random() < RIGHT) for value in values]
    return table.Prediction(dict(zip(ids, answers, strict=True)))


def _sets(gold: multi_label.Gold, options: multi_label.MultiLabelOptions, chance: Chance) -> multi_label.Prediction:
    """Keep or drop each right label at random, and add on average as many wrong ones as are dropped."""
    labels = gold.items.labels or ()
    extra = (1 - RIGHT) * sum(map(len, gold.values)) / max(1, len(labels) * len(gold.values))
    values = {}
    for id_, own in zip(gold.items.ids, gold.values, strict=True):
        values[id_] = tuple(label for label in labels if chance.random() < (RIGHT if label in own else extra))
    return multi_label.Prediction(values)


def _rankings(gold: ranking.Gold, options: ranking.RankingOptions, chance: Chance) -> ranking.Prediction:
    """Rank judged documents by relevance, with noise."""
    found = {}
    for query, judged in gold.judgements.items():
        scores = _noisy(np.array(list(judged.values()), dtype=np.float64), chance)
        order = np.argsort(-scores, kind="stable")
        found[query] = tuple(np.array(list(judged), dtype=object)[order])
    return ranking.Prediction(found)


def _mwes(gold: mwe_identification.Gold, options: MweOptions, chance: Chance) -> mwe_identification.Prediction:
    return mwe_identification.Prediction({name: _predicted_mwes(one, chance) for name, one in gold.languages.items()})


def _predicted_mwes(gold: GoldMwes, chance: Chance) -> PredictedMwes:
    """Return gold's MWEs with errors: half of the wrong ones are cut short (adding a false one), half left out."""
    mwes: list[Mwe] = []
    for mwe in gold.corpus.mwes:
        if chance.random() < RIGHT:
            mwes.append(mwe)
        elif len(mwe.tokens) > 1 and chance.random() < 0.5:
            mwes.append(mwe._replace(tokens=mwe.tokens[:-1]))
    lemmas = tuple(gold.side.described[mwe.sentence, mwe.tokens].lemmas if (mwe.sentence, mwe.tokens)
                   in gold.side.described else b"" for mwe in mwes)  # fmt: skip
    return PredictedMwes(tuple(mwes), lemmas, gold.corpus.items.fingerprint)


def _spans(
    gold: sequence_labelling.Gold, options: sequence_labelling.SequenceOptions, chance: Chance
) -> sequence_labelling.Prediction:
    """Return gold's spans with errors: half of the wrong ones are cut short or, if they have one position, get another
    type; the others are left out.
    """
    found: dict[str, tuple[Span, ...]] = {}
    for name, spans in gold.spans.items():
        kept = []
        for span in spans:
            if chance.random() < RIGHT:
                kept.append(span)
            elif chance.random() < 0.5:
                shorter = span._replace(end=span.end - 1)
                kept.append(shorter if shorter.end > span.start else span._replace(type=str(chance.choice(gold.types))))
        found[name] = tuple(sorted(set(kept)))
    return sequence_labelling.Prediction(found)


_SIMULATED: Mapping[str, Callable[[Any, Any, Chance], Any]] = {
    idiom_detection.NAME: _detection,
    idiom_similarity.NAME: _similarity,
    meaning_matching.NAME: _matching,
    multi_label.NAME: _sets,
    mwe_identification.NAME: _mwes,
    ranking.NAME: _rankings,
    sequence_labelling.NAME: _spans,
    table.NAME: _table,
}

# -------------------------------------------------------------------------------------------------------------- sizes


def _languages(languages: Sequence[str]) -> Mapping[str, int]:
    return Counter(language.lower() for language in languages)


def _groups(gold: table.Gold) -> Mapping[str, int]:
    groups = {split: len(where) for split, where in gold.splits.items() if split != ALL}
    return groups or {ALL: len(gold.values)}


_SIZES: Mapping[str, Callable[[Any], Mapping[str, int]]] = {
    idiom_detection.NAME: lambda gold: _languages(gold.items.languages),
    idiom_similarity.NAME: lambda gold: _languages([gold.items.languages[place] for place in gold.rows]),
    meaning_matching.NAME: lambda gold: _languages(gold.items.languages),
    multi_label.NAME: lambda gold: {"all": len(gold.values)},
    mwe_identification.NAME: lambda gold: {name: len(one.side.described) for name, one in gold.languages.items()},
    mwe_paraphrase.NAME: lambda gold: {name: len(one.items) for name, one in gold.languages.items()},
    ranking.NAME: lambda gold: {"all": len(gold.judgements)},
    sequence_labelling.NAME: lambda gold: {"all": len(gold.spans)},
    table.NAME: _groups,
}
