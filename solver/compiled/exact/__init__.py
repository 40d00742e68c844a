"""Exact values of single states: alpha-beta by null windows, its table, one state on all cores."""
