"""Screenshots that tests leave for people; no test looks at them. They are in var/pictures, or where
EVERGOLD_TEST_PICTURES names.
"""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]


def keep(page: Page, name: str) -> None:
    """Save a screenshot of the whole page as it is now."""
    folder = Path(os.environ.get("EVERGOLD_TEST_PICTURES") or ROOT / "var" / "pictures")
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png", full_page=True)
