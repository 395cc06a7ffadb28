"""The options of a sandbox, written as `seed=7,events=60,fault=rate_limit,times=3,path=/events`."""

from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from predibot.sandbox.server.fault import FAULT_KINDS, Fault
from predibot.sandbox.server.hosts.manners import MANNERS, PLAIN, ModelManners
from predibot.sandbox.world.world import World

DEFAULT_SEED = 1
LONGEST_THINKING_SECONDS = 60.0
_NAMES = ("seed", "events", "markets", "named", "thinking_seconds", "port", "fault", "times", "path", "seconds")


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """The options of a sandbox; `events` and `markets` are average numbers of open ones, and only one may be given."""

    seed: int = DEFAULT_SEED
    events: int | None = None
    markets: int | None = None
    named: bool = False
    """Whether mutually exclusive markets are one market of more than two outcomes."""
    fault: Fault | None = None
    manners: ModelManners = PLAIN
    """Manners of the forecasters; users write them as faults."""
    thinking_seconds: float = 0.0
    port: int | None = None
    """The local port of a server that runs already; None starts one."""

    def world(self, *, altered_after: datetime | None = None) -> World:
        """Return the world of these options; draws that become known after `altered_after` differ. Raises `ValueError`
        if there can be no such world, for instance with too many events.
        """
        return World.from_seed(
            self.seed, events=self.events, markets=self.markets, named=self.named, altered_after=altered_after
        )


DEFAULT_OPTIONS = SandboxOptions()


def parse_options(text: str) -> SandboxOptions:
    """Return the options in a text of `name=value` separated by commas; an empty text gives the defaults.

    Raises:
        ValueError: If a name, a value or a kind of fault is wrong.

    Examples:
        >>> parse_options("seed=7,fault=rate_limit,times=3,path=/events").fault
        Fault(kind='rate_limit', times=3, path='/events', seconds=1.0)
    """
    given: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, separator, value = (word.strip() for word in part.partition("="))
        if name not in _NAMES:
            raise ValueError(f"no sandbox option {name!r}; {_suggestion(name, _NAMES)}")
        if not separator or not value:
            raise ValueError(f"sandbox option {name!r} has no value; write {name}=...")
        if name in given:
            raise ValueError(f"sandbox option {name!r} is given twice")
        given[name] = value
    seed = _parse_whole_number(given, "seed", least=0)
    options = SandboxOptions(
        seed=DEFAULT_SEED if seed is None else seed,
        events=_parse_whole_number(given, "events", least=1),
        markets=_parse_whole_number(given, "markets", least=1),
        named=_parse_flag(given, "named"),
        fault=_parse_fault(given),
        manners=ModelManners.parse(_fault_words(given, manners=True)),
        thinking_seconds=_parse_thinking_seconds(given.get("thinking_seconds", "0")),
        port=_parse_whole_number(given, "port", least=1),
    )
    if options.events is not None and options.markets is not None:
        raise ValueError("give a sandbox either events or markets, not both")
    return options


def _parse_fault(given: dict[str, str]) -> Fault | None:
    kinds = _fault_words(given, manners=False)
    if not kinds:
        if lost := [name for name in ("times", "path", "seconds") if name in given]:
            raise ValueError(
                f"sandbox option {lost[0]!r} needs a fault; add fault=..., one of {', '.join(FAULT_KINDS)}"
            )
        return None
    kind, *more = kinds
    if kind not in FAULT_KINDS:
        raise ValueError(f"no sandbox fault {kind!r}; {_suggestion(kind, (*FAULT_KINDS, *MANNERS))}")
    if more:
        raise ValueError(f"a sandbox has one fault beside the manners of its forecasters, got {kind} and {more[0]}")
    times = _parse_whole_number(given, "times", least=1)
    try:
        seconds = float(given.get("seconds", "1"))
    except ValueError:
        raise ValueError(f"sandbox option 'seconds' is a number, got {given['seconds']!r}") from None
    return Fault(kind=kind, times=times, path=given.get("path", ""), seconds=seconds)


def _fault_words(given: dict[str, str], *, manners: bool) -> list[str]:
    """Return the words of `fault=a+b` that are manners, or those that are not."""
    words = filter(None, given.get("fault", "").split("+"))
    return [word for word in words if (word.partition("=")[0] in MANNERS) == manners]


def _parse_thinking_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds <= LONGEST_THINKING_SECONDS:
        raise ValueError(
            f"sandbox option 'thinking_seconds' is a number from 0 to {LONGEST_THINKING_SECONDS:g}, got {text!r}"
        )
    return seconds


def _parse_flag(given: dict[str, str], name: str) -> bool:
    if given.get(name, "0") not in ("0", "1"):
        raise ValueError(f"sandbox option {name!r} is 0 or 1, got {given[name]!r}")
    return given.get(name) == "1"


def _parse_whole_number(given: dict[str, str], name: str, *, least: int) -> int | None:
    if name not in given:
        return None
    text = given[name]
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) >= least):
        raise ValueError(f"sandbox option {name!r} is a whole number from {least} on, got {text!r}")
    return int(text)


def _suggestion(word: str, words: tuple[str, ...]) -> str:
    close = get_close_matches(word, words, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(words)}"
