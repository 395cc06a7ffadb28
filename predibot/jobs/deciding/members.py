"""Members: what other bots of the run decided on a subject, for the bots that wait for them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from predibot.domain.resolution import SettledForecast
from predibot.errors import PluginError
from predibot.jobs.deciding.worker import DecideJob, Worker
from predibot.ledger.read.labels import decisions_on, undecided_on
from predibot.ledger.read.settled_forecasts import settled_forecasts_of_bot


def read_members(job: DecideJob, worker: Worker, now: datetime) -> Mapping[str, Any]:
    """Return the fields of a context that say what the members of a bot decided, and how earlier forecasts ended."""
    names = job.bot.members
    if not names:
        return {}
    store, run_id = worker.store, worker.run.id
    decided = store.run_read(lambda connection: decisions_on(connection, run_id, job.subject))
    undecided = store.run_read(lambda connection: undecided_on(connection, run_id, job.subject))
    return {
        "members": {name: decided.get(name) for name in names},
        "undecided": {name: undecided[name] for name in names if name in undecided},
        "settled": _settled(job, worker, now),
    }


def _settled(job: DecideJob, worker: Worker, now: datetime) -> Callable[[str], tuple[SettledForecast, ...]]:
    needs, run_id = job.bot.needs, worker.run.id

    def read(name: str) -> tuple[SettledForecast, ...]:
        if not needs.settled or name not in needs.members:
            raise PluginError(
                f"strategy {job.bot.strategy.name!r} asks for settled forecasts of {name!r}, which it does not "
                "declare. Set needs = Needs(members=(...), settled=True)"
            )
        return worker.store.run_read(lambda connection: settled_forecasts_of_bot(connection, run_id, name, before=now))

    return read
