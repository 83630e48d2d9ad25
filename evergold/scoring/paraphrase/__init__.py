"""Paraphrases of multiword expressions, PARSEME 2.0: files, rules of removal, scores."""
