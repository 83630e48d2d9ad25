"""Competitions, phases and tasks in the database: limits, visibility, status. phases.yaml is read elsewhere."""
