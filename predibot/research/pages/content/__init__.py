"""What a page says of itself beside its text: its date, and whether it is a wall in the place of an article."""
