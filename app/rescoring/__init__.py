"""Rescoring as a set: runs beside the current ones, who moves, and one transaction that publishes or drops them."""
