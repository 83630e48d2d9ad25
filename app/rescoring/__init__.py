"""Rescoring as a set: runs beside the current ones, who moves by how much, and one transaction that publishes or drops.

Nobody but organisers sees anything of an open set. See docs/decisions/016-rescoring-as-a-set.md.
"""
