"""What reads the ledger."""
