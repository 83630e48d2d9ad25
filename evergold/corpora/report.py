"""The report of a split: a JSON document, Markdown tables for people, and the ratio by size as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from evergold.corpora.annotated import AnnotatedCorpus, KeepTogether
from evergold.corpora.splitting import DEV, TEST, Described, Partition, Split, SplitAims, Unseen, describe
from evergold.figures.axes import Axis, axis_around
from evergold.figures.curve import Curve, CurvePoint, curve_svg
from evergold.version import VERSION

_UNITS: dict[KeepTogether, str] = {
    "sentence": "sentences",
    "source_sent_id": "source sentences",
    "document": "documents",
}
_AGAINST = {TEST: "train and dev", DEV: "train"}


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was split: its name, and the SHA-256 of its bytes."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of a report, in the order in which they are shown."""

    sources: Sequence[Source]
    wanted: SplitAims
    together: KeepTogether
    splits: Mapping[str, Split]
    parts: Sequence[Described]


def report_of(
    corpus: AnnotatedCorpus, done: Partition, wanted: SplitAims, together: KeepTogether, sources: Sequence[Source]
) -> Report:
    """Return the report of a partition. done: the partition; wanted: the aims of the split."""
    splits = {TEST: done.test} | ({DEV: done.dev} if done.dev else {})
    return Report(sources, wanted, together, splits, describe(corpus, done.parts))


def document_of(report: Report) -> dict[str, Any]:
    """Return the report as one JSON document."""
    return {
        "made_by": f"evergold {VERSION}",
        "sources": [asdict(source) for source in report.sources],
        **asdict(report.wanted),
        "keep_together": report.together,
        "splits": {name: _split_document(split) for name, split in report.splits.items()},
        "parts": {part.name: _part_document(part) for part in report.parts},
    }


def _split_document(split: Split) -> dict[str, Any]:
    tried = zip(split.unseen, split.ratios, split.costs, strict=True)
    return {
        "size": split.size,
        "mean_unseen": split.mean_unseen,
        "mean_ratio": split.mean_ratio,
        "chosen": split.number,
        "unseen": split.unseen[split.number],
        "ratio": split.ratios[split.number],
        "cost": split.costs[split.number],
        "tried": [{"unseen": unseen, "ratio": ratio, "cost": cost} for unseen, ratio, cost in tried],
        "ratio_by_size": [asdict(point) for point in split.course],
    }


def _part_document(part: Described) -> dict[str, Any]:
    against = {"+".join(unseen.against): _unseen_document(unseen) for unseen in part.unseen}
    sizes = {"sentences": part.sentences, "tokens": part.tokens, "mwes": part.mwes}
    return {**sizes, "categories": part.categories, "unseen_against": against}


def _unseen_document(unseen: Unseen) -> dict[str, Any]:
    return {"mwes": unseen.unseen, "ratio": unseen.ratio, "categories": unseen.categories}


# ----------------------------------------------------------------------------------------------------------- for people


def size_rows(parts: Sequence[Described]) -> list[list[str]]:
    """Return the table of the parts' sizes with the columns of the paper's Table 3: the headings, then a row for each
    part.
    """
    against = max((part.unseen for part in parts), key=len)
    heads = [head for unseen in against for head in (f"Unseen in {_and(unseen)}", "Ratio")]
    rows = [["Part", "Sentences", "Tokens", "MWEs", *heads]]
    for part in parts:
        cells = [cell for unseen in part.unseen for cell in (f"{unseen.unseen:,}", _ratio(unseen.ratio))]
        cells += ["–"] * (len(heads) - len(cells))
        rows.append([part.name, f"{part.sentences:,}", f"{part.tokens:,}", f"{part.mwes:,}", *cells])
    return rows


def markdown_of(report: Report, pictures: Mapping[str, str]) -> str:
    """Return the report as Markdown. pictures: the file of each split's drawing."""
    wanted = report.wanted
    settings = f"unseen in test {wanted.unseen_test}, in dev {wanted.unseen_dev}, repeats {wanted.repeats}"
    settings += f", seed {wanted.seed}, kept together: {report.together}"
    lines = ["# Corpus split", "", f"Made by `evergold split` {VERSION}: {settings}.", ""]
    lines += [f"- {source.file}, SHA-256 {source.sha256}" for source in report.sources]
    lines += [
        "",
        "An MWE is unseen if its multiset of lemmas is not annotated in the data that it is compared with.",
        "",
    ]
    lines += _table(size_rows(report.parts))
    for name, split in report.splits.items():
        lines += [
            "",
            f"## {name}",
            "",
            *_split_sentences(name, split, report),
            "",
            f"![Ratio against size]({pictures[name]})",
        ]
    lines += ["", "## Categories", "", *_table(_category_rows(report.parts)), ""]
    return "\n".join(lines)


def _split_sentences(name: str, split: Split, report: Report) -> list[str]:
    units, against = _UNITS[report.together], _AGAINST[name] if DEV in report.splits else "train"
    number, costs = split.number, split.costs
    mean = f"{split.size:,} {units}: random splits of this size have {split.mean_unseen:.1f} MWEs on average that are "
    chosen = f"Chosen is split {number + 1} of {len(costs)}: {split.unseen[number]} unseen MWEs, ratio "
    return [
        f"{mean}unseen in {against}, and a ratio of {split.mean_ratio:.4f}.",
        f"{chosen}{split.ratios[number]:.4f}, cost {costs[number]:.4f} (mean of all: {fsum(costs) / len(costs):.4f}).",
    ]


def _category_rows(parts: Sequence[Described]) -> list[list[str]]:
    heads = ["Category"]
    for part in parts:
        heads.append(f"MWEs in {part.name}")
        heads += [head for unseen in part.unseen[-1:] for head in (f"unseen in {_and(unseen)}", "ratio")]
    names = sorted({name for part in parts for name in part.categories})
    return [heads, *([name, *(cell for part in parts for cell in _category_cells(part, name))] for name in names)]


def _category_cells(part: Described, name: str) -> list[str]:
    mwes = part.categories.get(name, 0)
    cells = [f"{mwes:,}"]
    for unseen in part.unseen[-1:]:
        number = unseen.categories.get(name, 0)
        cells += [f"{number:,}", _ratio(number / mwes if mwes else None)]
    return cells


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *body = rows
    return [_row(head), _row(["---", *["---:"] * (len(head) - 1)]), *map(_row, body)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _and(unseen: Unseen) -> str:
    return " and ".join(unseen.against)


def _ratio(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.4f}"


def drawing_of(report: Report, name: str) -> str:
    """Draw the ratio of unseen MWEs against the size of one part, as in the paper's Figure 2; the chosen split is
    marked.
    """
    split = report.splits[name]
    against = _AGAINST[name] if DEV in report.splits else "train"
    curve = Curve(
        f"ratio-{name}",
        f"Share of MWEs in {name} that are unseen in {against}",
        axis_around([0, split.course[-1].size], f"Size of {name}, {_UNITS[report.together]}", decimals=0),
        Axis("Unseen", 0.0, 1.0, 0, 100, " %"),
        [CurvePoint(point.size, point.lowest, point.mean, point.highest) for point in split.course],
        (split.size, split.ratios[split.number]),
        f"chosen: {split.size:,}, {split.unseen[split.number]} unseen",
        [f"Mean of {len(split.costs)} random splits; the band reaches from the lowest to the highest."],
    )
    return curve_svg(curve)
