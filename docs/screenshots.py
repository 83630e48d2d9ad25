"""Takes the README's screenshots from a real demo server with a real browser: `make screenshots`.

Needs Chromium (EVERGOLD_CHROMIUM, or one on the PATH). Starts the demo on a fresh data folder and stops it again. Puts
a contact sheet of every kind of page under var/, to be looked at. LEAN=1: without torch, and so without the picture of
paraphrases.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from contact_sheet import make_contact_sheets
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DEMO = "/competitions/demo/phases/evaluation"
START_SECONDS = 60
SCORED_SECONDS = 60
#: Telling the demo's past, loading torch and checking that it computes right take longer than scoring.
TOLD_SECONDS = 900
#: Statistics of a board follow its last change.
SURE_SECONDS = 300
IS_LEAN = bool(os.environ.get("LEAN"))


def main() -> None:
    """Start the demo, wait until its teams are scored, take the pictures."""
    IMAGES.mkdir(exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="evergold-screenshots-") as folder:
        command = [sys.executable, "-m", "evergold.cli", "serve", "--demo", "--port", str(port), "--data-dir", folder]
        command += ["--lean"] if IS_LEAN else []
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_told(Path(folder))
            wait_until_sure(url)
            take_all(url)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)


def wait_until_told(folder: Path) -> None:
    """Return when the demo's past is told, and its paraphrases are scored and judged."""
    deadline = time.monotonic() + START_SECONDS + TOLD_SECONDS
    kept = folder / "demo.json"
    while time.monotonic() < deadline:
        if kept.exists() and json.loads(kept.read_text())["history_told"]:
            return
        time.sleep(0.5)
    raise SystemExit(f"the demo did not come up: see the logs in {folder / 'log'}")


def wait_until_sure(url: str) -> None:
    """Return when the board's intervals belong to the rows that it has."""
    deadline = time.monotonic() + SURE_SECONDS
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{url}/api/v1{DEMO}/boards/one-shot") as answer:  # noqa: S310 - our own server
            board = json.load(answer)
        if board["statistics"]["state"] == "current" and board["rows"][0]["cells"][0]["interval"]:
            return
        time.sleep(0.5)
    raise SystemExit("the board has no intervals: see the worker's log")


def take_all(url: str) -> None:
    """The pictures, each under the name that the README uses."""
    chromium = os.environ.get("EVERGOLD_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("no Chromium: install one, or name it in EVERGOLD_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=1.5)
        page.goto(url)  # fonts that come late are left out: from here on they are there
        page.wait_for_load_state("networkidle")
        page.goto(f"{url}{DEMO}/boards/one-shot")
        take(page, "board")
        page.goto(f"{url}/competitions/demo")
        take(page, "competition")
        if not IS_LEAN:
            page.goto(f"{url}{DEMO}/boards/paraphrasing/pictures#bertscore-entropy")
            plane = page.locator("section.picture", has=page.locator("#bertscore-entropy")).locator("figure.chart")
            plane.screenshot(path=IMAGES / "bertscore-entropy.png")
        log_in(page, url)
        upload(page, url, ROOT / "demo" / "broken" / "float-label.csv")
        take(page, "rejected")
        for path in make_contact_sheets(browser, url, ROOT / "var"):
            sys.stdout.write(f"look at {path}\n")
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
