"""Plug-ins: strategies, tools, search providers, venues and games, found by name in one way."""
