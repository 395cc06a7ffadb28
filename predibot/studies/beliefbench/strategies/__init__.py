"""Strategies of BeliefBench."""
