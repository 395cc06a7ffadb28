"""What agents look things up with: search providers and web pages."""
