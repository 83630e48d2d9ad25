"""Blueprints: declarations written step by step in the browser, until they are applied."""
