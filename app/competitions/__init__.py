"""Competitions, phases and tasks as they stand in the database, limits, who sees what when; not phases.yaml."""
