"""Blueprints: declarations written step by step in the browser, until applied to a new or existing competition."""
