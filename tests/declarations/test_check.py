"""`check_phases`: everything that an organiser can get wrong, all at once, each at its line."""

from __future__ import annotations

import copy
import functools
import operator
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from app.declarations.check import InvalidPhases, check_phases, load_competitions
from app.declarations.historic import MOST_RESULTS
from tests.declarations.competition_folder import GOLD, NOW, PHASES, Competition, make_competition

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def demo(tmp_path: Path) -> Competition:
    return make_competition(tmp_path)


def assert_found(demo: Competition, line: int, severity: str, *parts: str) -> None:
    """Check that there is exactly one finding, on this line, whose sentence has these parts."""
    found = demo.check()
    assert [(finding.line, finding.severity) for finding in found] == [(line, severity)], [str(f) for f in found]
    for part in parts:
        assert part in found[0].message


def test_sound_competition_has_no_findings(demo: Competition) -> None:
    assert demo.check() == []


def test_this_repositorys_own_file_has_no_findings() -> None:
    for year in (2026, 2030, 2040):  # the demo is meant to work for years
        assert check_phases(REPOSITORY / "phases.yaml", now=datetime(year, 11, 21, tzinfo=UTC)) == []


def test_smallest_file_of_the_reference_is_sound(demo: Competition) -> None:
    reference = (REPOSITORY / "docs" / "phases-yaml.md").read_text(encoding="utf-8")
    example = next(block for block in re.findall(r"```yaml\n(.*?)```", reference, re.DOTALL) if "version: 1" in block)
    demo.write("phases.yaml", example)
    demo.write("detection.blind.csv", (demo.folder / "items.csv").read_text(encoding="utf-8"))
    assert demo.check() == []


def test_everything_wrong_is_said_at_once_in_order_of_lines(demo: Competition) -> None:
    demo.change('title: "Demo"', "titel: Demo")
    demo.change("type: idiom-detection", "type: idiom-detektion")
    demo.change("phase: evaluation", "phase: evalution")
    demo.change('start: "2026-01-01 00:00 UTC"', 'start: "2026-01-01 00:00"')
    demo.change("per_day: 5", "per_day: 50")
    demo.change("items: practice.csv", "items: praktice.csv")
    demo.change("entry: last", "entry: latest")
    said = demo.said()
    expected = [
        (4, "the competition that begins here needs the key 'title'"),
        (5, "there is no key 'titel' here; did you mean 'title'?"),
        (8, "there is no task type 'idiom-detektion'; did you mean 'idiom-detection'?"),
        (19, "no phase 'evalution' has the board's task; did you mean 'evaluation'?"),
        (25, "'2026-01-01 00:00' has no time zone"),
        (26, "per_day (50) is more than total (10)"),
        (30, "the file praktice.csv does not exist; did you mean 'practice.csv'?"),
        (35, "'entry' must be one of best, last, all, chosen, ladder, but is 'latest'"),
    ]
    assert [int(sentence.split()[0]) for sentence in said] == [line for line, _ in expected]
    for sentence, (_, words) in zip(said, expected, strict=True):
        assert words in sentence


def test_finding_is_written_as_compilers_do(demo: Competition) -> None:
    demo.change("entry: last", "entri: last")
    assert str(demo.check()[0]).startswith(f"{demo.phases}:35:9: error: there is no key 'entri' here")


# ------------------------------------------------------------------------------------------------- names and references


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("task: detection\n", "task: detektion\n", 14, "there is no task 'detektion'; did you mean 'detection'?"),
        (
            "          detection:\n            gold: demo/p",
            "          detect:\n            gold: demo/p",
            28,
            "'detect'",
        ),
        ("name: evaluation\n", "name: practice\n", 31, "the phase 'practice' is declared twice; first on line 23"),
        ("metric: macro_f1, split: zero_shot/en", "metric: f1, split: zero_shot/en", 17, "no metric 'f1'"),
        ("split: zero_shot/en}", "split: zero_shot/es}", 17, "no split 'zero_shot/es' of macro_f1"),
        ("split: zero_shot/en}", "split: zero-shot/EN}", 17, "did you mean 'zero_shot/en'?"),
        ("split: zero_shot/en}", "split: zero_shot/all}", 17, "declared twice; first on line 16"),
        ("languages: [en, pt]", "langauges: [en, pt]", 10, "no key 'langauges' here; did you mean 'languages'?"),
        ("languages: [en, pt]", "languages: [en, en]", 10, "twice"),
        ("languages: [en, pt]", "labels: [0]", 10, "'labels'"),
        ("name: demo\n", "name: Demo\n", 4, "'Demo' cannot be a name"),
        ('title: "Detection"', "title: 1984", 9, "must be text, but is the number 1984; put it in quotes"),
        ("total: 10", "total: 10.5", 26, "must be a whole number"),
        ('end: "2026-07-01 00:00 AoE"', 'end: "2026-04-01 00:00 AoE"', 34, "ends before it starts"),
        ('end: "2026-07-01 00:00 AoE"', 'end: "2026-05-01 00:00 UTC"', 34, "ends before it starts"),
        ('end: "2026-07-01 00:00 AoE"', 'end: "2026-07-01"', 34, "no time of day"),
        ("gold: demo/practice.csv", "gold: /srv/gold/practice.csv", 29, "stays inside the folder"),
        ("items: practice.csv", "items: ../practice.csv", 30, "stays inside the folder"),
    ],
)
def test_mistake_is_found_at_its_line(demo: Competition, old: str, new: str, line: int, words: str) -> None:
    demo.change(old, new)
    assert any(
        finding.line == line and finding.severity == "error" and words in finding.message for finding in demo.check()
    ), demo.said()


def test_names_of_boards_tasks_and_baselines_are_used_once(demo: Competition) -> None:
    text = demo.phases.read_text(encoding="utf-8")
    task = text[text.index("      - name: detection") : text.index("    boards:")]
    board = text[text.index("      - name: zero-shot") : text.index("        historic:")]
    text = text.replace("    boards:\n", task + "    boards:\n", 1).replace("    phases:\n", board + "    phases:\n", 1)
    text += '              - {name: "Majority", file: majority.csv}\n'
    demo.write("phases.yaml", text)
    said = [sentence for sentence in demo.said() if "declared twice" in sentence]
    assert [re.sub(r"^\d+ error: ", "", sentence).split(" is")[0] for sentence in said] == [
        "the task 'detection'",
        "the board 'zero-shot'",
        "the baseline 'Majority'",
    ]


def test_rank_by_must_be_a_column_of_the_board(demo: Competition) -> None:
    demo.change(
        "        task: detection\n",
        "        task: detection\n        rank_by: {metric: accuracy, split: zero_shot/all}\n",
    )
    assert_found(demo, 15, "error", "one of the board's columns: macro_f1 zero_shot/all, macro_f1 zero_shot/en")
    demo.change("metric: accuracy", "metric: macro_f1")
    assert demo.check() == []


def test_same_competition_in_two_files_is_said_with_both_places(demo: Competition) -> None:
    demo.write("more/again.yaml", demo.phases.read_text(encoding="utf-8").replace("include:", "# include:"))
    said = [str(finding) for finding in demo.check() if "declared twice" in finding.message]
    assert said == [
        f"{demo.folder}/more/again.yaml:4:5: error: the competition 'demo' is declared twice; "
        f"first on {demo.phases}, line 4"
    ]


# ------------------------------------------------------------------------------------------- options of a phase's own


def three_languages(demo: Competition) -> None:
    """Galician comes with the evaluation, as it did in SemEval-2022."""
    demo.change("languages: [en, pt]", "languages: [en, pt, gl]")
    demo.change("items: practice.csv", "items: practice.csv\n            options: {languages: [en, pt]}")
    demo.change("split: zero_shot/en}", "split: zero_shot/gl}")
    with (demo.folder / "items.csv").open("a", encoding="utf-8") as items:
        items.write("4,GL,pé frío,Ten o pé frío.\n")
    with (demo.folder / "majority.csv").open("a", encoding="utf-8") as majority:
        majority.write("4,GL,zero_shot,1\n")


def test_phase_may_have_options_of_its_own(demo: Competition) -> None:
    three_languages(demo)
    assert demo.check() == []


def test_column_of_no_phase_is_an_error_though_the_task_alone_would_have_it(demo: Competition) -> None:
    three_languages(demo)
    demo.change("items: items.csv", "items: items.csv\n            options: {languages: [en, pt]}")
    assert any(f.line == 17 and "no split 'zero_shot/gl'" in f.message for f in demo.check())


def test_ranking_column_must_exist_in_every_phase(demo: Competition) -> None:
    three_languages(demo)
    demo.change('title: "All"}', 'title: "All"}\n          - {metric: macro_f1, split: zero_shot/en}')
    demo.change(
        "        task: detection\n",
        "        task: detection\n        rank_by: {metric: macro_f1, split: zero_shot/gl}\n",
    )
    assert_found(demo, 15, "error", "the board cannot rank in the phase 'practice'", "no split 'zero_shot/gl'")


def test_wrong_option_of_a_phase_is_found_at_its_line(demo: Competition) -> None:
    demo.change("items: practice.csv", "items: practice.csv\n            options: {setings: [zero_shot]}")
    assert any(f.line == 31 and "did you mean 'settings'?" in f.message for f in demo.check())


# ------------------------------------------------------------------------------------------------------------- files


def test_items_that_the_task_refuses_are_quoted(demo: Competition) -> None:
    demo.write("practice.csv", "ID,Language\n1,EN\n1,EN\n2,FR\n,PT\n5,XX\n")
    assert_found(demo, 30, "error", "practice.csv as items", "line 3, column ID: id 1 appears twice", "and 1 more")


def test_baseline_that_would_be_rejected_is_quoted(demo: Competition) -> None:
    demo.change("2,PT,zero_shot,1", "2,PT,zero_shot,7", "majority.csv")
    assert_found(demo, 43, "error", "majority.csv would be rejected", "line 3, column Label")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("team,date,metric,split,value", "team,date,split,value", "the column metric is missing"),
        ("0.25", "", "line 3, column value: the value is empty"),
        ("0.25", "nan", "is not a finite number"),
        ("0.25", "25.0", "lies outside the range of macro_f1, 0 to 1; write percent as fractions"),
        ("0.25", "-0.1", "lies outside the range"),
        ("macro_f1,zero_shot/en", "f1_macro,zero_shot/en", "no metric 'f1_macro'; did you mean 'macro_f1'?"),
        ("macro_f1,zero_shot/en", "macro_f1,zero_shot/fr", "no split 'zero_shot/fr'"),
        ("zero_shot/en,0.25", "zero_shot/all,0.25", "line 2 already has this score of this team on this date"),
        ("Bo,,", "Bo,31.1.2022,", "'31.1.2022' is not a date"),
        ("Bo,,", "Bo,2022-02-31,", "'2022-02-31' is not a date"),
        ("Bo,,", ",,", "a team needs a printable name"),
    ],
)
def test_historic_file_is_checked_by_line(demo: Competition, old: str, new: str, words: str) -> None:
    demo.change(old, new, "historic.csv")
    assert_found(demo, 20, "error", "historic.csv does not hold published results", words)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["BERT", "GPT", ""], "line 3, column method: another line of this result has BERT"),
        (["B" * 201, "", ""], "line 2, column method: a method must be one line of at most 200 characters"),
    ],
)
def test_what_historic_rows_say_of_a_system_is_checked_by_line(demo: Competition, said: list[str], words: str) -> None:
    path = demo.folder / "historic.csv"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{method}" for line, method in zip(lines, said, strict=True)]
    path.write_text("\n".join([f"{header},method", *rows]) + "\n", encoding="utf-8")
    assert_found(demo, 20, "error", "historic.csv does not hold published results", words)


@pytest.mark.parametrize("rank", ["0", "-1", "1.5", "first", "12345", "²"])
def test_rank_of_a_published_result_is_a_whole_number(demo: Competition, rank: str) -> None:
    lines = f"Ada,macro_f1,zero_shot/all,0.5,2\nBo,macro_f1,zero_shot/all,0.4,{rank}\n"
    demo.write("historic.csv", f"team,metric,split,value,rank\n{lines}")
    words = "line 3, column rank: write a rank as a whole number from 1, or leave it empty"
    assert_found(demo, 20, "error", "historic.csv does not hold published results", words)


def test_published_results_need_no_date(demo: Competition) -> None:
    demo.write("historic.csv", "team,metric,split,value\nAda,macro_f1,zero_shot/all,0.5\n")
    assert demo.said() == []


def test_links_of_historic_rows_are_checked_by_line(demo: Competition) -> None:
    path = demo.folder / "historic.csv"
    header, first, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = [f"{header},code", f"{first},javascript:alert(1)", *(f"{line}," for line in lines)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    words = "line 2, column code: A link must begin with http:// or https://"
    assert_found(demo, 20, "error", "historic.csv does not hold published results", words)


def test_published_results_of_a_competition_are_bounded_and_count_as_often_as_they_are_named(demo: Competition) -> None:
    lines = "".join(f"Team {number},,macro_f1,zero_shot/all,0.5\n" for number in range(MOST_RESULTS // 2 + 1))
    demo.write("historic.csv", f"team,date,metric,split,value\n{lines}")
    assert demo.said() == []
    entry = '          - phase: evaluation\n            file: historic.csv\n            source: "A paper"\n'
    demo.change(entry, 2 * entry)
    most = "a competition has at most 2,000 published results with 20,000 scores in all its files"
    assert [most in sentence for sentence in demo.said()] == [True]


@pytest.mark.parametrize("file", ["items.csv", "template.csv", "majority.csv", "historic.csv"])
def test_file_that_does_not_exist_or_is_empty_is_an_error(demo: Competition, file: str) -> None:
    (demo.folder / file).unlink()
    assert any(f"the file {file} does not exist" in sentence for sentence in demo.said())
    (demo.folder / file).touch()
    assert any(f"the file {file} is empty" in sentence for sentence in demo.said())
    (demo.folder / file).unlink()
    (demo.folder / file).mkdir()
    assert any(f"{file} cannot be read: Is a directory" in sentence for sentence in demo.said())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_may_not_be_read_is_an_error(demo: Competition) -> None:
    (demo.folder / "items.csv").chmod(0)
    assert any("items.csv cannot be read: Permission denied" in sentence for sentence in demo.said())


def test_two_downloads_of_one_name_are_an_error(demo: Competition) -> None:
    demo.write("other/template.csv", "x\n")
    demo.change('title: "Template"}', 'title: "Template"}\n              - {file: other/template.csv, title: "Other"}')
    assert_found(demo, 42, "error", "two downloads are called 'template.csv'; first on line 41")


def test_items_listed_as_download_are_no_second_file(demo: Competition) -> None:
    demo.change('title: "Template"}', 'title: "Template"}\n              - {file: items.csv, title: "Blind items"}')
    assert demo.check() == []


def test_items_with_the_answers_are_warned_of(demo: Competition) -> None:
    demo.write("items.csv", GOLD)
    assert_found(demo, 39, "warning", "items.csv can be read as gold")


# ----------------------------------------------------------------------------------------------------------- includes


def test_include_pattern_may_match_nothing_but_a_named_file_must_exist(demo: Competition) -> None:
    demo.change('["more/*.yaml"]', '["more/*.yaml", more/missing.yaml]')
    assert_found(demo, 2, "error", "missing.yaml cannot be read: No such file")


def test_included_file_is_checked_relative_to_itself(demo: Competition) -> None:
    text = (
        demo.phases.read_text(encoding="utf-8").replace("name: demo", "name: other").replace("include:", "# include:")
    )
    demo.write("more/other.yaml", text)
    files = {finding.file for finding in demo.check()}
    assert files == {str(demo.folder / "more" / "other.yaml")}
    for file in ("items.csv", "practice.csv", "template.csv", "majority.csv", "historic.csv"):
        demo.write(f"more/{file}", (demo.folder / file).read_text(encoding="utf-8"))
    assert demo.check() == []
    assert [(one.declaration.name, one.folder) for one in load_competitions(demo.phases)] == [
        ("demo", demo.folder),
        ("other", demo.folder / "more"),
    ]


def test_files_that_include_each_other_are_an_error(demo: Competition) -> None:
    demo.write("more/a.yaml", "version: 1\ninclude: [b.yaml]\n")
    demo.write("more/b.yaml", "version: 1\ninclude: [c/*.yaml]\n")
    demo.write("more/c/c.yaml", "version: 1\n")
    assert demo.check() == []
    (demo.folder / "more" / "c" / "a.yaml").symlink_to("../a.yaml")
    found = demo.check()
    assert [finding.message for finding in found] == ["files include each other in a circle: a.yaml → b.yaml → a.yaml"]


def test_file_that_includes_itself_is_an_error_but_a_pattern_passes_it_over(demo: Competition) -> None:
    demo.change('["more/*.yaml"]', '["*.yaml"]')
    assert demo.check() == []
    demo.change('["*.yaml"]', "[phases.yaml]")
    assert_found(demo, 2, "error", "circle: phases.yaml → phases.yaml")


def test_main_file_that_does_not_exist_is_one_error(tmp_path: Path) -> None:
    (finding,) = check_phases(tmp_path / "phases.yaml", now=NOW)
    assert "cannot be read: No such file or directory" in finding.message


# ----------------------------------------------------------------------------------------------------------- warnings


def test_absent_gold_is_a_warning_while_it_matters(demo: Competition) -> None:
    demo.change("            gold: demo/evaluation.csv\n", "")
    assert_found(demo, 37, "warning", "no gold in phase 'evaluation'")
    assert check_phases(demo.phases, now=datetime(2026, 7, 1, 12, tzinfo=UTC)) == []  # at its end it is over


def test_task_and_board_that_no_phase_shows_are_warned_of(demo: Competition) -> None:
    demo.change(
        "    boards:\n",
        "      - {name: spare, type: idiom-detection, title: Spare}\n    boards:\n"
        "      - name: spare\n        title: Spare\n        task: spare\n"
        "        columns: [{metric: macro_f1, split: zero_shot/all}]\n",
    )
    assert [(f.line, f.severity, f.message.split(":")[0]) for f in demo.check()] == [
        (11, "warning", "no phase has the task 'spare', so it is not shown anywhere"),
        (13, "warning", "no phase has the task 'spare', so the board is not shown anywhere"),
    ]


def test_phases_over_the_same_items_at_the_same_time_are_warned_of(demo: Competition) -> None:
    demo.change("items: practice.csv", "items: items.csv")
    assert_found(demo, 37, "warning", "the phases 'practice' and 'evaluation'", "same items")
    demo.change('start: "2026-01-01 00:00 UTC"', 'start: "2026-01-01 00:00 UTC"\n        end: "2026-05-01 00:00 UTC"')
    assert demo.check() == []  # half-open: one ends at the moment when the other starts


def test_competition_that_is_over_is_warned_of(demo: Competition) -> None:
    demo.change('start: "2026-01-01 00:00 UTC"', 'start: "2026-01-01 00:00 UTC"\n        end: "2026-02-01 00:00 UTC"')
    assert demo.check() == []
    (finding,) = check_phases(demo.phases, now=datetime(2027, 1, 1, tzinfo=UTC))
    assert (finding.severity, finding.line) == ("warning", 22)
    assert "every phase has ended" in finding.message


# ------------------------------------------------------------------------------------------------------------ loading


def test_warnings_do_not_keep_from_loading(demo: Competition) -> None:
    demo.change("            gold: demo/evaluation.csv\n", "")
    (loaded,) = load_competitions(demo.phases)
    assert loaded.declaration.phases[1].tasks["detection"].gold is None


def test_errors_keep_from_loading_and_are_all_told(demo: Competition) -> None:
    demo.change("entry: last", "entry: latest")
    demo.change("type: idiom-detection", "type: idiom-detektion")
    with pytest.raises(InvalidPhases, match="and 1 more") as refused:
        load_competitions(demo.phases)
    assert [finding.line for finding in refused.value.findings] == [8, 35]


# ------------------------------------------------------------------------------------------------------ anything at all


def paths_of(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every value of a document."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in inside:
        yield from paths_of(child, (*path, step))


@pytest.mark.parametrize("odd", [None, "x", 2.5, [None], {"x": []}], ids=repr)
def test_odd_value_anywhere_is_never_more_than_a_finding(demo: Competition, odd: object) -> None:
    sound = yaml.safe_load(PHASES)
    for path in paths_of(sound):
        document = copy.deepcopy(sound)
        if path:
            above = functools.reduce(operator.getitem, path[:-1], document)
            above[path[-1]] = odd
        else:
            document = odd
        demo.write("phases.yaml", yaml.safe_dump(document, sort_keys=False))
        errors = [finding for finding in demo.check() if finding.severity == "error"]
        try:
            load_competitions(demo.phases)
        except InvalidPhases:
            assert errors, path
        else:
            assert not errors, path


def test_sealed_gold_of_this_server_counts_as_gold(demo: Competition) -> None:
    demo.change("            gold: demo/evaluation.csv\n", "")
    warned = [finding.message for finding in demo.check() if "no gold" in finding.message]
    assert len(warned) == 1
    sealed = {("demo", "evaluation", "detection")}
    found = check_phases(demo.phases, now=NOW, sealed=sealed)
    assert [finding.message for finding in found if "no gold" in finding.message] == []


def test_gold_that_is_sealed_for_another_competition_is_not_this_ones(demo: Competition) -> None:
    """Names of phases and tasks are the same in both."""
    demo.change("            gold: demo/evaluation.csv\n", "")

    def told(*sealed: tuple[str, str, str]) -> list[str]:
        return [found.message for found in check_phases(demo.phases, now=NOW, sealed=set(sealed))]

    assert told(("other", "evaluation", "detection")) == told()
    assert told(("demo", "evaluation", "detection")) != told()
