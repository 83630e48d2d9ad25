"""idiomaticity-probing: does a representation of noun compounds reflect how idiomatic they are? NCIMP (He et al. 2025).

Items: noun compounds in sentences, each with nine probes in which something else replaces the compound; the blind file
is described in `probing_items`.
Gold: human compositionality scores per compound, as CSV or as the authors' spreadsheet (`human_scores`), or a folder
with `items.csv` and `human_scores.csv` (or `.xlsx`) side by side.
Prediction: CSV `language,context,compound,probe,level,sim`, the cosine between the original and the probed sentence
(level sent) or between the compound's tokens in both (level nc); or embeddings (`.npz`, `.safetensors`) with a tensor
`<language>/<setting>/<level>` whose rows are those of the blind file, from which cosines are computed, then also after
standardising every dimension (Appendix C). A language, setting and level may be left out; entered ones are complete.
Score (§3, see `probing`): eight measures, mean, sd and Spearman's rho with the human scores with its p, per language,
setting and level, and within each idiomaticity class. A compound without a human score is left out of rho, p and the
classes only. If only the human scores are known, further compounds may be predicted: they count in the means. Comp is
the head's or the modifier's similarity, whichever preserves more of the meaning: decided at each level separately (as
the paper can be read), or at both by the level nc (as the authors' code does); option `component`.
Deliberate: rho and p are always given; the paper shows a dash where p >= 0.05, which is left to pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from evergold.scoring.errors import InvalidGold, InvalidItems, Problem, quoted
from evergold.scoring.option_types import LanguageNames, Texts
from evergold.scoring.probing.human_scores import CLASSES, HumanScore, HumanScores, is_spreadsheet, read_human_scores
from evergold.scoring.probing.items import (
    LEVELS,
    NC,
    SETTINGS,
    Items,
    empty_predictions,
    items_of_scores,
    read_blind_items,
)
from evergold.scoring.probing.measures import MEASURES, Floats, Summary, measure_compounds, summarise
from evergold.scoring.probing.predictions import STANDARDISED, Prediction, Similarities, read_probing_prediction
from evergold.scoring.probing.report import IDEALS, SMALLEST_CLASS, report_split
from evergold.scoring.samples.idiomaticity_probing import sample
from evergold.scoring.task import NOT_ENTERED, Column, ItemResult, Metric, Options, Score, Task, signature

NAME, VERSION = "idiomaticity-probing", 1

SMALL_CLASS = f"fewer than {SMALLEST_CLASS} compounds: their numbers would tell which they are"
#: For a head or modifier chosen by the level nc, when that was left out.
NOT_CHOSEN = "head or modifier is chosen by the level nc, which was not entered"
COMP = "sim_comp"
#: The most informative measure of a single compound: the paper gives an ideal for it.
AFFINITY = "affinity_syn_rand"
_PARTS = ("", "_sd", "_rho", "_p")
_ITEMS_FILE, _SCORES_FILES = "items.csv", ("human_scores.csv", "human_scores.xlsx")


def _known_levels(levels: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := [level for level in levels if level not in LEVELS]:
        raise ValueError(f"a level is {' or '.join(LEVELS)}, not {quoted(unknown[0])}")
    return levels


class ProbingOptions(Options):
    """languages: as written in the items; levels: sentence, noun compound, or both; standardised: whether embeddings
    are scored in the standardised variant, too; component: the level whose similarities choose between head and
    modifier for comp: the same level, or always nc.
    """

    languages: LanguageNames = ("en", "pt")
    levels: Annotated[Texts, AfterValidator(_known_levels), Field(min_length=1)] = LEVELS
    standardised: bool = True
    component: Literal["same-level", "nc-level"] = "same-level"

    @model_validator(mode="after")
    def _has_the_choosing_level(self) -> ProbingOptions:
        if self.component == "nc-level" and NC not in self.levels:
            raise ValueError(f"component: nc-level needs the level {NC} among levels")
        return self


@dataclass(frozen=True)
class Gold:
    """The human scores by (language, compound), and the items if the gold is a folder that has them."""

    human: HumanScores
    items: Items | None = None


def read_items(path: Path, options: ProbingOptions) -> Items:
    """Read the items of a blind file, or those that gold demands; raises InvalidItems."""
    if path.is_dir():
        return read_items(path / _ITEMS_FILE, options)
    if is_spreadsheet(path) or _is_human_scores(path):
        return items_of_scores(read_human_scores(path, InvalidItems), options.languages)
    return read_blind_items(path, options.languages)


def read_gold(path: Path, options: ProbingOptions) -> Gold:
    """Read the human scores (and items, from a folder); raises InvalidGold with every problem."""
    if not path.is_dir():
        return Gold(read_human_scores(path))
    scores = next((path / name for name in _SCORES_FILES if (path / name).is_file()), None)
    if scores is None:
        raise InvalidGold([Problem("missing-file", f"the gold folder lacks {' or '.join(_SCORES_FILES)}")])
    items = path / _ITEMS_FILE
    return Gold(read_human_scores(scores), read_blind_items(items, options.languages) if items.is_file() else None)


def items_of(gold: Gold, options: ProbingOptions) -> Items:
    """Return the items in gold; if it has none, its compounds in both settings; a prediction may then have others."""
    return gold.items or items_of_scores(gold.human, options.languages)


def read_prediction(path: Path, items: Items, options: ProbingOptions) -> Prediction:
    """Read the similarities per split; raises InvalidPrediction with every problem of the file."""
    return read_probing_prediction(path, items, options.levels, options.standardised)


def score(gold: Gold, prediction: Prediction, options: ProbingOptions) -> list[Score]:
    """Compute for every split the eight measures (`sim_syn`, …), each with `_sd`, `_rho` and `_p`.

    For entered splits the same follows within each idiomaticity class (`<split>/idiomatic`, …).

    Null with a reason if a number is undefined, a split was not entered (`<split>/standardised` is entered by sending
    embeddings) or a class is small.
    """
    scores: list[Score] = []
    for split in _splits(options):
        similarities = prediction.splits.get(split)
        if similarities is None:
            scores += _scores_without(split, NOT_ENTERED, options)
            continue
        choosing = _choosing(prediction, split, options)
        measures = measure_compounds(similarities.values, choosing)
        human, classes = _human(gold, split, similarities)
        scores += _scores_of(split, measures, human, options)
        for name in CLASSES:
            members = np.array([found == name for found in classes], dtype=bool)
            if members.sum() < SMALLEST_CLASS:
                scores += _scores_without(f"{split}/{name}", SMALL_CLASS, options)
            else:
                of_class = {measure: values[members] for measure, values in measures.items()}
                scores += _scores_of(f"{split}/{name}", of_class, human[members], options)
    return scores


def report(gold: Gold, prediction: Prediction, options: ProbingOptions) -> dict[str, Any]:
    """Return per entered split the measures, histograms and quantiles per probe, affinity by class; and the ideal
    values.
    """
    splits = {}
    for split in _splits(options):
        if similarities := prediction.splits.get(split):
            human, classes = _human(gold, split, similarities)
            choosing = _choosing(prediction, split, options)
            splits[split] = report_split(similarities.values, human, classes, choosing)
    return {"ideals": IDEALS, "from_embeddings": prediction.from_embeddings, "splits": splits}


def outcomes(gold: Gold, prediction: Prediction, options: ProbingOptions) -> dict[str, Any]:
    """Return the outcomes per entered split and compound.

    `{"splits": {split: {"compounds": names, "human": scores or null, "classes": names or null, "measures": {measure:
    values, null where undefined}}}}`
    """
    splits = {}
    for split in _splits(options):
        if similarities := prediction.splits.get(split):
            human, classes = _human(gold, split, similarities)
            measures = measure_compounds(similarities.values, _choosing(prediction, split, options))
            splits[split] = {
                "compounds": list(similarities.compounds),
                "human": _or_null(human),
                "classes": classes,
                "measures": {name: _or_null(values) for name, values in measures.items()},
            }
    return {"splits": splits}


def item_results(gold: Gold, prediction: Prediction, options: ProbingOptions) -> list[ItemResult]:
    """Return for each compound of every entered split its affinity to the synonym against random compounds, with the
    ideal 1.

    Compounds for which it is undefined are left out.
    """
    found = []
    for split in _splits(options):
        if similarities := prediction.splits.get(split):
            values = measure_compounds(similarities.values, _choosing(prediction, split, options))[AFFINITY]
            for compound, value in zip(similarities.compounds, values.tolist(), strict=True):
                if not np.isnan(value):
                    found.append(
                        ItemResult(compound, (split,), IDEALS[AFFINITY], value, error=value - IDEALS[AFFINITY])
                    )
    return found


def columns(options: ProbingOptions) -> tuple[Column, ...]:
    """Return every measure of every split, with its sd, rho and p; the classes are in the report."""
    return tuple(
        Column(f"{measure}{part}", split, f"{METRICS[measure + part].title}, {_split_title(split)}")
        for split in _splits(options)
        for measure in MEASURES
        for part in _PARTS
    )


def template(items: Items, options: ProbingOptions) -> str:
    """Return the empty submission: every probe of every item at every level."""
    return empty_predictions(items, options.levels)


def _splits(options: ProbingOptions) -> Iterator[str]:
    variants = ("", f"/{STANDARDISED}") if options.standardised else ("",)
    for language in options.languages:
        for setting in SETTINGS:
            for level in options.levels:
                for variant in variants:
                    yield f"{language}/{setting}/{level}{variant}"


def _human(gold: Gold, split: str, similarities: Similarities) -> tuple[Floats, list[str | None]]:
    """Return the human score (NaN: none) and the class of every compound of a split."""
    language = split.partition("/")[0]
    nothing = HumanScore(np.nan, None)
    found = [gold.human.get((language, compound), nothing) for compound in similarities.compounds]
    return np.array([one.compositionality for one in found]), [one.idiomaticity for one in found]


def _choosing(prediction: Prediction, split: str, options: ProbingOptions) -> Floats | None:
    """Return the similarities by which head or modifier is chosen; None if those of the split itself are used.

    They are those of the same split at the level nc, for the same compounds; NaN where these were not entered.
    """
    language, setting, level, *variant = split.split("/")
    if options.component == "same-level" or level == NC:
        return None
    similarities = prediction.splits[split]
    twin = prediction.splits.get("/".join((language, setting, NC, *variant)))
    choosing = np.full_like(similarities.values, np.nan)
    if twin is not None:
        place = {compound: number for number, compound in enumerate(twin.compounds)}
        for number, compound in enumerate(similarities.compounds):
            if compound in place:
                choosing[number] = twin.values[place[compound]]
    return choosing


def _scores_of(split: str, measures: dict[str, Floats], human: Floats, options: ProbingOptions) -> list[Score]:
    scores: list[Score] = []
    for measure in MEASURES:
        summary: Summary = summarise(measures[measure], human)
        numbers = (summary.mean, summary.sd, summary.rho, summary.p)
        for part, number in zip(_PARTS, numbers, strict=True):
            is_unchosen = measure == COMP and np.isnan(measures[measure]).all()
            reason = NOT_CHOSEN if is_unchosen and options.component == "nc-level" else number.reason
            scores.append(_score(measure + part, split, number.value, reason, options))
    return scores


def _scores_without(split: str, reason: str, options: ProbingOptions) -> list[Score]:
    return [_score(measure + part, split, None, reason, options) for measure in MEASURES for part in _PARTS]


def _score(metric: str, split: str, value: float | None, reason: str | None, options: ProbingOptions) -> Score:
    parts: dict[str, object] = {"similarity": "cosine", "sentences": "mean"}
    if metric.startswith(COMP):
        parts["component"] = options.component
    if metric.endswith("_sd"):
        parts["sd"] = "n-1"
    if metric.endswith(("_rho", "_p")):
        parts |= {"correlation": "spearman", "ties": "average-12-decimals"}
    if metric.endswith("_p"):
        parts["p"] = "two-sided-t"
    return Score(metric, split, value, reason, signature(NAME, VERSION, metric, split, **parts))


def _split_title(split: str) -> str:
    language, setting, level, *variant = split.split("/")
    names = {"nat": "Nat", "neut": "Neut", "sent": "Sent", "nc": "NC"}
    return " ".join((language.upper(), names[setting], names[level], *variant))


def _or_null(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _is_human_scores(path: Path) -> bool:
    with path.open("rb") as file:
        return b"compositionality" in file.readline(1000)


_MEASURE_TEXTS = {
    "sim_syn": ("Sim(Syn)", "Similarity of the sentence with the compound and with its gold synonym; ideally 1."),
    "sim_comp": ("Sim(Comp)", "Similarity when only the head or only the modifier is kept, whichever is closer."),
    "sim_wordssyn": ("Sim(WordsSyn)", "Similarity when both words are replaced by synonyms of their own."),
    "sim_rand": ("Sim(Rand)", "Mean similarity with five random compounds of like frequency."),
    "affinity_syn_wordssyn": ("A(Syn|WordsSyn)", "Affinity: how much closer the synonym is than the words' synonyms."),
    "affinity_syn_rand": ("A(Syn|Rand)", "Affinity: how much closer the synonym is than random compounds; ideally 1."),
    "simr_syn": ("SimR(Syn)", "Similarity of the synonym, scaled so that random compounds have 0; ideally 1."),
    "simr_wordssyn": ("SimR(WordsSyn)", "Similarity of the words' synonyms, scaled so that random compounds have 0."),
}


def _metrics() -> Iterator[Metric]:
    for name, (title, text) in _MEASURE_TEXTS.items():
        kind = name.partition("_")[0]
        low, high = {"sim": (-1.0, 1.0), "affinity": (-2.0, 2.0), "simr": (None, 1.0)}[kind]
        yield Metric(name, title, f"{text} Mean over the compounds.", low, high, name != "sim_rand", aspect="mean")
        sd = f"Standard deviation of {title} over the compounds."
        yield Metric(f"{name}_sd", f"{title} sd", sd, 0.0, None, False, aspect="sd")
        rho = f"Spearman's rho of {title} with the human compositionality scores."
        yield Metric(f"{name}_rho", f"{title} ρ", rho, -1.0, 1.0, aspect="rho")
        p = f"Two-sided p of that correlation ({title}); from 0.05 on the paper shows a dash."
        yield Metric(f"{name}_p", f"{title} p", p, 0.0, 1.0, False, has_interval=False, aspect="p")


METRICS = {metric.name: metric for metric in _metrics()}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Idiomaticity probing",
    summary="Do representations of noun compounds reflect how idiomatic they are? Similarities with nine probes.",
    options=ProbingOptions,
    metrics=METRICS,
    columns=columns,
    read_items=read_items,
    read_gold=read_gold,
    items_of=items_of,
    demands=Items.demands,
    read_prediction=read_prediction,
    score=score,
    outcomes=outcomes,
    sample=sample,
    item_results=item_results,
    template=template,
    report=report,
)
