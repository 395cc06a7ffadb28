"""Coherence: how far forecasts that belong together break the rules of probability; pure."""
