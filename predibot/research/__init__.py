"""Research: search providers and web pages."""
