"""What changes the ledger."""
