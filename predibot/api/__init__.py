"""What the commands do, a function each; the command line, the Python interface and the web call the same."""
