"""The cohorts of a run: the one it starts and those that decide in it, each with its line-up and markets."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count

from sqlalchemy import Connection, select

from predibot.contracts import Game, Venue
from predibot.domain.account import Mode
from predibot.domain.decision import Subject
from predibot.domain.event import Event
from predibot.errors import NotTrusted, PluginError, UsageError, VenueError
from predibot.games.cohorts import COHORT, DECIDES_AFTER, Cohort, Member, cohort_name, starts_cohort, week_of
from predibot.jobs.deciding.worker import DecideJob
from predibot.ledger.read.accounts.cohorts import StoredCohort, member_accounts, read_cohorts
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import start_cohort
from predibot.ledger.write.events import markets
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.ledger.write.runs import StoredRun, frozen_events, runs
from predibot.ledger.write.turns import KnownMarket
from predibot.plugins.strategies import spec_of
from predibot.recipe.recipe import BotSpec, Recipe


def start_due_cohort(
    run: StoredRun, game: Game, store: Store, *, bots: Sequence[BotSpec], mode: Mode, asked: bool = False
) -> str:
    """Start the cohort of a run's week if it is due and does not exist; return its name, or no text.

    The run's frozen events are the universe. A bot that differs from an earlier one of its name gets an id of its own,
    so that their results stay apart. With `asked` it starts also after the first hour of its week.
    """
    if not (asked or starts_cohort(run.slot_at)):
        return ""
    name = cohort_name(run.slot_at)

    def work(connection: Connection) -> bool:
        known = dict[str, BotSpec]()
        for cohort in _kept_cohorts(connection, run, mode):
            known.update(_line_up(connection, cohort, bots))
        line_up = [_member_of(bot, _free_id(bot, known)) for bot in _frozen_bots(connection, run.id, bots).values()]
        return start_cohort(connection, run, name, mode=mode, methodology=game.methodology_key, line_up=line_up)

    return name if store.run_write(work) else ""


def find_cohort_jobs(
    run: StoredRun, game: Game, store: Store, *, bots: Sequence[BotSpec], mode: Mode, venue: Venue
) -> tuple[DecideJob, ...]:
    """Return a job for each bot of the cohorts that decide in a run, the newest first, by their own methodologies.

    Each bot is as it was frozen, and has no row yet: its id is 0. Of two cohorts of one Sunday the one of the game's
    own methodology decides. The venue is asked for open markets if the rules need them to tell whether a cohort
    decides.
    """
    kept = store.run_read(partial(_kept_cohorts, run=run, mode=mode))
    every = [each.to_cohort() for each in kept]
    # A run in the first minutes of a week also plays that week: its slot has no other run.
    due_at = max(run.as_of, week_of(run.as_of) + DECIDES_AFTER)
    deciding = dict[str, StoredCohort]()
    for methodology in sorted({each.methodology for each in kept}, key=lambda key: (key == game.methodology_key, key)):
        alike = [each for each in kept if each.methodology == methodology]
        rules = alike[0].rules
        # If weeks or the latest cohorts decide, only starts matter.
        is_known = rules.latest is not None or rules.weeks is not None
        known = [each.to_cohort() for each in alike] if is_known else _with_open_markets(alike, run, store, venue)
        rated = zip(alike, known, strict=True)
        deciding.update({each.name: each for each, cohort in rated if rules.decides(cohort, every, due_at)})

    def read_jobs(connection: Connection) -> Iterator[DecideJob]:
        for each in sorted(deciding.values(), key=lambda each: each.start, reverse=True):
            universe = None if each.rules.fresh else _universe(connection, each)
            for bot in _line_up(connection, each, bots).values():
                yield DecideJob(bot, 0, Subject(COHORT, each.name), universe, each.methodology)

    return store.run_read(lambda connection: tuple(read_jobs(connection)))


def _with_open_markets(kept: Sequence[StoredCohort], run: StoredRun, store: Store, venue: Venue) -> list[Cohort]:
    """Return cohorts with whether they have an open market at the run's instant, and their number of positions."""
    is_settled = (resolutions.c.market_row == markets.c.id, resolutions.c.effective_at <= run.as_of)
    statement = select(markets.c.market_id).where(markets.c.venue == run.venue_name, *is_settled)

    def read(connection: Connection) -> tuple[set[str], list[tuple[KnownMarket, ...]], Counter[int]]:
        n_positions = Counter[int]()
        for member in member_accounts(connection, kept, run.as_of, as_booked=True):
            n_positions[member.cohort] += len(member.account.positions)
        return set(connection.execute(statement).scalars()), [_universe(connection, each) for each in kept], n_positions

    settled, universes, n_positions = store.run_read(read)
    listed = dict[str, Event | None]()

    def is_open(market: KnownMarket) -> bool:
        if market.ref.id in settled:
            return False
        if market.event_id not in listed:
            with suppress(UsageError):
                listed[market.event_id] = venue.event(market.event_id, run.as_of)
        event = listed.setdefault(market.event_id, None)
        return event is not None and any(each.id == market.ref.id and not each.closed for each in event.markets)

    def count_open(universe: Sequence[KnownMarket]) -> int:
        # One open market is enough. If the venue does not answer, the cohort decides and its decisions fail.
        try:
            return int(any(map(is_open, universe)))
        except VenueError:
            return 1

    return [
        each.to_cohort(n_positions[each.row], count_open(universe))
        for each, universe in zip(kept, universes, strict=True)
    ]


def _kept_cohorts(connection: Connection, run: StoredRun, mode: Mode) -> list[StoredCohort]:
    found = read_cohorts(connection, run.as_of, venue=run.venue_name, recipe=run.recipe)
    return [each for each in found if (each.game, each.mode) == (run.game, mode)]


def _universe(connection: Connection, cohort: StoredCohort) -> tuple[KnownMarket, ...]:
    return known_markets(frozen_events(connection, cohort.run_id))


def known_markets(events: Sequence[Event]) -> tuple[KnownMarket, ...]:
    """Return the markets of events, for questions to a venue."""
    return tuple(
        KnownMarket(0, event.id, event.title, market.question, market.ref, market.outcomes)
        for event in events
        for market in event.markets
    )


def _line_up(connection: Connection, cohort: StoredCohort, now: Sequence[BotSpec]) -> Mapping[str, BotSpec]:
    """Return a cohort's bots by id, as they were in the recipe of the run that started it."""
    bots = _frozen_bots(connection, cohort.run_id, now)
    return {member.bot_id: replace(bots[member.display_name], name=member.bot_id) for member in cohort.members}


def _frozen_bots(connection: Connection, run_id: int, now: Sequence[BotSpec]) -> Mapping[str, BotSpec]:
    """Return a run's frozen bots by name.

    Raises `NotTrusted` for one that starts programs where no bot of the recipe does.
    """
    allowed = {each for bot in now for each in bot.programs}
    text = connection.execute(select(runs.c.recipe_json).where(runs.c.id == run_id)).scalar_one()
    recipe, found = Recipe.from_json(text), dict[str, BotSpec]()
    for bot in recipe.bots:
        if lacking := [each for each in bot.programs if each not in allowed]:
            raise NotTrusted(
                f"bot {bot.name!r} of a cohort in the ledger has {lacking[0]}, which starts programs, and no bot of "
                "the recipe has it. Add one that has, or take another ledger"
            )
        # A bot whose strategy is gone fails only in its own decisions.
        with suppress(PluginError):
            bot = replace(bot, strategy=spec_of(bot.strategy.name, bot.strategy.arguments).playing(recipe.game))
        found[bot.name] = bot
    return found


def _free_id(bot: BotSpec, known: Mapping[str, BotSpec]) -> str:
    """Return a bot's id: its name, with a number behind it if a different bot had that name."""
    names = (bot.name if number == 1 else f"{bot.name}~{number}" for number in count(1))
    return next(name for name in names if name not in known or replace(known[name], name=bot.name) == bot)


def _member_of(bot: BotSpec, bot_id: str) -> Member:
    def usd(per_million: float | None) -> float | None:
        return None if per_million is None else per_million / 1e6

    terms = bot.terms
    prices = usd(terms.input_usd_per_million_tokens), usd(terms.output_usd_per_million_tokens)
    prompt_version = (bot.prompt_sha256 or bot.strategy.source_sha256)[:12]
    return Member(bot_id, bot.name, bot.model or "", *prices, prompt_version=prompt_version)
