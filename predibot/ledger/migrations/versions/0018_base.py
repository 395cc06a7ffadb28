"""The first version that is upgraded: the tables as a new ledger had them at that version."""

revision = "0018"
down_revision = None


def upgrade() -> None:
    """Do nothing: no ledger is brought here, older ones need the program that `versions.stored_version` names."""
