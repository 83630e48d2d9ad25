"""Competitions, phases and tasks in the database: limits, visibility, status. Declarations are read elsewhere."""
