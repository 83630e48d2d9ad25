"""Competitions over HTTP: front page, a competition's page, guide and desk; not its boards or submissions."""
