"""Plug-ins: strategies, tools, search providers, venues, games and studies, found by name in one way."""
