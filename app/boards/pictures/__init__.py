"""A board in pictures: what one viewer's board shows, as numbers to draw and as the table behind them.

Nothing here draws: pages do it with a script (`static/pictures.js`), from the same numbers that the API gives.
"""
