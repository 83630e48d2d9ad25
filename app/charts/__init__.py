"""Charts as SVG from plain numbers, which the callers supply: what a picture is, the kit (sheet, axes, labels, marks,
rules), and a module for each chart. Nothing here reads the database or knows a viewer."""
