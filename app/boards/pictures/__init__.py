"""A board in pictures: numbers to draw and the table behind them; a script draws (`static/pictures.js`), nothing
here does."""
