"""Collecting comments with the trades of their writers, and labelling them."""
