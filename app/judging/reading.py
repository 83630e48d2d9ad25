"""Reads predictions and files of marks in the helper, because they come from strangers and may be large."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from app.base.errors import InvalidForm
from app.helper.process import Job, TooMuchWork, run
from app.helper.wire import Message
from app.judging.errors import CannotJudge, InvalidMarks
from app.judging.marks_csv import MarkPlace, read_marks, submissions_named
from app.judging.rows import TextToJudge, check_items, texts_to_judge
from app.judging.selection import MOST_SUBMISSIONS, Material, Sources, read_material
from evergold.scoring.errors import Problem
from evergold.scoring.judgement import Marks

_NAMES = Job("app.judging.reading:name_submissions", processor_seconds=10, seconds=30, mebibytes=512, waiting=6)
_MARKS = Job("app.judging.reading:bring_marks", processor_seconds=30, seconds=60, mebibytes=1024, waiting=6)
_TEXTS = Job("app.judging.reading:draw_texts", processor_seconds=30, seconds=60, mebibytes=1024, waiting=6)


@dataclass(frozen=True, slots=True)
class Brought:
    """Marks from a file, with the texts they refer to.

    texts: sentence and paraphrase, by submission, language and item; languages: those that each submission entered.
    """

    marks: Mapping[MarkPlace, Marks]
    texts: Mapping[tuple[UUID, str, str], tuple[str, str]]
    languages: Mapping[UUID, list[str]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The texts of a round, drawn with this seed, and the languages that each submission entered."""

    seed: int
    texts: list[TextToJudge]
    languages: Mapping[UUID, list[str]]


def submissions_in(path: Path) -> list[UUID]:
    """Return the submissions that a file of marks names. Raises CannotJudge if there are too many, Busy."""
    answer = _run(_NAMES, {"path": str(path)})
    if answer["count"] > MOST_SUBMISSIONS:
        raise CannotJudge(f"At most {MOST_SUBMISSIONS} submissions can be judged; the file has {answer['count']}.")
    return [UUID(one) for one in answer["submissions"]]


def read_file(path: Path, sources: Sources) -> Brought:
    """Return the marks in the file, checked against the predictions that it names.

    Raises InvalidMarks, CannotJudge, Busy.
    """
    answer = _run(_MARKS, {"path": str(path), **_head(sources)})
    if "problems" in answer:
        raise InvalidMarks([Problem.from_dict(one) for one in answer["problems"]], answer["omitted"])
    ids = [UUID(submission) for submission, _ in answer["languages"]]
    marks = {(ids[number], *place): Marks(*given) for number, *place, given in answer["marks"]}
    texts = {(ids[number], language, item): (one, other) for number, language, item, one, other in answer["texts"]}
    return Brought(marks, texts, _languages(answer))


def read_texts(sources: Sources, seed: int, items: int | None) -> Drawn:
    """Return every distinct paraphrase of the drawn items. Raises CannotJudge, InvalidForm, Busy."""
    answer = _run(_TEXTS, {"seed": seed, "count": items, **_head(sources)})
    if "fields" in answer:
        raise InvalidForm(answer["message"], fields=answer["fields"])
    texts = [
        TextToJudge((language, item, key), sentence, paraphrase, tuple(map(UUID, submissions)))
        for language, item, key, sentence, paraphrase, submissions in answer["texts"]
    ]
    return Drawn(seed, texts, _languages(answer))


def _run(job: Job, head: Mapping[str, Any]) -> dict[str, Any]:
    try:
        answer, _ = run(job, head)
    except TooMuchWork:
        raise CannotJudge("Reading the files takes too long or too much memory.") from None
    if "cannot" in answer:
        raise CannotJudge(answer["cannot"])
    return answer


def _head(sources: Sources) -> dict[str, Any]:
    return {
        "task_type": sources.task_type,
        "options": dict(sources.options),
        "items": str(sources.items.absolute()),
        "predictions": [[str(one), str(path.absolute())] for one, path in sources.predictions.items()],
    }


def _languages(answer: Mapping[str, Any]) -> dict[UUID, list[str]]:
    return {UUID(submission): languages for submission, languages in answer["languages"]}


# ------------------------------------------------------------------------------------------------------- in the helper


def name_submissions(head: dict[str, Any], _: bytes) -> Message:
    """Return the `submissions` that the file names, and their `count`. A job of the helper."""
    named = submissions_named(Path(head["path"]).read_bytes())
    return {"count": len(named), "submissions": [str(one) for one in named[:MOST_SUBMISSIONS]]}, b""


def bring_marks(head: dict[str, Any], _: bytes) -> Message:
    """Return `languages` by submission, with `marks` and `texts` by the index of the submission there; or the errors.

    A job of the helper.
    """
    try:
        material = read_material(_sources(head))
        found = read_marks(Path(head["path"]).read_bytes(), material)
        check_items((language, item, "") for _, language, item, _ in found)
    except CannotJudge as fault:
        return {"cannot": fault.message}, b""
    except InvalidMarks as fault:
        return {"problems": fault.details["problems"], "omitted": fault.details["problems_omitted"]}, b""
    judged = dict.fromkeys((submission, language, item) for submission, language, item, _ in found)
    languages = _entered(material, {one for one, *_ in judged})
    numbers = {UUID(one): number for number, (one, _) in enumerate(languages)}
    texts = [
        (numbers[one], language, item, material.sentences[language][item], material.paraphrases[one][language][item])
        for one, language, item in judged
    ]
    marks = [(numbers[one], *place, astuple(given)) for (one, *place), given in found.items()]
    return {"marks": marks, "texts": texts, "languages": languages}, b""


def draw_texts(head: dict[str, Any], _: bytes) -> Message:
    """Return `texts` and `languages`, or the problems. A job of the helper."""
    try:
        material = read_material(_sources(head))
        drawn = texts_to_judge(material, head["seed"], head["count"])
    except CannotJudge as fault:
        return {"cannot": fault.message}, b""
    except InvalidForm as fault:
        return {"message": fault.message, "fields": fault.fields}, b""
    texts = [(*one.place, one.sentence, one.paraphrase, [str(with_it) for with_it in one.submissions]) for one in drawn]
    return {"texts": texts, "languages": _entered(material, set(material.paraphrases))}, b""


def _sources(head: Mapping[str, Any]) -> Sources:
    predictions = {UUID(one): Path(path) for one, path in head["predictions"]}
    return Sources(head["task_type"], head["options"], Path(head["items"]), predictions)


def _entered(material: Material, submissions: set[UUID]) -> list[tuple[str, list[str]]]:
    return [(str(one), list(texts)) for one, texts in material.paraphrases.items() if one in submissions]
