"""Members: what other bots of the run decided on a subject, for the bots that wait for them."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from predibot.contracts import Context
from predibot.domain.resolution import SettledForecast
from predibot.domain.trace import SampleStep
from predibot.errors import PluginError
from predibot.jobs.deciding.worker import DecideJob, Worker
from predibot.ledger.read.details.settled_forecasts import settled_forecasts_of_bot
from predibot.ledger.read.labels import decisions_on, last_decided_at, undecided_on
from predibot.recipe.recipe import BotSpec

_REASON_CHARACTERS = 200


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
        "settled": _settled_forecasts(job, worker, now),
    }


def members_decided_at(job: DecideJob, worker: Worker) -> datetime | None:
    """Return the instant of the last answer of a bot's members on its subject; None without members or answers."""
    names, run_id = job.bot.members, worker.run.id
    return worker.store.run_read(lambda connection: last_decided_at(connection, run_id, job.subject, names))


def _settled_forecasts(job: DecideJob, worker: Worker, now: datetime) -> Callable[[str], tuple[SettledForecast, ...]]:
    needs, run_id = job.bot.needs, worker.run.id

    def read(name: str) -> tuple[SettledForecast, ...]:
        if not needs.settled or name not in needs.members:
            raise PluginError(
                f"strategy {job.bot.strategy.name!r} asks for settled forecasts of {name!r}, which it does not "
                "declare. Set needs = Needs(members=(...), settled=True)"
            )
        return worker.store.run_read(lambda connection: settled_forecasts_of_bot(connection, run_id, name, before=now))

    return read


def sample_steps(context: Context) -> Iterator[SampleStep]:
    """Yield what each sample of a bot said, or why it said nothing."""
    for name, decision in context.members.items():
        if decision is None:
            yield SampleStep(name, *context.undecided.get(name, ("missing", "it has not decided")))
        else:
            chances = {each.market_id: each.probability for each in decision.forecasts}
            yield SampleStep(name, "recorded", "", chances, next((each.label for each in decision.labels), ""))


def too_few_samples(bot: BotSpec, context: Context) -> str:
    """Return why the samples of a bot are too few to be pooled, with the reason of each that has no decision."""
    done = sum(each is not None for each in context.members.values())
    why = (f"{name} {status}: {reason[:_REASON_CHARACTERS]}" for name, (status, reason) in context.undecided.items())
    share = bot.strategy.arguments.get("min_share")
    return "; ".join([f"{done} of {len(bot.members)} samples have a decision, and min_share is {share}", *why])
