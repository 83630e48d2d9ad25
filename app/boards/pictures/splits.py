"""Additional scores that pictures of a board draw, and the names of parts of its items."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.base.errors import NotFound
from app.charts.picture import Choice
from app.models import Board
from evergold.scoring.errors import shorten
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS
from evergold.value_words import did_you_mean

#: The two scores of a scatter by task type: metric and the end of the split, of x and of y.
PLANES: Mapping[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "mwe-identification": (("mwe_f1", "seen"), ("mwe_f1", "unseen")),
    "mwe-paraphrase": (("entropy", ""), ("bertscore", "")),
}
#: Patterns of report splits with language and category, by task type.
CATEGORIES: Mapping[str, str] = {
    "mwe-identification": r"(?P<language>[a-z]+)/category/(?P<category>.+)",
    "mwe-paraphrase": r"(?P<language>[a-z]+)/type/(?P<category>.+)",
    "idiom-similarity": r"{setting}/(?P<language>[a-z]+)/(?P<category>[a-z]+)",
}
_TITLES = {"macro": "Mean", "all": "All", "idiom": "Idioms", "sts": "Other pairs"}


def drawn_scores(board: Board, options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (metric, split) of every score drawn in addition to the board's own columns."""
    languages = [(board.rank_metric, split) for split in language_splits(board, options).values()]
    found = [score for pair in plane_splits(board, options).values() for score in pair]
    return list(dict.fromkeys([*languages, *found]))


def language_splits(board: Board, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the split of the ranking score for each language, in the order of the task."""
    own = board.rank_split.split("/")
    languages = _languages(board, options)
    found = {}
    for metric, split in _scores(board, options):
        parts = split.split("/")
        if metric != board.rank_metric or len(parts) != len(own):
            continue
        places = [place for place, part in enumerate(parts) if part in languages]
        if len(places) == 1 and all(parts[at] == own[at] for at in range(len(own)) if at != places[0]):
            found[parts[places[0]]] = split
    return {language: found[language] for language in languages if language in found}


def plane_splits(board: Board, options: Mapping[str, Any]) -> dict[str, tuple[tuple[str, str], tuple[str, str]]]:
    """Return the scores of x and y by part of the items: first the mean, then the languages."""
    if board.task.task_type not in PLANES:
        return {}
    (metric_x, end_x), (metric_y, end_y) = PLANES[board.task.task_type]
    known = set(_scores(board, options))
    found = {}
    for root in ("macro", *_languages(board, options)):
        pair = ((metric_x, _joined(root, end_x)), (metric_y, _joined(root, end_y)))
        if known.issuperset(pair):
            found[root] = pair
    return found


def category_pattern(board: Board) -> re.Pattern[str] | None:
    """Return the pattern of splits by language and category in this task's reports; None if there are none."""
    pattern = CATEGORIES.get(board.task.task_type)
    setting = re.escape(board.rank_split.split("/")[0])
    return re.compile(pattern.replace("{setting}", setting)) if pattern else None


def title_of(part: str) -> str:
    """Return the title of a part, such as `Mean`, `PT`, `Idioms`, `LVC.full`."""
    return _TITLES.get(part) or (part.upper() if len(part) == 2 and part.islower() else part)


def choices(parts: Sequence[str], chosen: Sequence[str]) -> tuple[Choice, ...]:
    """Return options to choose one part from; empty if there is only one."""
    if len(parts) < 2:
        return ()
    return tuple(Choice(title_of(part), part, part in chosen) for part in parts)


def check_known(wanted: Sequence[str], known: Sequence[str], what: str) -> None:
    """Raise NotFound for an unknown name, with the most similar known one. what: the kind of name, for the message."""
    for one in wanted:
        if one not in known:
            raise NotFound(f"This board has no {what} '{shorten(one)}'{did_you_mean(one, list(known))}.")


def _languages(board: Board, options: Mapping[str, Any]) -> list[str]:
    found = getattr(read_options(TASKS[board.task.task_type], options), "languages", None)
    return [str(language).lower() for language in found or ()]


def _scores(board: Board, options: Mapping[str, Any]) -> list[tuple[str, str]]:
    task = TASKS[board.task.task_type]
    return [(column.metric, column.split) for column in task.columns(read_options(task, options))]


def _joined(root: str, end: str) -> str:
    return f"{root}/{end}" if end else root
