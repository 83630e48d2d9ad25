"""Pictures of boards as SVG, for a page or a file, from the numbers in `app.boards.pictures`; without a database."""
