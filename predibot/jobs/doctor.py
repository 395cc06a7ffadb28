"""The doctor: checks that everything predibot needs is there."""

import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from predibot._folders import folders_from_environment
from predibot.config import Settings
from predibot.environment import api_keys_present
from predibot.errors import PredibotError, UsageError
from predibot.jobs.notify.open_channels import open_channels
from predibot.ledger.store import Store
from predibot.ledger.url import parse_ledger_url, sqlite_file
from predibot.net.failures import BadAddress, BadAnswer, TryAgain
from predibot.net.json_client import JsonClient
from predibot.plugins import registry
from predibot.plugins.games import game_problems
from predibot.plugins.strategies import list_strategies
from predibot.plugins.tools import tool_infos
from predibot.plugins.venues import assumptions, probes, venue_problems
from predibot.version import __version__

if TYPE_CHECKING:
    from predibot.jobs.deciding.model_checks import ModelCheck

Verdict = Literal["ok", "warning", "failed"]
_SECONDS = 5.0
_LEAST_FREE_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Check:
    """One check and what it saw."""

    name: str
    verdict: Verdict
    seen: str


def check_all(settings: Settings, ledger: str) -> tuple[Check, ...]:
    """Check Python, ledger, folders, plug-ins, hosts and keys."""
    python = f"predibot {__version__}, Python {platform.python_version()} on {platform.system()}"
    keys = api_keys_present()
    return (
        Check("python", "ok" if sys.version_info >= (3, 11) else "failed", python),
        _check_ledger(ledger),
        _check_folder(Path("runs/out")),
        *_check_plugins(),
        *_check_hosts(settings),
        *_check_channels(settings),
        Check("keys", "ok", f"set: {', '.join(keys)}" if keys else "no API key is set; the baselines need none"),
    )


def check_live(settings: Settings) -> tuple[Check, ...]:
    """Try each assumption about the venues' hosts with a request."""
    return tuple(
        Check(f"{venue}: {each.name}", "ok" if each.holds else "failed", each.seen)
        for venue, each in assumptions(settings)
    )


def check_recipe(
    recipe: str, settings: Settings, clock: Callable[[], datetime]
) -> tuple[tuple["ModelCheck", ...], tuple[Check, ...]]:
    """Ask each model of a recipe one question; return the answers, and one check a bot."""
    # Imported here: clients of models take half a second to load.
    from predibot.jobs.deciding.model_checks import check_models
    from predibot.recipe.parse import load_recipe

    found = load_recipe(recipe, Path())
    try:
        models = check_models(found, settings, clock)
    except PredibotError as error:
        return (), (Check(f"recipe {found.name}", "failed", str(error)),)
    return models, tuple(
        Check(f"bot {each.bot}", "failed" if each.problem else "ok", each.seen) for each in models
    ) or (Check(f"recipe {found.name}", "ok", "no bot has a model"),)


def _check_ledger(address: str) -> Check:
    try:
        file = sqlite_file(parse_ledger_url(address))
        if file is not None and not file.exists():
            return Check("ledger", "ok", f"{file} is not there yet; the first `predibot decide` makes it")
        with Store.open(address, create=False, upgrade=False) as store:
            # An empty transaction, which fails where the ledger is read-only.
            with store.write():
                pass
            store.require_whole()
            return Check("ledger", "ok", f"{store.address} opens, can be written and is whole")
    except PredibotError as error:
        return Check("ledger", "failed", str(error))


def _check_folder(folder: Path) -> Check:
    existing = next(place for place in (folder, *folder.parents) if place.is_dir())
    try:
        with tempfile.NamedTemporaryFile(dir=existing):
            free = shutil.disk_usage(existing).free
    except OSError as error:
        return Check("folder", "failed", f"{folder} cannot be written: {error.strerror}")
    verdict: Verdict = "ok" if free > _LEAST_FREE_BYTES else "warning"
    return Check("folder", verdict, f"{folder} can be written, {free / 1e9:.1f} GB free")


def _check_plugins() -> Iterator[Check]:
    for kind in ("strategies", "tools"):
        for folder in folders_from_environment(kind):
            if not Path(folder).is_dir():
                seen = f"PREDIBOT_{kind.upper()} names {folder}, which is no folder. Correct the variable"
                yield Check(kind, "failed", seen)
    kinds = {
        "strategies": [(info.name, info.problem) for info in list_strategies()],
        "tools": [(info.name, info.problem) for info in tool_infos()],
        "venues": [*venue_problems()],
        "games": [*game_problems()],
    }
    for kind, of_kind in kinds.items():
        yield Check(kind, "ok", ", ".join(name for name, problem in of_kind if not problem))
        for name, problem in of_kind:
            if problem:
                yield Check(kind, "failed", f"{name}: {problem}")
    for study in registry.find_all(registry.STUDY):
        if study.problem:
            yield Check("studies", "failed", f"{study.name}: {study.problem}")


def _check_channels(settings: Settings) -> Iterator[Check]:
    channels = open_channels(settings.notify, lambda: datetime.now(UTC))
    names = [*(each.name for each in channels.usable), *([] if channels.ping is None else [channels.ping.name])]
    if names:
        yield Check("notify", "ok", f"{', '.join(names)}; `predibot notify --test` tries them")
    for name, problem in channels.problems:
        yield Check("notify", "warning", f"{name}: {problem}")


def _check_hosts(settings: Settings) -> Sequence[Check]:
    addresses = probes(settings)
    with ThreadPoolExecutor(max(1, len(addresses))) as pool:
        return list(pool.map(_check_host, addresses, addresses.values()))


def _check_host(name: str, address: str) -> Check:
    try:
        with JsonClient(takes_compressed=True) as client:
            reply = client.ask("GET", address, seconds=_SECONDS)
    except UsageError as error:
        return Check(f"host {name}", "failed", str(error))
    except (TryAgain, BadAddress, BadAnswer) as failure:
        return Check(f"host {name}", "warning", str(failure))
    ends = reply.headers.get("sunset") or reply.headers.get("deprecation")
    verdict: Verdict = "ok" if reply.is_success and not ends else "warning"
    notice = f"; it says that this address ends: {ends[:100]}. Look for a newer predibot" if ends else ""
    return Check(f"host {name}", verdict, f"{address} answered {reply.status}{notice}")
