"""Relatedness as a score: the classes of S."""
