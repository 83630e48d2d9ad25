"""Competitions over HTTP: home page, competition page, guide and desk; boards and submissions are elsewhere."""
