"""A track record, and what is looked up and computed in it for every bet."""
