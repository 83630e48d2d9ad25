"""Declarations from phases.yaml to the database and back: models, checks, applying, edits, history."""
