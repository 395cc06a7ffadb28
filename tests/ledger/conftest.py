"""What ledger tests may ask for."""

from tests.ledger.databases import address, other, postgres, store

__all__ = ["address", "other", "postgres", "store"]
