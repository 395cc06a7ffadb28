"""One HTTP layer for everybody: keys, retries, deadlines, limits of rate and size."""
