"""Every change of the tables since the base, in the order of their numbers."""
