"""PARSEME identification 1.1, 1.2 and 2.0: from the official data folder to a competition ready to open.

`<LANG>/{train,dev,test,test.blind}.cupt` (Ramisch et al. 2018, 2020; Scholivet et al. 2026). Gold is test.cupt, in the
practice phase dev.cupt; a missing test.blind.cupt is made from gold. Editions differ in options and boards, see
`parseme_editions`; for published results see `parseme_published`.
"""

from __future__ import annotations

import filecmp
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from app.declarations.historic import COLUMNS, SAID_COLUMNS
from app.importers import parseme_texts as texts
from app.importers.baselines import BaselineRequest, add_baselines
from app.importers.parseme_declaration import EDITIONS, Edition, Plan, declaration, historic_file
from app.importers.parseme_folder import README, Language, read_languages, write_zip
from app.importers.parseme_texts import TRACKS
from app.importers.writing import copy_file, read_published, refuse_existing, write_csv, write_text, yaml_text
from evergold.corpora.annotated import blanked
from evergold.scoring.cupt.folders import BLIND, DEV, TEST, TRAIN
from evergold.scoring.errors import InvalidFile, InvalidOptions, Problems
from evergold.scoring.option_types import MACRO
from evergold.scoring.task import read_options
from evergold.scoring.tasks.mwe_identification import NAME, TASK
from evergold.value_words import listed

HEADER = (*COLUMNS, *SAID_COLUMNS)
PUBLISHED = {"1.2": "published_parseme12.csv", "2.0": "published_parseme20.csv"}
SYSTEMS = "systems_parseme.csv"
#: Days of the workshops whose proceedings have the figures, used as dates of historic rows.
PUBLISHED_ON = {"1.2": "2020-12-13", "2.0": "2026-03-28"}
#: Languages of the editions: macro-averages over other languages are not comparable.
LANGUAGES = {
    "1.2": frozenset(["de", "el", "eu", "fr", "ga", "he", "hi", "it", "pl", "pt", "ro", "sv", "tr", "zh"]),
    "2.0": frozenset(
        ["egy", "el", "fa", "fr", "grc", "he", "ja", "ka", "lv", "nl", "pl", "pt", "ro", "sl", "sr", "sv", "uk"]
    ),
}
_RANKING = ("mwe_f1", f"{MACRO}/unseen")

#: Columns as in HEADER.
HistoricRow = tuple[str, ...]
_Printed = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Systems:
    """The systems of an edition. tracks: by name, if boards show them; links: paper and code by name, if known."""

    edition: str
    tracks: Mapping[str, str]
    links: Mapping[str, tuple[str, str]]

    def row(self, system: str, metric: str, split: str, value: str) -> HistoricRow:
        name = f"{system} ({self.tracks[system]})" if system in self.tracks else system
        return name, PUBLISHED_ON[self.edition], metric, split, value, "", *self.links.get(system, ("", "")), ""

    def scores(self, printed: Iterable[_Printed]) -> list[HistoricRow]:
        """Return the scores as fractions, in rows of published results."""
        return [
            self.row(row["system"], row["metric"], row["split"], f"{Decimal(row['percent']) / 100:f}")
            for row in printed
        ]

    def counts(self, printed: Iterable[_Printed]) -> list[HistoricRow]:
        """Return the number of languages for which each system submitted, in rows of published results."""
        found = {row["system"]: row["languages"] for row in printed}
        return [self.row(system, "languages", MACRO, count) for system, count in found.items()]


def published_rows(edition: str, languages: Collection[str]) -> dict[str, list[HistoricRow]]:
    """Return the published results by board, for a competition with these languages, without boards that have none.

    Values are fractions. Macro-averages are omitted unless the languages are exactly those of the edition.
    """
    if edition not in PUBLISHED:
        return {}
    printed = read_published(PUBLISHED[edition])
    tracks = {row["system"]: row["track"] for row in printed if row.get("track")}
    links = {row["system"]: (row["paper"], row["code"]) for row in read_published(SYSTEMS) if row["edition"] == edition}
    systems = _Systems(edition, tracks, links)
    overall = [row for row in printed if row["split"].startswith(MACRO)] if set(languages) == LANGUAGES[edition] else []
    if edition == "1.2":
        detailed = [row for row in printed if row["split"].partition("/")[0] in languages]
        boards = _of_edition_1_2(systems, overall, detailed)
    else:
        boards = {"mwe-based": systems.scores(overall)}
    return {board: rows for board, rows in boards.items() if rows}


def why_without_results(edition: str, languages: Sequence[str], historic: Collection[str]) -> dict[str, str]:
    """Return why a board has no published results, for each board that would have some with all languages of the
    edition.

    historic: the boards with results.
    """
    if edition not in PUBLISHED:
        return {}
    printed = {row["split"].partition("/")[0] for row in read_published(PUBLISHED[edition])} - {MACRO}
    own = texts.LANGUAGES_OF.format(count=len(LANGUAGES[edition]))
    found = {}
    for board in published_rows(edition, LANGUAGES[edition]):
        if board not in historic:
            words = texts.NO_LANGUAGE if board.endswith("by-language") else texts.NO_MEANS
            found[board] = words.format(edition=edition, own=own, here=_listed(languages), printed=_listed(printed))
    return found


def _listed(languages: Iterable[str]) -> str:
    return listed(sorted(language.upper() for language in languages))


def _of_edition_1_2(
    systems: _Systems, overall: Sequence[_Printed], detailed: Sequence[_Printed]
) -> dict[str, list[HistoricRow]]:
    """Return the boards `unseen`, one per track, and `unseen-by-language`, where a system's name includes its track.

    overall, detailed: of tables 5 and 6. SHOMA, the paper's reference, was scored on the test data of 1.1, as its name
    states.
    """
    by_track = {track: [row for row in overall if row["track"] == track] for track in TRACKS}
    named = {row["system"] for row in detailed}
    macro = [row for row in overall if row["system"] in named and (row["metric"], row["split"]) == _RANKING]
    return {
        "unseen": [*systems.scores(overall), *systems.counts(overall)],
        **{f"unseen-{track}": [*systems.scores(rows), *systems.counts(rows)] for track, rows in by_track.items()},
        "unseen-by-language": [*systems.scores([*macro, *detailed]), *systems.counts(macro)],
    }


#: Each file may have many problems, and all files are reported.
_PROBLEMS_SHOWN = 10_000


def import_parseme(
    source: Path,
    target: Path,
    gold: Path,
    edition: str,
    *,
    categories: Sequence[str] | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write `competition.yaml` with all its files below `target` and the gold below `gold`; return the written paths.

    source: the folder of the languages; gold: the workers' gold folder; categories: those allowed in predictions (None:
    those of the edition's guidelines and any others in the data); notify: called with each reason why boards have no
    published results. Everything is checked before anything is written. Raises InvalidFile with all problems of all
    languages; also if a competition.yaml already exists.
    """
    problems = Problems(_PROBLEMS_SHOWN)
    refuse_existing(target, problems)
    chosen = EDITIONS.get(edition)
    if chosen is None:
        problems.add("unknown-edition", f"there is no edition {edition}; the editions are {', '.join(EDITIONS)}")
        raise InvalidFile(problems.errors)
    languages = read_languages(source, problems)
    _check_training(chosen, languages, problems)
    allowed = _categories(chosen, languages, categories, problems)
    problems.raise_if_any(InvalidFile)
    historic = published_rows(edition, [one.name for one in languages])
    without = why_without_results(edition, [one.name for one in languages], historic)
    plan = Plan(chosen, languages, allowed, {board: texts.HISTORIC[board] for board in historic}, without)
    golds = _golds(plan, gold)
    _refuse_other_gold(golds, problems)
    problems.raise_if_any(InvalidFile)
    written = [*(copy_file(source, path) for path, source in golds.items()), *_write_zips(plan, target)]
    written += [write_csv(target / historic_file(board), HEADER, rows) for board, rows in historic.items()]
    baselines = {}
    for phase, request in _baselines(plan, target, gold).items():
        paths, baselines[phase] = add_baselines(request, target, f"baselines/{phase}")
        written += paths
    text = yaml_text({"version": 1, "competitions": [declaration(plan, baselines)]}, _comment(plan))
    for reason in dict.fromkeys(without.values()):
        notify(reason)
    return [write_text(target / "competition.yaml", text), *written]


def _baselines(plan: Plan, target: Path, gold: Path) -> dict[str, BaselineRequest]:
    """Return the baselines, which find the MWEs of the training data.

    They are trained on the gold folders: on train.cupt and dev.cupt for the test data, on train.cupt for practice,
    whose gold is dev.cupt.
    """
    with_dev = plan.having(DEV)
    zips = {"evaluation": ("test-blind", plan.languages), "practice": ("dev-blind", with_dev)}
    return {
        phase: BaselineRequest(
            NAME,
            ("lexicon",),
            {"languages": [language.name for language in languages], "categories": list(plan.categories)},
            target / plan.zip_name(blind),
            [gold / plan.gold_name(phase)] if any(TRAIN in language.files for language in languages) else [],
        )
        for phase, (blind, languages) in zips.items()
        if languages
    }


def _check_training(edition: Edition, languages: Sequence[Language], problems: Problems) -> None:
    """Check that unseen MWEs can be determined as in this edition."""
    for language in languages:
        if edition.unseen_against == "train+dev" and DEV in language.files and TRAIN not in language.files:
            message = f"there is {DEV}, but not {TRAIN}: in edition {edition.version} both decide what is unseen"
            problems.add("missing-file", message, file=f"{language.folder.name}/{TRAIN}")
    if languages and edition.rank_by == "unseen" and not any(TRAIN in language.files for language in languages):
        message = f"edition {edition.version} ranks by unseen MWEs, but no language has training data"
        problems.add("missing-file", message, file=f"<LANG>/{TRAIN}")


def _categories(
    edition: Edition, languages: Sequence[Language], given: Sequence[str] | None, problems: Problems
) -> list[str]:
    """Return the categories allowed in predictions, after checking that they and the languages are valid options."""
    found = frozenset().union(*(language.categories for language in languages))
    allowed = list(given) if given is not None else sorted(found.union(edition.categories))
    if lacking := ", ".join(sorted(found.difference(allowed))):
        problems.add("unknown-category", f"the data have categories that are not in the given list: {lacking}")
    names = {"languages": [language.name for language in languages]} if languages else {}
    try:
        read_options(TASK, {"categories": allowed, **names})
    except InvalidOptions as invalid:
        problems.errors += invalid.problems
    return allowed


def _golds(plan: Plan, gold: Path) -> dict[Path, Path]:
    """Return the source of every gold file, by its path in the layout of `evergold.scoring.cupt.folders`."""
    copies = {"evaluation": {TEST: TEST, TRAIN: TRAIN, DEV: DEV}, "practice": {TEST: DEV, TRAIN: TRAIN}}
    return {
        gold / plan.gold_name(phase) / language.folder.name / name: language.folder / file
        for phase, files in copies.items()
        for language in (plan.languages if phase == "evaluation" else plan.having(DEV))
        for name, file in files.items()
        if file in language.files
    }


def _refuse_other_gold(golds: Mapping[Path, Path], problems: Problems) -> None:
    """Add a problem for each gold file that would be replaced by a different one, which may have been corrected."""
    for path, source in golds.items():
        if path.exists() and not filecmp.cmp(path, source, shallow=False):
            message = "different gold of this name exists already; move it away to import again"
            problems.add("exists", message, file=str(path))


def _write_zips(plan: Plan, target: Path) -> Iterator[Path]:
    """Write the public downloads."""
    blind = {"test-blind": (TEST, plan.languages), "dev-blind": (DEV, plan.having(DEV))}
    for name, (annotated, languages) in blind.items():
        if languages:
            yield write_zip(target / plan.zip_name(name), (_blind(language, annotated) for language in languages))
    if plan.with_training:
        yield write_zip(target / plan.zip_name("training"), _training(plan))


def _blind(language: Language, annotated: str) -> tuple[str, bytes]:
    """Return name and content of the blind version of test.cupt or dev.cupt; both get the same name."""
    name = f"{language.folder.name}/{BLIND}"
    if annotated == TEST and BLIND in language.files:
        return name, (language.folder / BLIND).read_bytes()
    return name, blanked((language.folder / annotated).read_bytes())


def _training(plan: Plan) -> Iterator[tuple[str, bytes]]:
    """Yield training and development data, with the README that names their authors and licence."""
    for language in plan.languages:
        data = [file for file in (TRAIN, DEV) if file in language.files]
        readme = [README] if data and (language.folder / README).is_file() else []
        for file in (*readme, *data):
            yield f"{language.folder.name}/{file}", (language.folder / file).read_bytes()


def _comment(plan: Plan) -> str:
    edition = plan.edition
    text = texts.COMMENT.format(edition=edition.version, files=edition.files, dates=texts.DATES[edition.version])
    without = [language.folder.name for language in plan.languages if TRAIN not in language.files]
    return text + (texts.WITHOUT_TRAINING.format(languages=", ".join(without)) if without else "")
