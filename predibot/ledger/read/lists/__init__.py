"""Parts of long lists, chosen and sorted by the database, so that what is not shown is not read."""
