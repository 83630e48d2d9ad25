"""What drawings are made of, and curves: numbers in, SVG out. Pages and the figures on them are the server's."""
