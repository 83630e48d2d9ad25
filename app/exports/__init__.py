"""Exports for organisers: predictions as a zip, participants as a table. Tables of boards are in `app.boards`."""
