"""The shell: what is done with the pure parts, in which order, against a ledger and a venue."""
