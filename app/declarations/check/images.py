"""Checks of images in texts: that they exist, their format, and alternative texts."""

from __future__ import annotations

from pathlib import Path

from app.base.text import readable_size
from app.declarations.findings import Findings
from app.declarations.images.making import READ_BYTES
from app.declarations.images.texts import MOST_IMAGES, Named, images_in, text_nodes
from evergold.yaml_lines import Node

_BEGINNINGS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
_HOW = "PNG, JPEG or WebP, as a file beside this one"


def check_images(competition: Node, findings: Findings) -> None:
    """Report all problems of the images in one competition's texts."""
    files: set[str] = set()
    for node in text_nodes(competition):
        for image in images_in(node.text) if node is not None and node.text else ():
            _check_image(node, image, findings)
            if image.is_file:
                files.add(image.path)
    if len(files) > MOST_IMAGES:
        findings.error(competition, f"its texts show {len(files)} images; at most {MOST_IMAGES} are allowed")


def _check_image(node: Node, image: Named, findings: Findings) -> None:
    shown = image.path[:80]
    if image.is_elsewhere:
        findings.warning(node, f"images from other sites are not shown, for the privacy of readers: {shown}")
    elif not image.is_file:
        findings.warning(node, f"{shown} is not shown: an image is a {_HOW}")
    else:
        if not image.alt.strip():
            findings.warning(
                node, f"{shown} has no description for people who cannot see it: ![what it shows]({shown})"
            )
        _check_file(node, Path(node.file).parent / image.path, shown, findings)


def _check_file(node: Node, path: Path, shown: str, findings: Findings) -> None:
    try:
        size_bytes = path.stat().st_size
        with path.open("rb") as file:
            beginning = file.read(16)
    except OSError as error:
        what = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        findings.error(node, f"the image {shown} {what}")
        return
    if size_bytes > READ_BYTES:
        findings.error(node, f"the image {shown} is larger than {readable_size(READ_BYTES)}")
    elif not (beginning.startswith(_BEGINNINGS) or (beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP")):
        findings.error(node, f"{shown} is not an image: {_HOW}")
