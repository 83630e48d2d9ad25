"""Pages on which a draft competition is set up, a question a page: files, metrics, board, dates, texts, rules.

Each form is saved as an edit of the declaration, like any other. A published competition is edited on its own pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl

from anyio.to_thread import run_sync
from fastapi import Depends, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, NotFound
from app.base.storage import Storage, StoredFile, UploadWriter, local_file, storage_of, store_upload
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import boards_of, organised
from app.competitions.leak import percent
from app.competitions.life import ImpossibleStage, Life, change_life
from app.competitions.organisers import check_owner_bytes_left, limits_of, owner_of
from app.competitions.readiness import readiness
from app.declarations.blueprints import stories
from app.declarations.blueprints.forms import in_words
from app.declarations.blueprints.preview import declaration_of, scores_of_baselines
from app.declarations.edits.edit import Edit, edit_whole
from app.declarations.edits.export import stored_files
from app.declarations.leaks import declared_leaks
from app.declarations.revisions.documents import Document
from app.declarations.revisions.kept import present_revision
from app.declarations.setup import boards, columns, dates, rules
from app.declarations.setup.baselines import Facts, baselines_for, file_of, with_baselines
from app.declarations.setup.kinds import kind_of, metrics_offered, rewards
from app.declarations.setup.rehearsal import TEST_TEAM, check_as_upload, rehearsed
from app.gold.recorded import recipients
from app.gold.versions import UPLOAD_LIMIT_BYTES, list_gold
from app.models import Competition, GoldVersion, Phase, PhaseTask, Revision, Right, Stage, User
from app.people.rights import may_organise
from app.web.declarations.blueprint_pages import calendar_aid
from app.web.declarations.editing_turns import EDITING, editing
from app.web.declarations.setup_gold import recheck_described_gold, use_gold_of_new_phase
from app.web.html.guards import PageUserVisit, SentFields, SentForm, SentUpload, form_again, upload_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import desk_of
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.multipart import Policy, receive
from app.web.http.room import room_left, within
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit
from evergold.scoring.tasks import TASKS

router = page_router()

PLACE = "/competitions/{competition}/setup"
#: The steps in their order, with their titles.
STEPS = {
    "files": "Files",
    "metrics": "Metrics",
    "board": "Board",
    "phases": "Phases",
    "visibility": "Who sees what",
    "texts": "Text",
    "rules": "Rules",
    "rehearse": "Rehearse",
    "publish": "Publish",
}
UploadFromFiles = Annotated[SentUpload, Depends(upload_guard(f"{PLACE}/files"))]
#: Columns, labels and groups of the items' upload, as a form of their own.
_ANSWERS = "answers"
_TABLES = (".csv", ".tsv", ".txt")
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".zip", ".cupt")


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft in a visit, with its current declaration."""

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
        """Return a declared file by its path."""
        found = next((one.sha256 for one in self.present.files if one.path == path), None)
        return local_file(self.storage, found) if found else None


@router.get(f"{PLACE}/{{step}}", dependencies=EDITING)
def read_step(visit: PageUserVisit, competition: str, step: str) -> Response:
    return _page(visit, competition, step)


def _page(
    visit: UserVisit,
    competition: str,
    step: str,
    form: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    found = organised(visit.session, visit.user, competition, Right.EDIT)
    if step not in STEPS:
        raise NotFound("There is no such step.")
    if found.stage != Stage.DRAFT:
        return RedirectResponse(links.edit(competition), 303)
    draft = Draft(visit, found, present_revision(visit.session, found))
    points = readiness(visit.session, found, visit.now)
    response = render_page(
        visit,
        f"declarations/setup/{step}.html",
        competition=found,
        workspace=desk_of(visit.session, found, visit.viewer),
        step=step,
        steps=STEPS,
        points=points,
        base=draft.present.number,
        document=draft.document,
        typed=form or {},
        faults={path: in_words(path, sentence) for path, sentence in error.fields.items()} if error else {},
        error=error,
        **_CONTENTS[step](draft),
    )
    response.headers["Cache-Control"] = "no-store"
    return response


# ------------------------------------------------------------------------------------------------------------ contents


def _files(draft: Draft) -> dict[str, Any]:
    session, found = draft.visit.session, draft.competition
    task, kind = draft.document["tasks"][0], kind_of(draft.document["tasks"][0])
    asked = [(phase, one) for phase in found.phases for one in phase.phase_tasks if one.task.name == task["name"]]
    first, *others = [phase.name for phase, _ in asked] or [""]
    place = next(iter(columns.places_of(draft.document)), {})
    items = draft.file(place.get("items"))
    answer = columns.answer_of(draft.document)
    gold = _gold_states(draft, asked)
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
    """Return what a worker reported of the first phase's newest gold, to those with the right to gold."""
    version = gold[0][1] if gold else None
    if version is None or not may_organise(draft.visit.session, draft.visit.user, draft.competition, Right.GOLD):
        return None
    return columns.read_description(version.description)


def _gold_states(draft: Draft, asked: list[tuple[Phase, PhaseTask]]) -> list[tuple[Phase, GoldVersion | None]]:
    """Return each phase with the newest version of its gold, None if there is none."""
    versions = [(phase, list_gold(draft.visit.session, one)) for phase, one in asked]
    return [(phase, found[-1] if found else None) for phase, found in versions]


def _scores(draft: Draft) -> dict[str, Mapping[tuple[str, str], float | None]]:
    """Return the scores of the first task's baselines in its first phase, by name; empty without the right to them."""
    session, found = draft.visit.session, draft.competition
    if not may_organise(session, draft.visit.user, found, Right.SUBMISSIONS):
        return {}
    task, first = draft.document["tasks"][0]["name"], _first_phase(draft.document)
    scored = scores_of_baselines(session, found)
    return {name: scores for (phase, asked, name), scores in scored.items() if (phase, asked) == (first, task)}


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
    """Return whether a row of the first board was scored against other gold than the one in use."""
    session, found, viewer = draft.visit.session, draft.competition, draft.visit.viewer
    phase = next((phase for phase in found.phases if phase.name == _first_phase(draft.document)), None)
    boards_there = boards_of(found, phase) if phase is not None else []
    if phase is None or not boards_there:
        return False
    return any(row.is_outdated for row in build_leaderboard(session, phase, boards_there[0], viewer).rows)


def _overall(scores: Mapping[tuple[str, str], float | None]) -> dict[str, float | None]:
    """Return each metric's first score over all items; none for a metric of single labels or groups."""
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
    """A story of who sees what in a phase. readable: the share of gold that one team may learn, in words."""

    story: stories.Story
    seen: stories.Seen
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
    words = f"One team can learn {percent(leak.share)} of your gold in this phase."
    if not leak.told:
        words = "Teams learn nothing of your gold in this phase."
    elif leak.is_divided:
        words = f"One team can learn {percent(leak.told)} of the public half, and nothing of the half that decides."
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
    asked = draft.visit.request.query_params.get("baseline", "")
    chosen = asked if asked in named else next(iter(named), "")
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


_CONTENTS: Mapping[str, Callable[[Draft], dict[str, Any]]] = {
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


# -------------------------------------------------------------------------------------------------------------- saving


@router.post(f"{PLACE}/{{step}}", dependencies=EDITING)
@form_again(_page)
def send_step(
    request: Request, server: ServerHere, user: SentForm, competition: str, step: str, form: SentFields
) -> Response:
    if step == "publish":
        return _send_publish(server, user, competition)
    if step not in _CHANGES:
        with reading(server.engine) as session:
            organised(session, user, competition, Right.EDIT)
        raise NotFound("There is no such step.")
    _save(server, user, competition, lambda document, files: _CHANGES[step](document, form, files, server), form)
    if step == "files":
        recheck_described_gold(server, user, competition)
    if step == "phases" and "add" in form:
        use_gold_of_new_phase(server, user, competition, form["add"])
    if form.get("stay") or "add" in form or "remove" in form:
        return RedirectResponse(links.setup(competition, step), 303)
    return RedirectResponse(links.setup(competition, _next(step)), 303)


def _next(step: str) -> str:
    names = list(STEPS)
    return names[min(names.index(step) + 1, len(names) - 1)]


def _send_publish(server: Server, user: User, competition: str) -> Response:
    now = server.clock()
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        change_life(session, found, Life(Stage.PUBLISHED), actor=user, now=now)
    return RedirectResponse(links.competition(competition), 303)


#: A document and files by path, and the two that follow.
Files = dict[str, str]
Change = Callable[[Document, Files], tuple[Document, Files]]


def _save(
    server: Server,
    user: User,
    competition: str,
    change: Change,
    form: Mapping[str, str],
    more: StoredFile | None = None,
) -> None:
    """Apply a change of a draft's declaration as an edit. more: a file that is added. Raises the errors of an edit."""
    storage, now = storage_of(server.settings), server.clock()
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        if found.stage != Stage.DRAFT:
            raise ImpossibleStage("It is published already: change it on its page Edit.")
        if more is not None:
            check_owner_bytes_left(session, found, more.size_bytes, limits_of(server.settings))
        present = present_revision(session, found)
    files = stored_files(present, storage)
    document, new = change(present.document, files)
    base = form.get("base", "")
    seen = int(base) if base.isascii() and base.isdigit() and len(base) < 10 else None
    edit_whole(server.engine, storage, Edit(competition, seen, user, "Set up"), document, {**files, **new}, now)


def _with_files(document: Document, form: Mapping[str, str], files: Files, server: Server) -> tuple[Document, Files]:
    kind = kind_of(document["tasks"][0])
    if kind is None or kind.answer is None:
        return document, {}
    form = columns.with_reported_facts(form, kind)
    changed = boards.with_possible_columns(columns.with_roles(document, kind, columns.roles_sent(form)))
    storage = storage_of(server.settings)
    items = next((files[one["items"]] for one in columns.places_of(document) if one.get("items") in files), None)
    chosen = [one for one in baselines_for(kind.answer) if form.get(f"baseline.{one.name}")]
    if items is None:
        if chosen and "baselines" in form:
            raise InvalidForm("The baselines need items.", fields={"baselines": "Upload the items first."})
        return changed, {}
    facts = Facts(form.get("usual", ""), form.get("low", ""), form.get("high", ""), form.get("copied", ""))
    return with_baselines(changed, chosen, facts, local_file(storage, items), storage)


def _with_metrics(document: Document, form: Mapping[str, str], files: Files, server: Server) -> tuple[Document, Files]:
    ticked = [name for name in metrics_offered(document["tasks"][0]) if form.get(f"metric.{name}")]
    if (
        ticked
        and set(ticked) == set(boards.shown_metrics(document))
        and form.get("ranking") == boards.rank_of(document)[0]
    ):
        return document, {}
    return boards.with_metrics(document, ticked, form.get("ranking", "")), {}


def _with_board(document: Document, form: Mapping[str, str], files: Files, server: Server) -> tuple[Document, Files]:
    keys = [one.key for one in boards.offered(document) if form.get(f"column.{one.key}")]
    return boards.with_columns(document, keys, form.get("rank", "")), {}


def _with_phases(document: Document, form: Mapping[str, str], files: Files, server: Server) -> tuple[Document, Files]:
    changed = dates.with_dates(document, form)
    if name := form.get("add"):
        changed = dates.with_phase(changed, name)
    if name := form.get("remove"):
        changed = dates.without_phase(changed, name)
    return changed, {}


def _with_visibility(
    document: Document, form: Mapping[str, str], files: Files, server: Server
) -> tuple[Document, Files]:
    changed = document
    for place, phase in enumerate(document["phases"]):
        divided = stories.is_phase_divided(document, phase)
        current = stories.story_of(phase.get("visibility") or {}, is_divided=divided)
        chosen = form.get(f"story.{place}", stories.OWN)
        if chosen != (current.name if current else stories.OWN):
            changed = stories.with_story(changed, place, chosen)
    return changed, {}


def _with_texts(document: Document, form: Mapping[str, str], files: Files, server: Server) -> tuple[Document, Files]:
    return rules.with_texts(document, form), {}


def _with_rules(document: Document, form: Mapping[str, str], files: Files, server: Server) -> tuple[Document, Files]:
    return rules.with_rules(document, form), {}


_CHANGES: Mapping[str, Callable[[Document, Mapping[str, str], Files, Server], tuple[Document, Files]]] = {
    "files": _with_files,
    "metrics": _with_metrics,
    "board": _with_board,
    "phases": _with_phases,
    "visibility": _with_visibility,
    "texts": _with_texts,
    "rules": _with_rules,
}


# --------------------------------------------------------------------------------------------------------------- items


def _show_files(visit: UserVisit, competition: str, error: EvergoldError) -> Response:
    return _page(visit, competition, "files", error=error)


@router.post(f"{PLACE}-items")
@form_again(_show_files)
async def send_items(request: Request, server: ServerHere, upload: UploadFromFiles, competition: str) -> Response:
    """Store the items that teams get, with the roles of their columns where a script sent them along."""
    owner = await run_sync(_owner, server, upload.user, competition)
    with within(await room_left(server, owner), server.settings.upload_limit_bytes) as limit_bytes:
        writer = UploadWriter(storage_of(server.settings), limit_bytes)
        fields = frozenset({csrf.FORM_FIELD, _ANSWERS})
        received = await receive(request, Policy(writer, limit_bytes, fields, upload.check))
    answers = dict(parse_qsl(received.fields.get(_ANSWERS, ""), keep_blank_values=True))
    suffix = next((one for one in _SUFFIXES if received.filename.lower().endswith(one)), ".csv")
    async with editing(request):
        await run_sync(_save_items, server, upload.user, competition, received.file, f"items{suffix}", answers)
    return RedirectResponse(links.setup(competition, "files"), 303)


def _owner(server: Server, user: User, competition: str) -> User | None:
    """Return the user whose quota the items count in; raise Forbidden, NotFound."""
    with reading(server.engine) as session:
        return owner_of(session, organised(session, user, competition, Right.EDIT))


def _save_items(
    server: Server, user: User, competition: str, file: StoredFile, path: str, answers: Mapping[str, str]
) -> None:
    storage = storage_of(server.settings)
    if path.endswith(_TABLES) and (plain := columns.plain_table(local_file(storage, file.sha256))):
        file, path = store_upload([plain], storage, server.settings.upload_limit_bytes), "items.csv"

    def change(document: Document, files: Files) -> tuple[Document, Files]:
        new = {path: file.sha256}
        document = {
            **document,
            "phases": [_with_items(phase, document["tasks"][0]["name"], path) for phase in document["phases"]],
        }
        kind = kind_of(document["tasks"][0])
        if kind is None or kind.answer is None:
            return document, new
        if answers:
            changed, made = _with_files(document, answers, {**files, **new}, server)
            return changed, {**new, **made}
        read = columns.read_columns(local_file(storage, file.sha256))
        return _with_guessed(document, read), new

    _save(server, user, competition, change, answers, file)


def _with_items(phase: Mapping[str, Any], task: str, path: str) -> dict[str, Any]:
    tasks = {name: {**asked, "items": path} if name == task else asked for name, asked in phase["tasks"].items()}
    return {**phase, "tasks": tasks}


def _with_guessed(document: Document, read: list[columns.ColumnRead]) -> Document:
    """Return the document with roles guessed from columns of items, for browsers without scripts."""
    kind = kind_of(document["tasks"][0])
    answer = columns.answer_of(document)
    by_role = {role: [one for one in read if columns.guessed_role(one, answer) is role] for role in columns.Role}
    ids = by_role[columns.Role.ID] or [one for one in read if one.different == one.rows]
    if kind is None or not ids:
        return document
    groups = {one.name: [value for value, _ in one.values] for one in by_role[columns.Role.GROUP]}
    labels = (document["tasks"][0].get("options") or {}).get("labels") or ()
    roles = columns.Roles(ids[0].name, answer, groups, labels)
    return boards.with_possible_columns(columns.with_roles(document, kind, roles))
