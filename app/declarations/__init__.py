"""From phases.yaml to the tables and back: the model, checks, applying, edits and their history; not what rules
mean."""
