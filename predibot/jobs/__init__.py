"""Jobs: each applies the pure parts to a ledger and a venue."""
