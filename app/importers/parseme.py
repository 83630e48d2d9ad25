"""PARSEME identification, editions 1.1, 1.2 and 2.0: from the official folder of the data to a competition ready to open.

`<LANG>/{train,dev,test,test.blind}.cupt` (Ramisch et al. 2018, 2020; Scholivet et al. 2026). Gold is test.cupt, in the
practice phase dev.cupt; where there is no test.blind.cupt, it is made from gold. Editions differ by options and boards,
see `parseme_editions`; the results of 1.2 become historic rows, see `parseme_results`. Tracks are not told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.historic import COLUMNS
from app.importers import parseme_texts as texts
from app.importers.files import refuse_existing, write_csv
from app.importers.parseme_editions import EDITIONS, GLOBAL, TOKENS, UNSEEN, Edition, Ranking
from app.importers.parseme_folder import README, Language, blanked, read_languages, write_zip
from app.importers.parseme_results import HistoricRow, published_rows
from app.importers.writing import Inline, copy_file, write_text, yaml_text
from scoring.cupt_folders import BLIND, DEV, TEST, TRAIN
from scoring.errors import InvalidFile, InvalidOptions, Problems
from scoring.mwe import MWE_BASED
from scoring.task import read_options
from scoring.tasks import get_task

TASK = "mwe-identification"
#: 17 languages of test data make some 10 MiB of zip.
UPLOAD_BYTES = 64 * 1024 * 1024
#: Each file may have many problems, and every file is told.
_PROBLEMS_SHOWN = 10_000


def import_parseme(
    source: Path, target: Path, gold: Path, edition: str, *, categories: Sequence[str] | None = None
) -> list[Path]:
    """Write `competition.yaml` with all its files below `target` and the gold below `gold`; the written paths.

    source: the folder of the languages; gold: the workers' gold folder; categories: those that predictions may use
    (None: those of the edition's guidelines, and what the data have besides). Everything is checked before anything is
    written; raises InvalidFile with every problem of all languages, also when there is a competition.yaml already.
    """
    problems = Problems(_PROBLEMS_SHOWN)
    refuse_existing(target, problems)
    chosen = EDITIONS.get(edition)
    if chosen is None:
        problems.add("unknown-edition", f"there is no edition {edition!r}; the editions are {', '.join(EDITIONS)}")
        raise InvalidFile(problems.errors)
    languages = read_languages(source, problems)
    _check_training(chosen, languages, problems)
    plan = Plan(chosen, languages, _categories(chosen, languages, categories, problems))
    problems.raise_if_any(InvalidFile)
    historic = published_rows([one.name for one in languages]) if chosen is EDITIONS["1.2"] else {}
    written = [*_write_data(plan, target, gold), *_write_historic(historic, target)]
    dates = texts.DATES[chosen.version]
    comment = texts.COMMENT.format(edition=chosen.version, files=chosen.files, dates=dates)
    document = {"version": 1, "competitions": [_competition(plan, historic)]}
    return [write_text(target / "competition.yaml", yaml_text(document, comment)), *written]


def _check_training(edition: Edition, languages: Sequence[Language], problems: Problems) -> None:
    """Whether what is unseen can be told, as the edition tells it."""
    for language in languages:
        if edition.unseen_against == "train+dev" and DEV in language.files and TRAIN not in language.files:
            message = f"there is {DEV}, but not {TRAIN}: with both it is said what is unseen in {edition.version}"
            problems.add("missing-file", message, file=f"{language.folder.name}/{TRAIN}")
    if languages and edition.rank_by == "unseen" and not any(TRAIN in language.files for language in languages):
        message = f"edition {edition.version} ranks by unseen MWEs, but no language has {TRAIN}"
        problems.add("missing-file", message, file=f"<LANG>/{TRAIN}")


def _categories(
    edition: Edition, languages: Sequence[Language], given: Sequence[str] | None, problems: Problems
) -> list[str]:
    found = frozenset().union(*(language.categories for language in languages))
    if given is not None and found - set(given):
        lacking = ", ".join(sorted(found - set(given)))
        problems.add("unknown-category", f"the data have categories that are not among those given: {lacking}")
    allowed = list(given) if given is not None else sorted(found.union(edition.categories))
    wanted = {"categories": allowed, **({"languages": [one.name for one in languages]} if languages else {})}
    try:
        read_options(get_task(TASK), wanted)
    except InvalidOptions as invalid:
        problems.errors += invalid.problems
    return allowed


# ------------------------------------------------------------------------------------------------------------- files


def _write_data(plan: Plan, target: Path, gold: Path) -> Iterator[Path]:
    """Gold by phase, then the zips that everybody may download."""
    for language in plan.languages:
        folder = gold / _gold_name(plan, "evaluation") / language.folder.name
        for file in (TEST, TRAIN, DEV):
            if file in language.files:
                yield copy_file(language.folder / file, folder / file)
    for language in plan.having(DEV):
        folder = gold / _gold_name(plan, "practice") / language.folder.name
        yield copy_file(language.folder / DEV, folder / TEST)
        if TRAIN in language.files:
            yield copy_file(language.folder / TRAIN, folder / TRAIN)
    yield write_zip(target / plan.public("test-blind"), (_blind(language, TEST) for language in plan.languages))
    if plan.having(DEV):
        yield write_zip(target / plan.public("dev-blind"), (_blind(language, DEV) for language in plan.having(DEV)))
    if _has_training(plan):
        yield write_zip(target / plan.public("training"), _training(plan))


def _blind(language: Language, annotated: str) -> tuple[str, bytes]:
    """What teams get to see of test.cupt or dev.cupt; its name is the same for both, as that of what they send is."""
    name = f"{language.folder.name}/{BLIND}"
    if annotated == TEST and BLIND in language.files:
        return name, (language.folder / BLIND).read_bytes()
    return name, blanked((language.folder / annotated).read_bytes())


def _training(plan: Plan) -> Iterator[tuple[str, bytes]]:
    """Training and development data, with the README of each language, which has its authors and its licence."""
    for language in plan.languages:
        present = [file for file in (README, TRAIN, DEV) if (language.folder / file).is_file()]
        for file in present if present != [README] else []:
            yield f"{language.folder.name}/{file}", (language.folder / file).read_bytes()


def _has_training(plan: Plan) -> bool:
    return bool(plan.having(TRAIN) or plan.having(DEV))


def _gold_name(plan: Plan, phase: str) -> str:
    return f"{plan.edition.files}/{phase}"


def _write_historic(historic: dict[str, list[HistoricRow]], target: Path) -> list[Path]:
    return [write_csv(target / f"historic/{board}.csv", COLUMNS, rows) for board, rows in historic.items()]
