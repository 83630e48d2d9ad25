"""Challenges of EvalAI: a zip with a `challenge_config.yaml`."""
