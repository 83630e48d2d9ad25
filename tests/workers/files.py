"""Small files whose scores are known by hand, and functions that submit them."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import writing
from app.base.storage import FolderStorage, UploadWriter, check_name, storage_of, store_upload
from app.models import User
from app.submissions.accept import Sender
from app.submissions.validations import FileToCheck, accept_validation
from tests.world import NOW, submit, the_phase_task

#: The first item holds the mark that must be seen nowhere (`tests.canary`).
GOLD = "ID,DataID,Language,Label\n1,CANARY-d1,EN,0\n2,d2,EN,0\n3,d3,EN,1\n4,d4,EN,1\n"

#: Label 0: precision 1/1, recall 1/2, F1 2/3. Label 1: precision 2/3, recall 2/2, F1 4/5. Macro F1 11/15, accuracy 3/4.
PREDICTION = "ID,Language,Setting,Label\n1,EN,zero_shot,0\n2,EN,zero_shot,1\n3,EN,zero_shot,1\n4,EN,zero_shot,1\n"
MACRO_F1, ACCURACY = 11 / 15, 3 / 4


def upload(engine: Engine, user: User, content: str | bytes = PREDICTION, now: datetime = NOW) -> int:
    """Store and accept a file, as the web process does; return the id of its run."""
    data = content.encode() if isinstance(content, str) else content
    return submit(engine, user, now, stored=store_upload([data], storage_of(get_settings()), limit_bytes=10**8)).run_id


def ask(engine: Engine, user: User, content: str = PREDICTION) -> UUID:
    """Store and accept a file for validation only; return the id of the validation."""
    folder, validation_id = get_settings().storage_dir, uuid4()
    writer = UploadWriter(FolderStorage(folder), 10**6, name=check_name(validation_id))
    writer.write(content.encode())
    stored, now = writer.finish(), datetime.now(UTC)
    with writing(engine) as session:
        task = the_phase_task(session)
        accept_validation(session, task, Sender(user, now), FileToCheck(stored, validation_id=validation_id))
    return validation_id
