"""The simplest systems there are, for each task type: they write a valid submission from public data alone."""
