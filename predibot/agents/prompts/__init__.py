"""The prompts, as texts with fields in double braces."""
