"""Reading a corpus: texts unchanged, sentences that stay together, MWEs in both readings, every problem of
every file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evergold.corpora.annotated import KeepTogether, read_corpus
from evergold.scoring.errors import InvalidGold
from tests.evergold.corpora.made_up import HEADER, REST, cupt


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def problems(*paths: Path, together: KeepTogether = "sentence") -> list[str]:
    with pytest.raises(InvalidGold) as refused:
        read_corpus(paths, together)
    return [str(problem) for problem in refused.value.problems]


def test_all_sentences_written_are_the_file_to_the_byte(tmp_path: Path) -> None:
    text = cupt([["VID:a+b"], [], ["LVC.full:c"]])
    corpus = read_corpus([write(tmp_path, "one.cupt", text)])
    assert corpus.written(np.ones(3, np.bool_)) == text.encode()


def test_chosen_sentences_keep_their_comments_and_columns(tmp_path: Path) -> None:
    one = "# source_sent_id = . . x\n# text = é\n1\té\té\tNOUN\t_\tA=b\t0\troot\t_\tSpaceAfter=No\t1:VID\n"
    two = f"# source_sent_id = . . y\n1\tb\tb\t{REST}\t*\n"
    corpus = read_corpus([write(tmp_path, "one.cupt", f"{HEADER}\n{one}\n{two}\n")])
    assert corpus.written(np.array([True, False])) == f"{HEADER}\n{one}\n".encode()
    assert corpus.written(np.array([False, True])) == f"{HEADER}\n{two}\n".encode()


def test_comments_apart_from_a_sentence_go_with_the_next_one(tmp_path: Path) -> None:
    text = f"{HEADER}\n# newdoc id = d\n\n# source_sent_id = . . x\n1\ta\ta\t{REST}\t*\n\n"
    corpus = read_corpus([write(tmp_path, "one.cupt", text)])
    assert corpus.texts == (f"# newdoc id = d\n# source_sent_id = . . x\n1\ta\ta\t{REST}\t*".encode(),)


def test_lemmas_are_compared_as_multisets_and_numbered_over_all_files(tmp_path: Path) -> None:
    first = write(tmp_path, "one.cupt", cupt([["VID:a+b"], ["VID:a+a+b"]]))
    second = write(tmp_path, "two.cupt", cupt([["LVC.full:b+a", "VID:c"]]))
    corpus = read_corpus([first, second])
    assert corpus.test.sentences.tolist() == [0, 1, 2, 2]
    assert corpus.test.lemmas.tolist() == [0, 1, 0, 2]
    assert corpus.test.categories == ("VID", "VID", "LVC.full", "VID")
    assert corpus.training.lemmas.tolist() == [0, 1, 0, 2]
    assert corpus.words.tolist() == [3, 4, 4]


def test_a_lemma_that_is_missing_is_the_form_in_training_alone(tmp_path: Path) -> None:
    """Check that, as for the evaluator, `_` in test data is `_`, and in training data the form."""
    text = f"{HEADER}\n1\ta\t_\t{REST}\t1:VID\n\n1\ta\ta\t{REST}\t1:VID\n\n"
    corpus = read_corpus([write(tmp_path, "one.cupt", text)])
    underscore, form = corpus.test.lemmas.tolist()
    assert underscore != form
    assert corpus.training.lemmas.tolist() == [form, form]


def test_ranges_and_empty_nodes_are_no_tokens_and_a_repeated_mwe_counts_once(tmp_path: Path) -> None:
    rows = {"1-2\tdu\t_": "*", "1\tde\tde": "1:VID;2:VID", "2\tle\tle": "*", "2.1\t_\t_": "*"}
    text = "\n".join([HEADER, *(f"{row}\t{REST}\t{code}" for row, code in rows.items())])
    corpus = read_corpus([write(tmp_path, "one.cupt", text + "\n\n")])
    assert corpus.words.tolist() == [2]
    assert len(corpus.test.lemmas) == 1


def test_sentences_of_one_source_sentence_stay_together(tmp_path: Path) -> None:
    comments = ["# source_sent_id = u p 1", "# source_sent_id = u p 2", "# source_sent_id = u  p 1"]
    corpus = read_corpus([write(tmp_path, "one.cupt", cupt([[], [], []], comments))], "source_sent_id")
    assert corpus.units.tolist() == [0, 1, 0]
    assert read_corpus([tmp_path / "one.cupt"]).units.tolist() == [0, 1, 2]


def test_sentences_of_one_document_stay_together_across_files(tmp_path: Path) -> None:
    first = cupt([[], [], [], []], ["# a = b", "# newdoc id = x", "# a = b", "# newdoc"])
    second = cupt([[], []], ["# newdoc id = y", "# newdoc id = x"])
    paths = [write(tmp_path, "one.cupt", first), write(tmp_path, "two.cupt", second)]
    assert read_corpus(paths, "document").units.tolist() == [0, 1, 1, 2, 3, 1]


def test_what_does_not_say_what_stays_together_is_refused_in_words(tmp_path: Path) -> None:
    path = write(tmp_path, "one.cupt", cupt([[], []], ["# source_sent_id = . . 1", "# text = b"]))
    assert problems(path, together="source_sent_id") == [
        "one.cupt: 1 of 2 sentences have no `# source_sent_id`, the first is number 2"
    ]
    assert problems(path, together="document") == [
        "one.cupt: no sentence has a `# newdoc`, so it is unknown where documents begin"
    ]


def test_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    good = write(tmp_path, "a.cupt", cupt([["VID:a"]]))
    blind = write(tmp_path, "b.cupt", cupt([[]]).replace("*", "_"))
    other = write(tmp_path, "c.cupt", "# global.columns = ID FORM LEMMA PARSEME:MWE\n1\ta\ta\t*\n\n")
    no_cupt = write(tmp_path, "d.cupt", "hello\n")
    told = problems(good, blind, other, no_cupt, good)
    assert [line.split(":")[0] for line in told] == [
        "a.cupt",
        "b.cupt, line 3, column PARSEME",
        "c.cupt, line 1",
        "d.cupt, line 1",
    ]
    assert "given twice" in told[0]
    assert "its columns are ID FORM LEMMA PARSEME:MWE" in told[2]
