"""Commands in one call each: what opens ledger and venue, does the work, and closes them again.

The command line, the Python interface, a schedule and a web page call the same.
"""
