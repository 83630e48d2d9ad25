"""YAML as phases.yaml is read: with lines, without surprises, bounded."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.declarations.check import check_phases, load_competitions
from evergold.yaml_lines import FAULTS_LIMIT, read_yaml_text
from tests.declarations.competition_folder import NOW, Competition, make_competition


@pytest.fixture
def demo(tmp_path: Path) -> Competition:
    return make_competition(tmp_path)


def assert_found(demo: Competition, line: int, severity: str, *parts: str) -> None:
    """Exactly one finding, on this line, whose sentence has these parts."""
    found = demo.check()
    assert [(finding.line, finding.severity) for finding in found] == [(line, severity)], [str(f) for f in found]
    for part in parts:
        assert part in found[0].message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("version: 1\ncompetitions:\n\t- x\n", 3, "not tabs"),
        ("version: 1\ntitle: a: b\n", 2, "put text that contains ': ' in quotes"),
        ('version: 1\ninclude: ["a\n', 2, "never closed"),
        ("version: 1\ninclude: [a, b\nx: 1\n", 3, "and not closed"),
        ("version: 1\n include: []\n", 2, "a ':' is not expected here"),
        ("version: 1\ninclude: *nothing\n", 2, "there is no anchor"),
        ("version: 1\n---\nversion: 1\n", 2, "a second document"),
        ("version: 1\ninclude: []\nversion: 1\n", 3, "the key 'version' occurs twice; first on line 1"),
        (
            "version: 1\ninclude: !!python/object/apply:os.system ['true']\n",
            2,
            "the tag !!python/object/apply:os.system",
        ),
        ("version: 1\ninclude: !include x\n", 2, "the tag !include is not allowed here"),
        ("version: 1\n? [a]\n: b\n", 2, "a key is a single word"),
        ('version: 1\ninclude: ["a\\0b"]\n', 2, "cannot be stored"),
        ("version: 1\nincl\x07ude: []\n", 2, "control character"),
        ("", 1, "the file is empty"),
        ("# only a comment\n", 1, "the file is empty"),
        ("- version: 1\n", 1, "must be a mapping"),
        ("version: 2\n", 1, "'version' must be 1, but is the number 2"),
        ("include: []\n", 1, "the file needs the key 'version'"),
    ],
)
def test_what_is_not_our_yaml_is_said_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    (tmp_path / "phases.yaml").write_text(text, encoding="utf-8")
    found = check_phases(tmp_path / "phases.yaml", now=NOW)
    assert [finding.line for finding in found if words in finding.message] == [line], [str(f) for f in found]


def test_file_that_is_not_utf8_is_said_with_its_line(demo: Competition) -> None:
    demo.phases.write_bytes(demo.phases.read_bytes().replace(b'"Evaluation"', b'"\xc9valuation"'))
    assert_found(demo, 32, "error", "not UTF-8")


def test_byte_order_mark_and_windows_line_ends_are_fine(demo: Competition) -> None:
    demo.phases.write_bytes(b"\xef\xbb\xbf" + demo.phases.read_bytes().replace(b"\n", b"\r\n"))
    assert demo.check() == []


def test_file_too_large_is_not_read(demo: Competition) -> None:
    demo.write("phases.yaml", "# " + "x" * 2**20)
    assert_found(demo, 1, "error", "larger than 256 KiB")


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\na: &a {x: *a}\n",  # an alias inside of its own value
        "version: 1\na: &a {<<: *a}\n",
        "version: 1\n" + "a: " + "[" * 60 + "]" * 60 + "\n",
        "version: 1\n" + "a: " + "[" * 50_000 + "\n",
        # ten to the power of nine values
        "version: 1\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)),
        "version: 1\na0: &a0 {x: 1}\n"
        + "".join(f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 9)),
    ],
    ids=["alias in itself", "merge in itself", "deep", "very deep", "aliases of aliases", "merges of merges"],
)
def test_values_without_end_are_cut_off(tmp_path: Path, text: str) -> None:
    (tmp_path / "phases.yaml").write_text(text, encoding="utf-8")
    found = check_phases(tmp_path / "phases.yaml", now=NOW)
    assert any("too large or too deep" in f.message or "nested more than" in f.message for f in found)


def test_words_stay_words_and_moments_need_no_quotes(demo: Competition) -> None:
    """YAML 1.1 would make `no` false (Norwegian), `12:30` a number and the moment a naive datetime."""
    demo.change("languages: [en, pt]", "languages: [no, pt]")
    demo.change('start: "2026-01-01 00:00 UTC"', "start: 2026-01-01 00:00:00 +02:00")
    for file in ("items.csv", "practice.csv"):
        demo.write(file, (demo.folder / file).read_text(encoding="utf-8").replace(",EN,", ",NO,"))
    demo.change("zero_shot/en}", "zero_shot/no}")
    demo.change("zero_shot/en,", "zero_shot/no,", "historic.csv")
    demo.write("majority.csv", (demo.folder / "majority.csv").read_text(encoding="utf-8").replace(",EN,", ",NO,"))
    assert demo.check() == []
    (loaded,) = load_competitions(demo.phases)
    assert loaded.declaration.tasks[0].options == {"languages": ["no", "pt"]}
    assert loaded.declaration.phases[0].start == datetime(2025, 12, 31, 22, tzinfo=UTC)


def test_anchors_and_merges_are_read_and_faults_point_to_the_anchor(demo: Competition) -> None:
    demo.change("        limits: {per_day: 5, total: 10}\n", "        limits: &few {per_day: 5, total: 10}\n")
    demo.change("        entry: last\n", "        entry: last\n        limits: {<<: *few, per_day: 3}\n")
    assert demo.check() == []
    limits = load_competitions(demo.phases)[0].declaration.phases[1].limits
    assert (limits.per_day, limits.total) == (3, 10)
    demo.change("total: 10}", "total: ten}")
    assert {finding.line for finding in demo.check()} == {26}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: [" + "c," * 20_000 + "]", 2, "more than 20,000 values"),
        ("a: 1\n" + "b:\n" * 10_000, 10_000, "more than 20,000 values"),
        ("a: 1\nb: " + "[" * 100, 2, "nested more than 50 deep"),
        ("? " * 100, 1, "nested more than 50 deep"),
        ("a: &a " + "x" * 20_000 + "\nb: [" + "*a, " * 20 + "]", 1, "too large or too deep"),
    ],
    ids=["in a list", "in a mapping", "lists in lists", "keys in keys", "one long value many times"],
)
def test_a_file_of_too_many_values_ends_where_they_are_too_many(text: str, line: int, words: str) -> None:
    node, faults = read_yaml_text(text, "a.yaml")
    assert words in faults[0].message
    assert node is None or len(faults) == 1
    assert faults[0].line == line


def test_a_file_with_very_many_faults_names_the_first() -> None:
    _, faults = read_yaml_text("a: 1\n" * 9_000, "a.yaml")
    assert len(faults) == FAULTS_LIMIT
    assert faults[0].line == 2
