"""`evergold admin looks`: name, logo, colours and front page of this server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.settings import DataDirOption, command_line_act, server_database
from evergold.cli.output import CommandError, JsonOption, print_json, print_table, remark

if TYPE_CHECKING:
    from app.administration.looks_views import LogoOut, LooksOut
    from app.looks.logos import MadeLogo

commands = typer.Typer()

LogoFile = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="Logo for light pages: an SVG or a PNG, at most 256 KiB."),
]
DarkLogoFile = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="Logo for dark pages: an SVG or a PNG; default: the other logo."),
]
FrontFile = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="Markdown for the front page; an empty file restores the default."),
]


@commands.command()
def looks(
    name: Annotated[
        str | None, typer.Option(help="Name of the server on pages, in mails and in authenticator apps.")
    ] = None,
    accent: Annotated[
        str | None, typer.Option(help="Colour of links and buttons, such as '#1c6047'; '': the default.")
    ] = None,
    accent_dark: Annotated[
        str | None, typer.Option(help="Accent colour on dark pages; '': derived from the other.")
    ] = None,
    front: FrontFile = None,
    featured: Annotated[str | None, typer.Option(help="Names of featured competitions, separated by commas.")] = None,
    logo: LogoFile = None,
    logo_dark: DarkLogoFile = None,
    no_logo: Annotated[bool, typer.Option("--no-logo", help="Remove the present logos first.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the looks of this server, or change some of them: all that is given, or nothing."""
    given = {"name": name, "accent": accent, "accent_dark": accent_dark, "featured": featured}
    wanted = {field: value for field, value in given.items() if value is not None}
    if front is not None:
        wanted["front"] = _text(front)
    logos = {scheme: _made(file) for scheme, file in (("light", logo), ("dark", logo_dark)) if file is not None}
    found = _changed(wanted, logos, data_dir, removes=no_logo)
    for made in logos.values():
        for line in made.removed:
            remark(f"Left out of the logo: {line}")
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    print_table(["What", "Now"], _rows(found))


def _changed(wanted: dict[str, str], logos: dict[str, MadeLogo], data_dir: Path | None, *, removes: bool) -> LooksOut:
    """Change all given looks in one transaction, and return the looks."""
    from app.administration.looks import change_looks, put_logo, read_looks, remove_logo
    from app.base.config import get_settings

    with server_database(data_dir) as session:
        act, environment = command_line_act(session), get_settings()
        change_looks(act, wanted, environment=environment)
        for scheme in ("light", "dark") if removes else ():
            remove_logo(act, scheme)
        for scheme, made in logos.items():
            put_logo(act, scheme, made)
        session.flush()
        return read_looks(session, environment)


def _made(file: Path) -> MadeLogo:
    from app.base.errors import EvergoldError
    from app.looks.logos import READ_BYTES, make_logo

    try:
        with file.open("rb") as opened:
            return make_logo(opened.read(READ_BYTES + 1))
    except EvergoldError as error:
        raise CommandError(f"{file}: {error.message}", name=error.code) from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CommandError(f"{file} is not UTF-8.") from None


def _rows(found: LooksOut) -> list[tuple[str, str]]:
    return [
        ("Name", found.name),
        ("Logo", _words(found.logo)),
        ("Logo on dark pages", _words(found.logo_dark)),
        ("Colour", found.light.accent if found.light else "default"),
        ("Colour on dark pages", found.dark.accent if found.dark else "default"),
        ("Front page", f"{len(found.front)} characters" if found.front else "default"),
        ("Featured", ", ".join(found.featured) or "–"),
    ]


def _words(logo: LogoOut | None) -> str:
    return f"{logo.media_type}, {logo.width:g} × {logo.height:g}" if logo else "–"
