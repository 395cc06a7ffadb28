"""Readers of the ledger."""
