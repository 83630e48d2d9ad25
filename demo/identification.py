"""The files of the demo's identification task, in CUPT: the sentences of idiom detection, word by word.

An expression that is meant idiomatically is annotated, one that is meant literally is not: that is what is asked. The
evaluation has one half of the expressions, the blind test the other; practice and some labelled examples are training.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence

from demo.source import LANGUAGES, DetectionItem, digest, read_detection, read_one_shot

TASK = "idiom-identification"
PHASES = ("evaluation", "blind-test")
CATEGORY = "NID"
HEADER = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"
WORD = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")

#: From the words and the label of a sentence to the codes of its column.
Coding = Callable[[DetectionItem, Sequence[str]], Sequence[str]]


def identification_files() -> dict[str, str | bytes]:
    """Every file of the task, by its path below demo/."""
    files: dict[str, str | bytes] = {}
    for phase in PHASES:
        by_language = {language: sentences(phase, language) for language in LANGUAGES}
        public, gold = f"public/{phase}/{TASK}", f"gold/{phase}/{TASK}"
        files[f"{public}/items.zip"] = _zipped("test.blind.cupt", by_language, lambda _, words: ["_"] * len(words))
        files[f"{public}/template.zip"] = _zipped("test.system.cupt", by_language, lambda _, words: ["*"] * len(words))
        files[f"{public}/train.zip"] = _zipped("train.cupt", {one: training(one) for one in LANGUAGES}, gold_codes)
        files[f"submissions/{phase}/{TASK}/dictionary.zip"] = _zipped("test.system.cupt", by_language, every_occurrence)
        for language in LANGUAGES:
            files[f"{gold}/{language}/test.cupt"] = cupt(by_language[language], gold_codes)
            files[f"{gold}/{language}/train.cupt"] = cupt(training(language), gold_codes)
    return files


def sentences(phase: str, language: str) -> list[DetectionItem]:
    """Those that are asked about in a phase, shuffled."""
    half = PHASES.index(phase)
    mine = [item for item in read_detection("evaluation") if item.language == language]
    chosen = [item for item in mine if int(item.data_id.split(".")[2]) % 2 == half]
    return sorted(chosen, key=lambda item: digest(f"sentence {item.data_id}"))


def training(language: str) -> list[DetectionItem]:
    """What everybody may learn from: practice, and the labelled examples of every fourth expression."""
    examples = [item for item in read_one_shot() if int(item.data_id.split(".")[2]) % 4 < 2]
    return [item for item in [*read_detection("practice"), *examples] if item.language == language]


def gold_codes(item: DetectionItem, words: Sequence[str]) -> list[str]:
    """The expression where it is meant idiomatically."""
    return every_occurrence(item, words) if item.label == 0 else ["*"] * len(words)


def every_occurrence(item: DetectionItem, words: Sequence[str]) -> list[str]:
    """The expression wherever it stands: the baseline, which looks it up."""
    expression = [word.casefold() for word in WORD.findall(item.occurrence.mwe)]
    folded = [word.casefold() for word in words]
    codes = ["*"] * len(words)
    for at in range(len(words)):
        if folded[at : at + len(expression)] == expression:
            codes[at : at + len(expression)] = [f"1:{CATEGORY}", *["1"] * (len(expression) - 1)]
            break
    return codes


def cupt(items: Sequence[DetectionItem], coding: Coding) -> str:
    """A CUPT file of these sentences; lemmas are the words in small letters, and nothing is parsed."""
    blocks = [_block(item, WORD.findall(item.occurrence.target), coding) for item in items]
    return f"{HEADER}\n" + "".join(f"{block}\n\n" for block in blocks)


def _block(item: DetectionItem, words: Sequence[str], coding: Coding) -> str:
    number = f"{item.language.lower()}-{digest(f'sentence {item.data_id}') % 10**6:06d}"
    lines = [f"# source_sent_id = . . {number}", f"# text = {item.occurrence.target}"]
    for place, (word, code) in enumerate(zip(words, coding(item, words), strict=True), start=1):
        lines.append("\t".join([str(place), word, word.casefold(), *["_"] * 7, code]))
    return "\n".join(lines)


def _zipped(name: str, languages: dict[str, list[DetectionItem]], coding: Coding) -> bytes:
    """`<LANG>/<name>` of every language; without dates, so that the bytes are always the same."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for language, items in languages.items():
            member = zipfile.ZipInfo(f"{language}/{name}")
            member.create_system, member.external_attr = 3, 0o100644 << 16
            archive.writestr(member, cupt(items, coding))
    return content.getvalue()
