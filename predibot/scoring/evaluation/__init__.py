"""Whole evaluations: scorecards, pairs, verdicts."""
