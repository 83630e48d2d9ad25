"""Uploads of images for texts: the server re-encodes an image, and appends it to the chosen text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Depends, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import reading, writing
from app.base.errors import InvalidForm, NotFound
from app.base.storage import StoredFile, UploadWriter, local_file, storage_of, store_upload
from app.base.text import one_line, refuse, wrong_text
from app.competitions.find import organised
from app.competitions.organisers import check_owner_bytes_left, limits_of, owner_of
from app.declarations.blueprints import forms, schemas
from app.declarations.blueprints.kept import add_file, find_blueprint, save_document
from app.declarations.edits.edit import Edit, edit_whole
from app.declarations.edits.export import stored_files
from app.declarations.edits.fields import Kind, text_parts
from app.declarations.images.making import READ_BYTES, InvalidImage, MadeImage, make_image
from app.declarations.images.texts import SUFFIXES, file_name, image_texts, markdown_of, media_type_of, with_image
from app.declarations.revisions.documents import value_at, with_values
from app.declarations.revisions.kept import present_revision
from app.models import Right, User
from app.web.declarations.blueprint_pages import PLACE, At, UploadFromPlace, part_page
from app.web.declarations.editing_turns import editing
from app.web.declarations.pages import texts_page
from app.web.html.guards import PageUserVisit, SentUpload, form_again, upload_guard
from app.web.http import csrf
from app.web.http.context import Server, ServerHere
from app.web.http.images import image_response
from app.web.http.multipart import Policy, Upload, receive
from app.web.http.room import room_left, within
from app.web.http.routers import page_router
from app.web.http.schemas import RowId

router = page_router()
TEXTS = "/competitions/{competition}/edit/texts"
UploadFromTexts = Annotated[SentUpload, Depends(upload_guard(TEXTS))]
FIELDS = frozenset({csrf.FORM_FIELD, "text", "alt"})
ALT_CHARACTERS = 300


async def _received(
    request: Request, server: Server, upload: SentUpload, owner: User | None
) -> tuple[Upload, str, MadeImage]:
    """Return the upload, its file name, and the re-encoded image; raise InvalidForm."""
    settings = server.settings
    with within(await room_left(server, owner), min(READ_BYTES, settings.upload_limit_bytes)) as limit_bytes:
        writer = UploadWriter(storage_of(settings), limit_bytes)
        received = await receive(request, Policy(writer, limit_bytes, FIELDS, upload.check))
    name, alt = file_name(received.filename), one_line(received.fields.get("alt", ""))
    refuse(
        {
            "file": "" if name else f"Send a PNG, JPEG or WebP; its name ends with {', '.join(SUFFIXES)}.",
            "alt": wrong_text(alt, ALT_CHARACTERS),
        }
    )
    async with editing(request):
        return received, name, await run_sync(_made, server, received.file)


def _made(server: Server, file: StoredFile) -> MadeImage:
    try:
        return make_image(local_file(storage_of(server.settings), file.sha256))
    except InvalidImage as invalid:
        raise InvalidForm("This image cannot be shown.", fields={"file": invalid.message}) from None


def _stored(server: Server, image: MadeImage) -> StoredFile:
    return store_upload([image.content], storage_of(server.settings), limit_bytes=len(image.content))


def _free_name(name: str, taken: Mapping[str, str], sha256: str) -> str:
    """Return a free name: an existing file of the same name keeps it, because texts may show it."""
    stem, _, suffix = name.rpartition(".")
    names = [name, *(f"{stem}-{number}.{suffix}" for number in range(2, len(taken) + 3))]
    return next(one for one in names if taken.get(one, sha256) == sha256)


# ------------------------------------------------------------------------------------------------------------ drafts


@router.post(f"{PLACE}/images")
@form_again(part_page)
async def send_image(
    request: Request, server: ServerHere, upload: UploadFromPlace, blueprint_id: RowId, at: At = ""
) -> Response:
    received, name, image = await _received(request, server, upload, upload.user)
    async with editing(request):
        await run_sync(_keep, server, upload.user, blueprint_id, forms.steps_of(at), received, name, image)
    return RedirectResponse(f"{links.organise(blueprint_id, 'part', at)}#saved", 303)


def _keep(
    server: Server,
    user: User,
    blueprint_id: int,
    steps: schemas.Steps,
    received: Upload,
    name: str,
    image: MadeImage,
) -> None:
    """Store the file and append the image to the text; neither if one of them is refused."""
    file, field, now = _stored(server, image), received.fields.get("text", ""), server.clock()
    with writing(server.engine) as session:
        blueprint = find_blueprint(session, user, blueprint_id, lock=True)
        if field not in dict(image_texts(forms.fields_of(blueprint.document, steps), steps)):
            raise InvalidForm("This image cannot be taken.", fields={"text": "Choose the text that shows it."})
        free = _free_name(name, {one.path: one.sha256 for one in blueprint.files}, file.sha256)
        shown = markdown_of(free, one_line(received.fields.get("alt", "")))
        document = with_image(blueprint.document, (*steps, field), shown)
        add_file(session, user, blueprint_id, free, file, limits_of(server.settings), now)
        save_document(session, user, blueprint_id, blueprint.version, document, now)


@router.get(f"{PLACE}/images")
def read_written_image(
    visit: PageUserVisit,
    blueprint_id: RowId,
    path: Annotated[str, Query(max_length=300)],
) -> Response:
    """Return an image for the preview; one from a zip is not re-encoded yet, so only its owner gets it."""
    files = find_blueprint(visit.session, visit.user, blueprint_id).files
    sha256 = next((file.sha256 for file in files if file.path == path), None)
    media_type = media_type_of(path)
    if sha256 is None or media_type is None:
        raise NotFound("There is no such image here.")
    return image_response(visit.request, visit.server, sha256, media_type)


# ---------------------------------------------------------------------------------------------- existing competitions


@router.post("/competitions/{competition}/edit/images")
@form_again(texts_page)
async def send_image_of_text(
    request: Request, server: ServerHere, upload: UploadFromTexts, competition: str
) -> Response:
    owner = await run_sync(_owner, server, upload.user, competition)
    received, name, image = await _received(request, server, upload, owner)
    async with editing(request):
        await run_sync(_edit, server, upload.user, competition, received, name, image)
    return RedirectResponse(links.edit(competition, "texts"), 303)


def _owner(server: Server, user: User, competition: str) -> User | None:
    """Return the user whose quota the image counts in; raise Forbidden, NotFound."""
    with reading(server.engine) as session:
        return owner_of(session, organised(session, user, competition, Right.EDIT))


def _edit(server: Server, user: User, competition: str, received: Upload, name: str, image: MadeImage) -> None:
    """Apply a new revision with the file, and with the image at the end of the text."""
    file, field, now = _stored(server, image), received.fields.get("text", ""), server.clock()
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.EDIT)
        check_owner_bytes_left(session, found, file.size_bytes, limits_of(server.settings))
        present = present_revision(session, found)
    texts = [one for part in text_parts(present.document) for one in part.fields if one.kind is Kind.TEXT]
    text = next((one for one in texts if one.name == field), None)
    if text is None:
        raise InvalidForm("This image cannot be taken.", fields={"text": "Choose the text that shows it."})
    files = stored_files(present, storage_of(server.settings))
    free = _free_name(name, files, file.sha256)
    before = str(value_at(present.document, text.path) or "").rstrip()
    after = f"{before}\n\n{markdown_of(free, one_line(received.fields.get('alt', '')))}\n".lstrip()
    edit = Edit(competition, present.number, user, f"The image {free}")
    document = with_values(present.document, {text.path: after})
    edit_whole(server.engine, storage_of(server.settings), edit, document, {**files, free: file.sha256}, now)
