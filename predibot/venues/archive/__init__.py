"""Recorded markets as a venue."""
