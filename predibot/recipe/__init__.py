"""Recipes: found, parsed, checked."""
