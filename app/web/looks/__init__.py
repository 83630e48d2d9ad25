"""HTTP of the looks: the style sheet of the accents, logos, and the administrators' page."""
