"""Decisions as of the past, and decisions made anew from what was recorded."""
