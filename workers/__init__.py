"""Processes beside the web: what scores, what is computed afterwards, the sweep; only they open what is sealed."""
