"""What a page's content tells about it: its date, and whether it is a wall in place of an article."""
