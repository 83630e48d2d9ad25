"""Screenshots that tests leave for eyes; no test looks at them. They lie in var/pictures, or where
EVERGOLD_TEST_PICTURES says."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]


def keep(page: Page, name: str) -> None:
    """The whole page as it looks now."""
    folder = Path(os.environ.get("EVERGOLD_TEST_PICTURES") or ROOT / "var" / "pictures")
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png", full_page=True)
