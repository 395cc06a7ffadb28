"""Data sets of pairs of questions: made from markets that were recorded, and what bots said of them."""
