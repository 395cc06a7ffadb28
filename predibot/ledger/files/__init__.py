"""Artefacts of a ledger, addressed by their content."""
