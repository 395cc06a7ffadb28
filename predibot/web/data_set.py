"""The data set of a ledger: tables of numbers and names as Parquet, and a card that says what they hold.

What is in it is listed here column by column, so that nothing gets in unseen: no text of pages, news or comments, no
rationale, no address of a folder. Ids of comments are hashed with a key of the user, as they lead to people.
"""

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any

from predibot.domain.untrusted_text import one_line
from predibot.jobs.export import write_parquet
from predibot.ledger.read.export import export_batches, export_columns
from predibot.ledger.store import Store
from predibot.plain_file import plain_bytes
from predibot.version import __version__
from predibot.whole_file import whole_file

CARD = "README.md"
_OF_PEOPLE = ("comment", "window")
"""Kinds of subjects whose ids lead to people."""
_KEY_BYTES = 32

_RUN = {"run": "key of the run", "void": "0 for a run that counts; else it was taken out of all scores"}
_DECISION = {
    **_RUN,
    "bot": "its name",
    "subject_kind": "event, portfolio, cohort, or what else was decided on",
    "subject_id": "of an event: its id at the venue; of a comment: hashed",
}
_ACCOUNT = {
    "recipe": "name of the recipe",
    "game": "rules that were played by",
    "mode": "live or replay",
    "methodology": "version of the rules; empty where there is one only",
    "bot": "its name",
}
_TABLES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "runs": (
        "A run: one pass of a recipe.",
        {
            **_RUN,
            "recipe": "name of the recipe",
            "slot_at": "instant at which it was due, UTC",
            "as_of": "instant after which it saw nothing, UTC",
            "venue_name": "venue",
            "game": "rules that were played by",
            "seed": "seed of all that is random",
            "code_version": "version of predibot",
            "created_at": "instant at which it began, UTC",
            "deadline_at": "later decisions are in no score, UTC; missing for no deadline",
        },
    ),
    "bots": (
        "A bot of a run.",
        {
            **_RUN,
            "bot": "its name",
            "strategy": "what it decides by",
            "model": "its model; missing for none",
            "knowledge_cutoff": "day up to which the model knows the world; missing where unknown",
        },
    ),
    "decisions": (
        "A bot's decision, or its failure to make one.",
        {
            **_DECISION,
            "status": "recorded, refused, failed or abstained",
            "reason_kind": "kind of the reason, where there is no decision",
            "decided_at": "instant of the answer, UTC",
            "unallocated_usd": "dollars that were not bet",
            "scale": "factor between bets that were wanted and booked",
            "cost_usd": "dollars that its models and searches cost; missing where a part is unknown",
            "cost_known_usd": "dollars of the parts that are known",
            "seconds": "how long it took",
            "late": "1 if it was made after the deadline, and is in no score",
        },
    ),
    "forecasts": (
        "A bot's forecast on one market.",
        {
            **_DECISION,
            "market_id": "id of the market at the venue",
            "probability": "of YES, from 0 to 1",
            "confidence": "0 to 10; missing where none was stated",
            "question_sha256": "of the question that was shown",
            "title": "of the event, in the venue's words",
            "question": "of the market, in the venue's words",
        },
    ),
    "bets": (
        "A bot's bet on one market.",
        {
            **_DECISION,
            "market_id": "id of the market at the venue",
            "asked_usd": "dollars that it wanted to bet: positive on YES, negative on NO",
            "booked_usd": "dollars that were booked, by the rules",
            "price_yes": "price of YES at which it was booked, between 0 and 1",
            "price_source": "where that price is from",
        },
    ),
    "fills": (
        "A trade of an account.",
        {
            **_DECISION,
            "number": "of the trade in the decision, from 1",
            "instrument_kind": "kind of what was traded",
            "instrument_id": "its id at the venue",
            "side": "YES or NO of a market; missing of a stock",
            "shares": "bought, or negative: sold",
            "price": "dollars a share",
            "fee_usd": "dollars",
            "cash_usd": "dollars that the cash of the account changed by",
        },
    ),
    "valuations": (
        "The value of an account at an instant.",
        {
            **_ACCOUNT,
            "at": "instant, UTC",
            "revision": "a correction is a further revision",
            "cash_usd": "dollars",
            "value_usd": "dollars, cash and positions",
        },
    ),
    "labels": (
        "A bot's label of a text; the text itself is not here.",
        {
            **_DECISION,
            "number": "of the label in the decision, from 1",
            "item_id": "what was labelled; of a comment: hashed",
            "label": "the class that the bot put it in",
        },
    ),
    "prices": (
        "A price that was stored.",
        {
            "venue": "venue",
            "instrument_kind": "kind of what has the price",
            "instrument_id": "its id at the venue",
            "market_id": "id of its market; missing of a stock",
            "side": "YES or NO of a market; missing of a stock",
            "at": "instant, UTC",
            "source": "where the price is from",
            "price": "dollars a share; of a market between 0 and 1",
        },
    ),
    "resolutions": (
        "What a market paid.",
        {
            "venue": "venue",
            "market_id": "id of the market at the venue",
            "revision": "a correction is a further revision",
            "payout_yes": "dollars a share of YES, from 0 to 1; neither for a void market",
            "settled_at": "instant, UTC",
            "settled_source": "where that instant is from",
        },
    ),
}
"""By name of the file: what a row is, and the meaning of each column."""
FILE_NAMES = (*(f"{name}.parquet" for name in _TABLES), CARD)
_EXPORTED = {"prices": "observations"}
"""Tables that have another name in an export."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of the data set."""

    name: str
    content: bytes
    rows: int


def data_files(store: Store, licence: str, key_file: Path | None) -> Iterator[DataFile]:
    """Yield a Parquet file for each table with rows, then the card.

    Args:
        licence: On which terms the user gives it away, in their own words; empty if they do not say.
        key_file: The key that ids of comments are hashed with, which is made where it is missing; without a file
            each call has a key of its own.
    """
    found = []
    key = cache(partial(_read_key, key_file))
    for name, (_, meanings) in _TABLES.items():
        table = _EXPORTED.get(name, name)
        columns = export_columns(table)
        hashed = [place for place, column in enumerate(meanings) if column in ("subject_id", "item_id")]
        kind = list(meanings).index("subject_kind") if hashed else None
        with store.read() as connection, store.blame_rows():
            batches = export_batches(connection, table, tuple(meanings))
            if kind is not None:
                batches = (_hash_ids(each, kind, hashed, key) for each in batches)
            file = BytesIO()
            count = write_parquet(file, {column: columns[column] for column in meanings}, batches)
        if count:
            found.append(DataFile(f"{name}.parquet", file.getvalue(), count))
    yield from found
    yield DataFile(CARD, _card(found, licence).encode(), 0)


def _hash_ids(
    batch: list[Sequence[Any]], kind_place: int, places: Sequence[int], key: Callable[[], bytes]
) -> list[Sequence[Any]]:
    """Return columns with the ids of people in those at some places hashed."""
    if {*batch[kind_place]}.isdisjoint(_OF_PEOPLE):
        return batch
    hashed = {
        place: [
            hashlib.blake2b(str(id).encode(), key=key(), digest_size=16).hexdigest() if kind in _OF_PEOPLE else id
            for id, kind in zip(batch[place], batch[kind_place], strict=True)
        ]
        for place in places
    }
    return [hashed.get(place, column) for place, column in enumerate(batch)]


def _read_key(file: Path | None) -> bytes:
    """Return the key in a file, which is made where it is missing or no key."""
    if file is not None:
        try:
            found = plain_bytes(file)
        except OSError:
            found = b""
        if len(found) == _KEY_BYTES:
            return found
    key = secrets.token_bytes(_KEY_BYTES)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as stream:
            Path(stream.name).chmod(0o600)
            stream.write(key)
    return key


def _card(files: Collection[DataFile], licence: str) -> str:
    found = {each.name.partition(".")[0]: each for each in files}
    terms = one_line(licence)[:500] or "not stated; ask who publishes it"
    configs = "\n".join(f"- config_name: {name}\n  data_files: {each.name}" for name, each in found.items())
    parts = [
        f"---\nconfigs:\n{configs}\n---\n# Forecasts of bots, and what became of them\n",
        f"Licence: {terms}\n",
        f"Made by `predibot publish FOLDER`, version {__version__}, from the ledger in which bots' decisions were "
        "stored as they were made. Every run is here, void ones too.\n",
        "Not here: texts of pages, news and comments, rationales, and what agents did step by step. Ids of comments "
        "are hashed with a key that is not published. A cell without a value is missing, never 0. Instants are text "
        "such as 2026-01-31T12:00:00Z.\n",
        'In Python: `pandas.read_parquet("forecasts.parquet")`.\n',
    ]
    for name, each in found.items():
        row, meanings = _TABLES[name]
        lines = [f"| `{column}` | {meaning} |" for column, meaning in meanings.items()]
        counts = f"{each.rows:,} rows, {len(each.content):,} bytes."
        parts.append(f"## [{each.name}]({each.name})\n\n{row} {counts}\n")
        parts.append("\n".join(["| column | meaning |", "|---|---|", *lines, ""]))
    return "\n".join(parts)
