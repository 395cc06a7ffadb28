"""Web pages: fetched safely, read as text, dated and cut into parts."""
