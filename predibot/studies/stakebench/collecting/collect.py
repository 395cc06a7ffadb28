"""Collecting: comments joined with what their writers held and did, labelled, counted and written without names."""

import hashlib
import hmac
import json
import os
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from importlib.resources import files
from itertools import islice
from pathlib import Path

from predibot.contracts import Progress, ProgressListener
from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.plain_file import plain_text
from predibot.studies.stakebench.cleaning import WordLists, is_puzzle, parse_words, rejection, split_of
from predibot.studies.stakebench.collecting.raw_store import RawStore
from predibot.studies.stakebench.collecting.sources import Comment, CommentedMarket, CommentSource, Traded
from predibot.studies.stakebench.data_set import LabelledComment, LabelledWindow
from predibot.studies.stakebench.positions import ACTION_HOURS, first_action, holdings_at
from predibot.studies.stakebench.windows import StepPath, Windows, windows_of
from predibot.whole_file import whole_file


@dataclass(frozen=True, slots=True)
class CollectReport:
    """What a collection came to."""

    folder: Path
    funnel: Mapping[str, int]
    """How many markets, comments and windows there were at each stage, and were lost between two, in order."""
    asked: int
    """Answers that were asked for; the others were there."""


def packaged_words() -> WordLists:
    """Return the words that sort comments and markets."""
    return parse_words(files("predibot").joinpath("studies", "stakebench", "words.txt").read_text(encoding="utf-8"))


def salt_of(path: Path) -> bytes:
    """Return the salt of exported ids, made where there is none, readable by its owner alone.

    Raises:
        UsageError: If what lies there is no salt.
    """
    if not path.exists():
        fresh = path.with_name(f".unfinished-{secrets.token_hex(16)}")
        try:
            fresh.touch(mode=0o600, exist_ok=False)
            fresh.write_text(secrets.token_hex(32), encoding="ascii")
            # Of two that begin at once both have the salt of the first, and none sees half of it.
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


def salted(salt: bytes, kind: str, name: str) -> str:
    """Return what stands for an id of a real person, comment or market in everything that is exported."""
    return hmac.new(salt, f"{kind}|{name}".encode(), hashlib.sha256).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class JoinedMarket:
    """A market with its valid comments and what their writers did."""

    market: CommentedMarket
    split: str
    comments: tuple[Comment, ...]
    traded: Traded
    path: StepPath
    truncated: bool


def joined_markets(source: CommentSource, words: WordLists, funnel: Counter[str]) -> Iterator[JoinedMarket]:
    """Yield the markets that are taken, one at a time, each with its comments; the funnel is counted on the way.

    Raises:
        VenueError: If the venue does not answer; what it answered before is kept.
    """
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
            why: str | None = rejection(comment.text, words)
            # What was written after the end tells no position.
            why = why or ("after the end" if comment.at >= market.closed_at else None)
            if why is None:
                valid.append(comment)
            else:
                funnel[f"- comments left out: {why}"] += 1
        if len(valid) < source.fewest_comments:
            funnel["- markets left out: few comments"] += 1
            funnel["- comments left out: of such a market"] += len(valid)
            continue
        traded = source.traded(market, sorted({comment.user for comment in valid}))
        known = tuple(each for each in valid if each.at < traded.unreadable.get(each.user, market.closed_at))
        funnel["- comments left out: activity unreadable"] += len(valid) - len(known)
        funnel["markets taken"] += 1
        split = split_of(source.platform, market.question, (), words)
        yield JoinedMarket(market, split, known, traded, source.prices(market), thread.truncated)


def labelled(joined: JoinedMarket, source: CommentSource, salt: bytes) -> tuple[list[LabelledComment], Windows]:
    """Return the comments of a market with their labels, the oldest first, and the windows of those positioned."""
    found, positioned = [], []
    for comment in joined.comments:
        changes = joined.traded.changes.get(comment.user, ())
        held = holdings_at(changes, comment.at)
        position = source.position(held)
        side, at = position.side, comment.at
        action = None if side is None else first_action(changes, side, at)
        actions = (
            first_action(changes, side, at, window=timedelta(hours=hours)) if side else None for hours in ACTION_HOURS
        )
        if position.side is not None:
            positioned.append(comment.at)
        found.append(
            LabelledComment(
                platform=source.platform,
                split=joined.split,
                market=salted(salt, "market", joined.market.id),
                question=joined.market.question,
                comment=salted(salt, "comment", f"{joined.market.id}|{comment.id}"),
                user=salted(salt, "user", comment.user),
                at=format_instant(comment.at),
                text=comment.text,
                side=position.side,
                size=position.size,
                action=action,
                actions=tuple(each for each in actions if each is not None),
                resolved=joined.market.resolved,
                ever_held=held.ever,
                truncated=joined.truncated,
                volume=joined.market.volume,
                closed=format_instant(joined.market.closed_at),
            )
        )
    return found, windows_of(positioned, joined.path)


def collect_comments(
    source: CommentSource, store: RawStore, *, salt: bytes, listener: ProgressListener, markets: int | None = None
) -> CollectReport:
    """Collect a platform's comments and write `comments.jsonl` and `windows.jsonl` under salted ids.

    Called again it asks for nothing that is there, and writes the same files.

    Args:
        source: What is asked.
        store: Where the source keeps its answers; the files are written into its folder.
        salt: Of the ids.
        listener: Told of each market.
        markets: How many markets are taken at most; None for all.

    Raises:
        VenueError: If the venue does not answer; the next call goes on from there.
    """
    funnel: Counter[str] = Counter()
    folder = store.folder
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / "comments.jsonl") as comments, whole_file(folder / "windows.jsonl") as windows:
        for joined in islice(joined_markets(source, packaged_words(), funnel), markets):
            rows, found = labelled(joined, source, salt)
            listener(Progress("markets", funnel["markets taken"], text=joined.market.question[:60]))
            positioned = [row for row in rows if row.side is not None]
            funnel["comments labelled"] += len(rows)
            funnel["comments with a position"] += len(positioned)
            funnel["comments with an action"] += sum(row.action is not None for row in rows)
            funnel["- windows without prices"] += found.unpriced
            funnel["- windows with a near tie"] += found.near_ties
            funnel["windows"] += len(found.found)
            for row in rows:
                comments.write(_line(asdict(row)))
            for window in found.found:
                windows.write(
                    _line(
                        asdict(
                            LabelledWindow(
                                platform=source.platform,
                                split=joined.split,
                                market=rows[0].market,
                                question=joined.market.question,
                                start=format_instant(window.start),
                                days=window.days,
                                price_before=window.price_before,
                                price_after=window.price_after,
                                direction=window.direction,
                                comments=tuple(positioned[number].comment for number in window.comments),
                            )
                        )
                    )
                )
    return CollectReport(folder, {stage: n for stage, n in funnel.items() if n or stage[0] != "-"}, store.asked)


def _line(row: Mapping[str, object]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
