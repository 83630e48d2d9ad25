"""Pages of a blueprint, which becomes a competition: its steps and parts, its files, its preview."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Query, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError
from app.base.storage import Storage, local_file, storage_of
from app.base.text import whole_number
from app.declarations.blueprints import forms, schemas
from app.declarations.blueprints.build import build_changes, build_competition, problems_of
from app.declarations.blueprints.kept import find_blueprint, remove_file, save_document, throw_away
from app.declarations.blueprints.preview import baseline_scores, boards_of, declaration_of
from app.declarations.blueprints.stories import is_phase_divided, seen_when
from app.declarations.edits.edit import NOTE_CHARACTERS, Edit, Outcome
from app.declarations.edits.texts import read_declaration, yaml_of
from app.declarations.images.texts import image_texts, media_type_of
from app.declarations.leaks import declared_leaks
from app.declarations.revisions.documents import Document
from app.models import Blueprint, User
from app.texts.html import Images, ShownImage
from app.web.declarations.blueprint_aids import calendar_aid, visibility_aid, with_story_sent
from app.web.declarations.blueprint_receiving import receive_file
from app.web.declarations.editing_turns import EDITING
from app.web.html.guards import FormSender, PageUserVisit, SentFields, SentUpload, form_again, form_guard, upload_guard
from app.web.html.rendering import render_page
from app.web.http.context import Server
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit, user_visit_of
from evergold.scoring.halves import SEED_CHARACTERS
from evergold.scoring.task import Metric
from evergold.scoring.tasks import TASKS

router = page_router()

PLACE = "/organise/{blueprint_id}"
FromPlace = Annotated[FormSender, Depends(form_guard(PLACE))]
UploadFromPlace = Annotated[SentUpload, Depends(upload_guard(PLACE))]
At = Annotated[str, Query(max_length=1000)]
#: The steps in their usual order: key of the declaration, title, explanation.
STEPS = (
    ("tasks", "Tasks", "The type of each task, and its options."),
    ("phases", "Phases and dates", "Dates, tasks with their items and baselines, limits, visibility."),
    ("boards", "Boards and columns", "Which scores are shown, and which one ranks."),
    ("tracks", "Tracks", "Kinds of systems that compete separately."),
    ("registration", "Registration and terms", "Who may take part, and which terms they accept first."),
    ("teams", "Teams", "How large teams may be."),
    ("method_card", "Method cards", "Questions to teams about their systems."),
    ("citation", "Citation", "Authors, paper, licence."),
)


# ------------------------------------------------------------------------------------------------------------ overview


@router.get(PLACE, dependencies=EDITING)
def read_blueprint(visit: PageUserVisit, blueprint_id: RowId) -> Response:
    return _page(visit, blueprint_id)


def _page(
    visit: UserVisit,
    blueprint_id: int,
    form: Mapping[str, str] | None = None,
    outcome: Outcome | None = None,
    error: EvergoldError | None = None,
) -> Response:
    blueprint, problems = _looked_at(visit.server, visit.user, blueprint_id)
    typed = form or {}
    steps = [(name, title, hint, schemas.part_at(blueprint.document, (name,))) for name, title, hint in STEPS]
    return render_page(
        visit,
        "declarations/blueprint.html",
        may_store=False,
        blueprint=blueprint,
        title=forms.title_of(blueprint.document, ()) if not blueprint.document.get("title") else None,
        steps=steps,
        parts={name: _elements(blueprint.document, name) for name, *_ in STEPS},
        asked=_tasks_by_phase(blueprint.document),
        **calendar_aid(visit.server, blueprint.document),
        problems=problems,
        places={
            path: forms.located(blueprint.document, path) for path in (*problems, *(error.fields if error else ()))
        },
        text=typed.get("yaml") or yaml_of(blueprint.document),
        note=typed.get("note", ""),
        note_characters=NOTE_CHARACTERS,
        outcome=outcome,
        faults=error.fields if error else {},
        error=error,
    )


def _looked_at(server: Server, user: User, blueprint_id: int) -> tuple[Blueprint, dict[str, str]]:
    """Return the blueprint, and all its problems in words by path."""
    with reading(server.engine) as session:
        blueprint = find_blueprint(session, user, blueprint_id)
    settings = server.settings
    problems = problems_of(server.engine, storage_of(settings), user, blueprint_id, server.clock())
    return blueprint, {path: forms.in_words(path, sentence) for path, sentence in problems.items()}


def _elements(document: Document, name: str) -> list[tuple[str, str]]:
    """Return the title and the address of those list elements that have separate pages."""
    return list(next(one.parts for one in forms.fields_of(document, ()) if one.name == name))


def _tasks_by_phase(document: Document) -> dict[str, list[str]]:
    """Return the names of the tasks of each phase, by the phase's address."""
    found = {at: schemas.part_at(document, (*forms.steps_of(at), "tasks")) for _, at in _elements(document, "phases")}
    return {at: list(tasks) if isinstance(tasks, dict) else [] for at, tasks in found.items()}


# ------------------------------------------------------------------------------------------------------------- preview


@router.get("/organise/{blueprint_id}/preview", dependencies=EDITING)
def read_preview(visit: PageUserVisit, blueprint_id: RowId) -> Response:
    blueprint = find_blueprint(visit.session, visit.user, blueprint_id)
    declared = declaration_of(blueprint.document)
    scored = baseline_scores(visit.session, visit.user, blueprint, declared) if declared else {}
    phases = blueprint.document["phases"] if declared else []
    return render_page(
        visit,
        "declarations/preview.html",
        may_store=False,
        blueprint=blueprint,
        declared=declared,
        phases=list(
            zip(
                declared.phases if declared else (),
                [
                    seen_when(
                        phase, phase.get("visibility") or {}, is_divided=is_phase_divided(blueprint.document, phase)
                    )
                    for phase in phases
                ],
                strict=True,
            )
        ),
        boards=boards_of(declared, scored) if declared else [],
        leaks=list(declared_leaks(declared, _finder(blueprint, storage_of(visit.server.settings)))) if declared else [],
        images=_images(blueprint),
        **calendar_aid(visit.server, blueprint.document),
    )


def _finder(blueprint: Blueprint, storage: Storage) -> Callable[[str], Path | None]:
    """Return a function that finds uploaded files of the draft by path."""
    known = {file.path: file.sha256 for file in blueprint.files}
    return lambda path: local_file(storage, known[path]) if path in known else None


def _images(blueprint: Blueprint) -> Images:
    """Return the uploaded images of the draft by path."""
    address = links.organise(blueprint.id, "images")
    paths = [file.path for file in blueprint.files if media_type_of(file.path)]
    return {path: ShownImage(f"{address}?path={quote(path)}") for path in paths}


# -------------------------------------------------------------------------------------------------------------- a part


@router.get(f"{PLACE}/part", dependencies=EDITING)
def read_part(visit: PageUserVisit, blueprint_id: RowId, at: At = "") -> Response:
    return part_page(visit, blueprint_id, at)


def part_page(visit: UserVisit, blueprint_id: int, at: str = "", error: EvergoldError | None = None) -> Response:
    blueprint, problems = _looked_at(visit.server, visit.user, blueprint_id)
    document, steps = blueprint.document, forms.steps_of(at)
    fields = forms.fields_of(document, steps)
    return render_page(
        visit,
        "declarations/part.html",
        may_store=False,
        blueprint=blueprint,
        at=at,
        heading=forms.title_of(document, steps),
        crumbs=_crumbs(blueprint, steps),
        fields=[one for one in fields if steps or one.name not in _APART],
        problems=problems,
        places={path: forms.located(document, path) for path in problems},
        metrics=_metrics_at(document, steps),
        here=problems.get(forms.path_of(document, steps)) if steps else None,
        files=[file.path for file in blueprint.files],
        texts=image_texts(fields, steps),
        task_names=_task_names(document, steps),
        can_be_removed=len(steps) > 1,
        error=error,
        faults=error.fields if error else {},
        **(calendar_aid(visit.server, document) if steps[:1] == ("phases",) and len(steps) == 2 else _NO_CALENDAR),
        **visibility_aid(document, steps),
    )


def _metrics_at(document: Document, steps: schemas.Steps) -> Mapping[str, Metric]:
    """Return the metrics of the task whose options these steps lead to, by name."""
    task = schemas.part_at(document, steps[:-1]) if steps[-1:] == ("options",) else None
    type_ = TASKS.get(task.get("type", "")) if isinstance(task, dict) else None
    return type_.metrics if type_ is not None else {}


_NO_CALENDAR: dict[str, None] = {"calendar": None}
#: These have pages of their own; all other keys are in the first form.
_APART = {name for name, *_ in STEPS} - {"tracks"}


def _crumbs(blueprint: Blueprint, steps: schemas.Steps) -> list[tuple[str, str]]:
    document = blueprint.document
    found = [(str(document.get("title") or document.get("name") or "Competition"), links.organise(blueprint.id))]
    for end in range(1, len(steps)):
        if isinstance(schemas.part_at(document, steps[:end]), dict) and "properties" in schemas.schema_at(
            document, steps[:end]
        ):
            above = steps[:end]
            found.append((forms.title_of(document, above), links.organise(blueprint.id, "part", "/".join(above))))
    return found


def _task_names(document: Document, steps: schemas.Steps) -> list[str]:
    """Return the tasks that the phase does not have yet."""
    if steps[:1] != ("phases",) or len(steps) != 2:
        return []
    used = schemas.part_at(document, (*steps, "tasks")) or {}
    tasks = [one for one in document.get("tasks") or [] if isinstance(one, dict)]
    return [str(one["name"]) for one in tasks if one.get("name") and one["name"] not in used]


@router.post(f"{PLACE}/part", dependencies=EDITING)
@form_again(part_page)
def send_part(sender: FromPlace, blueprint_id: RowId, form: SentFields, at: At = "") -> Response:
    steps = forms.steps_of(at)
    if form.get("make") == "seed":
        form = {**form, "seed": secrets.token_hex(SEED_CHARACTERS)}

    def changed(document: Document) -> Document:
        return with_story_sent(forms.with_form(document, steps, form), steps, document, form)

    _change(sender, blueprint_id, form, changed)
    if form.get("action") == "more":
        return RedirectResponse(links.organise(blueprint_id, "part", at), 303)
    return RedirectResponse(f"{links.organise(blueprint_id, 'part', at)}#saved", 303)


@router.post(f"{PLACE}/add", dependencies=EDITING)
@form_again(_page)
def send_new(sender: FromPlace, blueprint_id: RowId, form: SentFields, at: At) -> Response:
    steps = forms.steps_of(at)
    document = _change(
        sender,
        blueprint_id,
        form,
        lambda document: forms.with_new(document, steps, form.get("name", "").strip()),
    )
    inside = schemas.part_at(document, steps)
    last = str(len(inside) - 1) if isinstance(inside, list) else form.get("name", "").strip()
    return RedirectResponse(links.organise(blueprint_id, "part", "/".join((*steps, last))), 303)


@router.post(f"{PLACE}/remove", dependencies=EDITING)
@form_again(_page)
def send_removal(sender: FromPlace, blueprint_id: RowId, form: SentFields, at: At) -> Response:
    _change(sender, blueprint_id, form, lambda document: forms.without(document, forms.steps_of(at)))
    return RedirectResponse(links.organise(blueprint_id), 303)


@router.post(f"{PLACE}/yaml", dependencies=EDITING)
@form_again(_page)
def send_yaml(sender: FromPlace, blueprint_id: RowId, form: SentFields) -> Response:
    document = read_declaration(form.get("yaml", ""))
    _change(sender, blueprint_id, form, lambda _: document)
    return RedirectResponse(links.organise(blueprint_id), 303)


def _change(
    sender: FormSender,
    blueprint_id: int,
    form: Mapping[str, str],
    change: Callable[[Document], Document],
) -> Document:
    """Change the blueprint and return its new document; raise ChangedMeanwhile if the form shows an outdated version.

    The form is parsed before anything is locked: saving checks that no newer version exists.
    """
    seen = whole_number(form.get("version", "")) or 0
    with reading(sender.server.engine) as session:
        document = find_blueprint(session, sender.user, blueprint_id).document
    changed = change(document)
    with writing(sender.server.engine) as session:
        return save_document(sender.act(session), blueprint_id, seen, changed).document


# --------------------------------------------------------------------------------------------------------------- files


@router.post(f"{PLACE}/files")
@form_again(_page)
async def send_file(upload: UploadFromPlace, blueprint_id: RowId) -> Response:
    await receive_file(upload, blueprint_id)
    return RedirectResponse(f"{links.organise(blueprint_id)}#files", 303)


@router.post(f"{PLACE}/files/remove")
def send_file_removal(sender: FromPlace, blueprint_id: RowId, form: SentFields) -> Response:
    with writing(sender.server.engine) as session:
        remove_file(session, find_blueprint(session, sender.user, blueprint_id, lock=True), form.get("path", ""))
    return RedirectResponse(f"{links.organise(blueprint_id)}#files", 303)


# --------------------------------------------------------------------------------------------------------------- ready


@router.post(f"{PLACE}/build", dependencies=EDITING)
@form_again(_page)
def send_build(sender: FromPlace, blueprint_id: RowId, form: SentFields) -> Response:
    """Build the blueprint: a new competition becomes a draft; changes are previewed first, and then applied."""
    engine, settings, now = sender.server.engine, sender.server.settings, sender.server.clock()
    with reading(engine) as session:
        blueprint = find_blueprint(session, sender.user, blueprint_id)
    if blueprint.competition is None:
        name = build_competition(engine, settings, sender.user, blueprint_id, now)
        return RedirectResponse(links.life(name), 303)
    is_preview = form.get("action") != "apply"
    note = form.get("note", "").strip()
    edit = Edit(blueprint.competition.name, blueprint.base, sender.user, note, is_preview, form.get("previewed"))
    outcome = build_changes(engine, storage_of(settings), sender.user, blueprint_id, edit, now)
    if outcome.revision is not None:
        return RedirectResponse(links.history(blueprint.competition.name, outcome.revision), 303)
    with user_visit_of(sender.request, sender.user) as visit:
        return _page(visit, blueprint_id, form, outcome)


@router.post(f"{PLACE}/discard")
def send_discard(sender: FromPlace, blueprint_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        throw_away(session, find_blueprint(session, sender.user, blueprint_id, lock=True))
    return RedirectResponse(links.organise(), 303)
