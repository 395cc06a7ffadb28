"""What these tests may ask for."""

from tests.ledger.databases import address, postgres, store

__all__ = ["address", "postgres", "store"]
