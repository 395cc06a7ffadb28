"""Venues by name, as users write them: `name` or `name:argument`; none is opened here."""

from collections.abc import Iterator
from typing import cast

from predibot.contracts import Assumption, VenuePlugin, VenueSettings
from predibot.errors import PluginError, UsageError
from predibot.plugins import registry
from predibot.plugins.registry import Kind, Plugin, own_code

VENUE = Kind("venue", "predibot.venues", "predibot.venues", "constant", in_studies="venues")


def venue_plugin(name: str) -> VenuePlugin:
    """Return the plug-in of a venue."""
    found = registry.find(VENUE, name)
    if problem := _problem(found):
        raise PluginError(problem)
    return cast(VenuePlugin, found.thing)


def parse_venue_spec(spec: str) -> tuple[VenuePlugin, str]:
    """Return the plug-in of a venue and its unchecked argument. Raises `UsageError` if there is no such venue, or its
    argument is missing or not taken.
    """
    name, colon, argument = spec.partition(":")
    found = _variant(venue_plugin(name), argument)
    if (found.needs_argument and not argument) or (colon and not found.usage):
        raise UsageError(f"venue {spec[:100]!r} is written {found.usage or name}; write that")
    return found, argument


def check_venue_spec(spec: str) -> str:
    """Return a venue's spec as runs store it, without opening it; raise `UsageError` for a wrong name or argument."""
    found, argument = parse_venue_spec(spec)
    with own_code(f"venue {spec[:100]!r} cannot be looked at"):
        argument = found.check(argument)
    return f"{spec.partition(':')[0]}:{argument}" if argument else spec.partition(":")[0]


def instruments_of(spec: str) -> str:
    """Return the venue of a spec's instruments: for a recording, the venue that was recorded."""
    found, argument = parse_venue_spec(spec)
    return spec.partition(":")[0] if found.instruments_of is None else found.instruments_of(argument)


def venue_or_defaults(spec: str) -> VenuePlugin:
    """Return the plug-in of a venue that a run stored, or defaults if it is not installed any more. By default it ends
    at no instant, its world is real, its amounts are dollars, and its payloads are unreadable.
    """
    name, _, argument = spec.partition(":")
    try:
        return _variant(venue_plugin(name), argument)
    except PluginError:
        return VenuePlugin(lambda asked: venue_plugin(name).open(asked), live=False)


def _variant(found: VenuePlugin, argument: str) -> VenuePlugin:
    return found.variants.get(argument.partition(":")[0], found)


def default_venue() -> str:
    """Return the name of the venue of a recipe that names none."""
    return next(name for name, found in _own_venues() if found.is_default)


def venue_recorded_by(format_name: str) -> str:
    """Return the name of the venue whose markets a foreign recording has."""
    return next(name for name, found in _own_venues() if format_name in found.recorded_by)


def usages() -> str:
    """Return the spelling of predibot's own venues, as part of a sentence."""
    *before, last = (found.usage or name for name, found in _own_venues())
    return f"{', '.join(before)} or {last}"


def probes(settings: VenueSettings) -> dict[str, str]:
    """Return addresses by host name, which show whether the hosts of all venues answer."""
    found: dict[str, str] = {}
    for each in registry.find_all(VENUE):
        if isinstance(each.thing, VenuePlugin) and each.thing.probes is not None:
            with own_code(f"{each.label} cannot say what its hosts are"):
                found |= each.thing.probes(settings)
    return found


def assumptions(settings: VenueSettings) -> Iterator[tuple[str, Assumption]]:
    """Yield each assumption about the hosts of all venues, tried, with the name of its venue."""
    for each in registry.find_all(VENUE):
        if isinstance(each.thing, VenuePlugin) and each.thing.assumptions is not None:
            with own_code(f"{each.label} cannot try what it assumes"):
                yield from ((each.name, found) for found in each.thing.assumptions(settings))


def url_names() -> tuple[str, ...]:
    """Return the names of the addresses of all venues that can be set."""
    found = (each for each in registry.find_all(VENUE) if isinstance(each.thing, VenuePlugin))
    return tuple(name for each in found for name in each.thing.urls)


def _own_venues() -> Iterator[tuple[str, VenuePlugin]]:
    for name in registry.module_names(VENUE):
        yield name, venue_plugin(name)


def venue_problems() -> Iterator[tuple[str, str]]:
    """Yield every venue's name with why it cannot be opened; no text where it can."""
    for found in registry.find_all(VENUE):
        yield found.name, found.problem or _problem(found)


def _problem(found: Plugin) -> str:
    if isinstance(found.thing, VenuePlugin):
        return ""
    return f"{found.label} is a {type(found.thing).__name__}; make it a VenuePlugin of predibot.contracts"
