"""The search providers that come with predibot."""
