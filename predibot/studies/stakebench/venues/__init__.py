"""The venue of this study: its data set."""
