"""From what a model says to an answer that a game accepts."""
