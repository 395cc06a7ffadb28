"""Search engines behind one interface, paced, cached and dated."""
