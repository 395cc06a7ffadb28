"""Notices to an operator who does not watch the runs: each trouble once, over every channel of the settings."""
