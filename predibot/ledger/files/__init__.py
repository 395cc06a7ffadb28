"""What lies beside the database, addressed by its content."""
