"""The care of a whole ledger: copied, backed up and restored, pruned, compacted, and measured."""
