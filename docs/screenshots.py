"""Takes the README's screenshots from a real demo server with a real browser: `make screenshots`.

Needs Chromium (EVERGOLD_CHROMIUM, or one on the PATH). Starts the demo on a fresh data folder and stops it again.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DEMO = "/competitions/demo/phases/evaluation"
START_SECONDS = 60
SCORED_SECONDS = 20
#: Loading torch and checking that it computes right takes longer than scoring.
ENCODED_SECONDS = 120
#: How many rows a board has when all is scored.
ROWS = {"one-shot": 4, "paraphrasing": 5}


def main() -> None:
    """Start the demo, wait until its teams are scored, take the pictures."""
    IMAGES.mkdir(exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="evergold-screenshots-") as folder:
        command = [sys.executable, "-m", "evergold.cli", "serve", "--demo", "--port", str(port), "--data-dir", folder]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for_boards(url)
            take_all(url)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)


def wait_for_boards(url: str) -> None:
    """Return when all demo teams stand on the boards."""
    deadline = time.monotonic() + START_SECONDS + SCORED_SECONDS + ENCODED_SECONDS
    while time.monotonic() < deadline:
        try:
            if all(rows_of(url, board) == rows for board, rows in ROWS.items()):
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise SystemExit("the demo did not come up, or not all of it was scored (without torch, paraphrases are not)")


def rows_of(url: str, board: str) -> int:
    """How many stand on a board; 0 while there is none."""
    found = httpx.get(f"{url}/api/v1{DEMO}/boards/{board}", timeout=5)
    return len(found.json()["rows"]) if found.status_code == httpx.codes.OK else 0


def take_all(url: str) -> None:
    """The pictures, each under the name that the README uses."""
    chromium = os.environ.get("EVERGOLD_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("no Chromium: install one, or name it in EVERGOLD_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 1060}, device_scale_factor=1.5)
        page.goto(f"{url}{DEMO}/boards/one-shot")
        take(page, "board")
        page.goto(f"{url}/competitions/demo")
        take(page, "competition")
        page.goto(f"{url}{DEMO}/boards/paraphrasing/pictures#bertscore-entropy")
        plane = page.locator("section.picture", has=page.locator("#bertscore-entropy")).locator("figure.chart")
        plane.screenshot(path=IMAGES / "bertscore-entropy.png")
        log_in(page, url)
        upload(page, url, ROOT / "demo" / "broken" / "float-label.csv")
        take(page, "rejected")
        browser.close()


def log_in(page: Page, url: str) -> None:
    """As one of the demo's teams."""
    page.goto(f"{url}/login")
    page.fill("[name=username]", "magpie")
    page.fill("[name=password]", "magpie-demo")
    page.click("main button[type=submit]")
    page.wait_for_url(lambda address: "/login" not in address)


def upload(page: Page, url: str, file: Path) -> None:
    """Through the form, until the page says what became of it."""
    page.goto(f"{url}/competitions/demo/phases/practice/tasks/idiom-detection/submit")
    page.set_input_files("input[type=file]", str(file))
    page.click("main form button[type=submit]")
    page.wait_for_url("**/submissions/*")
    page.wait_for_selector("table", timeout=SCORED_SECONDS * 1000)


def take(page: Page, name: str) -> None:
    """What fits into the window."""
    page.wait_for_load_state("networkidle")
    page.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
