"""The texts that models are given, with their fields in double braces."""
