"""The simulated world over HTTP, in the dialects of real services."""
