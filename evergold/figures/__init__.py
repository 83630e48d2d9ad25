"""Building blocks of drawings, and curves: from numbers to SVG. Pages and their figures belong to the server."""
