"""The material to judge: submissions, their sentences and paraphrases (never gold), drawn items, and their order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.base.errors import InvalidForm, StorageDamaged
from app.base.storage import Storage, local_file
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import boards_of
from app.competitions.visibility import Viewer
from app.judging.errors import CannotJudge
from app.models import Competition, PhaseTask, RunStatus, ScoringRun, Submission
from app.standings.tries import is_rankable
from app.submissions.find import has_current_status, newest_in
from evergold.scoring.errors import InvalidFile, InvalidOptions
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

MOST_SUBMISSIONS = 500


def choose_submissions(
    session: Session,
    competition: Competition,
    phase_task: PhaseTask,
    wanted: Sequence[UUID],
    viewer: Viewer,
) -> list[Submission]:
    """Return the requested submissions (by default those on the boards), with teams, in order of submission.

    viewer: an organiser, who sees every row. Raises InvalidForm that names unknown or unscored submissions.
    """
    chosen = list(dict.fromkeys(wanted)) or on_boards(session, competition, phase_task, viewer)
    found = scored_submissions(session, phase_task, chosen)
    missing = [str(submission_id) for submission_id in chosen if submission_id not in {one.id for one in found}]
    sentence = ""
    if missing:
        sentence = f"No scored submission to this task in this phase: {', '.join(missing)}."
    elif len(found) > MOST_SUBMISSIONS:
        sentence = f"At most {MOST_SUBMISSIONS} submissions can be judged in a round; these are {len(found)}."
    if sentence:
        raise InvalidForm(sentence, fields={"submissions": sentence})
    return found


def scored_submissions(session: Session, phase_task: PhaseTask, ids: Sequence[UUID]) -> list[Submission]:
    """Return those of the submissions that were scored here and not withdrawn, with teams, in order of submission."""
    query = (
        select(Submission)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .options(joinedload(Submission.team))
        .where(Submission.id.in_(ids), ScoringRun.is_current, is_rankable())
        .order_by(Submission.submitted_at, Submission.id)
    )
    # Filtered here, as SQLite would otherwise scan all submissions of the phase task.
    return [one for one in session.scalars(query) if one.phase_task_id == phase_task.id]


def newest_scored(session: Session, phase_task: PhaseTask) -> list[Submission]:
    """Return the latest scored submissions, up to the limit of a round."""
    conditions = [Submission.withdrawn_at.is_(None), has_current_status(RunStatus.SCORED)]
    here = Submission.phase_task_id == phase_task.id
    return scored_submissions(session, phase_task, newest_in(session, [here], conditions, MOST_SUBMISSIONS))


def on_boards(session: Session, competition: Competition, phase_task: PhaseTask, viewer: Viewer) -> list[UUID]:
    """Return the submissions that are entries on any board of the task in this phase."""
    phase = next(phase for phase in competition.phases if phase.id == phase_task.phase_id)
    boards = [board for board in boards_of(competition, phase) if board.task_id == phase_task.task_id]
    rows = [row for board in boards for row in build_leaderboard(session, phase, board, viewer).rows]
    runs = [row.run_id for row in rows if row.run_id is not None]
    return list(session.scalars(select(ScoringRun.submission_id).where(ScoringRun.id.in_(runs))))


#: Task types that people can judge, and the automatic metric to compare with their marks.
AUTOMATIC_METRICS = {"mwe-paraphrase": "bertscore"}
#: A text by language and item.
Texts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Sources:
    """Files with texts to judge: the blind items, and the predictions by submission."""

    task_type: str
    options: Mapping[str, Any]
    items: Path
    predictions: Mapping[UUID, Path]


@dataclass(frozen=True, slots=True)
class Material:
    """The texts to judge, with collapsed white space. paraphrases: by submission, in the languages that it entered."""

    sentences: Texts
    paraphrases: Mapping[UUID, Texts]

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the task, in its order."""
        return tuple(self.sentences)


def check_judgeable(phase_task: PhaseTask) -> str:
    """Return the sha256 of the blind file. Raises CannotJudge if there is none, or nothing that people can judge."""
    if phase_task.task.task_type not in AUTOMATIC_METRICS:
        kinds = ", ".join(sorted(AUTOMATIC_METRICS))
        raise CannotJudge(
            f"Task '{phase_task.task.name}' is of type {phase_task.task.task_type}; people can judge tasks of {kinds}."
        )
    if phase_task.items_sha256 is None:
        raise CannotJudge(
            "This task has no blind file in this phase, so there are no sentences to show: name the blind file "
            "under `items`."
        )
    return phase_task.items_sha256


def sources_of(storage: Storage, phase_task: PhaseTask, submissions: Sequence[Submission]) -> Sources:
    """Return the files with the texts of these submissions. Raises CannotJudge. `phase_task.task` must be loaded."""
    items_sha256 = check_judgeable(phase_task)
    with _readable(_BLIND_FILE):
        items = local_file(storage, items_sha256)
    predictions = {}
    for submission in submissions:
        with _readable(_prediction(submission.id)):
            predictions[submission.id] = local_file(storage, submission.sha256)
    return Sources(phase_task.task.task_type, phase_task.options_of(phase_task.task), items, predictions)


def read_material(sources: Sources) -> Material:
    """Return the sentences and paraphrases in the files. Raises CannotJudge."""
    task = TASKS[sources.task_type]
    with _readable(_BLIND_FILE):
        options = read_options(task, dict(sources.options))
        items = task.read_items(sources.items, options)
    paraphrases = {}
    for submission_id, path in sources.predictions.items():
        with _readable(_prediction(submission_id)):
            read = task.read_prediction(path, items, options)
        paraphrases[submission_id] = {language: _plain(texts) for language, texts in read.languages.items()}
    sentences = {language: _plain(file.sentence_of) for language, file in items.languages.items()}
    return Material(sentences, paraphrases)


_BLIND_FILE = "The blind file"


def _prediction(submission_id: UUID) -> str:
    return f"Submission {submission_id}"


@contextmanager
def _readable(what: str) -> Iterator[None]:
    """Raise CannotJudge if the block cannot read a file. what: the file, for the message."""
    try:
        yield
    except (InvalidFile, InvalidOptions, OSError, StorageDamaged) as fault:
        raise CannotJudge(f"{what} cannot be read: {_sentence(fault)}") from fault


def plain(text: str) -> str:
    """Return the text with single spaces and without characters that a database cannot store."""
    return " ".join(text.replace("\0", " ").split()).encode("utf-8", "replace").decode()


def _plain(texts: Mapping[str, str]) -> dict[str, str]:
    return {item: plain(text) for item, text in texts.items()}


def _sentence(fault: Exception) -> str:
    text = "it no longer exists" if isinstance(fault, OSError) else str(fault)
    return text if text.endswith(".") else f"{text}."


T = TypeVar("T")
LARGEST_SEED = 2**31 - 1


def draw_items(seed: int, language: str, items: Sequence[str], count: int | None) -> list[str]:
    """Return `count` items (None: all) in their order: those with the smallest sha256 of seed, language and item."""
    if count is None or count >= len(items):
        return list(items)
    drawn = set(sorted(items, key=lambda item: _dice(seed, language, item))[:count])
    return [item for item in items if item in drawn]


def shuffled(seed: int, annotator: str, things: Iterable[tuple[str, T]]) -> list[T]:
    """Return the things in an order specific to this annotator. things: each with a unique text."""
    return [thing for _, thing in sorted(things, key=lambda named: _dice(seed, annotator, named[0]))]


def _dice(seed: int, *parts: str) -> str:
    key = "\0".join([str(seed), *parts])
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
