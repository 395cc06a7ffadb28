"""Reports: what they show, as data, and how terminals, pictures and files show it."""
