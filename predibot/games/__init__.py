"""Games: what is asked of a bot, and what becomes of its answer; pure."""

from collections.abc import Mapping
from typing import get_args

from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.games.dollar_per_event import DollarPerEvent, Overstake

GAMES = ("dollar_per_event",)
OVERSTAKES: tuple[str, ...] = get_args(Overstake)
_OPTIONS: Mapping[str, tuple[str, ...]] = {"overstake": OVERSTAKES}


def make_game(name: str, **options: str) -> DollarPerEvent:
    """Return the game of a recipe.

    Args:
        name: One of `GAMES`.
        options: `overstake`, which is `refuse` (the default) or `scale`.

    Raises:
        UsageError: If there is no such game, option or value.
    """
    if name not in GAMES:
        raise UsageError(f"no game {name!r}. {did_you_mean(name, GAMES)}")
    for option, value in options.items():
        if option not in _OPTIONS:
            raise UsageError(f"game {name!r} has no option {option!r}. {did_you_mean(option, _OPTIONS)}")
        if value not in _OPTIONS[option]:
            raise UsageError(f"{option} is {value!r}. {did_you_mean(value, _OPTIONS[option])}")
    return DollarPerEvent(overstake="scale" if options.get("overstake") == "scale" else "refuse")


__all__ = ["GAMES", "OVERSTAKES", "DollarPerEvent", "Overstake", "make_game"]
