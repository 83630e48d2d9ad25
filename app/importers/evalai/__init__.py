"""Challenges of EvalAI: `challenge_config.yaml` in a zip."""
