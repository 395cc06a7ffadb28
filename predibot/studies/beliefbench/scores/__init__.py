"""Scores of the labels of pairs, against the markets' moves and people's labels."""
