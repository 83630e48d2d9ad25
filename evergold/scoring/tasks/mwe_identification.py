"""mwe-identification: which tokens form multiword expressions, and of which category? PARSEME 1.1, 1.2 and 2.0.

Gold: a CUPT file, or a folder `<LANG>/{test,train,dev,test.blind}.cupt`.
Prediction: a CUPT file, or a zip or folder `<LANG>/test.system.cupt` with any of the task's languages. It must have the
sentences and tokens (ID, FORM) of the blind file; comments, lemmas and all other columns may differ, since they are
taken from gold: they cannot move a score.
Scores, as the official evaluator's: MWE-based (equal token sets) and token-based (tokens of MWEs paired one-to-one)
precision, recall and F1, per language, view and category; `macro` means over the languages, one not submitted counting
0; diversity of the correctly found MWEs (2.0). Editions differ by options: an MWE is unseen if it is not annotated in
`train` (1.1) or in `train+dev` (1.2, 2.0; for a language without dev.cupt, in train.cupt alone).
Sources: Ramisch et al. 2018, 2020 and the official evaluator; `mwe` documents the counting.
Deviations: the official evaluator decides by the prediction's lemmas what is seen; its text report (`parseme`), which
is reproduced line by line, does so too, the scores do not. Where it warns or breaks (other tokens, `_` left in the MWE
column, malformed codes), the file is rejected. Macro means are not rounded before F1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evergold.scoring.cupt.folders import LanguageGold, LanguageItems, read_gold_files, read_item_files, read_submission
from evergold.scoring.cupt.prediction import PredictedMwes
from evergold.scoring.errors import InvalidGold, Problem
from evergold.scoring.halves import Keep
from evergold.scoring.language_folders import single_language, wanted_languages
from evergold.scoring.mwe.counts import (
    ALL,
    MWE_BASED,
    TOKEN_BASED,
    TRAINING_VIEWS,
    VIEWS,
    Cell,
    Counts,
    GoldMwes,
    sentence_counts,
)
from evergold.scoring.mwe.languages import (
    BASES,
    DIVERSITY,
    Counted,
    cells_of,
    count_all,
    language_document,
    language_outcomes,
    macro_diversity,
    macro_document,
    macro_means,
)
from evergold.scoring.mwe.options import LANGUAGES_WITH_GOLD, Options
from evergold.scoring.mwe.part import part_of_languages
from evergold.scoring.mwe.report import official_text
from evergold.scoring.option_types import MACRO, split_below
from evergold.scoring.task import (
    NOT_ENTERED,
    Column,
    ItemResult,
    Metric,
    Score,
    Task,
    signature,
)

if TYPE_CHECKING:
    from evergold.scoring.resampling.sample import Sample

NAME, VERSION = "mwe-identification", 2

_PARTS = ("precision", "recall", "f1")
_NO_TRAINING = "no training data"
_NONE_IN_GOLD = "gold has no such MWE in any language"
_NOTHING_FOUND = "no MWE was found"
_ONE_TYPE = "fewer than two different MWEs were found"


@dataclass(frozen=True)
class Gold:
    """Gold by language.

    compared_with: the files that define which MWEs are seen, for signatures.
    macro: the option, for signatures.
    """

    files: LanguageGold
    compared_with: str
    macro: str = LANGUAGES_WITH_GOLD

    @property
    def languages(self) -> Mapping[str, GoldMwes]:
        """Every language of the task, in the order of the option `languages`, or by name if that is not set."""
        return self.files.languages

    @property
    def counts_absent(self) -> bool:
        """True if a language whose gold has no MWE of a kind counts as 0 in that kind's mean."""
        return self.macro != LANGUAGES_WITH_GOLD


@dataclass(frozen=True)
class Prediction:
    """The predicted MWEs of the languages that were submitted."""

    languages: Mapping[str, PredictedMwes]
    warnings: tuple[Problem, ...] = ()
    #: The last counts, and their gold: scores, outcomes and report of a run need the same.
    _last: list[tuple[Gold, dict[str, Counted]]] = field(default_factory=list, init=False, repr=False, compare=False)

    def counted(self, gold: Gold) -> dict[str, Counted]:
        """Return the counts of every language of gold, see `count_all`."""
        if not self._last or self._last[0][0] is not gold:
            self._last[:] = [(gold, count_all(gold.languages, self.languages))]
        return self._last[0][1]


def read_items(path: Path, options: Options) -> LanguageItems:
    """Read the sentences and tokens of the blind file or of the blind files in folders; raises InvalidItems."""
    return read_item_files(path, _wanted(options), single_language(_wanted(options)))


def read_gold(path: Path, options: Options) -> Gold:
    """Read gold and the train.cupt (and dev.cupt) in its folder; a single file has none. Raises InvalidGold."""
    return read_gold_with_train(path, (), options)


def read_gold_with_train(path: Path, train: Sequence[Path], options: Options) -> Gold:
    """Read gold of one language, to be compared with only these training files; raises InvalidGold."""
    with_dev = options.unseen_against == "train+dev"
    files = read_gold_files(path, _wanted(options), single_language(_wanted(options)), with_dev=with_dev, train=train)
    return Gold(files, "files-given" if train else options.unseen_against, options.macro)


def items_of(gold: Gold, options: Options) -> LanguageItems:
    """Return the sentences and tokens of gold."""
    items = {language: of_language.corpus.items for language, of_language in gold.languages.items()}
    return LanguageItems(items, gold.files.in_folders)


def read_prediction(path: Path, items: LanguageItems, options: Options) -> Prediction:
    """Read the MWEs of every submitted file; raises InvalidPrediction with the problems of all files, by line."""
    return Prediction(*read_submission(path, items, options.categories))


def score(gold: Gold, prediction: Prediction, options: Options) -> list[Score]:
    """Compute P, R and F1 of `fr`, `fr/unseen`, …, `fr/category/VID` per language, then (gold in folders) for `macro`.

    `mwe_*` everywhere, `token_*` for languages and categories, each in [0, 1]; richness, entropy (natural logarithm)
    and evenness for languages; `languages`, how many were submitted, for macro. 0/0 is 0. None with NOT_ENTERED in
    languages that were not submitted; without training data in views that need it; for entropy and evenness if too
    little was found; for macro if no language's gold has such an MWE (such a language is left out of the mean). Raises
    InvalidGold if the prediction was checked against an items file with other tokens than gold.
    """
    _check_same_tokens(gold, prediction)
    return _scores(gold, prediction, prediction.counted(gold))


def score_with_outcomes(gold: Gold, prediction: Prediction, options: Options) -> tuple[list[Score], dict[str, Any]]:
    """Return the scores and the outcomes; the outcomes are computed first, because the scores follow from them."""
    _check_same_tokens(gold, prediction)
    found = _outcomes(gold, prediction.counted(gold))
    return _scores(gold, prediction, prediction.counted(gold)), found


def _scores(gold: Gold, prediction: Prediction, tables: Mapping[str, Counted]) -> list[Score]:
    scores: list[Score] = []
    for language, of_gold in gold.languages.items():
        table = tables[language].counts
        for cell in cells_of([table]):
            counts = table.get(cell, Counts())
            values: _Three = (counts.precision, counts.recall, counts.f1)
            reason = _NO_TRAINING if cell[0] in TRAINING_VIEWS and of_gold.training is None else NOT_ENTERED
            known = language in prediction.languages and reason != _NO_TRAINING
            scores += _three(gold, language, cell, values if known else None, reason)
        scores += _diversity_of(gold, tables[language], language)
    return scores + _macro_scores(gold, prediction, tables) if gold.files.in_folders else scores


def report(gold: Gold, prediction: Prediction, options: Options) -> dict[str, Any]:
    """Return the report for pages: `{"languages": {"fr": document, or null if not submitted}, "macro": document}`.

    Per language counts by view and by category, see `mwe.report.language_report`; P, R and F1 are computed from them by
    `mwe.counts.Counts`, the official text by `mwe.report.official_text`. macro, for gold in folders: see
    `mwe.languages.macro_document`.
    """
    _check_same_tokens(gold, prediction)
    tables = prediction.counted(gold)
    documents = {language: language_document(counted) for language, counted in tables.items()}
    if not gold.files.in_folders:
        return {"languages": documents}
    means = macro_document(gold.languages, prediction.languages, tables, absent_as_zero=gold.counts_absent)
    return {"languages": documents, MACRO: means}


def outcomes(gold: Gold, prediction: Prediction, options: Options) -> dict[str, Any]:
    """Return the outcomes per sentence, for every view and category.

    `{"languages": {"fr": {"submitted": …, "with_training": …, "sentences": how many, "cells": {"all": {"mwe":
    [[sentence, found, in gold, predicted], …], "token": …}, …}, "types": [[sentence, lemmas], …] of the found MWEs}},
    "macro": "left-out", "as-zero" (see `mwe.macro`), or null for a single file}`. Sentences are counted from 0, those
    without an MWE on either side are left out. Raises InvalidGold as `score` does.
    """
    return score_with_outcomes(gold, prediction, options)[1]


def _outcomes(gold: Gold, tables: Mapping[str, Counted]) -> dict[str, Any]:
    found = {language: language_outcomes(counted) for language, counted in tables.items()}
    macro = "as-zero" if gold.counts_absent else "left-out"
    return {"languages": found, "macro": macro if gold.files.in_folders else None}


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return the scores from outcomes that can be resampled; only this loads numpy, which scoring one file does not
    need.
    """
    from evergold.scoring.samples.mwe_identification import sample as sample_of

    return sample_of(outcomes)


def item_results(gold: Gold, prediction: Prediction, options: Options) -> list[ItemResult]:
    """Return per submitted language and sentence the numbers of MWEs in gold, predicted, and found.

    An MWE is found if it has exactly the tokens of one of gold's, whatever its category; a sentence is right if there
    is no other MWE in gold or prediction; its error is the number of these others. Sentences are named by their id, or
    by their number if they have none. Raises InvalidGold as `score` does.
    """
    _check_same_tokens(gold, prediction)
    results: list[ItemResult] = []
    for language, of_gold in gold.languages.items():
        predicted = prediction.languages.get(language)
        if predicted is None:
            continue
        counts = sentence_counts(of_gold, predicted.mwes)
        for name, (found, there, ours) in zip(of_gold.corpus.items.sentence_ids, counts, strict=True):
            error = there + ours - 2 * found
            results.append(ItemResult(name, (language,), there, ours, error == 0, error, found))
    return results


def part(gold: Gold, prediction: Prediction, keep: Keep) -> tuple[Gold, Prediction]:
    """Return gold and prediction of the kept sentences. Raises InvalidGold as `score` does, and if no sentence of a
    language is kept.
    """
    _check_same_tokens(gold, prediction)
    golds, predicted = part_of_languages(gold.languages, prediction.languages, keep)
    files = LanguageGold(golds, gold.files.in_folders)
    return replace(gold, files=files), Prediction(predicted, prediction.warnings)


def parseme_text(document: Mapping[str, Any], options: Options) -> str:
    """Return the official evaluator's report, made from ours; several languages are concatenated, each under `# FR`."""
    texts = []
    for language, of_language in document["languages"].items():
        text = official_text(of_language) if of_language is not None else NOT_ENTERED
        texts.append(text if len(document["languages"]) == 1 else f"# {language.upper()}\n\n{text}")
    return "\n\n".join(texts)


def columns(options: Options) -> tuple[Column, ...]:
    """Return the columns of macro and of each language that options name: global, views, diversity.

    Categories are in the report. The F1 by which the edition ranks comes first: of macro, or of the one language.
    """
    wanted = _wanted(options) or (ALL,)
    roots = (*wanted, MACRO) if options.language else (MACRO, *wanted)
    cells = [(ALL, basis) for basis in BASES] + [(view, MWE_BASED) for view in VIEWS]
    found = [
        Column(f"{basis}_{part}", split_below(root, split), _title(root, split, basis, part))
        for root in roots
        for split, basis in cells
        for part in _PARTS
    ]
    found += [Column(name, root, f"{_root_title(root)} {name}") for root in roots for name in DIVERSITY]
    found.append(Column("languages", MACRO, "Languages"))
    metric = f"{TOKEN_BASED if options.rank_by == 'token' else MWE_BASED}_f1"
    ranking = (metric, split_below(roots[0], "unseen" if options.rank_by == "unseen" else ALL))
    return tuple(sorted(found, key=lambda column: (column.metric, column.split) != ranking))


def template(items: LanguageItems, options: Options) -> None:
    """Return None: the empty submission is the blind file itself, which is public and too large to be rendered as a
    text.
    """
    return


def _wanted(options: Options) -> tuple[str, ...] | None:
    return wanted_languages(options.languages, options.language)


def _check_same_tokens(gold: Gold, prediction: Prediction) -> None:
    problems = [
        Problem("token-mismatch", f"{language}: the items file has other sentences or tokens than gold")
        for language, predicted in prediction.languages.items()
        if language not in gold.languages or gold.languages[language].corpus.items.fingerprint != predicted.fingerprint
    ]
    if problems:
        raise InvalidGold(problems)


def _macro_scores(gold: Gold, prediction: Prediction, tables: Mapping[str, Counted]) -> list[Score]:
    scores: list[Score] = []
    trained = any(of_gold.training is not None for of_gold in gold.languages.values())
    for cell, mean in macro_means(gold.languages, tables, absent_as_zero=gold.counts_absent).items():
        reason = _NONE_IN_GOLD if trained or cell[0] not in TRAINING_VIEWS else _NO_TRAINING
        scores += _three(gold, MACRO, cell, mean, reason)
    submitted = float(len(prediction.languages))
    numbers = {**macro_diversity(tables, prediction.languages), "languages": submitted}
    return scores + [
        Score(name, MACRO, value, None, _signed(gold, name, MACRO, ALL)) for name, value in numbers.items()
    ]


_Three = tuple[float, float, float]


def _three(gold: Gold, root: str, cell: Cell, values: _Three | None, reason: str) -> Iterator[Score]:
    """Yield P, R and F1 of one cell, or the reason why there are none."""
    split, basis = cell
    for part, value in zip(_PARTS, values or (None, None, None), strict=True):
        metric, why = f"{basis}_{part}", reason if value is None else None
        yield Score(metric, split_below(root, split), value, why, _signed(gold, metric, root, split))


def _diversity_of(gold: Gold, counted: Counted, language: str) -> Iterator[Score]:
    found = counted.diversity
    for name in DIVERSITY:
        value = getattr(found, name, None)
        undefined = _NOTHING_FOUND if name == "entropy" else _ONE_TYPE
        reason = None if value is not None else undefined if found else NOT_ENTERED
        yield Score(name, language, value, reason, _signed(gold, name, language, ALL))


def _signed(gold: Gold, metric: str, root: str, split: str) -> str:
    parts: dict[str, object] = {
        "matching": "assignment" if metric.startswith(TOKEN_BASED) else "exact",
        "lemmas": "gold",
    }
    if split in TRAINING_VIEWS:
        parts["seen_in"] = gold.compared_with
    if root == MACRO:
        parts |= {"macro": "of-p-and-r", "languages": tuple(gold.languages)}
        if gold.counts_absent:
            parts["absent"] = 0
    return signature(NAME, VERSION, metric, split_below(root, split), **parts)


def _title(root: str, split: str, basis: str, part: str) -> str:
    view = [] if split == ALL else [split.replace("_", "-")]
    name = {"precision": "P", "recall": "R", "f1": "F1"}[part]
    return " ".join([_root_title(root), *view, {MWE_BASED: "MWE", TOKEN_BASED: "token"}[basis], name])


def _root_title(root: str) -> str:
    return root.capitalize() if root in (MACRO, ALL) else root.upper()


def _metrics() -> Iterator[Metric]:
    texts = {
        MWE_BASED: ("MWE-based", "MWEs whose tokens are exactly right"),
        TOKEN_BASED: ("Token-based", "tokens shared by gold and predicted MWEs, each paired with at most one"),
    }
    for basis, (title, text) in texts.items():
        yield Metric(f"{basis}_precision", f"{title} P", f"Share of what is predicted: {text}.", percent=True)
        yield Metric(f"{basis}_recall", f"{title} R", f"Share of what is in gold: {text}.", percent=True)
        yield Metric(f"{basis}_f1", f"{title} F1", f"Harmonic mean of precision and recall of {text}.", percent=True)
    types = "the MWEs that were found, a type being a multiset of lemmas"
    yield Metric("richness", "Richness", f"Number of types among {types}.", maximum=None)
    yield Metric("entropy", "Entropy", f"Shannon entropy (natural logarithm) of {types}.", maximum=None)
    yield Metric("evenness", "Evenness", f"Entropy over its maximum, of {types}.")
    yield Metric("languages", "Languages", "Number of languages that were submitted.", maximum=None, has_interval=False)


METRICS = {metric.name: metric for metric in _metrics()}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Identification of multiword expressions",
    summary="Which tokens form multiword expressions, and of which category? PARSEME: CUPT files, P, R, F1.",
    options=Options,
    metrics=METRICS,
    columns=columns,
    read_items=read_items,
    read_gold=read_gold,
    items_of=items_of,
    demands=LanguageItems.demands,
    read_prediction=read_prediction,
    score=score,
    outcomes=outcomes,
    sample=sample,
    item_results=item_results,
    part=part,
    template=template,
    template_name=None,
    read_gold_with_train=read_gold_with_train,
    score_with_outcomes=score_with_outcomes,
    report=report,
    text_reports={"parseme": parseme_text},
)
