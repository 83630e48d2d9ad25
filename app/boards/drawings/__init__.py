"""Pictures of boards as SVG: from the numbers in `app.boards.pictures`, for a page or as a file; nothing is asked of
the database here."""
