"""Commands that end in a report, in one call each: for the command line, and for who shows the same elsewhere."""
