"""Where a page may be fetched from: the address as written, the IP addresses behind it, the connection to them."""
