"""Web pages: fetched safely, parsed in a child process, dated and cut into parts."""
