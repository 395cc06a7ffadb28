"""What tests of studies may ask for."""

from tests.jobs.conftest import address, postgres, program, store

__all__ = ["address", "postgres", "program", "store"]
