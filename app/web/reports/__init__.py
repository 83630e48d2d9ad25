"""The full report of a scoring run over HTTP: page, JSON, CSV, text; the task type defines its content."""
