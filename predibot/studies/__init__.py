"""Studies of papers on data of their own. Each registers one `Study`; nothing outside imports one."""
