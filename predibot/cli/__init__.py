"""The command line: one file a command, nothing heavy before a command runs."""

from predibot.cli.app import main

__all__ = ["main"]
