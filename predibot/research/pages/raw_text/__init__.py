"""Raw text: the days that a text names, and the texts that scripts hold."""
