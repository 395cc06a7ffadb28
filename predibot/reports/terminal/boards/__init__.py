"""Boards of games of accounts on a screen."""
