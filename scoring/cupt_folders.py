"""Which CUPT file belongs to which language: single files, the organisers' folders, the teams' zips.

`<LANG>/{test,train,dev,test.blind}.cupt` on the organisers' side, `<LANG>/test.system.cupt` on the teams'. A language
has its name in lower case, whatever its folder is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from scoring.archives import Limits, read_members, read_single
from scoring.cupt import CuptItems, TrainingMwes, read_gold, read_items, read_training
from scoring.cupt_prediction import PredictedMwes, read_predicted_mwes
from scoring.errors import InvalidFile, InvalidGold, InvalidItems, InvalidPrediction, Problem, Problems, shorten
from scoring.mwe import GoldMwes, prepare

TEST, BLIND, SYSTEM = "test.cupt", "test.blind.cupt", "test.system.cupt"
TRAIN, DEV = "train.cupt", "dev.cupt"
#: How many problems of one file are kept in words.
PROBLEMS_PER_FILE = 50

_GIB = 1024**3
# Organisers are trusted, and their training data is large.
_ORGANISERS_LIMITS = Limits(total_bytes=_GIB, member_bytes=_GIB)

T = TypeVar("T")


@dataclass(frozen=True)
class LanguageItems:
    """What a prediction must cover, by language. in_folders: whether several languages are expected in folders."""

    languages: Mapping[str, CuptItems]
    in_folders: bool


@dataclass(frozen=True)
class LanguageGold:
    """Gold by language, with its statistics of training data: read once, scored against many times."""

    languages: Mapping[str, GoldMwes]
    in_folders: bool


def read_item_files(path: Path, wanted: Sequence[str] | None, single: str) -> LanguageItems:
    """The items of a file, called `single`, or of the folders of the wanted languages (None: all there are).

    In a folder test.blind.cupt is read, or test.cupt where there is none. Raises InvalidItems.
    """
    if not path.is_dir():
        return LanguageItems({single: read_items(_content(path, InvalidItems), path.name)}, in_folders=False)

    def read(folder: Path) -> CuptItems:
        file = folder / BLIND if (folder / BLIND).is_file() else folder / TEST
        return read_items(_content(file, InvalidItems), f"{folder.name}/{file.name}")

    folders = _folders(path, wanted, (BLIND, TEST), InvalidItems)
    return LanguageItems(_each(folders, read, InvalidItems), in_folders=True)


def read_gold_files(
    path: Path, wanted: Sequence[str] | None, single: str, *, with_dev: bool, train: Sequence[Path] = ()
) -> LanguageGold:
    """Gold of a file, called `single`, or of the folders of the wanted languages (None: all there are).

    In a folder train.cupt, if there is one, says what is seen; with_dev: so does dev.cupt, if there is one. train: the
    training files for a single file or language instead. Raises InvalidGold with the problems of all files.
    """
    if not path.is_dir():
        corpus = read_gold(_content(path, InvalidGold), path.name)
        return LanguageGold({single: prepare(corpus, _training(train))}, in_folders=False)
    folders = _folders(path, wanted, (TEST,), InvalidGold)
    if train and len(folders) > 1:
        message = (
            "training files can be given for one language; in folders of several, train.cupt lies beside test.cupt"
        )
        raise InvalidGold([Problem("misplaced-training", message)])

    def read(folder: Path) -> GoldMwes:
        corpus = read_gold(_content(folder / TEST, InvalidGold), f"{folder.name}/{TEST}")
        beside = [folder / name for name in ((TRAIN, DEV) if with_dev else (TRAIN,)) if (folder / name).is_file()]
        if beside and beside[0].name == DEV:
            raise InvalidGold([Problem("missing-file", f"{folder.name} has {DEV} but no {TRAIN}")])
        return prepare(corpus, _training(train or beside))

    return LanguageGold(_each(folders, read, InvalidGold), in_folders=True)


def read_submission(
    path: Path, items: LanguageItems, categories: Sequence[str] | None
) -> tuple[dict[str, PredictedMwes], tuple[Problem, ...]]:
    """The predicted MWEs by language (in the order of the items), and the warnings.

    path: a CUPT file where one language is expected, else a zip or folder. categories: those allowed, None: any. Raises
    InvalidPrediction with the problems of all files, at most PROBLEMS_PER_FILE of each in words.
    """
    problems = Problems()
    files = _submitted_files(path, items, problems)
    predicted: dict[str, PredictedMwes] = {}
    for language in [language for language in items.languages if language in files]:
        name, data = files.pop(language)
        of_file = Problems(PROBLEMS_PER_FILE)
        others = {other: of_other for other, of_other in items.languages.items() if other != language}
        predicted[language] = read_predicted_mwes(
            data, items.languages[language], of_file, file=name, categories=categories, others=others
        )
        problems.errors += of_file.errors
        problems.warnings += of_file.warnings
        problems.omitted += of_file.omitted
    problems.raise_if_any(InvalidPrediction)
    return predicted, tuple(problems.warnings)


def _submitted_files(path: Path, items: LanguageItems, problems: Problems) -> dict[str, tuple[str | None, bytes]]:
    """Name and content of the file of every language that was submitted."""
    if not path.is_dir() and not _is_zip(path):
        _, data = read_single(path)
        if len(items.languages) > 1:
            message = f"this is a single file: send a zip with <LANG>/{SYSTEM} for each language you take part in"
            raise InvalidPrediction([Problem("not-a-zip", message)])
        return {next(iter(items.languages)): (None, data)}
    members = read_members(path)
    cupt = [name for name in members if name.endswith(".cupt")]
    chosen = _by_folder(cupt, items, problems) if items.in_folders else _only_one(cupt, items, problems)
    for name in members.keys() - set(chosen.values()) - {problem.file for problem in problems.errors}:
        message = "this file has no part in the submission and is not read"
        problems.add("unexpected-file", message, file=name, severity="warning")
    problems.warnings.sort(key=lambda problem: problem.file or "")
    if not chosen and not problems.errors:
        expected = f"<LANG>/{SYSTEM}, where <LANG> is one of {', '.join(items.languages)}"
        problems.add("nothing-submitted", f"there is no prediction in it; expected is {expected}")
    return {language: (name, members.pop(name)) for language, name in chosen.items()}


def _by_folder(names: Sequence[str], items: LanguageItems, problems: Problems) -> dict[str, str]:
    """The file of each language, by the folder in which it lies; what is in the way of that is a problem."""
    chosen: dict[str, str] = {}
    folders: dict[PurePosixPath, list[str]] = {}
    for name in names:
        folders.setdefault(PurePosixPath(name).parent, []).append(name)
    for folder, inside in folders.items():
        language = folder.name.lower()
        system = [name for name in inside if PurePosixPath(name).name == SYSTEM]
        if language not in items.languages:
            known = ", ".join(items.languages)
            fault = f"{shorten(folder.name)} is no language of this task" if folder.name else "the file is in no folder"
            problems.add("unknown-language", f"{fault}; its languages are {known}", file=(system or inside)[0])
        elif not system:
            problems.add("wrong-file-name", f"the file must be called {folder.name}/{SYSTEM}", file=inside[0])
        elif language in chosen:
            message = f"a second file for {language}, the first is {shorten(chosen[language])}"
            problems.add("duplicate-language", message, file=system[0])
        else:
            chosen[language] = system[0]
    return chosen


def _only_one(names: Sequence[str], items: LanguageItems, problems: Problems) -> dict[str, str]:
    system = [name for name in names if PurePosixPath(name).name == SYSTEM] or names
    if len(system) > 1:
        message = f"{len(system)} CUPT files where one is expected: {', '.join(shorten(name) for name in system[:5])}"
        problems.add("several-files", message, file=system[1])
    return {next(iter(items.languages)): system[0]} if len(system) == 1 else {}


def _folders(
    path: Path, wanted: Sequence[str] | None, files: Sequence[str], error: type[InvalidFile]
) -> dict[str, Path]:
    """The folder of every wanted language: one that has any of the files."""
    found: dict[str, Path] = {}
    problems = Problems()
    for folder in sorted(path.iterdir()):
        if folder.is_dir() and any((folder / file).is_file() for file in files):
            if folder.name.lower() in found:
                message = f"two folders for one language: {found[folder.name.lower()].name} and {folder.name}"
                problems.add("duplicate-language", message)
            found[folder.name.lower()] = folder
    for language in wanted or ():
        if language not in found:
            problems.add("missing-language", f"there is no {language.upper()}/{files[-1]} in {path.name}")
    if not found:
        problems.add("missing-language", f"there is no <LANG>/{files[-1]} in {path.name}")
    problems.raise_if_any(error)
    return {language: found[language] for language in (wanted or found)}


def _each(folders: Mapping[str, Path], read: Callable[[Path], T], error: type[InvalidFile]) -> dict[str, T]:
    """What `read` makes of every folder; the problems of all are raised together."""
    results: dict[str, T] = {}
    problems: list[Problem] = []
    omitted = 0
    for language, folder in folders.items():
        try:
            results[language] = read(folder)
        except error as invalid:
            problems += invalid.problems
            omitted += invalid.omitted
    if problems:
        raise error(problems, omitted)
    return results


def _training(files: Iterable[Path]) -> TrainingMwes | None:
    together: TrainingMwes | None = None
    for file in files:
        read = read_training(_content(file, InvalidGold), f"{file.parent.name}/{file.name}")
        together = read if together is None else together | read
    return together


def _content(path: Path, error: type[InvalidFile]) -> bytes:
    return read_single(path, _ORGANISERS_LIMITS, error)[1]


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"
