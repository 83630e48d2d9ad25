"""Sanitises an SVG: it is rebuilt from a list of allowed drawing elements, so that nothing else remains.

Pure, and run in the helper. Scripts, handlers, links, pictures, fonts and all external content are left out and listed
by line; a file that is not well-formed, declares entities or has no size is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_SEPARATOR = " "
MOST_ELEMENTS, DEEPEST = 5_000, 50

_DRAWING = (
    "svg g defs symbol use path rect circle ellipse line polyline polygon text tspan title desc style linearGradient "
    "radialGradient stop clipPath mask pattern marker filter feBlend feColorMatrix feComponentTransfer feComposite "
    "feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset"
)
_ELEMENTS = frozenset(_DRAWING.split())
#: Elements of editors that are removed without an entry in the list of removed parts.
_SILENT = frozenset({"metadata", "namedview"})
_LOOKING = (
    "id class style d x y x1 y1 x2 y2 dx dy cx cy r rx ry fx fy fr width height points viewBox preserveAspectRatio "
    "transform opacity fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin "
    "stroke-miterlimit stroke-dasharray stroke-dashoffset color clip-path clip-rule clipPathUnits mask mask-type "
    "maskUnits maskContentUnits display visibility overflow gradientUnits gradientTransform spreadMethod offset "
    "stop-color stop-opacity patternUnits patternContentUnits patternTransform marker-start marker-mid marker-end "
    "markerWidth markerHeight markerUnits refX refY orient filter filterUnits primitiveUnits in in2 result mode type "
    "values operator k1 k2 k3 k4 radius stdDeviation flood-color flood-opacity tableValues slope intercept amplitude "
    "exponent color-interpolation color-interpolation-filters font-family font-size font-style font-weight "
    "font-stretch letter-spacing word-spacing text-anchor dominant-baseline baseline-shift text-decoration "
    "textLength lengthAdjust paint-order shape-rendering text-rendering vector-effect mix-blend-mode isolation"
)
_ATTRIBUTES = frozenset(_LOOKING.split())
#: Attributes of the root element that are removed without a note.
_ROOT_SILENT = frozenset({"version", "baseProfile", "enable-background"})
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LENGTH = re.compile(rf"\s*({_NUMBER})(?:px)?\s*")
_BOX = re.compile(rf"\s*({_NUMBER})[\s,]+({_NUMBER})[\s,]+({_NUMBER})[\s,]+({_NUMBER})\s*")
_LOCAL = re.compile(r"#[A-Za-z_][A-Za-z0-9_.:-]*")
_URL = re.compile(r"url\s*\(\s*(['\"]?)(.*?)\1\s*\)", re.IGNORECASE | re.DOTALL)
#: CSS that could write or load anything: escapes, rules that import, functions that fetch or compute addresses.
_LOADS = re.compile(
    r"[\\@<]|image-set|\bimage\s*\(|\bsrc\s*\(|expression|javascript:|-moz-binding|behavior", re.IGNORECASE
)


class Unusable(ValueError):
    """The file cannot be converted to a logo. The message is a sentence."""


@dataclass(frozen=True, slots=True)
class CleanSvg:
    """The rebuilt document, its size in its own units, and what was left out, by line."""

    text: str
    width: float
    height: float
    removed: tuple[str, ...]


def sanitise_svg(content: bytes) -> CleanSvg:
    """Return the rebuilt document with its size. Raises Unusable."""
    builder = _Builder()
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    builder.parser = parser
    parser.EntityDeclHandler = builder.refuse_entity
    parser.StartElementHandler = builder.open
    parser.EndElementHandler = builder.close
    parser.CharacterDataHandler = builder.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise Unusable(
            f"Line {error.lineno}: the file is not well-formed XML ({expat.ErrorString(error.code)})."
        ) from None
    except Unusable:
        raise
    except (ValueError, LookupError):  # an encoding that Python does not know
        raise Unusable("The encoding of the file is not known; save it as UTF-8.") from None
    if builder.size is None or not builder.draws:
        raise Unusable("The file draws nothing that may be shown.")
    return CleanSvg("".join(builder.parts) + "\n", *builder.size, tuple(builder.removed))


@dataclass
class _Builder:
    """Writes the allowed parts while the parser reads. skipped: depth inside an element that is left out."""

    parts: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    size: tuple[float, float] | None = None
    draws: bool = False
    parser: expat.XMLParserType | None = None
    skipped: int = 0
    count: int = 0
    #: For each open element: its name, and whether it or an element around it has an id, so that it can be drawn again.
    opened: list[tuple[str, bool]] = field(default_factory=list)
    style: list[str] = field(default_factory=list)

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber if self.parser else 0

    def refuse_entity(self, name: str, *_: object) -> None:
        raise Unusable(f"Line {self.line}: the file declares the entity {name[:60]!r}; save it as plain SVG.")

    def open(self, name: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS or len(self.opened) + self.skipped > DEEPEST:
            raise Unusable(
                f"The file has more than {MOST_ELEMENTS:,} elements, or elements nested deeper than {DEEPEST}."
            )
        namespace, _, local = name.rpartition(_SEPARATOR)
        if not self.opened and not self.skipped and (namespace, local) != (SVG, "svg"):
            raise Unusable(f"Line {self.line}: an SVG must begin with <svg xmlns={SVG!r}>.")
        if self.skipped or not self._is_allowed(namespace, local):
            if not self.skipped and namespace == SVG and local not in _SILENT:
                self.removed.append(f"Line {self.line}: <{local[:60]}>")
            self.skipped += 1
            return
        kept = self._attributes(local, attributes)
        is_again = bool(self.opened) and (self.opened[-1][1] or "id" in kept)
        if not self.opened:
            kept = self._sized(kept, attributes)
        if local in ("path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text"):
            self.draws = True
        self.opened.append((local, is_again))
        written = "".join(f" {name}={quoteattr(value)}" for name, value in kept.items())
        self.parts.append(f"<{local}{written}>")

    def _is_allowed(self, namespace: str, local: str) -> bool:
        if namespace != SVG or local not in _ELEMENTS:
            return False
        if local == "svg":
            return not self.opened
        # Copies of copies grow exponentially: an element that can be drawn again may not draw others again.
        return local != "use" or not self.opened[-1][1]

    def close(self, name: str) -> None:
        if self.skipped:
            self.skipped -= 1
            return
        local, _ = self.opened.pop()
        if local == "style":
            self._put_style("".join(self.style))
            self.style.clear()
        self.parts.append(f"</{local}>")

    def text(self, data: str) -> None:
        if self.skipped or not self.opened:
            return
        local = self.opened[-1][0]
        if local == "style":
            self.style.append(data)
        elif local in ("text", "tspan", "title", "desc"):
            self.parts.append(escape(data))

    def _put_style(self, css: str) -> None:
        if _is_harmless(css):
            self.parts.append(escape(css))
        else:
            self.removed.append(f"Line {self.line}: a style that loads something, or that is written with escapes")

    def _attributes(self, local: str, given: dict[str, str]) -> dict[str, str]:
        kept: dict[str, str] = {}
        for name, value in given.items():
            namespace, _, plain = name.rpartition(_SEPARATOR)
            if plain == "href" and namespace in ("", XLINK) and local in ("use", "linearGradient", "radialGradient"):
                if _LOCAL.fullmatch(value.strip()):
                    kept["href"] = value.strip()
                    continue
            elif not namespace and plain in _ATTRIBUTES and _is_harmless(value):
                kept[plain] = value
                continue
            is_known = bool(namespace) and namespace != XLINK
            if not (is_known or plain.startswith("data-") or (not self.opened and plain in _ROOT_SILENT)):
                self.removed.append(f"Line {self.line}: {plain[:60]} of <{local}>")
        return kept

    def _sized(self, kept: dict[str, str], given: dict[str, str]) -> dict[str, str]:
        """Return the attributes of the root, with its namespace and its size in a single form."""
        kept.pop("id", None)  # a root that could be drawn again would contain itself
        width, height = (_length(given.get(name, "")) for name in ("width", "height"))
        box = _BOX.fullmatch(given.get("viewBox", ""))
        if box is not None:
            width, height = float(box[3]), float(box[4])
        if width is None or height is None:
            raise Unusable(f"Line {self.line}: <svg> has neither a viewBox nor width and height in pixels.")
        if not (0 < width < 1e6 and 0 < height < 1e6):
            raise Unusable(f"Line {self.line}: <svg> has no size that can be shown.")
        self.size = width, height
        rest = {name: value for name, value in kept.items() if name not in ("width", "height", "viewBox")}
        whole = given["viewBox"].strip() if box is not None else f"0 0 {width:g} {height:g}"
        return {"xmlns": SVG, "viewBox": whole, "width": f"{width:g}", "height": f"{height:g}", **rest}


def _length(text: str) -> float | None:
    found = _LENGTH.fullmatch(text)
    return float(found[1]) if found else None


def _is_harmless(css: str) -> bool:
    """Return True if the text, as CSS, loads nothing: its addresses refer to parts of the document itself."""
    if _LOADS.search(css):
        return False
    without = _URL.sub(lambda found: "" if _LOCAL.fullmatch(found[2].strip()) else "url(", css)
    return "url(" not in "".join(without.lower().split())
