"""Contact sheets of every kind of page, at three sizes, light and dark, to be looked at before a release."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Browser, Page

Json = dict[str, Any]
EVALUATION = "/competitions/demo/phases/evaluation"
#: Who looks at which pages; what is in braces is found on the page before.
PAGES: dict[str, tuple[str, ...]] = {
    "": (
        "/",
        "/competitions/demo",
        "/competitions/demo/data",
        f"{EVALUATION}/boards/one-shot",
        f"{EVALUATION}/boards/identification",
        f"{EVALUATION}/boards/paraphrasing",
        "/competitions/demo/phases/blind-test/boards/identification",
        f"{EVALUATION}/boards/one-shot/pictures",
        f"{EVALUATION}/boards/one-shot/compare",
        "/competitions/demo/tasks/idiom-detection/results",
        "/competitions/demo/questions",
        "/competitions/demo/announcements",
        "/competitions/demo/cite",
        f"/embed{EVALUATION}/boards/one-shot",
        "/search?q=idiom",
        "/guide",
        "/guide/metrics",
        "/login",
        "/register",
        "/status",
    ),
    "magpie": (
        "/competitions/demo/runs?phase=evaluation&task=idiom-detection",
        "{submission}",
        "{submission}/report",
        "{submission}/card",
        f"{EVALUATION}/tasks/idiom-detection/submit",
        "/competitions/demo/teams/North%20Wind",
        "/competitions/demo/team",
        "/competitions/demo/registration",
        "/submissions",
        "/account",
    ),
    "organiser": (
        "/competitions/demo/desk",
        "/competitions/demo/phases/blind-test/boards/identification",
        f"{EVALUATION}/tasks/idiom-detection/rows",
        f"{EVALUATION}/tasks/idiom-detection/gold",
        "/competitions/demo/rescoring",
        "/competitions/demo/rescoring/1",
        "/competitions/demo/judging",
        "/competitions/demo/edit",
        "/competitions/demo/edit/texts",
        "/organise",
        "/competitions/demo/history",
        "/competitions/demo/failed",
        "/competitions/demo/exports",
        "/competitions/demo/questions",
    ),
}
SIZES = {"wide": (1440, 900), "laptop": (1024, 768), "phone": (390, 844)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
ACROSS = {"wide": 4, "laptop": 5, "phone": 10}
WIDTH = {"wide": 480, "laptop": 384, "phone": 195}


def make_contact_sheets(browser: Browser, url: str, folder: Path) -> list[Path]:
    """Make a picture for each size, light and dark, under the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, (width, height) in SIZES.items():
        for scheme in SCHEMES:
            options: Json = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
            shots = list(_shots(browser, url, options))
            made.append(folder / f"contact-sheet-{name}-{scheme}.png")
            _sheet(shots, WIDTH[name], ACROSS[name]).save(made[-1])
    return made


def _shots(browser: Browser, url: str, options: Json) -> Iterator[tuple[str, Image.Image]]:
    for who, paths in PAGES.items():
        context = browser.new_context(**options)
        page = context.new_page()
        if who:
            _log_in(page, url, who)
        submission = ""
        for path in paths:
            answer = page.goto(url + path.format(submission=submission), wait_until="load")
            status = answer.status if answer else 0
            submission = submission or _first_submission(page)
            yield f"{status} {who} {path}", Image.open(io.BytesIO(page.screenshot()))
        context.close()


def _log_in(page: Page, url: str, who: str) -> None:
    page.goto(f"{url}/login")
    page.fill("[name=username]", who)
    page.fill("[name=password]", f"{who}-demo")
    page.click("main button[type=submit]")
    page.wait_for_url(lambda address: "/login" not in address)


def _first_submission(page: Page) -> str:
    found = re.search(r'href="(/submissions/[0-9a-f-]{36})"', page.content())
    return found[1] if found else ""


def _sheet(shots: list[tuple[str, Image.Image]], width: int, across: int) -> Image.Image:
    """All of them, small, each under its address."""
    height = round(width * shots[0][1].height / shots[0][1].width)
    down = -(-len(shots) // across)
    sheet = Image.new("RGB", (across * (width + 12) + 12, down * (height + 32) + 12), "#888")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(11)
    for place, (title, shot) in enumerate(shots):
        x, y = 12 + place % across * (width + 12), 12 + place // across * (height + 32)
        sheet.paste(shot.convert("RGB").resize((width, height), Image.Resampling.LANCZOS), (x, y + 18))
        draw.text((x, y + 2), title[: width // 6], font=font, fill="white")
    return sheet
