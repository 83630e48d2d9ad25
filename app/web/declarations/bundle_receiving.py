"""Receiving a bundle of another platform: it is read in a private folder, becomes a draft, and its gold is sealed.

A bundle contains unsealed gold, so it is never stored: its folder is in /dev/shm if that exists, and is deleted at the
end of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anyio.to_thread import run_sync
from fastapi import Request

from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm
from app.base.private_folders import private_folder
from app.base.queue import send_gold_check
from app.base.storage import FolderStorage, UploadWriter, sealed_storage_of, storage_of, store_file
from app.base.text import refuse
from app.competitions.find import find_phase_task
from app.competitions.organisers import check_may_create, limits_of, used_bytes
from app.declarations.blueprints.build import build_competition
from app.declarations.blueprints.kept import add_file, begin_blueprint
from app.gold.recorded import recipients
from app.gold.sealing import SealingWriter, write_content
from app.gold.versions import UPLOAD_LIMIT_BYTES, bind_gold, keep_gold
from app.importers.bundles.moments import DateOrder, find_zone
from app.importers.in_helper import Brought, NotImported, Wish, read_bundle
from app.models import User
from app.web.declarations.editing_turns import editing
from app.web.html.guards import SentUpload
from app.web.http import csrf
from app.web.http.context import Server
from app.web.http.multipart import Policy, receive
from app.web.http.room import room_left, within

FIELDS = frozenset({csrf.FORM_FIELD, "zone", "order", "results"})
#: Maximum size of an unpacked bundle; larger ones can be imported on the command line.
UNPACKED_BYTES = 256 * 1024 * 1024
_NAME = "bundle.zip"


@dataclass(frozen=True, slots=True)
class Made:
    """The result of an import.

    - title: of the competition; blueprint_id: of the blueprint to edit, if the bundle cannot be built unchanged.
    - competition: its name, if it was built; sealed: where gold was sealed; unsealed: why other gold was not.
    - notes: what became of each key.
    """

    title: str
    notes: list[tuple[str, str, int, str]]
    blueprint_id: int | None = None
    competition: str | None = None
    sealed: tuple[str, ...] = ()
    unsealed: str = ""


async def receive_bundle(upload: SentUpload) -> Made:
    """Create a draft from the bundle. Raises Forbidden, InvalidForm with all problems and ambiguities, QuotaReached,
    Busy.
    """
    server = upload.server
    await run_sync(check_may_create, upload.user, server.settings.organise)
    with private_folder(server.settings) as folder:
        with within(await room_left(server, upload.user), server.settings.upload_limit_bytes) as limit_bytes:
            writer = bundle_writer(folder, limit_bytes)
            await _received(upload.request, Policy(writer, limit_bytes, FIELDS, upload.check))
        wish = _wish(upload.fields)
        async with editing(upload.request):
            return await run_sync(make_draft, server, upload.user, folder, wish)


async def _received(request: Request, policy: Policy) -> None:
    """Store the upload; problems of the file are reported for the form's field `bundle`."""
    try:
        await receive(request, policy)
    except InvalidForm as invalid:
        fields = dict(invalid.details["fields"])
        if "file" in fields:
            fields["bundle"] = fields.pop("file")
        raise InvalidForm(invalid.message, fields=fields) from None


def bundle_writer(folder: Path, limit_bytes: int) -> UploadWriter:
    """Return the writer that stores the bundle in its private folder."""
    return UploadWriter(FolderStorage(folder), limit_bytes, name=_NAME)


def _wish(fields: Mapping[str, str]) -> Wish:
    zone, order = fields.get("zone", "").strip(), fields.get("order", "").strip()
    faults = {}
    if zone:
        try:
            find_zone(zone)
        except ValueError as fault:
            faults["zone"] = f"{str(fault)[:1].upper()}{str(fault)[1:]}."
    if order and order not in list(DateOrder):
        faults["order"] = "Choose whether the month or the day comes first."
    refuse(faults)
    return Wish(zone, order, fields.get("results", "") == "yes")


def make_draft(server: Server, user: User, folder: Path, wish: Wish) -> Made:
    """Read the bundle in this folder, save its public parts as a blueprint, build it as a draft, and seal its gold.

    Raises InvalidForm with all problems, QuotaReached, Busy.
    """
    try:
        brought = read_bundle(folder / _NAME, folder, wish, UNPACKED_BYTES)
    except NotImported as refused:
        raise InvalidForm("This bundle cannot be imported.", fields={"bundle": str(refused)}) from None
    blueprint_id = _kept(server, user, brought)
    title = str(brought.document.get("title") or brought.document["name"])
    try:
        name = build_competition(server.engine, server.settings, user, blueprint_id, server.clock())
    except EvergoldError as fault:
        return Made(
            title,
            brought.notes,
            blueprint_id,
            unsealed=f"The competition cannot be created from this bundle: {fault.message}",
        )
    sealed, unsealed = _seal(server, user, name, brought)
    return Made(title, brought.notes, competition=name, sealed=sealed, unsealed=unsealed)


def _kept(server: Server, user: User, brought: Brought) -> int:
    limits, storage = limits_of(server.settings), storage_of(server.settings)
    with reading(server.engine) as session:
        room = limits.bytes if user.is_administrator else limits.bytes - used_bytes(session, user)
    if sum(path.stat().st_size for path in brought.files.values()) > room:
        raise InvalidForm(
            "This bundle cannot be imported.",
            fields={"bundle": "The files of the bundle exceed your quota on this server."},
        )
    stored = {name: store_file(path, storage) for name, path in brought.files.items()}
    with writing(server.engine) as session:
        act = server.act(session, user)
        blueprint = begin_blueprint(act, brought.document)
        for name, file in stored.items():
            add_file(act, blueprint.id, name, file)
        return blueprint.id


def _seal(server: Server, user: User, name: str, brought: Brought) -> tuple[tuple[str, ...], str]:
    """Seal the gold of each task; return where it was sealed, and why sealing stopped ("" if it did not)."""
    sealed: list[str] = []
    for (phase, task), path in brought.gold.items():
        try:
            _seal_one(server, user, (name, phase, task), path)
        except EvergoldError as fault:
            return tuple(sealed), fault.message
        sealed.append(f"{phase}/{task}")
    return tuple(sealed), ""


def _seal_one(server: Server, user: User, place: tuple[str, str, str], path: Path) -> None:
    storage = sealed_storage_of(server.settings)
    with reading(server.engine) as session:
        binding = bind_gold(session, [find_phase_task(session, *place)], is_public=False)
        keys = recipients(session, server.settings.sealing_keys)
    writer = SealingWriter(storage, UPLOAD_LIMIT_BYTES, what=binding, recipients=keys)
    try:
        write_content(path, writer)
        writer.finish()
    finally:
        writer.discard()
    versions = keep_gold(
        server.engine,
        storage,
        writer.sealed,
        filename=path.name,
        user=user,
        now=server.clock(),
        limits=limits_of(server.settings),
    )
    for version in versions:
        send_gold_check(version.id)
