"""Pictures of a board: the numbers to draw and the table with them. They are drawn by `app.charts`."""
