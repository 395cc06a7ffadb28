"""Polymarket as a venue."""
