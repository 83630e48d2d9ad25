"""What there is to judge: sentences from the public blind file, paraphrases from the stored predictions. Never gold.

Both are read with the task type's own readers, whose limits bound them; the web process does it once, when a round
starts or marks are imported, and keeps what is judged in the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from app.judging.errors import CannotJudge
from app.models import PhaseTask, Submission
from app.storage import stored_path
from scoring.errors import InvalidFile, InvalidOptions
from scoring.task import read_options
from scoring.tasks import TASKS

#: The task types whose predictions people can judge, and the automatic metric that is held against their marks.
AUTOMATIC_METRICS = {"mwe-paraphrase": "bertscore"}

#: By language and item, a text.
Texts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Material:
    """White space is collapsed in all texts. paraphrases: by submission, of the languages that it entered."""

    sentences: Texts
    paraphrases: Mapping[UUID, Texts]

    @property
    def languages(self) -> tuple[str, ...]:
        """Those of the task, in its order."""
        return tuple(self.sentences)


def check_judgeable(phase_task: PhaseTask) -> str:
    """The sha256 of the blind file; raises CannotJudge where there is none, or nothing that people could judge."""
    if phase_task.task.task_type not in AUTOMATIC_METRICS:
        kinds = ", ".join(sorted(AUTOMATIC_METRICS))
        raise CannotJudge(
            f"Task '{phase_task.task.name}' is of type {phase_task.task.task_type}; people can judge tasks of {kinds}."
        )
    if phase_task.items_sha256 is None:
        raise CannotJudge(
            "This task has no blind file in this phase, so that there are no sentences to show: name it under `items`."
        )
    return phase_task.items_sha256


def read_material(storage_dir: Path, phase_task: PhaseTask, submissions: Sequence[Submission]) -> Material:
    """Sentences, and paraphrases of these submissions; raises CannotJudge. `phase_task.task` must be loaded."""
    task = TASKS[phase_task.task.task_type]
    items_path = stored_path(storage_dir, check_judgeable(phase_task))
    try:
        options = read_options(task, phase_task.options_of(phase_task.task))
        items = task.read_items(items_path, options)
    except (InvalidFile, InvalidOptions, OSError) as fault:
        raise CannotJudge(f"The blind file cannot be read: {_said(fault)}") from fault
    paraphrases = {}
    for submission in submissions:
        try:
            read = task.read_prediction(stored_path(storage_dir, submission.sha256), items, options)
        except (InvalidFile, OSError) as fault:
            raise CannotJudge(f"Submission {submission.id} cannot be read: {_said(fault)}") from fault
        paraphrases[submission.id] = {language: _plain(texts) for language, texts in read.languages.items()}
    sentences = {language: _plain(file.sentence_of) for language, file in items.languages.items()}
    return Material(sentences, paraphrases)


def plain(text: str) -> str:
    """The text with single spaces, as far as a database can hold it."""
    return " ".join(text.replace("\0", " ").split()).encode("utf-8", "replace").decode()


def _plain(texts: Mapping[str, str]) -> dict[str, str]:
    return {item: plain(text) for item, text in texts.items()}


def _said(fault: Exception) -> str:
    text = "it is no longer there" if isinstance(fault, OSError) else str(fault)
    return text if text.endswith(".") else f"{text}."
