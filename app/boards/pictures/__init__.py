"""Pictures of a board: the data to draw, and the table with the same data. `app.charts` draws them."""
