"""Relatedness: which beliefs move together, by what their prices did, their tags and their words; pure."""
