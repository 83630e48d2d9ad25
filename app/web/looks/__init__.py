"""The looks over HTTP: the style sheet of the accents, logos, and the administrators' page."""
