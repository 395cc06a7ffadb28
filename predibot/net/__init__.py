"""The HTTP layer: keys, retries, deadlines, limits of rate and size."""
