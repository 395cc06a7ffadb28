"""Relatedness of the markets of a ledger or an archive as of an instant."""
