"""What relates markets: read from a ledger or an archive as of an instant, and put to use."""
