"""Receiving gold: from an upload request to a gold version, sealed chunk by chunk, for the API and for the page.

Plain content is briefly in this process's memory, but never on a disk; once stored, no web process can read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from anyio.to_thread import run_sync

from app.base.db import reading, writing
from app.base.queue import send_gold_check, send_runs
from app.base.storage import Storage, StoredFile, sealed_storage_of
from app.competitions.find import find_competition, find_phase_task, organised_task
from app.competitions.organisers import Room, limits_of, owner_of
from app.declarations.apply.baselines import submit_waiting_baselines
from app.declarations.setup.dates import NEW_PHASES
from app.gold.binding import Binding, is_reader
from app.gold.checks import ask_for_check
from app.gold.recorded import recipients
from app.gold.sealing import Sealed, SealingWriter
from app.gold.versions import UPLOAD_LIMIT_BYTES, bind_gold, keep_gold, phases_with_same_task, publish_gold
from app.models import Right, User
from app.web.http.context import Server
from app.web.http.multipart import Policy, receive, refuse_field
from app.web.http.paths import TaskNames
from app.web.http.room import room_for, within
from app.web.submissions.receiving import UploadRequest
from evergold.scoring.tasks import needs_gpu


def use_version(server: Server, user: User, target: TaskNames, number: int) -> None:
    """Put the version in use for new submissions, now or after its check, and submit baselines that waited for it.

    Raise NotFound, Forbidden, NewerGoldPublished, GoldUnusable.
    """
    now = server.clock()
    with writing(server.engine) as session:
        phase_task = organised_task(session, user, target.competition, target.phase, target.task, Right.GOLD)
        in_use = publish_gold(session, phase_task, number, user=user, now=now)
        runs = submit_waiting_baselines(session, phase_task, now) if in_use else []
        is_for_gpu = needs_gpu(phase_task.task.task_type)
    send_runs([(run_id, is_for_gpu) for run_id in runs])


def check_version_again(server: Server, user: User, target: TaskNames, number: int) -> None:
    """Queue another check of the version by a worker; raise NotFound, Forbidden."""
    with writing(server.engine) as session:
        phase_task = organised_task(session, user, target.competition, target.phase, target.task, Right.GOLD)
        version_id = ask_for_check(session, phase_task, number, user, server.clock()).id
    send_gold_check(version_id)


#: Form fields: names of further phases, separated by commas; whether to use the version although another is in use;
#: whether it is public.
#: the public key of the uploader's browser.
FIELDS = frozenset({"also", "publish", "public", "reader"})
#: Field of pages only: whether a worker may report the columns, see decision 107.
DESCRIBE = "describe"
#: Field of pages only: phases of a draft that may be added later and use the same gold.
AHEAD = "ahead"
PHASES_AHEAD = frozenset(one.name for one in NEW_PHASES if one.after)
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"", "false", "no", "off", "0"})


async def receive_gold(sent: UploadRequest) -> None:
    """Store a new gold version for every phase given; raise Forbidden unless the user may upload gold."""
    server, user = sent.server, sent.user
    sealing = await run_sync(_check, server, user, sent.target)

    def begin(fields: Mapping[str, str]) -> None:
        sent.on_fields(fields)
        sealing.begin(fields)

    with within(sealing.room, UPLOAD_LIMIT_BYTES) as limit_bytes:
        policy = Policy(sealing, limit_bytes, FIELDS | sent.extra_fields, begin, sealing.check_unchanged)
        upload = await receive(sent.request, policy)
    keep = partial(
        keep_gold,
        filename=upload.filename,
        publish=_is_yes("publish", upload.fields.get("publish", "")) or None,
        user=user,
        now=server.clock(),
        limits=limits_of(server.settings),
    )
    for version in await run_sync(keep, server.engine, sealing.storage, sealing.sealed):
        await run_sync(send_gold_check, version.id)


@dataclass
class _Sealing:
    """A writer that seals the file while it is received, bound to the fields that precede it.

    binding: covers all phases with this task; phase: the one in the address; room: the owner's remaining storage.
    """

    storage: Storage
    keys: Mapping[str, bytes]
    binding: Binding
    phase: str
    room: Room
    _writer: SealingWriter | None = None

    def begin(self, fields: Mapping[str, str]) -> None:
        limit_bytes, binding = min(UPLOAD_LIMIT_BYTES, self.room.left), self._bound(fields)
        self._writer = SealingWriter(self.storage, limit_bytes, what=binding, recipients=self.keys)

    def check_unchanged(self, fields: Mapping[str, str]) -> None:
        """Raise InvalidForm if a field after the file would change the sealed binding."""
        _is_yes("publish", fields.get("publish", ""))
        if self._begun.binding != self._bound(fields):
            name = next((one for one in ("also", "reader", DESCRIBE, AHEAD) if fields.get(one)), "public")
            refuse_field(name, f"Send the field '{name}' before the file, which is sealed as it arrives.")

    def write(self, chunk: bytes, /) -> object:
        return self._begun.write(chunk)

    def finish(self) -> StoredFile:
        return self._begun.finish()

    def discard(self) -> None:
        if self._writer is not None:
            self._writer.discard()

    @property
    def sealed(self) -> Sealed:
        return self._begun.sealed

    @property
    def _begun(self) -> SealingWriter:
        if self._writer is None:
            raise RuntimeError("a file comes before its bytes")
        return self._writer

    def _bound(self, fields: Mapping[str, str]) -> Binding:
        names = [self.phase, *_names_in(fields.get("also", ""))]
        known = self.binding.versions
        unknown = [name for name in names if name not in known]
        if unknown:
            others = ", ".join(f"'{name}'" for name in known if name != self.phase) or "none"
            refuse_field("also", f"No other phase '{unknown[0][:60]}' has this task; these do: {others}.")
        versions = {name: known[name] for name in dict.fromkeys(names)}
        is_public, reader = _is_yes("public", fields.get("public", "")), fields.get("reader", "").strip()
        if reader and not is_reader(reader):
            refuse_field("reader", "Send a public key: 64 hexadecimal digits, in lower case.")
        is_described = _is_yes(DESCRIBE, fields.get(DESCRIBE, ""))
        bound = replace(
            self.binding, versions=versions, is_public=is_public, reader=reader or None, is_described=is_described
        )
        ahead = [name for name in _names_in(fields.get(AHEAD, "")) if name in PHASES_AHEAD and name not in known]
        return bound.ahead(self.phase, ahead)


def _check(server: Server, user: User, target: TaskNames) -> _Sealing:
    """Raise every error that is certain before the body is read; return the writer that seals it."""
    with reading(server.engine) as session:
        phase_task = organised_task(session, user, target.competition, target.phase, target.task, Right.GOLD)
        phases = find_competition(session, target.competition).phases
        others = [phase.name for phase in phases if phases_with_same_task(phase_task, [phase])]
        also = [find_phase_task(session, target.competition, name, target.task) for name in others]
        keys = recipients(session, server.settings.sealing_keys)
        owner = owner_of(session, phase_task.phase.competition)
        binding = bind_gold(session, [phase_task, *also], is_public=False)
    return _Sealing(sealed_storage_of(server.settings), keys, binding, target.phase, room_for(server, owner))


def _names_in(text: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _is_yes(name: str, text: str) -> bool:
    if text.lower() not in _YES | _NO:
        refuse_field(name, "Send 'true' or 'false'.")
    return text.lower() in _YES
