"""Making a ledger smaller in one call: old traces, and what nothing names."""

from datetime import timedelta

from predibot.jobs.commands.caller import Caller
from predibot.ledger.care.compaction import Compaction, compact
from predibot.ledger.care.pruned_traces import Pruning, prunable_traces, prune_traces
from predibot.ledger.store import Store


def prune_as_asked(caller: Caller, *, ledger: str, age: timedelta, do_it: bool) -> Pruning:
    """Remove traces of that age, or say which those are.

    Raises:
        UsageError: If decisions are being made.
        LedgerUnusable: If the ledger cannot be used.
    """
    now = caller.clock()
    if not do_it:
        with Store.open_to_read(ledger) as store:
            caller.say(f"ledger: {store.address}")
            return prunable_traces(store, before=now - age)
    with Store.open(ledger, create=False) as store:
        caller.say(f"ledger: {store.address}")
        return prune_traces(store, before=now - age, now=now)


def compact_as_asked(caller: Caller, *, ledger: str) -> Compaction:
    """Remove what no row names, and have the database give unused room back.

    Raises:
        UsageError: If decisions are being made.
        LedgerUnusable: If the ledger cannot be used.
    """
    with Store.open(ledger, create=False) as store:
        caller.say(f"ledger: {store.address}")
        return compact(store, now=caller.clock())
