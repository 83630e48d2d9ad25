"""`evergold probe`: a valid submission to idiomaticity probing from a local model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evergold.cli.output import LOCAL, Code, CommandError, remark, say
from evergold.cli.validate import OptionOption, task_options

commands = typer.Typer()


@commands.command(rich_help_panel=LOCAL)
def probe(
    model: Annotated[
        str,
        typer.Option(metavar="MODEL", help="A Hugging Face model, by name or folder; or word vectors, .vec or .txt."),
    ],
    items: Annotated[Path, typer.Option(metavar="FILE", exists=True, help="The blind file of the probing task.")],
    into: Annotated[Path, typer.Option("--into", metavar="FILE", help="The submission to write.")] = Path("probe.npz"),
    layer: Annotated[int | None, typer.Option(metavar="N", help="Layer of an encoder; default: the last.")] = None,
    device: Annotated[str, typer.Option(metavar="NAME", help="Device of an encoder: cpu, cuda or mps.")] = "cpu",
    option: OptionOption = None,
) -> None:
    """Compute a model's vectors of the probing task's sentences, and write them as a valid submission.

    Needs `evergold[probe]` for models of Hugging Face, nothing for word vectors.
    """
    if into.exists():
        raise CommandError(f"{into} exists already; nothing was written.")
    from evergold.probe.submission import load_model, write_probe
    from evergold.scoring import InvalidFile, ScoringError

    try:
        loaded = load_model(model, layer, device)
        write_probe(loaded, items, into, task_options(option))
    except InvalidFile as error:
        lines = [f"  {problem}" for problem in error.problems]
        raise CommandError("The submission cannot be created:", Code.GOLD, name="invalid_items", lines=lines) from None
    except (ScoringError, OSError) as error:
        raise CommandError(f"{error}.", name="cannot_probe") from None
    for text in loaded.remarks:
        remark(text)
    say(f"Wrote {into}, a valid submission.")
