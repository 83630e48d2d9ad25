"""Method cards: what a team says its system is, by the fields that organisers ask for; not where boards show them."""
