"""Human judgement of paraphrases: rounds, annotators, marks, results; `app.boards` shows them."""
