"""Venues: where events, prices and resolutions are read, as of an instant."""
