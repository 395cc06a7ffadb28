"""The ledger: everything that was decided, priced and settled, in SQLite or PostgreSQL."""
