"""Where decisions are made: threads and processes, behind one interface."""
