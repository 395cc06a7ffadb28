"""Collecting: joins comments with their writers' trades, labels them, and writes them without names."""

import hashlib
import hmac
import json
import os
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from importlib.resources import files
from itertools import islice
from pathlib import Path

from predibot.contracts import Progress, ProgressListener
from predibot.domain.clock import format_instant
from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.jobs.caller import Caller
from predibot.plain_file import open_plain, plain_text
from predibot.studies.stakebench.cleaning import WordLists, is_puzzle, parse_words, rejection_reason, split_of
from predibot.studies.stakebench.collecting import sources
from predibot.studies.stakebench.collecting.raw_store import RawStore
from predibot.studies.stakebench.data_set import FILES, LabelledComment, LabelledWindow, StepPath, windows_of
from predibot.studies.stakebench.positions import ACTION_HOURS, first_action, holdings_at
from predibot.studies.stakebench.venues.comments import HOSTS
from predibot.venues.http import VenueClient
from predibot.whole_file import whole_file


def load_word_lists() -> WordLists:
    """Return the word lists that predibot comes with."""
    return parse_words(files("predibot").joinpath("studies", "stakebench", "words.txt").read_text(encoding="utf-8"))


def read_or_make_salt(path: Path) -> bytes:
    """Return the salt of exported ids; a new one is made readable by its owner alone.

    Raises `UsageError` for another file.
    """
    if not path.exists():
        fresh = path.with_name(f".unfinished-{secrets.token_hex(16)}")
        try:
            fresh.touch(mode=0o600, exist_ok=False)
            fresh.write_text(secrets.token_hex(32), encoding="ascii")
            # Two processes that begin at once both get the first one's salt, and neither reads half of it.
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink(missing_ok=True)
    try:
        salt = bytes.fromhex(plain_text(path, encoding="ascii").strip())
    except (OSError, ValueError):
        salt = b""
    if len(salt) < 16:
        raise UsageError(f"{path} holds no salt of at least 32 hexadecimal digits; name another file, or delete it")
    return salt


def salted_id(salt: bytes, platform: str, kind: str, name: str) -> str:
    """Return the exported form of the id of a person, comment or market, which no other platform has."""
    return hmac.new(salt, f"{platform}|{kind}|{name}".encode(), hashlib.sha256).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class MarketTrades:
    """A market with its valid comments and their writers' trades."""

    market: sources.CommentedMarket
    split: str
    comments: tuple[sources.Comment, ...]
    traded: sources.MarketActivity
    path: StepPath
    truncated: bool


def join_markets(source: sources.CommentSource, words: WordLists, funnel: Counter[str]) -> Iterator[MarketTrades]:
    """Yield the chosen markets with their comments, and count the funnel. After a VenueError, earlier answers stay."""
    for reason, market in source.markets():
        funnel["markets listed"] += 1
        if market is None or reason:
            funnel[f"- markets left out: {reason}"] += 1
            continue
        if is_puzzle(market.question, words):
            funnel["- markets left out: puzzle"] += 1
            continue
        thread = source.thread(market)
        funnel["markets with comments asked for"] += 1
        funnel["comments served"] += len(thread.comments)
        funnel["- comments unreadable"] += thread.unreadable
        funnel["threads truncated"] += thread.truncated
        valid = []
        for comment in thread.comments:
            why: str | None = rejection_reason(comment.text, words)
            # Nobody holds a position after the end.
            why = why or ("after the end" if comment.at >= market.closed_at else None)
            if why is None:
                valid.append(comment)
            else:
                funnel[f"- comments left out: {why}"] += 1
        if len(valid) < source.fewest_comments:
            funnel["- markets left out: few comments"] += 1
            funnel["- comments left out: of such a market"] += len(valid)
            continue
        traded = source.read_activity(market, sorted({comment.user for comment in valid}))
        known = tuple(each for each in valid if each.at < traded.unreadable.get(each.user, market.closed_at))
        funnel["- comments left out: activity unreadable"] += len(valid) - len(known)
        funnel["markets taken"] += 1
        split = split_of(source.platform, market.question, (), words)
        yield MarketTrades(market, split, known, traded, source.prices(market), thread.truncated)


def label_comments(joined: MarketTrades, source: sources.CommentSource, salt: bytes) -> list[LabelledComment]:
    """Return the labelled comments of a market, oldest first."""
    found = []
    exported = partial(salted_id, salt, source.platform)
    for comment in joined.comments:
        changes = joined.traded.changes.get(comment.user, ())
        held = holdings_at(changes, comment.at)
        (side, size), at = source.position(held), comment.at
        action = None if side is None else first_action(changes, side, at)
        actions = (
            first_action(changes, side, at, window=timedelta(hours=hours)) if side else None for hours in ACTION_HOURS
        )
        found.append(
            LabelledComment(
                platform=source.platform,
                split=joined.split,
                market=exported("market", joined.market.id),
                question=joined.market.question,
                comment=exported("comment", f"{joined.market.id}|{comment.id}"),
                user=exported("user", comment.user),
                at=format_instant(comment.at),
                text=comment.text,
                side=side,
                size=size,
                action=action,
                actions=tuple(each for each in actions if each is not None),
                resolved=joined.market.resolved,
                ever_held=held.ever,
                truncated=joined.truncated,
                volume=joined.market.volume,
                closed=format_instant(joined.market.closed_at),
                price_yes=joined.path.at(comment.at),
            )
        )
    return found


def collect_comments(
    source: sources.CommentSource,
    store: RawStore,
    *,
    salt: bytes,
    listener: ProgressListener,
    markets: int | None = None,
) -> tuple[dict[str, int], int]:
    """Collect a platform's comments and write `comments.jsonl` and `windows.jsonl` under salted ids.

    Returns markets, comments and windows after each stage and those lost at it, in order, and the number of requests;
    other answers were stored already. A second call asks only for what is missing, also after a VenueError, and writes
    the same files.
    """
    funnel: Counter[str] = Counter()
    folder = store.folder
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / "comments.jsonl") as comments, whole_file(folder / "windows.jsonl") as windows:
        for joined in islice(join_markets(source, load_word_lists(), funnel), markets):
            rows = label_comments(joined, source, salt)
            listener(Progress("markets", funnel["markets taken"], text=joined.market.question[:60]))
            positioned = [
                (row, each.at) for row, each in zip(rows, joined.comments, strict=True) if row.side is not None
            ]
            funnel["comments labelled"] += len(rows)
            funnel["comments with a position"] += len(positioned)
            funnel["comments with an action"] += sum(row.action is not None for row in rows)
            comments.writelines(map(_line, rows))
            for window in windows_of([at for _, at in positioned], joined.path, funnel):
                about = (source.platform, joined.split, rows[0].market, joined.market.question)
                prices = (window.price_before, window.price_after, window.direction)
                inside = tuple(positioned[number][0].comment for number in window.comments)
                windows.write(_line(LabelledWindow(*about, format_instant(window.start), window.days, *prices, inside)))
    return {stage: n for stage, n in funnel.items() if n or stage[0] != "-"}, store.requests


def _line(row: LabelledComment | LabelledWindow) -> bytes:
    return json.dumps(asdict(row), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


SEVERAL = "several platforms"
"""What `about` of a folder for several platforms says as its platform."""
SALT = Path("runs") / "out" / "comments.salt"
"""The file of the salt, if no other is named."""
PLATFORMS = ("polymarket", "manifold", "sandbox:polymarket", "sandbox:manifold")
_PATHS = {"gamma_url": "/gamma", "data_url": "/data", "clob_url": "/clob", "manifold_url": "/manifold"}
_SANDBOX_SEED, _SANDBOX_COMMENTS = 1, 2_500


def collect_platform(
    platform: str, folder: Path, caller: Caller, *, salt: Path | None, markets: int | None, into: Path | None = None
) -> tuple[dict[str, int], int]:
    """Collect the comments of a platform into a folder, label them, and return what `collect_comments` does.

    Args:
        folder: For raw answers and the data set.
        salt: The file with the salt of exported ids; left out, `SALT`.
        markets: The most that are taken; None for all.
        into: A folder for the data set of several platforms; this platform's rows replace older ones there.

    Raises:
        UsageError: If there is no such platform or salt, or the folder is in use or another platform's.
        VenueError: If the venue does not answer; the next call goes on from there.
    """
    if platform not in PLATFORMS:
        raise UsageError(f"comments are collected from no {platform[:40]!r}. {did_you_mean(platform, PLATFORMS)}")
    if into is not None and into.resolve() == folder.resolve():
        raise UsageError(f"--into names the platform's own folder {str(into)[:200]!r}; name another for several")
    settings, kept, with_salt = caller.settings(), RawStore(folder), salt or SALT
    simulated, manifold = platform.startswith("sandbox:"), platform.endswith("manifold")
    with ExitStack() as closing:
        if simulated:
            urls = _sandbox_urls(manifold, closing)
        else:
            urls = {name: settings.urls.get(name, host).rstrip("/") for name, host in HOSTS.items()}
        rates = {} if simulated else _rates(urls)
        client = closing.enter_context(
            VenueClient(
                deadline_seconds=settings.call_deadline_seconds, requests_per_10_seconds=rates, now=caller.clock
            )
        )
        source: sources.CommentSource = (
            sources.ManifoldComments(client.get, kept, manifold_url=urls["manifold_url"])
            if manifold
            else sources.PolymarketComments(
                client.get, kept, gamma_url=urls["gamma_url"], data_url=urls["data_url"], clob_url=urls["clob_url"]
            )
        )
        closing.enter_context(kept.lock(platform))
        with_salt.parent.mkdir(parents=True, exist_ok=True)
        listener = closing.enter_context(caller.progress())
        caller.say(f"salt: {with_salt}")
        found = collect_comments(source, kept, salt=read_or_make_salt(with_salt), listener=listener, markets=markets)
        if into is not None:
            closing.enter_context(RawStore(into).lock(f"{'simulated ' if simulated else ''}{SEVERAL}"))
            add_platform(folder, into, source.platform)
        return found


def add_platform(folder: Path, into: Path, platform: str) -> None:
    """Put the data set of a platform into a folder, in place of its rows there; raise `UsageError` for another file."""
    for name in FILES:
        file = f"{name}.jsonl"
        with whole_file(into / file) as whole:
            if (into / file).exists():
                with open_plain(into / file) as before:
                    whole.writelines(line for line in before if _platform_of(line, into / file) != platform)
            with open_plain(folder / file) as own:
                whole.writelines(own)


def _platform_of(line: bytes, file: Path) -> str:
    try:
        return str(json.loads(line)["platform"])
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{file} is no data set of comments; name another folder") from None


def _rates(urls: dict[str, str]) -> dict[str, float]:
    return {
        f"{urls['gamma_url']}/comments": 200.0,
        f"{urls['gamma_url']}/markets": 300.0,
        f"{urls['data_url']}/": 1_000.0,
        f"{urls['clob_url']}/prices-history": 1_000.0,
        f"{urls['manifold_url']}/": 500.0 / 6,
    }


def _sandbox_urls(manifold: bool, closing: ExitStack) -> dict[str, str]:
    from predibot.sandbox.server.server import SandboxServer
    from predibot.sandbox.world.calendar import SANDBOX_ENDS_AT
    from predibot.sandbox.world.world import World
    from predibot.studies.stakebench.crowd import crowd
    from predibot.studies.stakebench.crowd_host import CrowdHost

    host = CrowdHost(crowd(_SANDBOX_SEED, manifold=manifold, comments=_SANDBOX_COMMENTS))
    server = closing.enter_context(SandboxServer(World.from_seed(1, events=1), now=SANDBOX_ENDS_AT, site=host.reply))
    return {name: f"{server.search_url}{path}" for name, path in _PATHS.items()}
