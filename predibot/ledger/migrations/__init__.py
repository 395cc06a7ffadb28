"""Every change of the tables, from the first one on, in the order of their numbers."""
