"""Telling an operator who does not watch: the channels, and what is told over them once."""
