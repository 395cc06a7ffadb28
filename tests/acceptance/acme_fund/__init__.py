"""A package with a game that has an account, and a bot that plays it."""
