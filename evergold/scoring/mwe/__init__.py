"""Identified multiword expressions: count them against gold, summarise by language, write the official report."""
