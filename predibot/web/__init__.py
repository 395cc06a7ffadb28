"""Pages and an API of a ledger, read-only: what `predibot serve` shows in a browser."""
