"""Plots as SVG from plain numbers; where the numbers come from is others' business."""
