"""Search providers behind one interface, with limits of pace and dates of results."""
