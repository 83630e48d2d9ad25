"""Subsets the fonts of the pages anew: `python docs/fonts.py FOLDER`.

FOLDER has what `npm pack @fontsource-variable/source-serif-4 @fontsource-variable/source-sans-3` unpacks to (Source
Serif 4 and Source Sans 3, SIL Open Font License). Needs fonttools and brotli, which no server does. What is not in
them, such as Georgian, Hebrew, Arabic and Japanese, comes from the reader's own fonts.
"""

from __future__ import annotations

import sys
from pathlib import Path

FONTS = Path(__file__).resolve().parent.parent / "app" / "static" / "vendor" / "fonts"
#: Letters of European languages, and what numbers and prose need.
BASIC = "U+0020-007E,U+00A0-00FF,U+2009,U+2010-2015,U+2018-201E,U+2020,U+2022,U+2026,U+202F,U+2032,U+2039,U+203A"
BASIC += ",U+20AC,U+2190-2193,U+2212,U+2215,U+2248,U+2260,U+2264,U+2265,U+0131,U+0152,U+0153,U+02C6,U+02DA,U+02DC"
EXTENDED = "U+0100-0130,U+0132-0151,U+0154-017F,U+0218-021B,U+1E9E,U+0259"
GREEK = "U+0370-03FF"
FEATURES = ["kern", "liga", "mark", "mkmk", "tnum", "ccmp", "locl"]
#: Target -> source, letters, weights.
FILES = {
    "sans-latin": ("source-sans-3-latin-wght-normal", BASIC, (400, 700)),
    "sans-extended": ("source-sans-3-latin-ext-wght-normal", EXTENDED, (400, 700)),
    "sans-greek": ("source-sans-3-greek-wght-normal", GREEK, (400, 700)),
    "serif-latin": ("source-serif-4-latin-wght-normal", BASIC, (400, 700)),
    "serif-extended": ("source-serif-4-latin-ext-wght-normal", EXTENDED, (400, 700)),
}


def main(folder: Path) -> None:
    """Write every file, and say how large it is."""
    from fontTools import subset
    from fontTools.ttLib import TTFont
    from fontTools.varLib import instancer

    for target, (source, letters, weights) in FILES.items():
        [path] = folder.rglob(f"{source}.woff2")
        font = TTFont(path)
        options = subset.Options(flavor="woff2", layout_features=FEATURES)
        options.hinting = False
        chosen = subset.Subsetter(options)
        chosen.populate(unicodes=subset.parse_unicodes(letters.replace("U+", "")))
        chosen.subset(font)
        font = instancer.instantiateVariableFont(font, {"wght": weights})
        font.flavor = "woff2"
        font.save(FONTS / f"{target}-1.woff2")
        sys.stdout.write(f"{target}-1.woff2: {(FONTS / f'{target}-1.woff2').stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
