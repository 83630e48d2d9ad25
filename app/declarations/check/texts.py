"""Checks that Markdown texts can be rendered. It parses them in this process, which for an edit is the helper."""

from __future__ import annotations

from app.declarations.findings import Findings
from app.declarations.images.texts import text_nodes
from app.texts.markdown import TextTooLarge, markdown_html
from evergold.yaml_lines import Node

#: Limit on the HTML of all texts of a competition together.
HTML_LIMIT = 1_000_000
#: Maximum declared length; longer texts are reported for their length.
_LONGEST = 50_000


def check_texts(competition: Node, findings: Findings) -> None:
    """Add an error for each text whose HTML is too large, and for all texts together."""
    total = 0
    for node in text_nodes(competition):
        if node is None or not node.text or len(node.text) > _LONGEST:
            continue
        try:
            total += len(markdown_html(node.text, 3, {}))
        except TextTooLarge as fault:
            findings.error(node, f"this text cannot be shown. {fault}")
        if total > HTML_LIMIT:
            findings.error(
                competition, f"its texts make more than {HTML_LIMIT:,} characters of HTML together: shorten them"
            )
            return
