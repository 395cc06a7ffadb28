"""A simulated crowd: people who comment on markets and trade in them, of whom everything is known."""
