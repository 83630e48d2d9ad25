"""BERTScore: encoder models on this machine, vectors of texts, and their greedy matching."""
