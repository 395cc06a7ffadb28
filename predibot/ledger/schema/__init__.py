"""Tables, types of columns, versions."""
