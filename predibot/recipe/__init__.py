"""Recipes: TOML files that say what is played, where, how often, by which rules and by which bots."""
