"""Links lead to the address of the settings, of the request, or at which the server listens."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.addresses import NOTE_NAME, note_address, public_address
from app.base.config import Settings

BASE = "https://scores.example.org"


def test_links_lead_to_the_address_of_the_settings(tmp_path: Path) -> None:
    note_address(tmp_path, "http://127.0.0.1:9000")
    settings = Settings(base_url=f"{BASE}/", data_dir=tmp_path)
    assert public_address(settings, "/x") == f"{BASE}/x"
    assert public_address(settings, "/x", requested="http://127.0.0.1:9000/") == f"{BASE}/x"


def test_without_one_a_page_has_that_of_its_request_and_a_mail_where_the_server_listens(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    assert public_address(settings, "/x") == "http://127.0.0.1:8321/x", "nobody has served from this folder yet"
    note_address(tmp_path, "http://127.0.0.1:37213")
    assert public_address(settings, "/x") == "http://127.0.0.1:37213/x"
    assert public_address(settings, "/x", requested="http://other:80/") == "http://other:80/x"
    note_address(tmp_path, "http://[::1]:9000")
    assert public_address(settings, "/x") == "http://[::1]:9000/x"


@pytest.mark.parametrize("noted", [b"", b"\xff\xfe", b"javascript:alert(1)", b"http://a\nBcc: b"])
def test_a_note_that_is_no_address_is_passed_over(tmp_path: Path, noted: bytes) -> None:
    (tmp_path / NOTE_NAME).write_bytes(noted)
    assert public_address(Settings(data_dir=tmp_path), "/x") == "http://127.0.0.1:8321/x"


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    note_address(tmp_path / "none", "http://127.0.0.1:9000")
    assert not (tmp_path / "none").exists()
