"""Histories: what a ledger holds of one bot, or of one event."""
