"""Pages on which a draft competition is set up step by step: files, metrics, board, dates, texts, rules.

Each form is saved as an edit of the declaration, like any other. A published competition is edited on other pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any
from urllib.parse import parse_qsl

from anyio.to_thread import run_sync
from fastapi import Depends, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, NotFound
from app.base.storage import StoredFile, UploadWriter, local_file, storage_of, store_upload
from app.base.text import whole_number
from app.competitions.find import organised
from app.competitions.life import ImpossibleStage, Life, change_life
from app.competitions.organisers import check_owner_bytes_left, limits_of
from app.competitions.readiness import readiness
from app.declarations.blueprints import stories
from app.declarations.blueprints.forms import in_words
from app.declarations.edits.checking import ProposedDeclaration
from app.declarations.edits.edit import Edit, edit_whole
from app.declarations.edits.export import stored_files
from app.declarations.revisions.documents import Document
from app.declarations.revisions.kept import present_revision
from app.declarations.setup import boards, columns, dates, rules
from app.declarations.setup.baselines import BaselineFacts, baselines_for, with_baselines
from app.declarations.setup.kinds import kind_of, metrics_offered
from app.models import RevisionSource, Right, Stage
from app.web.declarations.editing_turns import EDITING, editing
from app.web.declarations.setup_contents import CONTENTS, Draft
from app.web.declarations.setup_gold import recheck_described_gold, use_gold_of_new_phase
from app.web.html.guards import FormSender, PageUserVisit, SentFields, SentForm, SentUpload, form_again, upload_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import desk_of
from app.web.http import csrf
from app.web.http.context import Server
from app.web.http.multipart import Policy, receive
from app.web.http.room import room_left_in, within
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit

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
#: The form field with columns, labels and groups (form-encoded) that accompanies an upload of items.
_ANSWERS = "answers"
_TABLES = (".csv", ".tsv", ".txt")
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".zip", ".cupt")


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
        raise NotFound("This step does not exist.")
    if found.stage != Stage.DRAFT:
        return RedirectResponse(links.edit(competition), 303)
    draft = Draft(visit, found, present_revision(visit.session, found))
    points = readiness(visit.session, found, visit.now)
    return render_page(
        visit,
        f"declarations/setup/{step}.html",
        may_store=False,
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
        **CONTENTS[step](draft),
    )


# -------------------------------------------------------------------------------------------------------------- saving


@router.post(f"{PLACE}/{{step}}", dependencies=EDITING)
@form_again(_page)
def send_step(sender: SentForm, competition: str, step: str, form: SentFields) -> Response:
    if step == "publish":
        return _send_publish(sender, competition)
    if step not in _CHANGES:
        with reading(sender.server.engine) as session:
            organised(session, sender.user, competition, Right.EDIT)
        raise NotFound("This step does not exist.")
    _save(
        sender,
        competition,
        lambda document, files: _CHANGES[step](document, form, files, sender.server),
        form,
    )
    if step == "files":
        recheck_described_gold(sender.server, sender.user, competition)
    if step == "phases" and "add" in form:
        use_gold_of_new_phase(sender.server, sender.user, competition, form["add"])
    if form.get("stay") or "add" in form or "remove" in form:
        return RedirectResponse(links.setup(competition, step), 303)
    return RedirectResponse(links.setup(competition, _next(step)), 303)


def _next(step: str) -> str:
    names = list(STEPS)
    return names[min(names.index(step) + 1, len(names) - 1)]


def _send_publish(sender: FormSender, competition: str) -> Response:
    now = sender.server.clock()
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.EDIT)
        change_life(session, found, Life(Stage.PUBLISHED), actor=sender.user, now=now)
    return RedirectResponse(links.competition(competition), 303)


#: A document and its files by path, before and after a change.
Files = dict[str, str]
Change = Callable[[Document, Files], tuple[Document, Files]]


def _save(
    sender: FormSender,
    competition: str,
    change: Change,
    form: Mapping[str, str],
    more: StoredFile | None = None,
) -> None:
    """Apply a change of a draft's declaration as an edit. more: a file to add. Raises the errors of an edit."""
    storage, now = storage_of(sender.server.settings), sender.server.clock()
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.EDIT)
        if found.stage != Stage.DRAFT:
            raise ImpossibleStage("The competition is already published: change it on its page Edit.")
        if more is not None:
            check_owner_bytes_left(session, found, more.size_bytes, limits_of(sender.server.settings))
        present = present_revision(session, found)
    files = stored_files(present, storage)
    document, new = change(present.document, files)
    seen = whole_number(form.get("base", ""))
    wanted = ProposedDeclaration(document, {**files, **new}, RevisionSource.EDIT)
    edit_whole(sender.server.engine, storage, Edit(competition, seen, sender.user, "Set up"), wanted, now)


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
    facts = BaselineFacts(form.get("usual", ""), form.get("low", ""), form.get("high", ""), form.get("copied", ""))
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
async def send_items(upload: UploadFromFiles, competition: str) -> Response:
    """Store the items that teams download, and the roles of their columns if the page's script sent them."""
    room = await room_left_in(upload.server, upload.user, competition)
    with within(room, upload.server.settings.upload_limit_bytes) as limit_bytes:
        writer = UploadWriter(storage_of(upload.server.settings), limit_bytes)
        fields = frozenset({csrf.FORM_FIELD, _ANSWERS})
        received = await receive(upload.request, Policy(writer, limit_bytes, fields, upload.check))
    answers = dict(parse_qsl(received.fields.get(_ANSWERS, ""), keep_blank_values=True))
    suffix = next((one for one in _SUFFIXES if received.filename.lower().endswith(one)), ".csv")
    async with editing(upload.request):
        await run_sync(_save_items, upload, competition, received.file, f"items{suffix}", answers)
    return RedirectResponse(links.setup(competition, "files"), 303)


def _save_items(sender: FormSender, competition: str, file: StoredFile, path: str, answers: Mapping[str, str]) -> None:
    storage = storage_of(sender.server.settings)
    if path.endswith(_TABLES) and (plain := columns.plain_table(local_file(storage, file.sha256))):
        file, path = store_upload([plain], storage, sender.server.settings.upload_limit_bytes), "items.csv"

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
            changed, made = _with_files(document, answers, {**files, **new}, sender.server)
            return changed, {**new, **made}
        read = columns.read_columns(local_file(storage, file.sha256))
        return _with_guessed(document, read), new

    _save(sender, competition, change, answers, file)


def _with_items(phase: Mapping[str, Any], task: str, path: str) -> dict[str, Any]:
    tasks = {
        name: {**declaration, "items": path} if name == task else declaration
        for name, declaration in phase["tasks"].items()
    }
    return {**phase, "tasks": tasks}


def _with_guessed(document: Document, read: list[columns.ColumnRead]) -> Document:
    """Return the document with column roles guessed from the items, for browsers without scripts."""
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
