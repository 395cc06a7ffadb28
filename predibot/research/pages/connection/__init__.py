"""The connection to a page's server: the address as written, its IP addresses, and the sockets."""
