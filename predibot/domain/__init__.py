"""What predibot talks about: events, prices, decisions, resolutions; frozen, without I/O."""
