"""From the text of a model to an answer that a game accepts."""
