"""The simplest systems for each task type: they write a valid submission from public data alone."""
