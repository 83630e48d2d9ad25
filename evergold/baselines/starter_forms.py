"""The central part of a starter kit, by task type: `predict`, which users replace, and code that reads and writes the
files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum
from pathlib import PurePath
from string import Template
from typing import Any

from evergold.scoring.cupt.folders import BLIND, SYSTEM
from evergold.scoring.paraphrase.files import BLIND as BLIND_TEXTS, ID, SENTENCE
from evergold.scoring.paraphrase.prediction import PREDICTION, SYSTEM as TEXTS
from evergold.scoring.probing.items import ORIGINAL, PREDICTION_COLUMNS
from evergold.scoring.tables.ranking_files import DOCUMENT, QUERY, SCORE


@dataclass(frozen=True, slots=True)
class Form:
    """The central part of the program for one task type.

    - imports: lines at the top of the program.
    - predict: the function that users replace.
    - write: reads `items`, calls `predict`, and writes `submission`.
    - suffix: the suffix of the submission.
    """

    imports: str
    predict: str
    write: str
    suffix: str = ".csv"


def form_of(task_type: str, options: Any, items: str) -> Form:
    """Return the form of a task type with a baseline; options: as `read_options` returns them; items: the name of the
    blind file.

    Raises KeyError for a task type without a form.
    """
    return _FORMS[task_type](options, PurePath(items).suffix.lower())


def _filled(text: str, **values: object) -> str:
    """Fill in a template; each value is written as a Python literal."""
    return Template(text).substitute({name: repr(value) for name, value in values.items()})


# -------------------------------------------------------------------------------------------------------------- tables

_READ_CSV = """\
with items.open(encoding="utf-8-sig", newline="") as file:
    rows = list(csv.DictReader(file))
"""
#: Tables may be TSV or JSON lines, too, and lie in a zip.
_READ_ANY = "rows = read_any_rows(items, [$id])  # CSV, TSV or JSON lines, alone or in a zip\n"
_CSV = "import csv"
_ANY = "import csv\n\nfrom evergold.baselines.baseline import read_any_rows"

_WRITE_SETTINGS = """
with submission.open("w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\\n")
    writer.writerow(["ID", "Language", "Setting", $answer])
    for setting in $settings:  # the same answers in each setting; leave one out that you do not enter
        for row in rows:
            writer.writerow([row["ID"], row["Language"], setting, predict(row)])"""
_WRITE_IDS = """
with submission.open("w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\\n")
    writer.writerow([$id, $value])
    for row in rows:
        writer.writerow([row[$id], predict(row)])"""
_WRITE_LABELS = _WRITE_IDS.replace("predict(row)", "$separator.join(predict(row))")
_WRITE_RANKING = """
with submission.open("w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\\n")
    writer.writerow([$query, $document, $score])
    for row in rows:
        writer.writerow([row[$query], row.get($document, "none"), predict(row)])"""

_LABEL = '''\
def predict(row):
    """Return one of $labels. row: a line of the blind file, by its columns."""
    return $first'''
_NUMBER = '''\
def predict(row):
    """Return a number. row: a line of the blind file, by its columns."""
    return $number'''
_TEXT = '''\
def predict(row):
    """Return a text. row: a line of the blind file, by its columns."""
    return next((text for name, text in row.items() if name != $id and text.strip()), "")'''
_LABELS = '''\
def predict(row):
    """Return a list of labels, maybe empty. row: a line of the blind file, by its columns."""
    return []'''
_SIMILARITY = '''\
def predict(row):
    """Return a number, larger for sentences that are more alike. row: a line of the blind file, by its columns."""
    one, two = set(row["sentence1"].lower().split()), set(row["sentence2"].lower().split())
    return $low + ($high - $low) * len(one & two) / max(1, len(one | two))'''
_MATCH = '''\
def predict(row):
    """Return "1" if the meaning fits the sentence, else "0". row: a line of the blind file, by its columns."""
    return "1" if set(row["Sentence"].lower().split()) & set(row["Meaning"].lower().split()) else "0"'''
_RELEVANCE = '''\
def predict(row):
    """Return a number, larger for a document that should stand higher. row: a line of the blind file."""
    query, document = (set(row.get(name, "").lower().split()) for name in ("query_text", "document_text"))
    return len(query & document)'''


def _detection(options: Any, suffix: str) -> Form:
    predict = _filled(_LABEL, labels=list(options.labels), first=options.labels[0])
    return _in_settings(predict, "Label", options, suffix)


def _similarity(options: Any, suffix: str) -> Form:
    low, high = _range(options.sim_min, options.sim_max)
    return _in_settings(_filled(_SIMILARITY, low=low, high=high), "Sim", options, suffix)


def _matching(options: Any, suffix: str) -> Form:
    return _in_settings(_MATCH, "Label", options, suffix)


def _in_settings(predict: str, answer: str, options: Any, suffix: str) -> Form:
    imports, read = _reading(suffix)
    write = _WRITE_SETTINGS
    return Form(imports, predict, _filled(read + write, id="ID", answer=answer, settings=list(options.settings)))


def _range(low: float | None, high: float | None) -> tuple[float, float]:
    """Return both ends of a declared range; if an end is open, it is set so that they are 1 apart."""
    if low is None:
        low = 0.0 if high is None else high - 1.0
    return low, low + 1.0 if high is None else high


def _table(options: Any, suffix: str) -> Form:
    if options.kind == "labels":
        predict = _filled(_LABEL, labels=list(options.labels), first=options.labels[0])
    elif options.kind == "numbers":
        bounds = [bound for bound in (options.minimum, options.maximum) if bound is not None]
        predict = _filled(_NUMBER, number=fsum(bounds) / len(bounds) if bounds else 0.0)
    else:
        predict = _filled(_TEXT, id=options.id)
    imports, read = _reading(suffix)
    return Form(imports, predict, _filled(read + _WRITE_IDS, id=options.id, value=options.value))


def _label_sets(options: Any, suffix: str) -> Form:
    imports, read = _reading(suffix)
    write = _filled(read + _WRITE_LABELS, id=options.id, value=options.value, separator=options.separator)
    return Form(imports, _LABELS, write)


def _ranking(options: Any, suffix: str) -> Form:
    imports, read = _reading(suffix)
    return Form(
        imports, _RELEVANCE, _filled(read + _WRITE_RANKING, id=QUERY, query=QUERY, document=DOCUMENT, score=SCORE)
    )


def _reading(suffix: str) -> tuple[str, str]:
    """Return imports and code that read a table with this suffix."""
    return (_CSV, _READ_CSV) if suffix == ".csv" else (_ANY, _READ_ANY)


# ------------------------------------------------------------------------------------------------- sentences and texts

_PROBE = '''\
def predict(original, probe, level):
    """Return how alike both are, as a number. original, probe: lines of the blind file, by their columns; level: what
    is compared, sentences or the noun compounds alone, which `nc` marks."""
    one, two = (set(words_of(row, level)) for row in (original, probe))
    return len(one & two) / max(1, len(one | two))


def words_of(row, level):
    """Return the words of the sentence, or of the noun compound in it."""
    marked = zip(row["sentence"].lower().split(), row["nc"].split(), strict=False)
    return [word for word, mark in marked if level != "nc" or mark == "1"]'''
_WRITE_PROBES = """
originals = {(row["language"], row["context"], row["compound"]): row for row in rows if row["probe"] == $original}
with submission.open("w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\\n")
    writer.writerow($header)
    for row in rows:
        place = row["language"], row["context"], row["compound"]
        if row["probe"] != $original and row["language"] in $languages:
            for level in $levels:
                writer.writerow([*place, row["probe"], level, predict(originals[place], row, level)])"""


def _probing(options: Any, suffix: str) -> Form:
    imports, read = _reading(suffix)
    write = _filled(
        read + _WRITE_PROBES,
        id="probe",
        original=ORIGINAL,
        header=list(PREDICTION_COLUMNS),
        languages=list(options.languages),
        levels=list(options.levels),
    )
    return Form(imports, _PROBE, write)


_PARAPHRASE = f'''\
def predict(row):
    """Return a paraphrase without the expression. row: an item of the blind file; row["{SENTENCE}"] is the sentence."""
    return row["{SENTENCE}"].replace("[[", "").replace("]]", "")


def answers(blind):
    """Return the submission of one blind file, both as text."""
    rows = [{{"{ID}": row["{ID}"], "{PREDICTION}": predict(row)}} for row in json.loads(blind)]
    return json.dumps(rows, ensure_ascii=False, indent=1)'''
_TOKENS = '''\
def predict(tokens):
    """Return a code for each token of a sentence: `1:VID` where an expression begins, `1` where it goes on, `*` for
    none. tokens: lines of the sentence, by their columns (FORM, LEMMA, UPOS, ...)."""
    return ["*"] * len(tokens)


def answers(blind):
    """Return a blind CUPT file with the last column filled in, both as text."""
    lines, columns, sentence = [], [], []
    for line in [*blind.replace("\\r\\n", "\\n").rstrip("\\n").split("\\n"), ""]:
        if line.startswith("# global.columns"):
            columns = line.partition("=")[2].split()
        if line and not line.startswith("#"):
            sentence.append(line.split("\\t"))
            continue
        if sentence:
            codes = predict([dict(zip(columns, cells, strict=False)) for cells in sentence])
            lines += ["\\t".join([*cells[:-1], code]) for cells, code in zip(sentence, codes, strict=True)]
            sentence = []
        lines.append(line)
    return "\\n".join(lines) + "\\n"'''
_WRITE_LANGUAGES = """\
with ZipFile(items) as given, ZipFile(submission, "w", ZIP_DEFLATED) as written:
    for name in given.namelist():  # one folder for each language
        if name.endswith($blind):
            answered = answers(given.read(name).decode("utf-8-sig"))
            written.writestr(name.replace($blind, $system), answered)"""
_WRITE_ONE = """\
submission.write_text(answers(items.read_text(encoding="utf-8-sig")), encoding="utf-8")"""
_ZIP = "from zipfile import ZIP_DEFLATED, ZipFile"


def _paraphrase(options: Any, suffix: str) -> Form:
    if suffix != ".zip":
        return Form("import json", _PARAPHRASE, _WRITE_ONE, ".json")
    write = _filled(_WRITE_LANGUAGES, blind=BLIND_TEXTS, system=TEXTS)
    return Form(f"import json\n{_ZIP}", _PARAPHRASE, write, ".zip")


def _identification(options: Any, suffix: str) -> Form:
    if suffix != ".zip":
        return Form("", _TOKENS, _WRITE_ONE, ".cupt")
    return Form(_ZIP, _TOKENS, _filled(_WRITE_LANGUAGES, blind=BLIND, system=SYSTEM), ".zip")


_TAGS = '''\
def predict(tokens):
    """Return a tag for each word of a sentence, such as B-PER, I-PER, O. tokens: the words."""
    return ["O"] * len(tokens)'''
_WRITE_TAGS = """\
sentences = [[]]
for line in items.read_text(encoding="utf-8-sig").split("\\n"):
    if not line.strip():
        sentences.append([])
    elif sentences[-1] or not line.startswith("# "):  # comments stand before a sentence
        sentences[-1].append((line.split("\\t") if "\\t" in line else line.split())[0].strip())
with submission.open("w", encoding="utf-8", newline="") as file:
    for tokens in filter(None, sentences):
        file.writelines(f"{token}\\t{tag}\\n" for token, tag in zip(tokens, predict(tokens), strict=True))
        file.write("\\n")"""
_SPANS = '''\
def predict(row):
    """Return a list of spans, [start, end, type] each, by characters of row["text"]. row: a line of the blind file."""
    return []'''
_WRITE_SPANS = """\
with items.open(encoding="utf-8-sig") as blind, submission.open("w", encoding="utf-8", newline="") as file:
    for row in map(json.loads, filter(str.strip, blind)):
        file.write(json.dumps({"id": row["id"], "spans": predict(row)}, ensure_ascii=False) + "\\n")"""


def _sequences(options: Any, suffix: str) -> Form:
    if suffix in (".jsonl", ".json", ".ndjson"):
        return Form("import json", _SPANS, _WRITE_SPANS, ".jsonl")
    return Form("", _TAGS, _WRITE_TAGS, ".txt")


_FORMS: Mapping[str, Callable[[Any, str], Form]] = {
    "idiom-detection": _detection,
    "idiom-similarity": _similarity,
    "meaning-matching": _matching,
    "idiomaticity-probing": _probing,
    "mwe-identification": _identification,
    "mwe-paraphrase": _paraphrase,
    "table": _table,
    "text-generation": _table,
    "multi-label": _label_sets,
    "ranking": _ranking,
    "sequence-labelling": _sequences,
}
