"""What reports show, as data."""
