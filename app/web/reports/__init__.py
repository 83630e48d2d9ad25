"""A run's full report over HTTP: page, JSON, CSV, text; what it holds is the task type's."""
