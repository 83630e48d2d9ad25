"""Blueprints: declarations written step by step in the browser, until they become a competition or a revision of
one."""
