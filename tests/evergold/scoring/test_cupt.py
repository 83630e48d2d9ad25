"""CUPT files: what is read of them, and everything that can be wrong with a prediction, by line and sentence."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Sequence

import pytest

from evergold.scoring.cupt import scan
from evergold.scoring.cupt.codes import MOST_CODES
from evergold.scoring.cupt.corpus import CuptItems, Mwe, lemma_key, read_gold, read_items, read_training
from evergold.scoring.cupt.prediction import MOST_CATEGORIES, PredictedMwes, read_predicted_mwes
from evergold.scoring.cupt.reader import PredictionReader
from evergold.scoring.errors import InvalidGold, InvalidItems, Problem, Problems

HEADER = "# global.columns = ID FORM LEMMA UPOS PARSEME:MWE\n"
#: Two sentences: `Ils en ont marre` and `Du lait`, with a range and an empty node.
FIRST = ("1 Ils il PRON", "2 en en PRON", "2.1 _ _ _", "3 ont avoir VERB", "4 marre marre ADV")
SECOND = ("1-2 Du _ _", "1 De de ADP", "2 le le DET", "3 lait lait NOUN")


def sentence(name: str, rows: Sequence[str], codes: str) -> str:
    """rows and codes: one each per token line, separated by spaces."""
    lines = [f"{row} {code}".replace(" ", "\t") for row, code in zip(rows, codes.split(), strict=True)]
    return f"# source_sent_id = http://example.org file.conllu {name}\n# text = …\n" + "\n".join(lines) + "\n\n"


def cupt(first: str = "* 1:VID * 1 1", second: str = "* * * *") -> str:
    return HEADER + sentence("s-1", FIRST, first) + sentence("s-2", SECOND, second)


ITEMS = read_items(cupt("_ _ _ _ _", "_ _ _ _").encode())


def predicted(
    text: str | bytes, items: CuptItems = ITEMS, categories: Sequence[str] | None = None, **others: CuptItems
) -> tuple[PredictedMwes, Problems]:
    problems = Problems()
    data = text if isinstance(text, bytes) else text.encode()
    result = read_predicted_mwes(data, items, problems, file="FR", categories=categories, others=others)
    return result, problems


def errors(text: str | bytes, categories: Sequence[str] | None = None) -> list[Problem]:
    return predicted(text, categories=categories)[1].errors


def warnings(text: str) -> list[Problem]:
    result, problems = predicted(text)
    assert problems.errors == []
    assert result.fingerprint == ITEMS.fingerprint
    return problems.warnings


# ---------------------------------------------------------------------------------------------------- what is read


def test_items_name_sentences_and_keep_ids_and_forms() -> None:
    assert ITEMS.sentence_ids == ("s-1", "s-2")
    assert ITEMS.ids(0) == [b"1", b"2", b"2.1", b"3", b"4"]
    assert ITEMS.ids(1) == [b"1-2", b"1", b"2", b"3"]
    assert ITEMS.forms(1) == [b"De", b"le", b"lait"]
    assert [ITEMS.ranges(0), ITEMS.ranges(1)] == [[], [0]]


def test_items_are_the_same_from_the_blind_file_and_from_gold() -> None:
    assert read_gold(cupt().encode()).items == ITEMS
    assert read_items(cupt().replace("Ils", "Elles").encode()).fingerprint != ITEMS.fingerprint


def test_sentences_without_an_id_are_called_by_their_number() -> None:
    text = "\n".join(line for line in cupt().split("\n") if not line.startswith("# s"))
    assert read_items(text.encode()).sentence_ids == ("number 1", "number 2")


def test_an_empty_node_takes_a_position_and_a_range_takes_none() -> None:
    gold = read_gold(cupt("* 1:VID * 1 1", "* 1:LVC.full * 1").encode())
    assert gold.mwes == (Mwe(0, (1, 3, 4), "VID"), Mwe(1, (0, 2), "LVC.full"))
    assert gold.lemmas == (b"il\ten\t_\tavoir\tmarre", b"de\tle\tlait")


def test_a_code_on_a_range_is_given_to_its_words_in_gold_and_prediction_but_not_in_training() -> None:
    text = cupt("* * * * *", "1:VID * * 1")
    assert read_gold(text.encode()).mwes == (Mwe(1, (0, 1, 2), "VID"),)
    result, problems = predicted(text)
    assert result.mwes == (Mwe(1, (0, 1, 2), "VID"),)
    (warning,) = problems.warnings
    assert (warning.code, warning.line, warning.file) == ("code-on-range", 12, "FR")
    assert "2 le" not in str(warning)
    assert "sentence s-2" in str(warning)
    assert read_training(text.encode()).spans == {b"lait"}


def test_a_category_on_the_range_or_on_its_first_word_holds() -> None:
    assert read_gold(cupt(second="1 1:VID * *").encode()).mwes[1:] == (Mwe(1, (0, 1), "VID"),)
    assert read_gold(cupt(second="1:VID 1 * *").encode()).mwes[1:] == (Mwe(1, (0, 1), "VID"),)


def test_empty_nodes_take_no_part_in_a_range_around_them() -> None:
    rows = ("1-2 Du _ _", "1 De de ADP", "1.1 _ _ _", "2 le le DET")
    gold = read_gold((HEADER + sentence("s", rows, "1:VID * * *")).encode())
    assert gold.mwes == (Mwe(0, (0, 2), "VID"),)


def test_overlapping_mwes_and_the_order_of_codes() -> None:
    gold = read_gold(cupt("2:VID 1:IRV;2 * 1 2").encode())
    assert gold.mwes == (Mwe(0, (0, 1, 4), "VID"), Mwe(0, (1, 3), "IRV"))


def test_training_has_lemmas_in_any_order_and_forms_with_the_words_in_gaps() -> None:
    training = read_training(cupt("* 1:VID * 1 1").encode())
    assert training.lemmas == {lemma_key([b"marre", b"avoir", b"en"])}
    assert training.spans == {b"en\t_\tont\tmarre"}


def test_an_unknown_lemma_is_the_form_in_training_and_stays_unknown_in_gold() -> None:
    text = cupt("* 1:VID * * *").replace("en\ten", "en\t_")
    assert read_training(text.encode()).lemmas == {b"en"}
    assert read_gold(text.encode()).lemmas[0].split(b"\t")[1] == b"_"


def test_training_files_add_up() -> None:
    both = read_training(cupt("1:VID * * * *").encode()) | read_training(cupt("* 1:VID * * *").encode())
    assert both.lemmas == {b"il", b"en"}
    assert both.spans == {b"Ils", b"en"}


def test_columns_are_found_by_the_header() -> None:
    rows = [line.split("\t") for line in cupt().split("\n")[1:]]
    turned = "\n".join("\t".join(reversed(row)) for row in rows)
    text = "# global.columns = PARSEME:MWE UPOS LEMMA FORM ID\n" + turned
    assert predicted(text)[0] == predicted(cupt())[0]
    assert read_gold(text.encode()) == read_gold(cupt().encode())


def test_a_prediction_needs_only_id_form_and_mwe() -> None:
    lines = [line.split("\t") for line in cupt().split("\n")[1:]]
    short = "\n".join("\t".join([*row[:2], row[-1]]) if len(row) > 1 else row[0] for row in lines)
    result, problems = predicted("# global.columns = ID FORM PARSEME:MWE\n" + short)
    assert result.mwes == predicted(cupt())[0].mwes
    assert problems.errors == []


def test_lemmas_of_the_prediction_are_kept_for_the_official_report_alone() -> None:
    ours, theirs = predicted(cupt())[0], predicted(cupt().replace("\tavoir\t", "\thaben\t"))[0]
    assert ours.mwes == theirs.mwes
    assert (ours.lemmas, theirs.lemmas) == ((b"avoir\ten\tmarre",), (b"en\thaben\tmarre",))


def test_comments_and_further_empty_lines_may_differ() -> None:
    text = cupt().replace("# text = …\n", "").replace("\n\n", "\n\n\n# a comment alone\n\n")
    assert predicted(text)[0] == predicted(cupt())[0]
    assert errors(text) == []


def test_comments_alone_are_no_sentence_of_gold_either() -> None:
    text = cupt()
    assert read_gold(f"{text}# a comment alone\n\n\n# and the last\n".encode()).mwes == read_gold(text.encode()).mwes


def test_comments_between_tokens_are_skipped() -> None:
    text = cupt().replace("3\tont", "# note\tx\n3\tont")
    assert predicted(text)[0] == predicted(cupt())[0]
    assert read_gold(text.encode()) == read_gold(cupt().encode())


def test_a_quick_scan_and_a_slow_look_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = cupt("1:VID 1;2 * 2 _", "* 1 * 1;1").replace("\tavoir\t", "\thaben\t")
    quick = predicted(text)
    monkeypatch.setattr(scan, "scan", lambda data, header, items: None)
    slow = predicted(text)
    assert quick[0] == slow[0]
    assert (quick[1].errors, quick[1].warnings) == (slow[1].errors, slow[1].warnings)


@pytest.mark.parametrize(
    "codes", [["1:VID"] + ["1"] * 30, [f"1:{'A' * 39};2:{'B' * 39}", "1;2"] * 4, ["1:VID", "1"] * 3]
)
def test_long_mwes_and_long_names_of_categories_are_read_like_others(
    codes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tuple(f"{number} w{number} l{number} X" for number in range(1, len(codes) + 1))
    items = read_items((HEADER + sentence("s", rows, " ".join("_" for _ in rows))).encode())
    text = HEADER + sentence("s", rows, " ".join(codes))
    quick = predicted(text, items)
    assert quick[1].errors == []
    assert all(mwe.tokens == tuple(range(len(codes))) for mwe in quick[0].mwes)
    monkeypatch.setattr(scan, "scan", lambda data, header, items: None)
    assert predicted(text, items)[0] == quick[0]


# ------------------------------------------------------------------------------------------- what is only a warning


def test_hundreds_of_mwes_on_one_token_are_read() -> None:
    """Check annotations like those of broken real systems, which the official validator accepts."""
    codes = ";".join(f"{number}:LVC.full" for number in range(1, 331))
    assert len(codes) > 3_700
    result, problems = predicted(cupt(f"* {codes} * 1 1"))
    assert problems.errors == []
    assert len(result.mwes) == 330
    assert result.mwes[0] == Mwe(0, (1, 3, 4), "LVC.full")
    assert set(result.mwes[1:]) == {Mwe(0, (1,), "LVC.full")}


def test_a_limit_of_codes_on_one_token_names_itself() -> None:
    within, beyond = (";".join(map(str, range(1, number + 1))) for number in (MOST_CODES, MOST_CODES + 1))
    assert errors(cupt(f"* {within} * 1 1")) == []
    [problem] = errors(cupt(f"* {beyond} * * *"))
    assert (problem.code, problem.line) == ("too-many-codes", 5)
    assert problem.message.startswith("2,001 MWE codes on one token; at most 2,000 are read")


@pytest.mark.parametrize("ranges", [False, True], ids=["scanned", "sentence by sentence"])
def test_a_file_of_nothing_but_codes_is_refused(monkeypatch: pytest.MonkeyPatch, ranges: bool) -> None:
    monkeypatch.setattr("evergold.scoring.cupt.reader.MOST_CODES_BESIDES", 100)  # and 10 for each of nine token lines
    second = "1 * * 1" if ranges else "* * * *"
    codes = ";".join(map(str, range(1, 100)))
    assert errors(cupt(f"* {codes} * 1 {codes[: codes.index(';80')]}", second)) == []
    [problem] = errors(cupt(f"* {codes} * 1 {codes}", second))
    assert problem.code == "too-many-codes"
    assert problem.message == "the file has more than 190 MWE codes, but the blind file has only 9 tokens"


@pytest.mark.soak
def test_a_file_of_millions_of_codes_is_refused_about_as_fast_as_an_honest_one_is_read() -> None:
    """9 MB of nothing but codes took a minute to read, and another to score."""
    rows = [f"{number} w{number} l X" for number in range(1, 601)]
    items = read_items((HEADER + sentence("s", rows, " ".join("_" * 600))).encode())
    codes = ";".join(map(str, range(1, 2001)))
    attack = (HEADER + sentence("s", rows, " ".join([codes] * 600))).encode()
    honest_rows = [f"{number} {'word' * 20} l X" for number in range(1, 21)]
    honest = (HEADER + 4000 * sentence("s", honest_rows, "1:VID 1 " + " ".join("*" * 18))).encode()

    def seconds(data: bytes, of: CuptItems) -> float:
        began = time.process_time()
        read_predicted_mwes(data, of, Problems())
        return time.process_time() - began

    honest_items = read_items(honest)
    assert len(attack) > 5_000_000 < len(honest)
    assert min(seconds(attack, items) for _ in range(3)) < 10 * min(seconds(honest, honest_items) for _ in range(3))


def test_the_lemma_of_a_token_in_hundreds_of_mwes_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the number of look-ups: the line is as long as its codes are many, so one look-up for each would be
    quadratic.
    """
    looked_up: list[bytes] = []
    lemma = PredictionReader._lemma

    def counted(reader: PredictionReader, row: bytes) -> bytes:
        looked_up.append(row)
        return lemma(reader, row)

    monkeypatch.setattr(PredictionReader, "_lemma", counted)
    codes = ";".join(map(str, range(1, 501)))
    result, _ = predicted(cupt(second=f"1 {codes} * {codes}"))
    assert len(result.mwes) == 501
    assert len(looked_up) == 6, "each word once: three of the first sentence, those of the range, and the last"


def test_words_behind_ranges_have_their_own_lines_and_lemmas() -> None:
    rows = ("1-2 du _ _", "1 de A X", "2 le B X", "3 x C X", "4-5 au _ _", "4 à D X", "5 le E X", "6 y F X")
    items = read_items((HEADER + sentence("s", rows, " ".join("_" * 8))).encode())
    result, problems = predicted(HEADER + sentence("s", rows, "* 1:VID * 2:VID 2 2 * 1"), items)
    assert [problem.line for problem in problems.warnings] == [8], "the code on the range"
    assert result.mwes == (Mwe(0, (0, 5), "VID"), Mwe(0, (2, 3, 4), "VID"))
    assert result.lemmas == (lemma_key([b"A", b"F"]), lemma_key([b"C", b"D", b"E"]))


def test_a_byte_order_mark_and_windows_line_ends_are_warnings() -> None:
    text = "\ufeff" + cupt().replace("\n", "\r\n")
    assert [warning.code for warning in warnings(text)] == ["byte-order-mark", "windows-line-ends"]
    assert predicted(text)[0] == predicted(cupt())[0]


@pytest.mark.parametrize(
    ("codes", "code", "line"),
    [
        ("* 1:VID;1 * 1 *", "repeated-code", 5),
        ("* 2:VID * 2 *", "gap-in-numbers", 5),
        ("* 1 * 1 *", "no-category", 5),
        ("* 1 * 1:VID *", "no-category", 5),
    ],
)
def test_odd_numbering_and_missing_categories_are_warnings(codes: str, code: str, line: int) -> None:
    (warning,) = warnings(cupt(codes))
    assert (warning.code, warning.line) == (code, line)
    assert "sentence s-1" in str(warning)


def test_a_category_on_a_later_token_is_said_not_to_be_read() -> None:
    assert "VID on a later one is not read" in str(warnings(cupt("* 1 * 1:VID *"))[0])
    assert predicted(cupt("* 1 * 1:VID *"))[0].mwes == (Mwe(0, (1, 3), None),)


def test_a_missing_empty_line_at_the_end_is_a_warning() -> None:
    (warning,) = warnings(cupt().removesuffix("\n"))
    assert (warning.code, warning.line) == ("missing-final-newline", 15)


# ------------------------------------------------------------------------------------------------ what is an error


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "missing-header"),
        ("1\tIls\til\tPRON\t*\n\n", "missing-header"),
        ("# global.columns = ID FORM LEMMA UPOS\n" + cupt().partition("\n")[2], "wrong-columns"),
        ("# global.columns = ID ID FORM LEMMA PARSEME:MWE\n" + cupt().partition("\n")[2], "wrong-columns"),
    ],
)
def test_without_a_header_nothing_else_is_said(text: str, code: str) -> None:
    (problem,) = errors(text)
    assert (problem.code, problem.line, problem.file) == (code, 1, "FR")


@pytest.mark.parametrize(
    ("encoding", "name"), [("utf-16", "UTF-16 (Excel calls it Unicode text)"), ("utf-32", "UTF-32")]
)
def test_utf_16_and_utf_32_are_recognised(encoding: str, name: str) -> None:
    (problem,) = errors(cupt().encode(encoding))
    assert (problem.code, problem.message) == (
        "wrong-encoding",
        f"the file is {name}, not UTF-8: save it again as UTF-8",
    )


def test_latin_1_is_named_with_the_first_line_that_has_it() -> None:
    """Check the é of line 5, which is the byte 0xE9 there; tables report the same."""
    text = cupt().replace("\tlait\t", "\tlä\t", 1)
    line = 1 + text.partition("ä")[0].count("\n")
    (problem,) = errors(text.encode().replace("ä".encode(), b"\xe4"))
    assert (problem.code, problem.line) == ("not-utf-8", line)
    assert problem.message.startswith("the byte 0xE4 is not UTF-8: the file looks like Latin-1")


def test_lines_of_an_old_mac_are_read_with_a_warning() -> None:
    assert not errors(cupt().replace("\n", "\r"))


def test_blanks_at_the_ends_of_fields_and_lines_are_stripped_with_one_warning() -> None:
    """Check what the official evaluator does; a line of blanks ends a sentence. Comments may contain anything."""
    lines = cupt().split("\n")
    lines[3] = lines[3].replace("\tIls\t", "\tIls  \t") + " "
    lines[8] = "  "
    lines[2] += " "
    assert (lines[2][0], cupt().split("\n")[8]) == ("#", "")
    found = predicted("\n".join(lines))[0]
    assert found.mwes == predicted(cupt())[0].mwes
    assert [(one.code, one.line) for one in warnings("\n".join(lines))] == [("blanks", 4)]
    assert warnings(cupt().replace("text = …", "text = … ")) == []


@pytest.mark.parametrize(
    "code",
    [
        "1;;2",
        "x:VID",
        "1:",
        "0:VID",
        "01:VID",
        "-1",
        "1:VID:x",
        "1;",
        ";",
        "**",
        "1:A B",
        "1,2",
        "9999999",
        "VID",
    ],
)
def test_malformed_codes_are_errors_with_line_and_sentence(code: str) -> None:
    text = cupt().replace("\t1:VID\n", f"\t{code}\n")
    problem = errors(text)[0]
    assert (problem.code, problem.line, problem.column) == ("malformed-code", 5, "PARSEME:MWE")
    assert code.strip() in str(problem)
    assert "sentence s-1" in str(problem)


def test_an_mwe_code_that_is_no_text_is_an_error() -> None:
    assert errors(cupt().encode().replace(b"1:VID", b"1:\xff\xfe"))[0].code == "malformed-code"


@pytest.mark.parametrize("codes", ["* 1:VID * 1:IRV *", "* 1:VID;1:IRV * 1 *"])
def test_a_category_given_twice_differently_is_an_error(codes: str) -> None:
    problem = errors(cupt(codes))[0]
    assert problem.code == "conflicting-category"
    assert "1 is a IRV here, a VID before" in str(problem)


def test_a_category_on_a_range_that_contradicts_its_word_is_an_error() -> None:
    assert [problem.code for problem in errors(cupt(second="1:VID 1:IRV * *"))] == ["conflicting-category"]


def test_a_category_repeated_is_no_problem() -> None:
    assert warnings(cupt("* 1:VID * 1:VID 1:VID")) == []


def test_unknown_categories_are_errors_with_the_known_ones() -> None:
    text = cupt(second="* 2:LVC.full * 1:VID")
    assert errors(text, categories=["VID", "LVC.full"]) == []
    (problem,) = errors(text, categories=["VID"])
    assert (problem.code, problem.line, problem.text) == ("unknown-category", 13, "LVC.full")
    assert "the task has VID" in str(problem)


def test_any_category_is_accepted_without_a_list_but_not_any_number() -> None:
    rows = tuple(f"{number} w w X" for number in range(1, MOST_CATEGORIES + 2))
    codes = [f"{number}:C{number}" for number in range(1, len(rows) + 1)]
    items = read_items((HEADER + sentence("s", rows, " ".join("_" for _ in rows))).encode())
    _, problems = predicted(HEADER + sentence("s", rows, " ".join(codes)), items)
    assert [problem.code for problem in problems.errors] == ["too-many-categories"]
    _, problems = predicted(HEADER + sentence("s", rows, " ".join([*codes[:-1], "*"])), items)
    assert problems.errors == []


def test_a_token_left_blind_is_an_error_and_counted_once() -> None:
    (problem,) = errors(cupt("_ _ _ _ _", "_ _ _ _"))
    assert (problem.code, problem.line) == ("unannotated", 4)
    assert "9 tokens have `_`" in str(problem)


def test_another_token_is_an_error_with_both() -> None:
    (problem,) = errors(cupt().replace("\tmarre\tmarre", "\tassez\tassez"))
    assert (problem.code, problem.line) == ("token-mismatch", 8)
    assert "4 “assez”, in the blind file it is 4 “marre”" in str(problem)
    assert "sentence s-1" in str(problem)


def test_another_number_of_tokens_is_an_error() -> None:
    (problem,) = errors(cupt().replace("4\tmarre\tmarre\tADV\t1\n", ""))
    assert (problem.code, problem.line) == ("token-mismatch", 7)
    assert "4 token lines, in the blind file it has 5" in str(problem)


def test_all_problems_of_a_file_are_told_at_once() -> None:
    text = cupt("* 1;;2 * 1 *", "* x * *").replace("\tIls", "\tElles").replace("3\tlait", "3\tlaid")
    found = [(problem.code, problem.line) for problem in errors(text)]
    assert found == [("malformed-code", 5), ("token-mismatch", 4), ("malformed-code", 13), ("token-mismatch", 15)]


def test_lines_with_too_few_or_too_many_columns_are_errors() -> None:
    text = cupt().replace("\tPRON\t1:VID", "\t1:VID").replace("\tNOUN\t*", "\tNOUN\t_\t*")
    found = [(problem.code, problem.line, problem.message) for problem in errors(text)]
    assert found == [
        ("wrong-columns", 5, "4 columns where the first line names 5 (sentence s-1)"),
        ("wrong-columns", 15, "6 columns where the first line names 5 (sentence s-2)"),
    ]


@pytest.mark.parametrize(("row", "columns"), [("NOUN\t_\t*", 6), ("NOUN", 4)])
def test_one_line_with_another_number_of_columns_is_enough(row: str, columns: int) -> None:
    (problem,) = errors(cupt().replace("NOUN\t*", row))
    assert (problem.code, problem.line) == ("wrong-columns", 15)
    assert f"{columns} columns where" in str(problem)


def test_sentences_run_together_or_split_are_errors() -> None:
    together = cupt().replace("\t1\n\n# source", "\t1\n# source")
    assert [(problem.code, problem.line) for problem in errors(together)] == [
        ("token-mismatch", 11),
        ("truncated-file", 15),
    ]
    split = cupt().replace("\t1:VID\n", "\t1:VID\n\n")
    found = [(problem.code, problem.line) for problem in errors(split)]
    assert ("token-mismatch", 5) in found


def test_a_missing_sentence_is_an_error_at_the_next_line() -> None:
    text = HEADER + sentence("s-2", SECOND, "* * * *")
    (problem,) = errors(text)
    assert (problem.code, problem.line) == ("missing-sentence", 4)
    assert "sentence s-1 is missing before this line" in str(problem)


def test_an_additional_sentence_is_an_error() -> None:
    extra = sentence("x", ("1 Oui oui INTJ",), "*")
    for text, line in ((cupt() + extra, 19), (cupt().replace("# source", extra + "# source", 1), 4)):
        (problem,) = errors(text)
        assert (problem.code, problem.line) == ("unknown-sentence", line)
        assert "a sentence that is not in the blind file (sentence x)" in str(problem)


def test_a_truncated_file_is_an_error_that_says_what_is_missing() -> None:
    (problem,) = errors(cupt().partition("# source_sent_id = http://example.org file.conllu s-2")[0])
    assert (problem.code, problem.line) == ("truncated-file", 9)
    assert "sentence s-2 is missing at the end (of 2 sentences in all)" in str(problem)


def test_a_file_cut_within_a_line_is_an_error() -> None:
    found = {problem.code for problem in errors(cupt().removesuffix("\tlait\tNOUN\t*\n\n"))}
    assert found == {"wrong-columns"}


def test_a_missing_final_newline_is_warned_of_with_what_is_read() -> None:
    """A file that `"\\n".join(lines)` writes; no more than the end of the last code may be cut off."""
    assert not errors(cupt().removesuffix("\n\n"))
    (problem,) = warnings(cupt().removesuffix("\n\n"))
    assert (problem.code, problem.line) == ("missing-final-newline", 15)
    assert problem.message == "the last line has no line end: it is read unchanged, ending in '*'"


def test_the_file_of_another_language_is_recognised() -> None:
    other = HEADER + sentence("de-1", ("1 Ja ja INTJ",), "*")
    _, problems = predicted(other, ITEMS, de=read_items(other.encode()))
    (problem,) = problems.errors
    assert problem.code == "swapped-language"
    assert "these are the sentences of de" in str(problem)


def test_every_sentence_wrong_is_told_up_to_a_limit_and_then_counted() -> None:
    rows = [(f"{number}", f"1 {number} w X") for number in range(300)]
    items = read_items((HEADER + "".join(sentence(name, (row,), "_") for name, row in rows)).encode())
    wrong = HEADER + "".join(sentence(name, (row.replace(" w", "x w"),), "*") for name, row in rows)
    problems = Problems(20)
    read_predicted_mwes(wrong.encode(), items, problems)
    assert (len(problems.errors), problems.omitted) == (20, 280)
    assert {problem.code for problem in problems.errors} == {"token-mismatch"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("# global.columns = ID FORM PARSEME:MWE " + "X " * 3_000_000, "missing-header"),
        (HEADER + "1\n" * 3_000_000, "too-many-lines"),
        (HEADER + "\t" * 6_000_000 + "\n\n", "wrong-columns"),
        (cupt().replace("1:VID", "1;" * 3_000_000 + "1"), "too-many-codes"),
        (cupt("*" * 6_000_000 + " * * * *"), "malformed-code"),
    ],
)
def test_large_rubbish_is_refused_without_much_memory(text: str, code: str) -> None:
    data = text.encode()
    tracemalloc.start()
    try:
        found = errors(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert code in [problem.code for problem in found]
    assert peak < 4 * len(data)


# ------------------------------------------------------------------------------------ the organisers' own files


@pytest.mark.parametrize("read", [read_items, read_gold, read_training])
@pytest.mark.parametrize("character", ["x", "é", "€", "🦊"])
def test_a_large_file_is_read_without_a_copy(read: Callable[[bytes], object], character: str) -> None:
    """Decoded at once, the file would take three to five times its size: each character as many bytes as the widest."""
    comments = ("# " + "x" * 97 + character + "\n") * 20
    data = (HEADER + (comments + sentence("s-1", FIRST, "* 1:VID * 1 1")) * 1_000).encode()
    read(data)  # what is kept at the first call is no part of a file
    tracemalloc.start()
    try:
        read(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(data)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (HEADER, "empty-file", 1),
        (cupt().replace("2.1\t", "2+\t"), "malformed-id", 6),
        (cupt().replace("\tADV\t1", "\t1"), "wrong-columns", 8),
        (cupt().replace("global.columns", "columns"), "missing-header", 1),
    ],
)
def test_wrong_items_and_gold_are_refused_with_line(text: str, code: str, line: int) -> None:
    for read, error in ((read_items, InvalidItems), (read_gold, InvalidGold)):
        with pytest.raises(error) as caught:
            read(text.encode(), "FR/test.cupt")
        assert [(p.code, p.line, p.file) for p in caught.value.problems] == [(code, line, "FR/test.cupt")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (cupt("_ * * * *"), "unannotated"),
        (cupt("1: * * * *"), "malformed-code"),
        (cupt("1:VID 1:IRV * * *"), "conflicting-category"),
        (cupt().replace("LEMMA", "STEM"), "wrong-columns"),
    ],
)
def test_wrongly_annotated_gold_and_training_are_refused(text: str, code: str) -> None:
    for read in (read_gold, read_training):
        with pytest.raises(InvalidGold) as caught:
            read(text.encode())
        assert [problem.code for problem in caught.value.problems] == [code]


def test_ids_may_occur_twice_as_in_published_gold() -> None:
    text = cupt().replace("4\tmarre", "3\tmarre")
    assert read_gold(text.encode()).mwes == read_gold(cupt().encode()).mwes


def test_a_run_of_millions_of_blanks_is_read_in_one_pass() -> None:
    """Check the time: with a new start at each blank, 40,000 took 11 s, four million would have taken a day."""
    blanks = " " * 4_000_000
    text = cupt().replace("text = …", f"text ={blanks}…").replace("\tVERB", "\tVERB ")
    found, problems = predicted(text)
    assert found.mwes == predicted(cupt())[0].mwes
    assert [problem.code for problem in problems.warnings] == ["blanks"]


def test_first_token_that_begins_with_a_hash_is_a_token_where_forms_come_first() -> None:
    """An ID never begins so: with the ID first, the line is a comment, as for the official evaluator."""
    head = "# global.columns = FORM ID LEMMA PARSEME:MWE\n"
    items = read_items((head + "# text = # one\n#\t1\t#\t_\none\t2\tone\t_\n\n").encode())
    assert items.key(0) == b"1\t#\t2\tone\t"
    usual = "# global.columns = ID FORM LEMMA PARSEME:MWE\n"
    assert read_items((usual + "#\t1\t#\t_\n1\tone\tone\t_\n\n").encode()).key(0) == b"1\tone\t"


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("la\u200bit", "character 3 is U+200B ZERO WIDTH SPACE, an invisible character: remove it"),
        ("LAIT", "upper and lower case count"),
        ("eau", "in the blind file it is 3 “lait” (sentence"),
    ],
)
def test_token_that_looks_like_the_expected_one_is_explained(written: str, why: str) -> None:
    (problem,) = errors(cupt().replace("lait", written, 1))
    assert problem.code == "token-mismatch"
    assert why in problem.message
    assert "\u200b" not in problem.message
