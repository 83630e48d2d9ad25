"""Method cards: descriptions of systems by their teams, in fields declared by organisers. `app.boards` shows them."""
