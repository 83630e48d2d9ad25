"""mwe-paraphrase: rewrite a sentence so that its idiom is gone and its meaning stays. PARSEME 2.0, subtask 2.

Gold: a folder `<LANG>/test.json`, or one JSON file: `source_sent_id`, `text` (the MWE in `[[…]]`), `raw_text`, `label`
(`["Creative: …", "Minimal: …"]`; if one is missing, the other serves for both), `MWE_type`.
Blind: test.blind.json, `source_sent_id` and `raw_text`.
Prediction: a zip or folder `<LANG>/test.system.json` with any of the task's languages, or a JSON file if there is one
language; `source_sent_id` and `prediction` of every item, in any order.
Scores, per language and MWE type: masked BERTScore (0 if the MWE stays, else the larger F1 of the two references; mean
over the items), share of removed MWEs, variety, entropy and balance of the new words; `macro` is the mean over the
task's languages, one not submitted counting 0. `paraphrase.removed` defines what is removed and new, `bertscore`
computes BERTScore. Official are bert-base-multilingual-cased, layer 9, no idf, no rescaling.
Source: the PARSEME 2.0 shared task and the output of its evaluator.
Deviations: Japanese is split by SudachiPy in mode A alone, the official analyser being spaCy's model on top of it; an
id that is missing, unknown or repeated rejects the file, as does a text with an invisible character that no sentence
has (it would make an MWE look removed); BERTScore does not depend on neighbours in a batch unless `compatibility` is
`upstream-64`, or `implementation` is `reference`: then the package bert-score computes it, batches and all.
Deliberate: an empty prediction counts as removed, since every word of its sentence is gone, and has a BERTScore of 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evergold.scoring.bertscore.encoders import load_encoder
from evergold.scoring.bertscore.models import current_settings
from evergold.scoring.bertscore.reference import PACKAGE, load_reference, reference_version
from evergold.scoring.bertscore.scores import IMPLEMENTATION, bertscore_signature
from evergold.scoring.errors import InvalidGold, InvalidOptions, Problem, shorten
from evergold.scoring.halves import Keep
from evergold.scoring.language_folders import single_language, wanted_languages
from evergold.scoring.option_types import ALL, MACRO, split_below
from evergold.scoring.paraphrase.files import ID, BlindFile, GoldFile, blind, read_blind_files, read_gold_files
from evergold.scoring.paraphrase.languages import (
    BERTSCORE,
    METRIC_NAMES,
    REMOVED,
    TYPE,
    Measured,
    Numbers,
    language_document,
    language_outcomes,
    language_results,
    macro_numbers,
    measure_languages,
    numbers_of,
    reference_documents,
    splits_of,
    summaries_of,
)
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.paraphrase.prediction import PREDICTION, read_submission
from evergold.scoring.paraphrase.scores import Measure
from evergold.scoring.paraphrase.segmentation import segmentation_name
from evergold.scoring.progress import report_progress
from evergold.scoring.samples.mwe_paraphrase import sample
from evergold.scoring.task import (
    NOT_ENTERED,
    Column,
    ItemResult,
    Metric,
    Score,
    Task,
    signature,
)

NAME, VERSION = "mwe-paraphrase", 2
LANGUAGES = "languages"

_NO_SUCH_MWE = "gold has no such MWE"
_NO_NEW_WORD = "there is no new word"
_ONE_NEW_WORD = "there are fewer than two different new words"


@dataclass(frozen=True)
class Items:
    """Items to be covered by a prediction, by language. in_folders: True if the languages are expected in folders."""

    languages: Mapping[str, BlindFile]
    in_folders: bool

    def demands(self) -> dict[str, str]:
        """Return `language/id` of every item, with its sentence."""
        return {
            f"{name}/{id_}": text for name, file in self.languages.items() for id_, text in file.sentence_of.items()
        }


@dataclass(frozen=True)
class Gold:
    """Gold by language, in the order of the option `languages`, or sorted by name if that is not set."""

    languages: Mapping[str, GoldFile]
    in_folders: bool


@dataclass(frozen=True)
class Prediction:
    """The paraphrase of every id, for the languages that were submitted."""

    languages: Mapping[str, Mapping[str, str]]
    warnings: tuple[Problem, ...] = ()


def read_items(path: Path, options: Options) -> Items:
    """Read the ids and sentences of the blind file or of the blind files in folders; raises InvalidItems."""
    return Items(*read_blind_files(path, _wanted(options), single_language(_wanted(options))))


def read_gold(path: Path, options: Options) -> Gold:
    """Read gold of a file or of language folders; raises InvalidGold, InvalidOptions for `baseline`."""
    gold = Gold(*read_gold_files(path, _wanted(options), single_language(_wanted(options)), options.types))
    if isinstance(options.baseline, dict) and options.baseline.keys() != gold.languages.keys():
        message = f"{NAME}, option baseline: the languages of gold are {', '.join(gold.languages)}"
        raise InvalidOptions([Problem("bad-option", message)])
    return gold


def items_of(gold: Gold, options: Options) -> Items:
    """Return the ids and sentences of gold."""
    files = {
        language: blind([(item.id, item.sentence) for item in file.items]) for language, file in gold.languages.items()
    }
    return Items(files, gold.in_folders)


def read_prediction(path: Path, items: Items, options: Options) -> Prediction:
    """Read the paraphrases of every submitted language; raises InvalidPrediction with the problems of all files."""
    limit = options.max_characters
    predicted, problems = read_submission(path, items.languages, in_folders=items.in_folders, max_characters=limit)
    return Prediction(predicted, tuple(problems.warnings))


def score(gold: Gold, prediction: Prediction, options: Options) -> list[Score]:
    """Compute the metrics of `fr`, `fr/type/VID`, … per language, then (gold in folders) for `macro`, and `languages`.

    bertscore: -1 to 1, without a lower bound after rescaling; removed and balance: 0 to 1; variety and entropy (natural
    logarithm): 0 or more. None with NOT_ENTERED in languages that were not submitted; if gold has no MWE of a type
    (such a language is left out of that type's macro mean); for entropy without a new word and balance with fewer than
    two. In macro means, None in a submitted language counts as 0, like a language that was not submitted. Progress is
    reported in items. Raises InvalidGold if the prediction was checked against items that lack some of gold's;
    ModelNotFound, MissingPackage and other errors of the encoder.
    """
    return _scores_of(gold, prediction, options, *_measured(gold, prediction, options))


def score_with_outcomes(gold: Gold, prediction: Prediction, options: Options) -> tuple[list[Score], dict[str, Any]]:
    """Return the scores, and the outcomes per item from which they follow.

    `{"in_folders": …, "types": the options', "languages": {"fr": see `paraphrase.languages.language_outcomes`}}`.
    Raises the errors of `score`.
    """
    measure, measured = _measured(gold, prediction, options)
    languages = {name: language_outcomes(file, measured.get(name)) for name, file in gold.languages.items()}
    found = {"in_folders": gold.in_folders, "types": list(options.types), "languages": languages}
    return _scores_of(gold, prediction, options, measure, measured), found


def outcomes(gold: Gold, prediction: Prediction, options: Options) -> dict[str, Any]:
    """Return only the outcomes; this takes as long as `score_with_outcomes`, because it computes the scores, too."""
    return score_with_outcomes(gold, prediction, options)[1]


def item_results(gold: Gold, prediction: Prediction, options: Options, outcomes: Mapping[str, Any]) -> list[ItemResult]:
    """Return the results per item of the submitted languages: see `paraphrase.languages.language_results`."""
    return [
        result
        for name, texts in prediction.languages.items()
        for result in language_results(gold.languages[name], texts, name, outcomes["languages"][name])
    ]


def _measured(gold: Gold, prediction: Prediction, options: Options) -> tuple[Measure, dict[str, Measured]]:
    _check_same_items(gold, prediction)
    items = sum(len(gold.languages[name].items) for name in prediction.languages)
    report_progress(0, items)
    measure = _measure(options)
    report_progress(0, items)  # loading the model is not part of the pace
    return measure, measure_languages(gold.languages, prediction.languages, measure)


def _measure(options: Options) -> Measure:
    """Return the settings of BERTScore for these options, with the model loaded."""
    settings, reference = current_settings(), None
    if options.implementation == "reference":
        reference = load_reference(options.model, options.used_layer, settings)
        encoder = reference.encoder
    else:
        encoder = load_encoder(options.model, options.used_layer, options.precision, settings)
    return Measure(encoder, options.idf, options.baseline_of, options.used_compatibility, reference)


def _scores_of(
    gold: Gold, prediction: Prediction, options: Options, measure: Measure, measured: Mapping[str, Measured]
) -> list[Score]:
    summaries = {
        name: summaries_of(gold.languages[name], options.types, *of_language) for name, of_language in measured.items()
    }
    scores: list[Score] = []
    for language in gold.languages:
        for split in splits_of(options.types):
            numbers = numbers_of(summaries[language][split]) if language in summaries else None
            reason = _NO_SUCH_MWE if language in summaries else NOT_ENTERED
            scores += _five(gold, options, measure, language, split, numbers, reason)
    if not gold.in_folders:
        return scores
    for split in splits_of(options.types):
        numbers = macro_numbers(gold.languages, summaries, split)
        scores += _five(gold, options, measure, MACRO, split, numbers, _NO_SUCH_MWE)
    submitted = signature(NAME, VERSION, LANGUAGES, MACRO, languages=tuple(gold.languages))
    return [*scores, Score(LANGUAGES, MACRO, float(len(prediction.languages)), None, submitted)]


def report(gold: Gold, prediction: Prediction, options: Options) -> dict[str, Any]:
    """Return the report for pages, see `paraphrase.languages`. It has no BERTScore, which is among the scores.

    `{"languages": {"fr": document, or null if not submitted}, "references": {"creative": {"fr": …, "macro": …},
    "minimal": …}}`
    """
    _check_same_items(gold, prediction)
    documents = {
        language: language_document(file, prediction.languages.get(language), language, options.types)
        for language, file in gold.languages.items()
    }
    return {"languages": documents, "references": reference_documents(gold.languages)}


def part(gold: Gold, prediction: Prediction, keep: Keep) -> tuple[Gold, Prediction]:
    """Return the gold of the kept items, and the prediction unchanged: it may contain further items.

    keep is called with `fr/ID`. Raises InvalidGold if a language has none.
    """
    files = {
        language: replace(file, items=tuple(item for item in file.items if keep(f"{language}/{item.id}")))
        for language, file in gold.languages.items()
    }
    if lacking := [language for language, file in files.items() if not file.items]:
        raise InvalidGold([Problem("empty-part", f"{lacking[0]}: there are too few items to be divided")])
    return replace(gold, languages=files), prediction


def columns(options: Options) -> tuple[Column, ...]:
    """Return the columns of macro and of each language that options name, all metrics, then those of each type.

    The BERTScore of macro, or of the one language, comes first.
    """
    wanted = _wanted(options) or (ALL,)
    roots = (*wanted, MACRO) if options.language else (MACRO, *wanted)
    found = [
        Column(metric, split_below(root, split), _title(root, split, metric))
        for split in splits_of(options.types)
        for root in roots
        for metric in METRIC_NAMES
    ]
    return (*found, Column(LANGUAGES, MACRO, METRICS[LANGUAGES].title))


def template(items: Items, options: Options) -> str | None:
    """Return the file with an empty prediction for every id; None for several languages, whose files go into a zip."""
    if len(items.languages) != 1:
        return None
    (only,) = items.languages.values()
    rows = [{ID: id_, PREDICTION: ""} for id_ in only.ids]
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def _wanted(options: Options) -> tuple[str, ...] | None:
    return wanted_languages(options.languages, options.language)


def _check_same_items(gold: Gold, prediction: Prediction) -> None:
    for language, texts in prediction.languages.items():
        lacking = [item.id for item in gold.languages[language].items if item.id not in texts]
        if lacking:
            message = f"{language}: {len(lacking)} gold items are not in the items file, {shorten(lacking[0])} first"
            raise InvalidGold([Problem("unknown-id", message)])


def _five(
    gold: Gold, options: Options, measure: Measure, root: str, split: str, numbers: Numbers | None, reason: str
) -> Iterator[Score]:
    """Yield the metrics of one split of a language or of macro, or the reason why there are none."""
    for metric in METRIC_NAMES:
        value = numbers[metric] if numbers else None
        undefined = reason if numbers is None else _NO_NEW_WORD if metric == "entropy" else _ONE_NEW_WORD
        signed = _signed(gold, options, measure, root, split, metric)
        yield Score(metric, split_below(root, split), value, undefined if value is None else None, signed)


def _signed(gold: Gold, options: Options, measure: Measure, root: str, split: str, metric: str) -> str:
    languages = tuple(gold.languages) if root == MACRO else (root,)
    parts: dict[str, object] = {"edits": "difflib"}
    if metric in (BERTSCORE, REMOVED):
        parts["words"] = tuple(dict.fromkeys(segmentation_name(language) for language in languages))
    else:
        parts["words"] = "whitespace"
    if metric == BERTSCORE:
        parts["not_removed"] = 0
        implementation = f"{PACKAGE}-{reference_version()}" if measure.reference else IMPLEMENTATION
        parts |= bertscore_signature(
            measure.encoder, idf=measure.idf, compatibility=measure.compatibility, implementation=implementation
        )
        baselines = tuple(options.baseline_of(language) for language in languages)
        parts["baseline"] = baselines if any(baseline is not None for baseline in baselines) else None
    if root == MACRO:
        parts |= {"macro": "mean", "languages": languages}
    return signature(NAME, VERSION, metric, split_below(root, split), **parts)


def _title(root: str, split: str, metric: str) -> str:
    where = root.capitalize() if root in (MACRO, ALL) else root.upper()
    kind = [] if split == ALL else [split.removeprefix(TYPE)]
    return " ".join([where, *kind, METRICS[metric].title])


METRICS = {
    metric.name: metric
    for metric in (
        Metric(
            BERTSCORE,
            "BERTScore",
            "Mean over the items of the F1 of BERTScore with the nearer of the two references, 0 where the MWE stays.",
            minimum=None,
            percent=True,
        ),
        Metric(REMOVED, "Removed", "Share of the items whose MWE is no longer there.", percent=True, is_share=True),
        Metric("variety", "Variety", "Number of different new words, by white space.", maximum=None),
        Metric("entropy", "Entropy", "Shannon entropy (natural logarithm) of the new words.", maximum=None),
        Metric("balance", "Balance", "Entropy of the new words over its maximum."),
        Metric(LANGUAGES, "Languages", "Number of languages that were submitted.", maximum=None, has_interval=False),
    )
}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Paraphrasing of multiword expressions",
    summary="Rewrite a sentence so that its idiom is gone and its meaning stays. PARSEME 2.0: BERTScore, diversity.",
    options=Options,
    metrics=METRICS,
    columns=columns,
    read_items=read_items,
    read_gold=read_gold,
    items_of=items_of,
    demands=Items.demands,
    read_prediction=read_prediction,
    score=score,
    outcomes=outcomes,
    score_with_outcomes=score_with_outcomes,
    sample=sample,
    item_results_from_outcomes=item_results,
    part=part,
    template=template,
    template_name="template.json",
    report=report,
    needs_gpu=True,
)
