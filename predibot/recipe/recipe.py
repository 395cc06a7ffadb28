"""A recipe: the events, the game, the rules and the bots of a run, and how often it is played."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from graphlib import TopologicalSorter
from typing import Any, Literal, get_args

from pydantic import TypeAdapter

from predibot.contracts import Game, Needs
from predibot.domain.budget import LimitLevel, Limits
from predibot.domain.category import CryptoWords
from predibot.domain.replicates import expand_bots, sampled_bot
from predibot.domain.schedule import Schedule
from predibot.domain.terms import ModelTerms, SearchTerms
from predibot.errors import UsageError
from predibot.games.dollar_per_event import Overstake
from predibot.games.normalisation import Normalise
from predibot.plugins.arguments import Argument, freeze_arguments
from predibot.plugins.games import make_game
from predibot.plugins.registry import unknown_name
from predibot.plugins.strategies import STRATEGY, StrategySpec, spec_of, strategy_names
from predibot.selection import SelectionRules
from predibot.trust import find_programs

_TERMS = TypeAdapter(ModelTerms)
_SEARCH = TypeAdapter(SearchTerms)
_NAME = re.compile(r"[A-Za-z0-9._-]{1,80}")


@dataclass(frozen=True, slots=True)
class BotSpec:
    """A named contestant: a strategy with its arguments."""

    name: str
    strategy: StrategySpec
    terms: ModelTerms = field(default_factory=ModelTerms)
    prompt: str = ""
    """The text of a prompt of the user's own, with its fields; empty for the packaged one."""
    normalise: Normalise | None = None
    """How its probabilities are made to fit each other before they are booked; None leaves them as they are."""

    @property
    def needs(self) -> Needs:
        """Return the needs that its strategy declares."""
        return self.strategy.needs

    @property
    def model(self) -> str | None:
        """Return the first model its strategy declares, by which it is known; None for a bot without one."""
        return next((need.name for need in self.needs.models), None)

    @property
    def prompt_sha256(self) -> str:
        """Return the digest of its own prompt, empty without one."""
        return hashlib.sha256(self.prompt.encode()).hexdigest() if self.prompt else ""

    @property
    def programs(self) -> tuple[str, ...]:
        """Return its strategy and tools where they start programs; the strategy need not be loaded."""
        return tuple(find_programs(self.strategy.name, self.strategy.arguments.get("tools")))

    @property
    def members(self) -> tuple[str, ...]:
        """Return the bots whose decisions it waits for."""
        return self.needs.members

    @property
    def pools_samples(self) -> bool:
        """Return whether it waits for its own samples, and for nobody else."""
        return bool(self.members) and {sampled_bot(each) for each in self.members} == {self.name}


@dataclass(frozen=True, slots=True)
class Recipe:
    """A parsed and checked recipe."""

    name: str
    game: str
    overstake: Overstake
    venue: str
    """`name` or `name:argument`."""
    every: timedelta
    """The length of a slot: there is one run in each."""
    seed: int
    selection: SelectionRules
    bots: tuple[BotSpec, ...]
    limits: Mapping[LimitLevel, Limits] = field(default_factory=dict)
    search: SearchTerms = field(default_factory=SearchTerms)
    source: str = field(default="", compare=False)
    options: Mapping[str, Argument] = field(default_factory=dict)
    """Options of the game that differ from its defaults, by field name."""
    schedule: Schedule | None = field(default=None, compare=False)
    """When it is run; not part of the digest."""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of everything but the bots, which may be added to."""
        return hashlib.sha256(_canonical(self._without_bots()).encode()).hexdigest()

    def make_game(self) -> Game:
        """Return the game that is played."""
        return make_game(self.game, **{**game_options(self.overstake), **self.options})

    def as_json(self) -> str:
        """Return the recipe as canonical JSON, without its source."""
        return _canonical({**self._without_bots(), "bots": [bot_as_data(bot) for bot in self.bots]})

    @classmethod
    def from_json(cls, text: str, *, source: str = "the stored recipe") -> "Recipe":
        """Return the recipe that `as_json` wrote; no plug-in is loaded, so its bots declare no needs."""
        data = json.loads(text)
        return cls(
            name=data["name"],
            game=data["game"],
            overstake=data["overstake"],
            venue=data["venue"],
            every=timedelta(seconds=data["every_seconds"]),
            seed=data["seed"],
            selection=_rules_from_data(data["selection"]),
            bots=tuple(bot_of_data(bot) for bot in data["bots"]),
            limits={level: Limits(**limits) for level, limits in data["limits"].items()},
            search=_SEARCH.validate_python(data["search"]),
            options=freeze_arguments(data.get("game_options", {})),
            source=source,
        )

    def differences(self, stored: "Recipe") -> tuple[str, ...]:
        """Return the differences from a stored recipe, bots aside, each as `key is new, was old`."""
        # A key that an older predibot did not know equals one that nobody set.
        new, old = (
            {key: value for key, value in _leaves(recipe._without_bots()) if value != "null"}
            for recipe in (self, stored)
        )
        return tuple(
            f"{key} is {new.get(key, 'absent')}, was {old.get(key, 'absent')}"
            for key in sorted({*new, *old})
            if new.get(key) != old.get(key)
        )

    def with_overrides(
        self,
        *,
        events: int | None = None,
        min_volume_24h_usd: float | None = None,
        max_markets: int | None = None,
        min_hours_left: float | Literal["any"] | None = None,
        bots: Sequence[str] | None = None,
        models: Sequence[str] = (),
    ) -> "Recipe":
        """Return the recipe with rules from the command line; None leaves a rule as it is.

        Args:
            events: How many events are played.
            min_volume_24h_usd: The least volume of an event in a day.
            max_markets: How many markets of an event are played; 0 means all.
            min_hours_left: The least time to an event's end; `any` allows it to be past.
            bots: Names of the recipe's bots or of strategies, in the wanted order. A strategy's name stands for a bot
                with default arguments; a bot of the recipe wins.
            models: Adds a bot for each model, named like it: an agent, or a model asked once in games without tools.

        Raises:
            UsageError: If a rule is out of range or changes nothing in this game, or a bot's or model's name is bad.
        """
        rules: dict[str, Any] = {"events": events, "max_markets": max_markets}
        rules["min_volume_24h_usd"] = None if min_volume_24h_usd is None else float(min_volume_24h_usd)
        rules["min_hours_left"] = float(min_hours_left) if isinstance(min_hours_left, int) else min_hours_left
        stated = {name: value for name, value in rules.items() if value is not None}
        if stated and (self.selection.only or self.make_game().has_items):
            raise UsageError(
                f"game {self.game!r} chooses what is played by options of its own, so {next(iter(stated))!r} would "
                "change nothing; leave it out, and set those in [game] of the recipe"
            )
        try:
            selection = replace(self.selection, **stated)
        except ValueError as error:
            raise UsageError(str(error)) from None
        names = () if bots is None else expand_bots(bots, [bot.name for bot in self.bots])
        chosen = self.bots if bots is None else tuple(map(self._find_bot, names))
        named = {bot.name for bot in chosen}
        samples = {each for bot in chosen if bot.pools_samples for each in bot.members}
        chosen += tuple(bot for bot in self.bots if bot.name in samples - named)
        if not chosen:
            raise UsageError("no bot is named; name one of the recipe's bots or a strategy")
        for model in dict.fromkeys(models):
            added = self._bot_of_model(model)
            if added.name in {bot.name for bot in (*self.bots, *chosen)}:
                raise UsageError(f"a bot is named {added.name!r} already; give the model {model!r} a line in a recipe")
            chosen = (*chosen, added)
        return replace(self, selection=selection, bots=chosen)

    def _bot_of_model(self, model: str) -> BotSpec:
        name = re.sub(r"[^A-Za-z0-9._-]", "-", model)
        if not is_name(name):
            raise UsageError(f"{model[:90]!r} is no name of a model; write provider/model, such as openai/gpt-5")
        game = self.make_game()
        spec = spec_of("tool_agent" if "tools" in game.offers else "one_shot", {"model": model})
        return BotSpec(name, spec.playing(self.game), ModelTerms(settings=game.model_settings))

    def _find_bot(self, name: str) -> BotSpec:
        own = next((bot for bot in self.bots if bot.name == name), None)
        if own is not None:
            return own
        strategies = strategy_names()
        if name in strategies:
            return BotSpec(name, spec_of(name).playing(self.game))
        known = {*strategies, *(bot.name for bot in self.bots)}
        raise UsageError(f"no bot or strategy {name!r}. {unknown_name(STRATEGY, name, known)}")

    def _without_bots(self) -> dict[str, Any]:
        # Unset keys are left out, so that recipes from before such a key existed keep their digests.
        options = {"game_options": dict(self.options)} if self.options else {}
        search = _SEARCH.dump_python(self.search, mode="json")
        if not search["backends"]:
            del search["backends"]
        return {
            **options,
            "name": self.name,
            "game": self.game,
            "overstake": self.overstake,
            "venue": self.venue,
            "every_seconds": self.every.total_seconds(),
            "seed": self.seed,
            "selection": _rules_as_data(self.selection),
            "limits": {level: asdict(limits) for level, limits in self.limits.items()},
            "search": search,
        }


def in_order(members: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield bots so that each comes after its members: at a time the names of all whose members have come.

    `members` are by name of a bot. A member that is no bot itself counts as come. Raises `CycleError`, whose second
    argument names bots that wait for each other.
    """
    order = TopologicalSorter({name: [each for each in of if each in members] for name, of in members.items()})
    order.prepare()
    while names := order.get_ready():
        yield names
        order.done(*names)


def is_name(text: str) -> bool:
    """Return whether a recipe or a bot may have this name."""
    return _NAME.fullmatch(text) is not None and text.strip(".") != ""


def game_options(overstake: Overstake) -> dict[str, Argument]:
    """Return `overstake` as an option of the game, unless it is the default."""
    return {} if overstake == "refuse" else {"overstake": overstake}


def bot_as_data(bot: BotSpec) -> dict[str, Any]:
    """Return a bot as JSON data."""
    strategy, terms = bot.strategy, _TERMS.dump_python(bot.terms, mode="json")
    # Unset keys are left out, so that recipes from before such a key existed keep their digests.
    del terms["settings"]
    if terms["cached_usd_per_million_tokens"] is None:
        del terms["cached_usd_per_million_tokens"]
    if stated := dict(bot.terms.settings.explicit):
        terms["settings"] = stated
    return {
        **({"prompt": bot.prompt} if bot.prompt else {}),
        **({"normalise": bot.normalise} if bot.normalise else {}),
        "name": bot.name,
        "strategy": strategy.name,
        "arguments": dict(strategy.arguments),
        "source_sha256": strategy.source_sha256,
        "terms": terms,
    }


def bot_of_data(data: Mapping[str, Any]) -> BotSpec:
    """Return the bot that `bot_as_data` wrote."""
    strategy = StrategySpec(data["strategy"], freeze_arguments(data["arguments"]), data["source_sha256"])
    prompt = data.get("prompt", "")
    if not isinstance(prompt, str):
        raise ValueError(f"the prompt of bot {data['name']!r} is no text")
    normalise = data.get("normalise")
    if normalise not in (None, *get_args(Normalise)):
        raise ValueError(
            f"bot {data['name']!r} normalises by {str(normalise)[:40]!r}, which this predibot does not know"
        )
    return BotSpec(data["name"], strategy, _TERMS.validate_python(data["terms"]), prompt, normalise)


def _rules_as_data(rules: SelectionRules) -> dict[str, Any]:
    data = {name: getattr(rules, name) for name in SelectionRules.__slots__ if name != "crypto"}
    # Rules of a single game are left out elsewhere, for the same reason.
    for name in ("named_outcomes", "only", "history_days", "min_range"):
        if not data[name]:
            del data[name]
    # So is how duplicates are found, where none are dropped.
    if not data["drop_duplicates"]:
        data = {name: value for name, value in data.items() if "duplicate" not in name}
    return {**data, "crypto_words": {word: sorted(others) for word, others in rules.crypto.unless.items()}}


def _rules_from_data(data: Mapping[str, Any]) -> SelectionRules:
    """Return the rules that `_rules_as_data` wrote; without `min_hours_left`, events past their end were played."""
    words = CryptoWords({word: frozenset(others) for word, others in data["crypto_words"].items()})
    rules: dict[str, Any] = {"min_hours_left": "any", **data}
    del rules["crypto_words"]
    rules.update({name: tuple(rules[name]) for name in ("exclude", "include", "only") if name in rules})
    return SelectionRules(crypto=words, **rules)


def _canonical(data: Mapping[str, Any]) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _leaves(data: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", json.dumps(value)
