"""Human judgement of paraphrases: rounds, annotators, marks, results; what boards show of it is in `app.boards`."""
