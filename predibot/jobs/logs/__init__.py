"""Logs: what was done when, about which decision, for operators; and spans of it for a collector."""
