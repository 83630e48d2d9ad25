"""Exports for organisers: predictions as a zip, participants as a table. `app.boards` has the tables of boards."""
