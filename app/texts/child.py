"""Renders Markdown, as a job of the helper (see `app.helper`)."""

from __future__ import annotations

from typing import Any

from app.helper.wire import Message
from app.texts.markdown import TextTooLarge, markdown_html


def render(head: dict[str, Any], content: bytes) -> Message:
    """Return the HTML of the text `content`, or the reason as `refused`."""
    try:
        return {}, markdown_html(content.decode(), head["highest"], head["images"]).encode()
    except TextTooLarge as fault:
        return {"refused": str(fault)}, b""
