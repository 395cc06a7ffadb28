"""Studies: what a paper asks, on its own data; each registers one `Study`, and nothing outside imports one."""
