"""The pages: each a function of what is asked that returns a template and what it shows."""
