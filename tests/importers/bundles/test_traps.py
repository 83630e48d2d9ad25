"""Bundles that are meant to harm are refused in words, and nothing of them is written."""

from __future__ import annotations

import io
import stat
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from app.importers.bundles.archive import InvalidBundle
from app.importers.bundles.imported import Target
from app.importers.bundles.moments import Assumed
from app.importers.codabench.importing import import_codabench
from tests.importers.bundles import made

MAIN = "competition.yaml"


def with_entry(name: str, content: bytes = b"x", mode: int = stat.S_IFREG | 0o644) -> bytes:
    """A bundle with one entry more, whose name is not looked at."""
    target = io.BytesIO(made.zipped(made.version_2()))
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there already
        entry = zipfile.ZipInfo("placeholder")
        entry.filename, entry.external_attr, entry.compress_type = name, mode << 16, zipfile.ZIP_DEFLATED
        archive.writestr(entry, content)
    return target.getvalue()


def bomb(size_mebibytes: int) -> bytes:
    """Return a zip of a few KiB that unpacks to so many bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros", "w") as file:
        for _ in range(size_mebibytes):
            file.write(bytes(1024 * 1024))
    return target.getvalue()


def laughing(levels: int) -> str:
    """Return YAML of a few lines whose aliases unfold to ten to the power of so many values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        inside = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} [{inside}]")
    return "\n".join(lines) + "\n"


def nested(depth: int) -> str:
    return "deep: " + "[" * depth + "]" * depth + "\n"


TRAPS: dict[str, tuple[Callable[[], bytes], str]] = {
    "zip slip": (lambda: with_entry("../outside.txt"), "absolute names and names with .."),
    "absolute name": (lambda: with_entry("/etc/cron.d/outside"), "absolute names and names with .."),
    "drive letter": (lambda: with_entry("C:/outside.txt"), "absolute names and names with .."),
    "backslashes": (lambda: with_entry("..\\outside.txt"), "absolute names and names with .."),
    "link": (lambda: with_entry("link", b"/etc/passwd", stat.S_IFLNK | 0o777), "is a link or a device"),
    "device": (lambda: with_entry("device", b"", stat.S_IFCHR | 0o666), "is a link or a device"),
    "name twice": (lambda: with_entry("terms.md", b"other terms"), "occurs twice in the zip"),
    "file over folder": (lambda: with_entry("gold/truth.txt/more"), "a file and a folder"),
    "bomb": (lambda: made.zipped({MAIN: made.VERSION_2, "bomb": bytes(64 * 1024 * 1024)}), "looks like a zip bomb"),
    "bomb in a program": (
        lambda: made.zipped({**made.version_2(), "scoring.zip": bomb(64)}),
        "looks like a zip bomb",
    ),
    "many entries": (lambda: made.zipped({str(number): "" for number in range(10_001)}), "10001 entries"),
    "no main file": (lambda: made.zipped({"readme.txt": "hello"}), "there is no competition.yaml"),
    "main file too deep": (
        lambda: made.zipped({"a/b/competition.yaml": made.VERSION_2, "c": ""}),
        "zip the content of that folder",
    ),
    "two main files": (
        lambda: made.zipped({MAIN: made.VERSION_2, "competition.yml": made.VERSION_2}),
        "keep only one of them",
    ),
    "two main files below": (
        lambda: made.zipped({"a/competition.yaml": made.VERSION_2, "b/competition.yaml": made.VERSION_2}),
        "several below",
    ),
    "no zip": (lambda: b"version: 2\n", "send a zip"),
    "half a zip": (lambda: made.zipped(made.version_2())[:-40], "damaged"),
    "tag": (
        lambda: made.zipped(made.files("title: !!python/object/apply:os.system [id]\n")),
        "is not allowed here",
    ),
    "alias bomb": (lambda: made.zipped(made.files(laughing(9))), "too large or too deep"),
    "alias of itself": (lambda: made.zipped(made.files("a: &a [*a]\n")), "does an alias"),
    "deep": (lambda: made.zipped(made.files(nested(5_000))), "nested more than"),
    "large": (lambda: made.zipped(made.files("title: " + "x " * 200_000)), "larger than 256 KiB"),
    "many values": (lambda: made.zipped(made.files("a: [" + "1, " * 30_000 + "1]\n")), "more than 20,000 values"),
    "key twice": (lambda: made.zipped(made.files(made.VERSION_2 + "title: again\n")), "occurs twice"),
    "not text": (lambda: made.zipped({MAIN: b"title: \xff\xfe"}), "not UTF-8"),
    "empty": (lambda: made.zipped(made.files("")), "empty"),
    "a list": (lambda: made.zipped(made.files("- title\n")), "no keys"),
    "path out": (
        lambda: made.zipped(made.version_2({"reference_data: gold/": "reference_data: ../../etc"})),
        "lies outside of the bundle",
    ),
    "program out": (
        lambda: made.zipped(made.version_2({"scoring_program: scoring.zip": "scoring_program: /usr/bin"})),
        "lies outside of the bundle",
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_refused_in_words_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    make, words = TRAPS[name]
    bundle = made.written(tmp_path / "bundle.zip", make())
    target = Target(tmp_path / "to", tmp_path / "gold")
    with pytest.raises(InvalidBundle) as refused:
        import_codabench(bundle, target, Assumed(), takes_results=False)
    assert any(words in str(problem) for problem in refused.value.problems), refused.value
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle.zip"]


def test_a_file_that_a_zip_tool_wrote_twice_is_one_file(tmp_path: Path) -> None:
    bundle = made.written(tmp_path / "bundle.zip", with_entry("terms.md", b"Be kind."))
    found = import_codabench(bundle, Target(tmp_path / "to", tmp_path / "gold"), Assumed(), takes_results=False)
    assert found.plan.terms == "Be kind."


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<div>" * 4_000, "nested too deep"),
        ("<b>" * 6_000, "more than 5,000 tags"),
        ("<ol>" + "<li>x" * 3_000, "more than 1,000 items"),
        ("x" * 300_000, "larger than 256 KiB"),
        ("\0", "this is not text"),
    ],
)
def test_a_page_that_would_take_long_is_left_out_and_named(tmp_path: Path, page: str, words: str) -> None:
    bundle = made.written(tmp_path / "bundle.zip", {**made.version_2(), "overview.html": page})
    found = import_codabench(bundle, Target(tmp_path / "to", tmp_path / "gold"), Assumed(), takes_results=False)
    assert [(one.path, words in one.text) for one in found.open_notes] == [("pages[0].file", True)]
    assert "## Overview" not in (tmp_path / "to/competition.yaml").read_text()


def test_a_page_brings_no_script_style_form_or_address_that_runs(tmp_path: Path) -> None:
    page = (
        "<style>p {color: red}</style><form action='https://x'><input name=a></form><iframe src='https://x'></iframe>"
        "<a href='javascript:alert(1)'>one</a> <a href='https://example.org'>two</a> <img src=x onerror=alert(1)>"
    )
    bundle = made.written(tmp_path / "bundle.zip", {**made.version_2(), "overview.html": page})
    found = import_codabench(bundle, Target(tmp_path / "to", tmp_path / "gold"), Assumed(), takes_results=False)
    assert [one.text for one in found.plan.pages] == ["one [two](https://example.org)"]


def test_what_is_too_large_in_all_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    bundle = made.written(
        tmp_path / "bundle.zip", {**made.version_2(), "one": bytes(1_500_000), "two": bytes(1_500_000)}
    )
    target = Target(tmp_path / "to", tmp_path / "gold", size_bytes=2 * 1024 * 1024)
    with pytest.raises(InvalidBundle, match="larger than the 2 MiB that are left"):
        import_codabench(bundle, target, Assumed(), takes_results=False)
    assert not (tmp_path / "to").exists()
