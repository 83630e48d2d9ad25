"""The declaration of a PARSEME shared task for `phases.yaml`: one task, a board per ranking, two or three phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.importers import parseme_texts as texts
from app.importers.parseme_folder import Language
from app.importers.writing import ALL_SLICES, EVERYTHING, Inline
from evergold.scoring.cupt.folders import DEV, TRAIN
from evergold.scoring.mwe.counts import MWE_BASED, TOKEN_BASED
from evergold.scoring.mwe.languages import DIVERSITY
from evergold.scoring.option_types import MACRO
from evergold.scoring.tasks.mwe_identification import NAME


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking by the macro F1 of one view. short: for headings; view: None means global."""

    name: str
    title: str
    short: str
    basis: str
    view: str | None = None

    def split(self, root: str) -> str:
        """Return the split of this view for a language or `macro`."""
        return f"{root}/{self.view}" if self.view else root


GLOBAL = Ranking("mwe-based", "Global, MWE-based", "MWE", MWE_BASED)
TOKENS = Ranking("token-based", "Global, token-based", "Token", TOKEN_BASED)
UNSEEN = Ranking("unseen", "Unseen, MWE-based", "Unseen", MWE_BASED, "unseen")


@dataclass(frozen=True, slots=True)
class Edition:
    """An edition.

    - rankings: the first one is the official one.
    - categories: of its guidelines, allowed in addition to those in the data.
    - data_given: release of the training data.
    - evaluation: from the release of the blind test data to the deadline.
    """

    version: str
    unseen_against: Literal["train", "train+dev"]
    rank_by: Literal["mwe", "unseen"]
    rankings: Sequence[Ranking]
    categories: Sequence[str]
    data_given: str
    evaluation: tuple[str, str]
    website: str
    diversity: bool = False

    @property
    def name(self) -> str:
        """The name of the competition for addresses, without dots."""
        return f"parseme-{self.version.replace('.', '-')}"

    @property
    def files(self) -> str:
        """The name of its gold folder, and the prefix of its files."""
        return f"parseme-{self.version}"


_VERBAL = ("IAV", "IRV", "LS.ICV", "LVC.cause", "LVC.full", "MVC", "VID", "VPC.full", "VPC.semi")
# Since 2.0 verb-particle constructions are IVPC; AV. and NV. are adverbial and nominal uses of verbal MWEs.
_VERBAL_2 = ("IAV", "IRV", "IVPC.full", "IVPC.semi", "LVC.cause", "LVC.full", "MVC", "VID")
_OTHERS_2 = ("AdjID", "AdpID", "AdvID", "ConjID", "DetID", "IntjID", "NID", "PronID")
_DERIVED_2 = tuple(f"{kind}.{category}" for kind in ("AV", "NV") for category in _VERBAL_2)

EDITIONS = {
    edition.version: edition
    for edition in (
        Edition(
            version="1.1",
            unseen_against="train",
            rank_by="mwe",
            rankings=(GLOBAL,),
            categories=_VERBAL,
            data_given="2018-04-04 00:00 UTC",
            evaluation=("2018-04-30 00:00 UTC", "2018-05-05 00:00 AoE"),
            website="http://multiword.sourceforge.net/sharedtask2018",
        ),
        Edition(
            version="1.2",
            unseen_against="train+dev",
            rank_by="unseen",
            rankings=(UNSEEN,),
            categories=_VERBAL,
            data_given="2020-03-23 00:00 UTC",
            evaluation=("2020-07-01 00:00 UTC", "2020-07-04 00:00 AoE"),
            website="http://multiword.sourceforge.net/sharedtask2020",
        ),
        Edition(
            version="2.0",
            unseen_against="train+dev",
            rank_by="mwe",
            rankings=(GLOBAL, TOKENS),
            categories=tuple(sorted(_VERBAL_2 + _OTHERS_2 + _DERIVED_2)),
            data_given="2025-09-30 00:00 UTC",
            evaluation=("2025-12-01 00:00 UTC", "2026-02-01 00:00 AoE"),
            website="https://unidive.lisn.upsaclay.fr/doku.php?id=other-events:parseme-st",
            diversity=True,
        ),
    )
}


#: Phases whose boards show published results.
TEST_PHASES = ("evaluation", "post-evaluation")
#: Test data of 17 languages make some 10 MiB of zip.
UPLOAD_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """The input for the competition.

    historic: source of published results, by board; without: why a board has none, if it could have some.
    """

    edition: Edition
    languages: Sequence[Language]
    categories: Sequence[str]
    historic: Mapping[str, str]
    without: Mapping[str, str]

    def having(self, file: str) -> list[Language]:
        """Return the languages with a file of this name."""
        return [language for language in self.languages if file in language.files]

    @property
    def with_training(self) -> bool:
        """True if there are data to train on."""
        return bool(self.having(TRAIN) or self.having(DEV))

    @property
    def count(self) -> str:
        """The number of languages in words, such as `14 languages`."""
        return f"{len(self.languages)} language{'' if len(self.languages) == 1 else 's'}"

    def zip_name(self, content: str) -> str:
        """Return the path of a download below the competition's folder."""
        return f"public/{self.edition.files}-{content}.zip"

    def gold_name(self, phase: str) -> str:
        """Return the name of a folder below the workers' gold folder."""
        return f"{self.edition.files}/{phase}"


def historic_file(board: str) -> str:
    """Return the path of a board's published results below the competition's folder."""
    return f"historic/{board}.csv"


#: Declarations by the phase whose gold scores them.
Baselines = Mapping[str, Sequence[Mapping[str, Any]]]


def declaration(plan: Plan, baselines: Baselines) -> dict[str, Any]:
    """Return the competition as declared in `phases.yaml`."""
    edition = plan.edition
    version = edition.version
    return {
        "name": edition.name,
        "title": texts.TITLES[version],
        "summary": texts.SUMMARIES[version],
        "description": texts.DESCRIPTION.format(
            edition=version,
            count=plan.count,
            what=texts.WHAT[version],
            ranking=texts.RANKINGS[version],
            paper=texts.PAPERS[version],
        ),
        "website": edition.website,
        "tracks": [{"name": name, "title": title, "description": what} for name, (title, what) in texts.TRACKS.items()],
        "tasks": [_task(plan)],
        "boards": [
            *(_overall(plan, ranking, track) for ranking in edition.rankings for track in (None, *texts.TRACKS)),
            *(_by_language(plan, ranking) for ranking in edition.rankings),
        ],
        "phases": [
            *([_practice(plan, baselines)] if plan.having(DEV) else []),
            *(_on_test(plan, name, baselines) for name in TEST_PHASES),
        ],
    }


def _task(plan: Plan) -> dict[str, Any]:
    edition = plan.edition
    return {
        "name": NAME,
        "type": NAME,
        "title": "Identification of multiword expressions",
        "description": texts.TASK.format(
            seen=texts.SEEN[edition.unseen_against],
            diversity=texts.DIVERSITY if edition.diversity else "",
        ),
        "options": Inline(
            languages=[language.name for language in plan.languages],
            unseen_against=edition.unseen_against,
            rank_by=edition.rank_by,
            categories=list(plan.categories),
        ),
    }


# -------------------------------------------------------------------------------------------------------------- boards


def _overall(plan: Plan, ranking: Ranking, track: str | None) -> dict[str, Any]:
    """Return a board of one track, or of all: the number of languages, then macro P, R and F1, ranking scores first."""
    columns = [number("languages", "Languages", 0)]
    for shown in (ranking, *(one for one in (UNSEEN, GLOBAL, TOKENS) if one is not ranking)):
        for part, title in (("precision", "P"), ("recall", "R"), ("f1", "F1")):
            columns.append(percent(f"{shown.basis}_{part}", shown.split(MACRO), f"{shown.short} {title}"))
    if plan.edition.diversity:
        columns += [number(name, name.capitalize(), 2) for name in DIVERSITY]
    text = texts.OVERALL.format(count=plan.count)
    if track is None:
        return _board(plan, ranking, ranking.name, ranking.title, text, columns)
    title, what = texts.TRACKS[track]
    name, text = f"{ranking.name}-{track}", f"{title} track: {what[0].lower()}{what[1:]} {text}"
    return _board(plan, ranking, name, f"{ranking.title}, {title.lower()}", text, columns, track)


def _by_language(plan: Plan, ranking: Ranking) -> dict[str, Any]:
    """Return a board with the number of languages, then the F1 of the ranking, macro and per language."""
    roots = [(MACRO, "Macro"), *((language.name, language.name.upper()) for language in plan.languages)]
    columns = [number("languages", "Languages", 0)]
    columns += [percent(f"{ranking.basis}_f1", ranking.split(root), title) for root, title in roots]
    text = texts.BY_LANGUAGE.format(count=plan.count)
    name, title = f"{ranking.name}-by-language", f"{ranking.title}, by language"
    return _board(plan, ranking, name, title, text, columns)


def _board(
    plan: Plan,
    ranking: Ranking,
    name: str,
    title: str,
    description: str,
    columns: Sequence[Inline],
    track: str | None = None,
) -> dict[str, Any]:
    declared = {
        "name": name,
        "title": title,
        "description": f"{description}\n\n{plan.without[name]}" if name in plan.without else description,
        "task": NAME,
        **({"track": track} if track else {}),
        "rank_by": Inline(metric=f"{ranking.basis}_f1", split=ranking.split(MACRO)),
        "columns": list(columns),
    }
    if name not in plan.historic:
        return declared
    rows = {"file": historic_file(name), "source": plan.historic[name]}
    return {**declared, "historic": [{"phase": phase, **rows} for phase in TEST_PHASES]}


def percent(metric: str, split: str, title: str) -> Inline:
    """Return a column of percentages."""
    return Inline(metric=metric, split=split, title=title, decimals=2, percent=True)


def number(metric: str, title: str, decimals: int) -> Inline:
    """Return a column of plain numbers over all languages."""
    return Inline(metric=metric, split=MACRO, title=title, decimals=decimals)


# -------------------------------------------------------------------------------------------------------------- phases


def _practice(plan: Plan, baselines: Baselines) -> dict[str, Any]:
    """Return the practice phase: its gold is dev.cupt, so only training data determine which MWEs are unseen."""
    with_dev = plan.having(DEV)
    options: dict[str, Any] = (
        {} if len(with_dev) == len(plan.languages) else {"languages": [one.name for one in with_dev]}
    )
    if plan.edition.unseen_against != "train":
        options["unseen_against"] = "train"
    phase_task = _phase_task(plan, "practice", "dev-blind", "Blind development data", baselines)
    return {
        **_phase("practice", "Practice (development data)", texts.PRACTICE, plan.edition.data_given),
        **(EVERYTHING if plan.with_training else {}),
        "limits": Inline(upload_bytes=UPLOAD_BYTES),
        "tasks": {NAME: {**phase_task, "options": Inline(options)} if options else phase_task},
    }


def _on_test(plan: Plan, name: str, baselines: Baselines) -> dict[str, Any]:
    start, end = plan.edition.evaluation
    phase_task = _phase_task(plan, "evaluation", "test-blind", "Blind test data", baselines)
    if name == "evaluation":
        phase = _phase(name, "Evaluation", texts.EVALUATION, start, end)
    else:
        phase = _phase(name, "Post-evaluation", texts.POST_EVALUATION, end)
    return {**phase, "limits": Inline(per_day=10, upload_bytes=UPLOAD_BYTES), "tasks": {NAME: phase_task}}


def _phase(name: str, title: str, description: str, start: str, end: str | None = None) -> dict[str, Any]:
    times = {"start": start, **ALL_SLICES} if end is None else {"start": start, "end": end}
    return {"name": name, "title": title, "description": description, **times, "entry": "best"}


def _phase_task(plan: Plan, gold: str, blind: str, title: str, baselines: Baselines) -> dict[str, Any]:
    downloads = [Inline(file=plan.zip_name(blind), title=title)]
    if plan.with_training:
        downloads.append(Inline(file=plan.zip_name("training"), title="Training and development data"))
    declaration = {"gold": plan.gold_name(gold), "items": plan.zip_name(blind), "downloads": downloads}
    return {**declaration, "baselines": list(baselines[gold])} if baselines.get(gold) else declaration
