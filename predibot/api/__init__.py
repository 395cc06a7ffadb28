"""One function for each command; the command line, the Python interface and the web call these."""
