"""CUPT files by language: single files, the organisers' folders, the teams' zips.

`<LANG>/{test,train,dev,test.blind}.cupt` on the organisers' side, `<LANG>/test.system.cupt` on the teams'. Blind files
may come as a zip of such folders, the form in which they are downloaded. `language_folders` finds the folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evergold.scoring.archives import Limits, begins_as_zip, read_single
from evergold.scoring.cupt.corpus import CuptItems, TrainingMwes, read_gold, read_items, read_training
from evergold.scoring.cupt.prediction import PredictedMwes, read_predicted_mwes
from evergold.scoring.errors import InvalidFile, InvalidGold, InvalidItems, InvalidPrediction, Problem, Problems
from evergold.scoring.language_folders import find_folders, read_each, read_each_zipped, read_submitted, zipped_folders
from evergold.scoring.mwe.counts import GoldMwes, prepare

TEST, BLIND, SYSTEM = "test.cupt", "test.blind.cupt", "test.system.cupt"
TRAIN, DEV = "train.cupt", "dev.cupt"
#: Number of problems of one file that are reported in full.
PROBLEMS_PER_FILE = 50

_GIB = 1024**3
# Organisers are trusted, and their training data is large.
_ORGANISERS_LIMITS = Limits(total_bytes=_GIB, member_bytes=_GIB)


@dataclass(frozen=True)
class LanguageItems:
    """Items to be covered by a prediction, by language. in_folders: True if the languages are expected in folders."""

    languages: Mapping[str, CuptItems]
    in_folders: bool

    def demands(self) -> dict[str, bytes]:
        """Return every sentence, named `language, sentence n (id)`, with the ID and FORM of its token lines."""
        return {
            f"{language}, sentence {place + 1} ({id_})": items.key(place)
            for language, items in self.languages.items()
            for place, id_ in enumerate(items.sentence_ids)
        }


@dataclass(frozen=True)
class LanguageGold:
    """Gold by language, with its statistics of training data: read once, used to score many predictions."""

    languages: Mapping[str, GoldMwes]
    in_folders: bool


def read_item_files(path: Path, wanted: Sequence[str] | None, single: str) -> LanguageItems:
    """Read the items of a file, called `single`, or of the folders of the wanted languages (None: all of them).

    In a folder test.blind.cupt is read, or test.cupt if there is none. A zip holds such folders, or a single file.
    Raises InvalidItems with the problems of all files.
    """
    if path.is_dir():
        files = find_folders(path, wanted, (BLIND, TEST), InvalidItems)
        items = read_each(files, lambda _, data, name: read_items(data, name), InvalidItems, _ORGANISERS_LIMITS)
        return LanguageItems(items, in_folders=True)
    names, limits = (BLIND, TEST), _ORGANISERS_LIMITS
    zipped = zipped_folders(path, wanted, names, InvalidItems, limits) if begins_as_zip(path) else {}
    if zipped:
        items = read_each_zipped(path, zipped, lambda _, data, name: read_items(data, name), InvalidItems, limits)
        return LanguageItems(items, in_folders=True)
    return LanguageItems({single: read_items(_content(path, InvalidItems), path.name)}, in_folders=False)


def read_gold_files(
    path: Path, wanted: Sequence[str] | None, single: str, *, with_dev: bool, train: Sequence[Path] = ()
) -> LanguageGold:
    """Read gold of a file, called `single`, or of the folders of the wanted languages (None: all of them).

    In a folder train.cupt, if present, determines which MWEs are seen; with_dev: True to use dev.cupt, too, if present.
    train: training files to use instead, for a single file or language. Raises InvalidGold with the problems of all
    files.
    """
    if not path.is_dir():
        corpus = read_gold(_content(path, InvalidGold), path.name)
        return LanguageGold({single: prepare(corpus, _training(train))}, in_folders=False)
    files = find_folders(path, wanted, (TEST,), InvalidGold)
    if train and len(files) > 1:
        message = "training files can be given for one language; with several, train.cupt lies beside test.cupt"
        raise InvalidGold([Problem("misplaced-training", message)])

    def read(language: str, data: bytes, name: str) -> GoldMwes:
        folder = files[language].parent
        there = [folder / file for file in ((TRAIN, DEV) if with_dev else (TRAIN,)) if (folder / file).is_file()]
        if there and there[0].name == DEV:
            raise InvalidGold([Problem("missing-file", f"{folder.name} has {DEV} but no {TRAIN}")])
        return prepare(read_gold(data, name), _training(train or there))

    return LanguageGold(read_each(files, read, InvalidGold, _ORGANISERS_LIMITS), in_folders=True)


def read_submission(
    path: Path, items: LanguageItems, categories: Sequence[str] | None
) -> tuple[dict[str, PredictedMwes], tuple[Problem, ...]]:
    """Read the predicted MWEs by language (in the order of the items), and the warnings.

    path: a CUPT file if one language is expected, else a zip or folder. categories: those allowed, None: any. Raises
    InvalidPrediction with the problems of all files, at most PROBLEMS_PER_FILE of each in full.
    """
    problems = Problems()

    def read(language: str, data: bytes, name: str | None) -> PredictedMwes:
        of_file = Problems(PROBLEMS_PER_FILE)
        others = {other: of_other for other, of_other in items.languages.items() if other != language}
        predicted = read_predicted_mwes(
            data, items.languages[language], of_file, file=name, categories=categories, others=others
        )
        problems.errors += of_file.errors
        problems.warnings += of_file.warnings
        problems.omitted += of_file.omitted
        return predicted

    predicted = read_submitted(path, list(items.languages), SYSTEM, read, problems, in_folders=items.in_folders)
    problems.raise_if_any(InvalidPrediction)
    return predicted, tuple(problems.warnings)


def _training(files: Iterable[Path]) -> TrainingMwes | None:
    together: TrainingMwes | None = None
    for file in files:
        read = read_training(_content(file, InvalidGold), f"{file.parent.name}/{file.name}")
        together = read if together is None else together | read
    return together


def _content(path: Path, error: type[InvalidFile]) -> bytes:
    return read_single(path, _ORGANISERS_LIMITS, error)[1]
