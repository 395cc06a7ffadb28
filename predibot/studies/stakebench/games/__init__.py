"""The game of this study."""
