"""A run's full report over HTTP: page, JSON, CSV, text; its content is defined by the task type."""
