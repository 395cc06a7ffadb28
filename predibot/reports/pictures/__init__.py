"""Pictures fit for a paper: what is drawn, as plain series, and how; matplotlib is imported where it draws."""
