"""Ledgers and published days of others, taken into a ledger."""
