"""Zips that are sent as they are written: whole, with the dates of their files, in pieces."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from app.base.zip_stream import EARLIEST, ZipStream

AT = datetime(2026, 1, 10, 23, 30, 2, tzinfo=timezone(timedelta(hours=-2)))


def test_each_file_has_its_content_and_its_date_in_utc(tmp_path: Path) -> None:
    """Check dates; a zip knows no time before 1980."""
    source = tmp_path / "large"
    source.write_bytes(bytes(range(256)) * 3_000)
    stream = ZipStream()
    pieces = [stream.text("a.txt", "Olá", AT), *stream.file("b/c.bin", source, AT.replace(year=1970)), stream.end()]
    assert len([piece for piece in pieces if len(piece) > 200_000]) >= 2, "it is not made as a whole"
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as found:
        assert found.testzip() is None
        assert [(one.filename, one.date_time) for one in found.infolist()] == [
            ("a.txt", AT.astimezone(UTC).timetuple()[:6]),
            ("b/c.bin", EARLIEST.timetuple()[:6]),
        ]
        assert (found.read("a.txt").decode(), found.read("b/c.bin")) == ("Olá", source.read_bytes())
