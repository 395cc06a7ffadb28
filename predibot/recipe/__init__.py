"""Recipes: TOML files with the events, the game, the rules and the bots of a run."""
