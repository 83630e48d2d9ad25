"""Every reader under hypothesis: random bytes, valid files with a few bytes changed, and odd archives around them."""

from __future__ import annotations

import io
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.fuzz.targets import NAMES, Target, check_organisers_file, check_prediction, organisers_files, target, zip_of

#: What breaks readers: ends of lines, quotes, encodings, numbers that are none, names and marks with a meaning.
TOKENS = (
    b"\0", b"\r", b"\n", b"\r\n", b"\n\n", b"\t", b",", b";", b'"', b"'", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\xed\xa0\x80", b"\xc2\x85", b"\xe2\x80\xa8", b"\xd9\xa3", b"nan", b"inf", b"-1e999", b"1e-999", b"0x10",
    b"1_000", b"-0", b"*", b"_", b"1:", b"1;;2", b"1:VID;2", b"#", b"# global.columns = ", b"1-2", b"1.1", b"{", b"}",
    b"[", b"]", b"null", b"true", b"\\u0000", b"\\ud800", b":", b"../", b"__MACOSX/", b"a" * 300, b"9" * 400,
    b"[" * 2000,
)  # fmt: skip
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@cache
def known(name: str) -> Target:
    return target(name)


@st.composite
def mutated(draw: st.DrawFn, content: bytes) -> bytes:
    """The content after one to four cuts, doublings, insertions and replacements."""
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(content)))
        end = begin + draw(st.integers(0, 40))
        piece = draw(st.sampled_from([b"", content[begin:end] * 2, *TOKENS]) | st.binary(max_size=12))
        content = content[:begin] + piece + content[end:]
    return content


@st.composite
def repacked(draw: st.DrawFn, archive: bytes) -> bytes:
    """The zip with one member changed, renamed, doubled or left out."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        members = [(info.filename, opened.read(info)) for info in opened.infolist()]
    at = draw(st.integers(0, len(members) - 1))
    name, content = members[at]
    names = st.sampled_from(
        [name, name.upper(), f"x/{name}", f"../{name}", f"__MACOSX/{name}", "", "README", name * 40]
    )
    changed = (draw(names | st.text(max_size=20)), draw(st.just(content) | mutated(content)))
    members[at : at + 1] = draw(st.sampled_from([[changed], [members[at], changed], []]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)  # doubled names are meant
        return zip_of(members)


def is_zip(upload: bytes) -> bool:
    return upload.startswith(b"PK")


@pytest.mark.parametrize("name", NAMES)
@QUICK
@given(upload=st.binary(max_size=300))
def test_random_bytes_are_refused_with_a_reason(name: str, upload: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_prediction(known(name), upload, Path(folder))


@pytest.mark.parametrize("name", NAMES)
@QUICK
@given(data=st.data())
def test_a_changed_submission_is_scored_or_refused_with_a_reason(name: str, data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(known(name).seeds))
    upload = data.draw(mutated(seed) | repacked(seed) if is_zip(seed) else mutated(seed))
    with tempfile.TemporaryDirectory() as folder:
        check_prediction(known(name), upload, Path(folder))


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_submission_itself_is_accepted(name: str, tmp_path: Path) -> None:
    """Otherwise all of the above could be refused at the first byte."""
    (tmp_path / "upload").write_bytes(known(name).seeds[0])
    known(name).task.read_prediction(tmp_path / "upload", known(name).items, known(name).options)


@pytest.mark.parametrize("name", NAMES)
@settings(QUICK, max_examples=40)
@given(data=st.data())
def test_a_changed_gold_or_blind_file_is_read_or_refused_with_a_reason(name: str, data: st.DataObject) -> None:
    kind, file = data.draw(st.sampled_from(list(organisers_files(name))))
    content = data.draw(mutated(file.read_bytes()))
    with tempfile.TemporaryDirectory() as folder:
        check_organisers_file(known(name), kind, file, content, Path(folder))
