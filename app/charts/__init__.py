"""Charts as SVG from plain numbers supplied by callers.

It contains the data of pictures, the common parts (sheet, axes, labels, marks, rules), and a module for each chart.
Nothing here reads the database or depends on the viewer.
"""
