"""Pages on which a competition is made in the browser: start, steps, preview, and hints while typing."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm, NameTaken
from app.base.storage import Storage, local_file, storage_of
from app.base.text import one_line, refuse, wrong_text
from app.competitions.calendar import calendar_of
from app.competitions.find import organised, organised_by
from app.competitions.organisers import OrganiserLimits, check_may_create, limits_of, may_create
from app.declarations.blueprints import forms, schemas, stories
from app.declarations.blueprints.abandoned import clears_at
from app.declarations.blueprints.build import build_changes, build_competition, build_draft, problems_of
from app.declarations.blueprints.kept import (
    begin_blueprint,
    begin_changes,
    begin_copy,
    find_blueprint,
    list_blueprints,
    remove_file,
    save_document,
    throw_away,
)
from app.declarations.blueprints.preview import baseline_scores, boards_of, declaration_of
from app.declarations.blueprints.stories import copied_document, dates_of, first_document, is_phase_divided, seen_when
from app.declarations.edits.edit import NOTE_CHARACTERS, Edit, Outcome
from app.declarations.edits.texts import read_declaration, yaml_of
from app.declarations.images.texts import image_texts, media_type_of
from app.declarations.leaks import declared_leaks
from app.declarations.revisions.documents import Document
from app.declarations.revisions.kept import present_revision
from app.declarations.setup.kinds import KINDS, begun_document, kind_named, name_from
from app.declarations.values import NAME_PATTERN
from app.models import Blueprint, Right, User
from app.texts.html import Images, ShownImage
from app.web.declarations.blueprint_receiving import receive_file, receive_zip
from app.web.declarations.bundle_receiving import receive_bundle
from app.web.declarations.editing_turns import EDITING
from app.web.html.guards import (
    PageUserVisit,
    SentFields,
    SentForm,
    SentUpload,
    form_again,
    form_guard,
    upload_guard,
)
from app.web.html.rendering import render, render_page
from app.web.http.context import Server, ServerHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit, user_visit_of
from evergold.scoring.halves import SEED_CHARACTERS
from evergold.scoring.task import Metric
from evergold.scoring.tasks import TASKS


def calendar_aid(server: Server, document: Document) -> dict[str, Any]:
    """Return a drawing of the phases, and the titles of those without valid dates."""
    dates, undated = dates_of(document)
    calendar = calendar_of(dates, server.clock())
    wide, narrow = (calendar.wide, calendar.narrow) if calendar else ("", "")
    drawn = {"wide": Markup(wide), "narrow": Markup(narrow)}  # noqa: S704 - escaped by ElementTree
    return {"calendar": calendar, "undated": undated, **drawn}


def visibility_aid(document: Document, steps: schemas.Steps) -> dict[str, Any]:
    """Return the presets, the current one, and what each shows when; empty values outside a visibility form."""
    place = phase_of_visibility(steps)
    phase = schemas.part_at(document, steps[:2]) if place is not None else None
    if not isinstance(phase, dict):
        return {"stories": [], "story": None, "own_mixture": None}
    kept = phase.get("visibility")
    said: Mapping[str, Any] = kept if isinstance(kept, dict) else {}
    divided = stories.is_phase_divided(document, phase)
    story = stories.story_of(said, is_divided=divided)
    shown = [
        (one, stories.seen_when(phase, {**said, **one.keys}, is_divided=one.divides(divided)))
        for one in stories.STORIES
    ]
    own = stories.seen_when(phase, said, is_divided=divided) if story is None else None
    return {"stories": shown, "story": story.name if story else stories.OWN, "own_mixture": own}


def with_story_sent(document: Document, steps: schemas.Steps, before: Document, form: Mapping[str, str]) -> Document:
    """Return the document with the preset chosen in the form.

    document: with the form's values; before: without. A newly chosen preset sets its keys; the same preset, or a custom
    mixture, leaves those of the form.
    """
    place = phase_of_visibility(steps)
    if place is None:
        return document
    said = schemas.part_at(before, steps)
    phase = schemas.part_at(before, steps[:2])
    divided = isinstance(phase, dict) and stories.is_phase_divided(before, phase)
    story = stories.story_of(said if isinstance(said, dict) else {}, is_divided=divided)
    chosen = form.get("story", "")
    return document if chosen == (story.name if story else stories.OWN) else stories.with_story(document, place, chosen)


def phase_of_visibility(steps: schemas.Steps) -> int | None:
    """Return the position of the phase whose visibility is at these steps, or None."""
    is_there = len(steps) == 3 and steps[0] == "phases" and schemas.is_position(steps[1]) and steps[2] == "visibility"
    return int(steps[1]) if is_there else None


router = page_router()


@router.get("/organise/{blueprint_id}/preview", dependencies=EDITING)
def read_preview(visit: PageUserVisit, blueprint_id: RowId) -> Response:
    blueprint = find_blueprint(visit.session, visit.user, blueprint_id)
    declared = declaration_of(blueprint.document)
    scored = baseline_scores(visit.session, visit.user, blueprint, declared) if declared else {}
    phases = blueprint.document["phases"] if declared else []
    response = render_page(
        visit,
        "declarations/preview.html",
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
    response.headers["Cache-Control"] = "no-store"
    return response


def _finder(blueprint: Blueprint, storage: Storage) -> Callable[[str], Path | None]:
    """Return a function that finds uploaded files of the draft by path."""
    known = {file.path: file.sha256 for file in blueprint.files}
    return lambda path: local_file(storage, known[path]) if path in known else None


def _images(blueprint: Blueprint) -> Images:
    """Return the uploaded images of the draft by path."""
    address = links.organise(blueprint.id, "images")
    paths = [file.path for file in blueprint.files if media_type_of(file.path)]
    return {path: ShownImage(f"{address}?path={quote(path)}") for path in paths}


START = "/organise"
FromStart = Annotated[SentUpload, Depends(upload_guard(START))]
FromEdit = Annotated[User, Depends(form_guard("/competitions/{competition}/edit"))]


@router.get(START)
def read_start(visit: PageUserVisit) -> Response:
    return _start_page(visit)


def _start_page(
    visit: UserVisit,
    form: Mapping[str, str] | None = None,
    error: EvergoldError | None = None,
) -> Response:
    user = visit.user
    blueprints = list_blueprints(visit.session, user)
    own = organised_by(visit.session, user)
    return render_page(
        visit,
        "declarations/organise.html",
        blueprints=[(one, clears_at(one, visit.server.settings.blueprint_days)) for one in blueprints],
        own=own,
        may_create=may_create(user, visit.server.settings.organise),
        rule=visit.server.settings.organise,
        kinds=KINDS,
        task_types=sorted(TASKS.values(), key=lambda one: one.title),
        typed=form or {},
        faults=error.fields if error else {},
        error=error,
    )


@router.post(START)
@form_again(_start_page)
def send_start(request: Request, server: ServerHere, user: SentForm, form: SentFields) -> Response:
    check_may_create(user, server.settings.organise)
    if "kind" in form:
        return RedirectResponse(links.setup(_begin_draft(server, user, form), "files"), 303)
    with writing(server.engine) as session:
        blueprint = _begin(session, user, form, limits_of(server.settings), server.clock())
        return RedirectResponse(links.organise(blueprint.id), 303)


def _begin_draft(server: Server, user: User, form: Mapping[str, str]) -> str:
    """Create a draft from a title and a kind of answers; return its name, which follows from the title."""
    title, kind = one_line(form.get("title", "")), kind_named(form.get("kind", ""))
    refuse({"title": wrong_text(title, 200), "kind": "" if kind else "Choose what systems send."})
    if kind is None:
        raise InvalidForm("Choose what systems send.")
    typed, limits, now = form.get("name", "").strip(), limits_of(server.settings), server.clock()
    if typed and not _is_name(typed):
        refuse({"name": _NAME_WORDS})
    storage, name = storage_of(server.settings), typed or name_from(title)
    for number in range(2, _NAMES_TRIED):
        try:
            return build_draft(server.engine, storage, user, begun_document(name, title, kind, now), limits, now)
        except NameTaken:
            if typed:
                raise
            name = f"{name_from(title)}-{number}"
    raise NameTaken("Many competitions have a title like this: choose a name for addresses.")


def _begin(session: Session, user: User, form: Mapping[str, str], limits: OrganiserLimits, now: datetime) -> Blueprint:
    name, title = form.get("name", "").strip(), one_line(form.get("title", ""))
    copied, task_type = form.get("copy", ""), form.get("type", "")
    refuse(
        {
            "title": wrong_text(title, 200),
            "name": "" if _is_name(name) else _NAME_WORDS,
            "type": "" if copied else _wrong_type(task_type),
        }
    )
    if not copied:
        return begin_blueprint(session, user, first_document(name, title, task_type, now), now)
    found = organised(session, user, copied, Right.EDIT)
    document = copied_document(present_revision(session, found).document, name, title)
    return begin_copy(session, user, found, document, limits, now)


def _wrong_type(task_type: str) -> str:
    """Describe what is wrong with a task type to begin with; empty if nothing is."""
    if task_type not in TASKS:
        return "Choose a task type."
    if TASKS[task_type].run is None:
        return ""
    return "Your own program comes with its files: zip its folder with a competition.yaml, and upload that below."


_NAME_WORDS = "Lower-case letters a-z, digits, and single hyphens between them."
#: How many names are tried for titles that are alike.
_NAMES_TRIED = 30


def _is_name(name: str) -> bool:
    return len(name) <= 60 and re.fullmatch(NAME_PATTERN, name) is not None


def _show_upload_form(visit: UserVisit, upload: SentUpload, error: EvergoldError) -> Response:
    return _start_page(visit, upload.fields, error)


@router.post(f"{START}/zip")
@form_again(_show_upload_form)
async def send_zip(request: Request, server: ServerHere, upload: FromStart) -> Response:
    return RedirectResponse(links.organise(await receive_zip(request, server, upload.user, upload.check)), 303)


#: Sections of the page behind an import: fate of keys, title, and the sentence where there is none.
_FATES = (
    ("open", "Open: something is to be done", "Nothing is open."),
    ("assumed", "Assumed: the bundle leaves it open", "Nothing was assumed."),
    ("none", "No counterpart here", "Every key has a counterpart."),
    ("became", "What became what", "Nothing."),
)


@router.post(f"{START}/bundle")
@form_again(_show_upload_form)
async def send_bundle(request: Request, server: ServerHere, upload: FromStart) -> Response:
    made = await receive_bundle(request, server, upload)
    return _no_store(render(request, "declarations/imported.html", made=made, fates=_FATES))


@router.post("/competitions/{competition}/rewrite")
def send_rewrite(server: ServerHere, user: FromEdit, competition: str) -> Response:
    """Changes of everything that it declares begin, or go on."""
    with writing(server.engine) as session:
        blueprint = begin_changes(session, user, organised(session, user, competition, Right.EDIT), server.clock())
        return RedirectResponse(links.organise(blueprint.id), 303)


PLACE = "/organise/{blueprint_id}"
FromPlace = Annotated[User, Depends(form_guard(PLACE))]
UploadFromPlace = Annotated[SentUpload, Depends(upload_guard(PLACE))]
At = Annotated[str, Query(max_length=1000)]
#: The steps in their usual order: key of the declaration, title, explanation.
STEPS = (
    ("tasks", "Tasks", "The type of each task, and its options."),
    ("phases", "Phases and dates", "When; which tasks with which items and baselines; limits; visibility."),
    ("boards", "Boards and columns", "Which scores are shown, and which one ranks."),
    ("tracks", "Tracks", "Kinds of systems that compete apart."),
    ("registration", "Registration and terms", "Who may take part, and what they accept first."),
    ("teams", "Teams", "How large they may be."),
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
    return _no_store(
        render_page(
            visit,
            "declarations/blueprint.html",
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
    )


def _looked_at(server: Server, user: User, blueprint_id: int) -> tuple[Blueprint, dict[str, str]]:
    """Return the draft and all its problems by path."""
    with reading(server.engine) as session:
        blueprint = find_blueprint(session, user, blueprint_id)
    settings = server.settings
    problems = problems_of(server.engine, storage_of(settings), user, blueprint_id, server.clock())
    return blueprint, {path: forms.in_words(path, sentence) for path, sentence in problems.items()}


def _elements(document: Document, name: str) -> list[tuple[str, str]]:
    """Return title and address of the list elements that have a page of their own."""
    field = next((one for one in forms.fields_of(document, ()) if one.name == name), None)
    return list(field.parts) if field is not None and field.kind == "list" else []


def _tasks_by_phase(document: Document) -> dict[str, list[str]]:
    """Return the names of the tasks of each phase, by the phase's address."""
    found = {at: schemas.part_at(document, (*forms.steps_of(at), "tasks")) for _, at in _elements(document, "phases")}
    return {at: list(tasks) if isinstance(tasks, dict) else [] for at, tasks in found.items()}


# -------------------------------------------------------------------------------------------------------------- a part


@router.get(f"{PLACE}/part", dependencies=EDITING)
def read_part(visit: PageUserVisit, blueprint_id: RowId, at: At = "") -> Response:
    return part_page(visit, blueprint_id, at)


def part_page(visit: UserVisit, blueprint_id: int, at: str = "", error: EvergoldError | None = None) -> Response:
    blueprint, problems = _looked_at(visit.server, visit.user, blueprint_id)
    document, steps = blueprint.document, forms.steps_of(at)
    fields = forms.fields_of(document, steps)
    return _no_store(
        render_page(
            visit,
            "declarations/part.html",
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
    asked = schemas.part_at(document, (*steps, "tasks")) or {}
    tasks = [one for one in document.get("tasks") or [] if isinstance(one, dict)]
    return [str(one["name"]) for one in tasks if one.get("name") and one["name"] not in asked]


@router.post(f"{PLACE}/part", dependencies=EDITING)
@form_again(part_page)
def send_part(
    request: Request,
    server: ServerHere,
    user: FromPlace,
    blueprint_id: RowId,
    form: SentFields,
    at: At = "",
) -> Response:
    steps = forms.steps_of(at)
    if form.get("make") == "seed":
        form = {**form, "seed": secrets.token_hex(SEED_CHARACTERS)}

    def changed(document: Document) -> Document:
        return with_story_sent(forms.with_form(document, steps, form), steps, document, form)

    _change(server, user, blueprint_id, form, changed)
    if form.get("action") == "more":
        return RedirectResponse(links.organise(blueprint_id, "part", at), 303)
    return RedirectResponse(f"{links.organise(blueprint_id, 'part', at)}#saved", 303)


@router.post(f"{PLACE}/add", dependencies=EDITING)
@form_again(_page)
def send_new(
    request: Request,
    server: ServerHere,
    user: FromPlace,
    blueprint_id: RowId,
    form: SentFields,
    at: At,
) -> Response:
    steps = forms.steps_of(at)
    document = _change(
        server, user, blueprint_id, form, lambda document: forms.with_new(document, steps, form.get("name", "").strip())
    )
    inside = schemas.part_at(document, steps)
    last = str(len(inside) - 1) if isinstance(inside, list) else form.get("name", "").strip()
    return RedirectResponse(links.organise(blueprint_id, "part", "/".join((*steps, last))), 303)


@router.post(f"{PLACE}/remove", dependencies=EDITING)
@form_again(_page)
def send_removal(
    request: Request,
    server: ServerHere,
    user: FromPlace,
    blueprint_id: RowId,
    form: SentFields,
    at: At,
) -> Response:
    _change(server, user, blueprint_id, form, lambda document: forms.without(document, forms.steps_of(at)))
    return RedirectResponse(links.organise(blueprint_id), 303)


@router.post(f"{PLACE}/yaml", dependencies=EDITING)
@form_again(_page)
def send_yaml(request: Request, server: ServerHere, user: FromPlace, blueprint_id: RowId, form: SentFields) -> Response:
    document = read_declaration(form.get("yaml", ""))
    _change(server, user, blueprint_id, form, lambda _: document)
    return RedirectResponse(links.organise(blueprint_id), 303)


def _change(
    server: Server,
    user: User,
    blueprint_id: int,
    form: Mapping[str, str],
    change: Callable[[Document], Document],
) -> Document:
    """Change the draft and return its new document; raise ChangedMeanwhile for a form of an outdated version.

    The form is parsed before anything is locked: saving checks that no other version has been saved since.
    """
    version = form.get("version", "")
    seen = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0
    with reading(server.engine) as session:
        document = find_blueprint(session, user, blueprint_id).document
    changed = change(document)
    with writing(server.engine) as session:
        return save_document(session, user, blueprint_id, seen, changed, server.clock()).document


# --------------------------------------------------------------------------------------------------------------- files


@router.post(f"{PLACE}/files")
@form_again(_page)
async def send_file(request: Request, server: ServerHere, upload: UploadFromPlace, blueprint_id: RowId) -> Response:
    await receive_file(request, server, upload, blueprint_id)
    return RedirectResponse(f"{links.organise(blueprint_id)}#files", 303)


@router.post(f"{PLACE}/files/remove")
def send_file_removal(server: ServerHere, user: FromPlace, blueprint_id: RowId, form: SentFields) -> Response:
    with writing(server.engine) as session:
        remove_file(session, find_blueprint(session, user, blueprint_id, lock=True), form.get("path", ""))
    return RedirectResponse(f"{links.organise(blueprint_id)}#files", 303)


# --------------------------------------------------------------------------------------------------------------- ready


@router.post(f"{PLACE}/build", dependencies=EDITING)
@form_again(_page)
def send_build(
    request: Request, server: ServerHere, user: FromPlace, blueprint_id: RowId, form: SentFields
) -> Response:
    """A new competition becomes a draft; changes are shown first, and made when they were looked at."""
    engine, settings, now = server.engine, server.settings, server.clock()
    with reading(engine) as session:
        blueprint = find_blueprint(session, user, blueprint_id)
    if blueprint.competition is None:
        name = build_competition(engine, storage_of(settings), user, blueprint_id, limits_of(settings), now)
        return RedirectResponse(links.life(name), 303)
    is_preview = form.get("action") != "apply"
    note = form.get("note", "").strip()
    edit = Edit(blueprint.competition.name, blueprint.base, user, note, is_preview, form.get("previewed"))
    outcome = build_changes(engine, storage_of(settings), user, blueprint_id, edit, now)
    if outcome.revision is not None:
        return RedirectResponse(links.history(blueprint.competition.name, outcome.revision), 303)
    with user_visit_of(request, user) as visit:
        return _page(visit, blueprint_id, form, outcome)


@router.post(f"{PLACE}/discard")
def send_discard(server: ServerHere, user: FromPlace, blueprint_id: RowId) -> Response:
    with writing(server.engine) as session:
        throw_away(session, find_blueprint(session, user, blueprint_id, lock=True))
    return RedirectResponse(links.organise(), 303)


def _no_store(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    return response
