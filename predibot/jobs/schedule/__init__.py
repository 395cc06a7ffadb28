"""The schedule service: plays recipes at the times they name, while nobody watches."""
