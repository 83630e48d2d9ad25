"""`evergold split`: split an annotated corpus into train, dev and test, with a wanted number of unseen MWEs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evergold.cli.output import (
    LOCAL,
    Code,
    CommandError,
    JsonOption,
    invalid_file,
    print_json,
    print_table,
    remark,
    say,
)

if TYPE_CHECKING:
    from evergold.corpora.annotated import AnnotatedCorpus
    from evergold.corpora.report import Report
    from evergold.corpora.splitting import Partition, SplitAims

commands = typer.Typer()

MOST_REPEATS = 1_000
REPORT, DOCUMENT = "report.md", "report.json"
#: If test and dev have more than this share of the corpus, too little is left to learn from.
_LARGE_SHARE = 0.5

TogetherOption = Annotated[
    Literal["sentence", "source_sent_id", "document"],
    typer.Option(
        "--keep-together",
        metavar="WHAT",
        help="Unit that stays together: sentence, source_sent_id (sentences of one source sentence), or document.",
    ),
]


@commands.command(rich_help_panel=LOCAL)
def split(
    corpus: Annotated[
        list[Path],
        typer.Argument(metavar="CUPT…", exists=True, dir_okay=False, help="Annotated CUPT files, also zipped."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", file_okay=False, help="Folder to write to.")],
    unseen_test: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of MWEs in test that are in neither train nor dev.")
    ] = 300,
    unseen_dev: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of MWEs in dev that are unseen in train; 0: no dev.")
    ] = 100,
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, max=MOST_REPEATS, help="Number of random splits to try.")
    ] = 100,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same files.")] = 0,
    together: TogetherOption = "sentence",
    as_json: JsonOption = False,
) -> None:
    """Split a corpus into train, dev and test so that test and dev have a wanted number of unseen MWEs.

    As the corpora of PARSEME 1.2 were split; `evergold import parseme` takes the folder above DIR.
    """
    from evergold.corpora.annotated import read_corpus
    from evergold.corpora.report import Source, document_of, report_of
    from evergold.corpora.splitting import SplitAims
    from evergold.scoring.errors import InvalidFile

    _refuse_existing(out)
    wanted = SplitAims(unseen_test, unseen_dev, repeats, seed)
    try:
        read = read_corpus(corpus, together)
    except InvalidFile as invalid:
        raise invalid_file(invalid, "The corpus is wrong", Code.GOLD, "invalid_corpus") from None
    except OSError as error:
        message = f"{error.filename or 'A file'} cannot be opened: {error.strerror or error}."
        raise CommandError(message, Code.USAGE, name="unreadable_file") from None
    done = _partition(read, wanted)
    sources = [Source(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in corpus]
    report = report_of(read, done, wanted, together, sources)
    _write(out, read, done, report)
    if as_json:
        print_json(document_of(report))
        return
    _print_report(out, report)


def _refuse_existing(out: Path) -> None:
    """Raise CommandError if the folder has an earlier split, which annotators and teams may already use."""
    there = [name for name in _names() if (out / name).exists()]
    if there:
        message = f"{out} has {', '.join(there)} already: choose another folder, or empty it."
        raise CommandError(message, Code.USAGE, name="exists")


def _names() -> list[str]:
    parts = [f"{part}.cupt" for part in ("train", "dev", "test", "test.blind")]
    return [*parts, REPORT, DOCUMENT, *(_picture(part) for part in ("test", "dev"))]


def _picture(part: str) -> str:
    return f"ratio-{part}.svg"


def _partition(corpus: AnnotatedCorpus, wanted: SplitAims) -> Partition:
    from evergold.corpora.splitting import Unreachable, partition

    mwes, needed = len(corpus.test.categories), wanted.unseen_test + wanted.unseen_dev
    least = 3 if wanted.unseen_dev else 2
    if corpus.unit_count < least:
        message = f"The corpus has only {corpus.unit_count} units to distribute over {least} parts."
        raise CommandError(message, name="cannot_split")
    if mwes < needed:
        message = f"The corpus has only {mwes} MWEs, fewer than the {needed} that should be unseen."
        raise CommandError(message, name="cannot_split")
    try:
        return partition(corpus, wanted)
    except Unreachable as short:
        where, number = (("test", wanted.unseen_test), ("dev", wanted.unseen_dev))[short.step]
        message = f"{number} unseen MWEs in {where} are not possible: even with nearly everything in {where} there are "
        raise CommandError(f"{message}{short.mean_unseen:.1f} on average.", name="cannot_split") from None


def _write(out: Path, corpus: AnnotatedCorpus, done: Partition, report: Report) -> None:
    """Write all files; all contents are made before the first is written."""
    import json

    from evergold.corpora.annotated import blanked
    from evergold.corpora.report import document_of, drawing_of, markdown_of

    contents = {f"{name}.cupt": corpus.written(part) for name, part in done.parts.items()}
    contents["test.blind.cupt"] = blanked(contents["test.cupt"])
    pictures = {name: _picture(name) for name in report.splits}
    contents |= {pictures[name]: drawing_of(report, name).encode() for name in pictures}
    contents[REPORT] = markdown_of(report, pictures).encode()
    contents[DOCUMENT] = (json.dumps(document_of(report), indent=1, ensure_ascii=False) + "\n").encode()
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (out / name).write_bytes(content)
    except OSError as error:
        message = f"{error.filename or out} cannot be written: {error.strerror or error}."
        raise CommandError(message, name="unwritable_file") from None


def _print_report(out: Path, report: Report) -> None:
    from evergold.corpora.report import size_rows

    head, *rows = size_rows(report.parts)
    print_table(head, rows, numbers=head[1:])
    for name, chosen in report.splits.items():
        text = f"{name}: {chosen.unseen[chosen.number]} unseen MWEs, best of {len(chosen.costs)} splits"
        remark(f"{text}; on average {chosen.mean_unseen:.1f}.")
    train, *others = report.parts
    share = sum(part.sentences for part in others) / (train.sentences + sum(part.sentences for part in others))
    if share > _LARGE_SHARE:
        remark(f"Warning: only {100 * (1 - share):.0f} % of the sentences are left in train.")
    say(f"Written to {out}: train, dev, test and blind test, {REPORT} with its pictures, {DOCUMENT}.")
