"""What follows from a page's content: its date, and whether it is a wall in place of an article."""
