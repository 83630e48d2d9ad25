"""Uploads of images for texts: the server re-encodes an image, and appends it to the chosen text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Depends, Query, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import InvalidForm, NotFound
from app.base.storage import StoredFile, UploadWriter, local_file, storage_of, store_upload
from app.base.text import one_line, refuse, wrong_text
from app.competitions.find import organised
from app.competitions.organisers import Room, check_owner_bytes_left, limits_of
from app.declarations.blueprints import forms, schemas
from app.declarations.blueprints.kept import add_file, find_blueprint, save_document
from app.declarations.edits.checking import ProposedDeclaration
from app.declarations.edits.edit import Edit, edit_whole
from app.declarations.edits.export import stored_files
from app.declarations.edits.fields import Kind, text_parts
from app.declarations.images.making import READ_BYTES, InvalidImage, MadeImage, make_image
from app.declarations.images.texts import SUFFIXES, file_name, image_texts, markdown_of, media_type_of, with_image
from app.declarations.revisions.documents import value_at, with_values
from app.declarations.revisions.kept import present_revision
from app.models import RevisionSource, Right
from app.web.declarations.blueprint_pages import PLACE, At, UploadFromPlace, part_page
from app.web.declarations.editing_turns import editing
from app.web.declarations.pages import texts_page
from app.web.html.guards import FormSender, PageUserVisit, SentUpload, form_again, upload_guard
from app.web.http import csrf
from app.web.http.context import Server
from app.web.http.images import image_response
from app.web.http.multipart import Policy, receive
from app.web.http.room import room_left, room_left_in, within
from app.web.http.routers import page_router
from app.web.http.schemas import RowId

router = page_router()
TEXTS = "/competitions/{competition}/edit/texts"
UploadFromTexts = Annotated[SentUpload, Depends(upload_guard(TEXTS))]
FIELDS = frozenset({csrf.FORM_FIELD, "text", "alt"})
ALT_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class SentImage:
    """A re-encoded image. field: the text that it is appended to; alt: its description for screen readers."""

    name: str
    field: str
    alt: str
    made: MadeImage

    def free_name(self, taken: Mapping[str, str], sha256: str) -> str:
        """Return a name that is not taken: existing files keep their names, because texts may refer to them."""
        stem, _, suffix = self.name.rpartition(".")
        names = [self.name, *(f"{stem}-{number}.{suffix}" for number in range(2, len(taken) + 3))]
        return next(one for one in names if taken.get(one, sha256) == sha256)


async def _received(upload: SentUpload, room: Room) -> SentImage:
    """Receive the upload and return the image; raise InvalidForm."""
    settings = upload.server.settings
    with within(room, min(READ_BYTES, settings.upload_limit_bytes)) as limit_bytes:
        writer = UploadWriter(storage_of(settings), limit_bytes)
        received = await receive(upload.request, Policy(writer, limit_bytes, FIELDS, upload.check))
    name, alt = file_name(received.filename), one_line(received.fields.get("alt", ""))
    refuse(
        {
            "file": "" if name else f"Upload a PNG, JPEG or WebP whose name ends with {', '.join(SUFFIXES)}.",
            "alt": wrong_text(alt, ALT_CHARACTERS),
        }
    )
    async with editing(upload.request):
        made = await run_sync(_made, upload.server, received.file)
    return SentImage(name, received.fields.get("text", ""), alt, made)


def _made(server: Server, file: StoredFile) -> MadeImage:
    try:
        return make_image(local_file(storage_of(server.settings), file.sha256))
    except InvalidImage as invalid:
        raise InvalidForm("This image cannot be shown.", fields={"file": invalid.message}) from None


def _stored(server: Server, image: MadeImage) -> StoredFile:
    return store_upload([image.content], storage_of(server.settings), limit_bytes=len(image.content))


# ------------------------------------------------------------------------------------------------------------ drafts


@router.post(f"{PLACE}/images")
@form_again(part_page)
async def send_image(upload: UploadFromPlace, blueprint_id: RowId, at: At = "") -> Response:
    sent = await _received(upload, await room_left(upload.server, upload.user))
    async with editing(upload.request):
        await run_sync(_keep, upload, blueprint_id, forms.steps_of(at), sent)
    return RedirectResponse(f"{links.organise(blueprint_id, 'part', at)}#saved", 303)


def _keep(sender: FormSender, blueprint_id: int, steps: schemas.Steps, sent: SentImage) -> None:
    """Store the file and append the image to the text; if one of them fails, do neither."""
    file = _stored(sender.server, sent.made)
    with writing(sender.server.engine) as session:
        act = sender.act(session)
        blueprint = find_blueprint(session, sender.user, blueprint_id, lock=True)
        if sent.field not in dict(image_texts(forms.fields_of(blueprint.document, steps), steps)):
            raise InvalidForm("This image cannot be added.", fields={"text": "Choose the text that shows it."})
        free = sent.free_name({one.path: one.sha256 for one in blueprint.files}, file.sha256)
        document = with_image(blueprint.document, (*steps, sent.field), markdown_of(free, sent.alt))
        add_file(act, blueprint_id, free, file)
        save_document(act, blueprint_id, blueprint.version, document)


@router.get(f"{PLACE}/images")
def read_written_image(
    visit: PageUserVisit,
    blueprint_id: RowId,
    path: Annotated[str, Query(max_length=300)],
) -> Response:
    """Return an image for the preview; images from a zip are not re-encoded yet, so only the owner may load them."""
    files = find_blueprint(visit.session, visit.user, blueprint_id).files
    sha256 = next((file.sha256 for file in files if file.path == path), None)
    media_type = media_type_of(path)
    if sha256 is None or media_type is None:
        raise NotFound("This setup has no such image.")
    return image_response(visit.request, visit.server, sha256, media_type)


# ---------------------------------------------------------------------------------------------- existing competitions


@router.post("/competitions/{competition}/edit/images")
@form_again(texts_page)
async def send_image_of_text(upload: UploadFromTexts, competition: str) -> Response:
    sent = await _received(upload, await room_left_in(upload.server, upload.user, competition))
    async with editing(upload.request):
        await run_sync(_edit, upload, competition, sent)
    return RedirectResponse(links.edit(competition, "texts"), 303)


def _edit(sender: FormSender, competition: str, sent: SentImage) -> None:
    """Apply a new revision with the file, and with the image at the end of the text."""
    file, now = _stored(sender.server, sent.made), sender.server.clock()
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, Right.EDIT)
        check_owner_bytes_left(session, found, file.size_bytes, limits_of(sender.server.settings))
        present = present_revision(session, found)
    texts = [one for part in text_parts(present.document) for one in part.fields if one.kind is Kind.TEXT]
    text = next((one for one in texts if one.name == sent.field), None)
    if text is None:
        raise InvalidForm("This image cannot be added.", fields={"text": "Choose the text that shows it."})
    files = stored_files(present, storage_of(sender.server.settings))
    free = sent.free_name(files, file.sha256)
    before = str(value_at(present.document, text.path) or "").rstrip()
    after = f"{before}\n\n{markdown_of(free, sent.alt)}\n".lstrip()
    edit = Edit(competition, present.number, sender.user, f"The image {free}")
    document = with_values(present.document, {text.path: after})
    wanted = ProposedDeclaration(document, {**files, free: file.sha256}, RevisionSource.EDIT)
    edit_whole(sender.server.engine, storage_of(sender.server.settings), edit, wanted, now)
