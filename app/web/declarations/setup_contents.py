"""Contents of the pages that set up a draft: one function for each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.base import links
from app.base.storage import Storage, local_file, storage_of
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import boards_of
from app.competitions.leak import percent
from app.declarations.blueprints import stories
from app.declarations.blueprints.preview import declaration_of, scores_of_baselines
from app.declarations.leaks import declared_leaks
from app.declarations.revisions.documents import Document
from app.declarations.setup import boards, columns, dates, rules
from app.declarations.setup.baselines import baselines_for, file_of
from app.declarations.setup.kinds import kind_of, metrics_offered, rewards
from app.declarations.setup.rehearsal import TEST_TEAM, check_as_upload, rehearsed
from app.gold.recorded import recipients
from app.gold.versions import UPLOAD_LIMIT_BYTES, list_gold
from app.models import Competition, GoldVersion, Phase, PhaseTask, Revision, Right
from app.people.rights import may_organise
from app.web.declarations.blueprint_aids import calendar_aid
from app.web.http.visit import UserVisit
from evergold.scoring.tasks import TASKS


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft competition during a visit, with its current declaration."""

    visit: UserVisit
    competition: Competition
    present: Revision

    @property
    def document(self) -> Document:
        return self.present.document

    @property
    def storage(self) -> Storage:
        return storage_of(self.visit.server.settings)

    def file(self, path: object) -> Path | None:
        """Return the path of a declared file; None if there is none."""
        found = next((one.sha256 for one in self.present.files if one.path == path), None)
        return local_file(self.storage, found) if found else None


def _files(draft: Draft) -> dict[str, Any]:
    session, found = draft.visit.session, draft.competition
    task, kind = draft.document["tasks"][0], kind_of(draft.document["tasks"][0])
    places = [(phase, one) for phase in found.phases for one in phase.phase_tasks if one.task.name == task["name"]]
    first, *others = [phase.name for phase, _ in places] or [""]
    place = next(iter(columns.places_of(draft.document)), {})
    items = draft.file(place.get("items"))
    answer = columns.answer_of(draft.document)
    gold = _gold_states(draft, places)
    described = _description(draft, gold) if kind is not None and kind.answer is not None else None
    read: list[columns.ColumnRead] = []
    if described is not None:
        read = list(described.columns)
    elif items is not None and kind is not None and kind.answer is not None:
        read = columns.read_columns(items)
    roles = columns.roles_of(read, task.get("options") or {}, answer)
    if described is not None and kind is not None and not columns.are_chosen(roles):
        roles = columns.roles_of_gold(read, kind.answer or "", roles)
    made = {one.get("file") for one in place.get("baselines") or []}
    return {
        "kind": kind,
        "task_type": TASKS[task["type"]],
        "items_path": place.get("items") if items is not None else None,
        "read": [(one, roles[one.name]) for one in read],
        "described": described,
        "roles": columns.ROLE_WORDS,
        "answer": answer,
        "labels": (task.get("options") or {}).get("labels") or [],
        "simple": [(one, file_of(one) in made) for one in baselines_for(kind.answer if kind else None)],
        "gold": gold,
        "gold_address": links.gold(found.name, first, task["name"]),
        "also": ", ".join(others),
        "may_seal": may_organise(session, draft.visit.user, found, Right.GOLD),
        "has_key": bool(recipients(session, draft.visit.server.settings.sealing_keys)),
        "limit_bytes": UPLOAD_LIMIT_BYTES,
    }


def _description(draft: Draft, gold: list[tuple[Phase, GoldVersion | None]]) -> columns.Description | None:
    """Return what a worker read from the columns of the first phase's newest gold; None without permission."""
    version = gold[0][1] if gold else None
    if version is None or not may_organise(draft.visit.session, draft.visit.user, draft.competition, Right.GOLD):
        return None
    return columns.read_description(version.description)


def _gold_states(draft: Draft, places: list[tuple[Phase, PhaseTask]]) -> list[tuple[Phase, GoldVersion | None]]:
    """Return each phase with the newest version of its gold, or None if it has none."""
    versions = [(phase, list_gold(draft.visit.session, one)) for phase, one in places]
    return [(phase, found[-1] if found else None) for phase, found in versions]


def _scores(draft: Draft) -> dict[str, Mapping[tuple[str, str], float | None]]:
    """Return the baselines' scores of the first task in its first phase, by name; empty without permission."""
    session, found = draft.visit.session, draft.competition
    if not may_organise(session, draft.visit.user, found, Right.SUBMISSIONS):
        return {}
    task, first = draft.document["tasks"][0]["name"], _first_phase(draft.document)
    scored = scores_of_baselines(session, found)
    return {name: scores for (phase, of_task, name), scores in scored.items() if (phase, of_task) == (first, task)}


def _first_phase(document: Document) -> str:
    task = document["tasks"][0]["name"]
    return next((phase["name"] for phase in document["phases"] if task in phase["tasks"]), "")


def _declared_baselines(document: Document) -> list[str]:
    place = next(iter(columns.places_of(document)), {})
    return [one["name"] for one in place.get("baselines") or []]


def _metrics(draft: Draft) -> dict[str, Any]:
    shown = boards.shown_metrics(draft.document)
    return {
        "metrics": [
            (one, rewards(one), one.name in shown) for one in metrics_offered(draft.document["tasks"][0]).values()
        ],
        "ranking": shown[0] if shown else "",
        "baselines": _declared_baselines(draft.document),
        "scores": {name: _overall(scores) for name, scores in _scores(draft).items()},
        "is_outdated": _is_outdated(draft),
        "is_divided": "private_part" in next(iter(columns.places_of(draft.document)), {}),
    }


def _is_outdated(draft: Draft) -> bool:
    """Return whether a row of the first board was scored with a gold version that is no longer in use."""
    session, found, viewer = draft.visit.session, draft.competition, draft.visit.viewer
    phase = next((phase for phase in found.phases if phase.name == _first_phase(draft.document)), None)
    boards_there = boards_of(found, phase) if phase is not None else []
    if phase is None or not boards_there:
        return False
    return any(row.is_outdated for row in build_leaderboard(session, phase, boards_there[0], viewer).rows)


def _overall(scores: Mapping[tuple[str, str], float | None]) -> dict[str, float | None]:
    """Return each metric's first score over all items, without metrics of single labels or groups."""
    found: dict[str, float | None] = {}
    for (metric, split), value in scores.items():
        if "/" not in split:
            found.setdefault(metric, value)
    return found


def _board(draft: Draft) -> dict[str, Any]:
    scores, metrics = _scores(draft), metrics_offered(draft.document["tasks"][0])
    rank = boards.rank_of(draft.document)
    sign = -1 if rank[0] in metrics and metrics[rank[0]].higher_is_better else 1

    def place(name: str) -> tuple[bool, float]:
        value = scores.get(name, {}).get(rank)
        return value is None, sign * (value or 0)

    return {
        "offered": boards.offered(draft.document),
        "metrics": metrics,
        "baselines": sorted(_declared_baselines(draft.document), key=place),
        "scores": scores,
    }


def _phases(draft: Draft) -> dict[str, Any]:
    phases = dates.dates_in(draft.document)
    there = {one.name for one in phases}
    return {
        "phases": phases,
        "zones": dates.zones_for(phases),
        "new": [one for one in dates.NEW_PHASES if one.name not in there],
        **calendar_aid(draft.visit.server, dates.as_typed(draft.document, draft.visit.request.query_params)),
    }


@dataclass(frozen=True, slots=True)
class StoryShown:
    """A visibility preset of a phase. readable: the share of gold that one team can infer, in words."""

    story: stories.Story
    seen: stories.VisibilityTable
    readable: str
    is_warning: bool


def _visibility(draft: Draft) -> dict[str, Any]:
    found = []
    for place, phase in enumerate(draft.document["phases"]):
        divided = stories.is_phase_divided(draft.document, phase)
        current = stories.story_of(phase.get("visibility") or {}, is_divided=divided)
        shown = [_story_shown(draft, place, one) for one in stories.STORIES]
        found.append((place, phase, current.name if current else stories.OWN, shown))
    return {"phases": found, "own": stories.OWN}


def _story_shown(draft: Draft, place: int, story: stories.Story) -> StoryShown:
    document = stories.with_story(draft.document, place, story.name)
    phase = document["phases"][place]
    seen = stories.seen_when(phase, phase.get("visibility") or {}, is_divided=stories.is_phase_divided(document, phase))
    declared = declaration_of({**document, "phases": [{key: one for key, one in phase.items() if key != "carry_over"}]})
    leaks = list(declared_leaks(declared, draft.file)) if declared is not None else []
    if not leaks or leaks[0].leak.size is None:
        return StoryShown(story, seen, "", is_warning=False)
    leak = leaks[0].leak
    words = f"One team can infer {percent(leak.share)} of your gold in this phase."
    if not leak.public_share:
        words = "Teams learn nothing about your gold in this phase."
    elif leak.is_divided:
        words = (
            f"One team can infer {percent(leak.public_share)} of the public half, and nothing of the private half, "
            "which decides."
        )
    return StoryShown(story, seen, words, leaks[0].is_warning)


def _texts(draft: Draft) -> dict[str, Any]:
    return {"proposed": rules.proposed_description(draft.document)}


def _rules(draft: Draft) -> dict[str, Any]:
    return {
        "modes": rules.MODES,
        "usual": rules.LIMITS,
        "limits": draft.document["phases"][0].get("limits") or {},
        "registration": draft.document.get("registration") or {},
        "members": (draft.document.get("teams") or {}).get("members_max"),
    }


def _rehearse(draft: Draft) -> dict[str, Any]:
    task = draft.document["tasks"][0]
    place = next(iter(columns.places_of(draft.document)), {})
    scores, named = _scores(draft), {one["name"]: one["file"] for one in place.get("baselines") or []}
    wanted = draft.visit.request.query_params.get("baseline", "")
    chosen = wanted if wanted in named else next(iter(named), "")
    items, file = draft.file(place.get("items")), draft.file(named.get(chosen))
    checked = None
    if items is not None and file is not None:
        checked = check_as_upload(task["type"], task.get("options") or {}, items, file)
    sees = may_organise(draft.visit.session, draft.visit.user, draft.competition, Right.SUBMISSIONS)
    spans = rehearsed(draft.visit.session, draft.competition, draft.visit.user, chosen) if chosen and sees else ()
    return {
        "baselines": list(named),
        "chosen": chosen,
        "checked": checked,
        "is_scored": chosen in scores,
        "spans": list(spans),
        "test_team": TEST_TEAM,
    }


def _publish(draft: Draft) -> dict[str, Any]:
    return {}


CONTENTS: Mapping[str, Callable[[Draft], dict[str, Any]]] = {
    "files": _files,
    "metrics": _metrics,
    "board": _board,
    "phases": _phases,
    "visibility": _visibility,
    "texts": _texts,
    "rules": _rules,
    "rehearse": _rehearse,
    "publish": _publish,
}
