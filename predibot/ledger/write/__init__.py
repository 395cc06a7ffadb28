"""Writers of the ledger."""
