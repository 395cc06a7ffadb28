"""The Manifold parser: a market object becomes an event with one market, or one an answer; pure.

A binary market is an event with one market. With several answers, each answer is a market, exclusive where the answers'
chances add up to one. Other kinds (polls, numbers, bounties) are skipped.

A market's id is that of its contract, followed by a hyphen and the answer's where there are answers. Its tokens are
that id with `-YES` and `-NO`.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from predibot.contracts import PayloadReader
from predibot.domain.event import Event, Market, MarketRef, Skip, Tag
from predibot.domain.price import SIDES, Quote
from predibot.domain.resolution import Resolution
from predibot.net.json_client import Wire
from predibot.venues import fields

MAX_ANSWERS = 2_000
MAX_TAGS = 500
MAX_DOCUMENT_DEPTH = 50
UNKNOWN_ID = "?"
_ID = re.compile(r"[A-Za-z0-9_]{1,40}")
_PLAYED = ("BINARY", "MULTIPLE_CHOICE")
_SHARED = ("MKT", "CHOOSE_MULTIPLE")
"""Resolutions in which several answers win a part each."""

RESULT_FIELDS = frozenset(
    {"isResolved", "resolution", "resolutionProbability", "resolutions", "resolutionTime", "resolverId"}
)
"""Fields that state an outcome, of a market or of an answer."""


def manifold_id(value: object) -> str:
    """Return an id of Manifold: letters, digits and underscores, so that a hyphen ends it."""
    return fields.matching(value, _ID, "an id of Manifold")


def contract_of(market_id: str) -> tuple[str, str | None]:
    """Return the ids of contract and answer in a market's id, None for a binary market; raise `ValueError` if bad."""
    contract, hyphen, answer = market_id.partition("-")
    return manifold_id(contract), manifold_id(answer) if hyphen else None


def market_ref(contract: str, answer: str | None = None) -> MarketRef:
    """Return a market's names."""
    name = contract if answer is None else f"{contract}-{answer}"
    return MarketRef(name, None, tuple(f"{name}-{side}" for side in SIDES))


def _parse_milliseconds(value: object) -> datetime | None:
    number = fields.optional_number(value)
    if number is None:
        return None
    # Some end in the year 275760, JavaScript's last.
    return None if number / 1000 >= fields.LATEST_UNIX_SECONDS else fields.unix_instant(number / 1000)


_Id = Annotated[str, BeforeValidator(manifold_id)]
_Instant = Annotated[datetime | None, BeforeValidator(_parse_milliseconds)]
_opening_or_none = fields.or_none(lambda value: fields.end_or_none(_parse_milliseconds(value)))


class _EndWire(Wire):
    id: _Id
    resolution: fields.ShortText = ""
    resolved_at: _Instant = Field(default=None, alias="resolutionTime")
    share: fields.OptionalPrice = Field(default=None, alias="resolutionProbability")


class _AnswerWire(_EndWire):
    text: fields.StatedText
    stated: fields.OptionalPrice = Field(default=None, alias="probability")
    stated_short: fields.OptionalPrice = Field(default=None, alias="prob")
    volume: fields.KnownVolume = None
    is_other: fields.OptionalFlag = Field(default=None, alias="isOther")

    @property
    def probability(self) -> float | None:
        return self.stated_short if self.stated is None else self.stated


class _ResolutionWire(_EndWire):
    """The fields on settlement; answers are parsed one by one."""

    kind: fields.StatedText = Field(alias="outcomeType")
    is_resolved: fields.OptionalFlag = Field(default=None, alias="isResolved")
    answers: Annotated[list[object], BeforeValidator(fields.json_list), Field(max_length=MAX_ANSWERS)] = Field(
        default=[]
    )
    sum_to_one: fields.OptionalFlag = Field(default=None, alias="shouldAnswersSumToOne")
    shares: dict[str, fields.OptionalAmount] | None = Field(default=None, alias="resolutions")


class _ContractWire(_ResolutionWire):
    """A market of `/market/{id}`."""

    question: fields.StatedText
    slug: fields.ShortText = ""
    opened_at: Annotated[datetime | None, BeforeValidator(_opening_or_none)] = Field(default=None, alias="createdTime")
    closes_at: _Instant = Field(default=None, alias="closeTime")
    probability: fields.OptionalPrice = None
    volume: fields.KnownVolume = None
    volume_24h: fields.KnownVolume = Field(default=None, alias="volume24Hours")
    text: fields.LongText = Field(default="", alias="textDescription")
    description: object = None
    tags: Annotated[list[object], BeforeValidator(fields.json_list), Field(max_length=MAX_TAGS)] = Field(
        default=[], alias="groupSlugs"
    )
    adds_answers: fields.ShortText = Field(default="DISABLED", alias="addAnswersMode")

    @property
    def words(self) -> str:
        return self.text or fields.long_text(" ".join(document_texts(self.description)))


def document_texts(document: object) -> list[str]:
    """Return the texts of a rich document in order, to a bounded depth."""
    if isinstance(document, str):
        return [document]
    found, waiting = list[str](), [(document, 0)]
    while waiting:
        node, depth = waiting.pop()
        if not isinstance(node, dict) or depth > MAX_DOCUMENT_DEPTH:
            continue
        if isinstance(node.get("text"), str):
            found.append(node["text"])
        inner = node.get("content")
        waiting += [(each, depth + 1) for each in reversed(inner)] if isinstance(inner, list) else []
    return found


def parse_event(payload: object, quoted_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    """Return an object of `/market/{id}` as an event, and a skip for everything that cannot be read or played. A market
    that ended by `quoted_at` is closed. Without an event there is a skip of kind `event`.
    """
    try:
        parsed = _ContractWire.model_validate(payload)
    except ValidationError as error:
        return None, (Skip("event", payload_id(payload), fields.reason_of(error)),)
    if (reason := skip_reason(payload)) is not None:
        return None, (Skip("event", parsed.id, reason),)
    skipped: list[Skip] = []
    markets: dict[str, Market] = {}
    if parsed.kind == "BINARY":
        market = _make_market(parsed, None, quoted_at)
        markets[market.id] = market
    for entry in parsed.answers if parsed.kind != "BINARY" else ():
        try:
            answer = _AnswerWire.model_validate(entry)
        except ValidationError as error:
            skipped.append(Skip("market", payload_id(entry), fields.reason_of(error), parsed.id))
            continue
        market = _make_market(parsed, answer, quoted_at)
        if market.id in markets:
            skipped.append(Skip("market", market.id, "the event lists it twice; the first is taken", parsed.id))
        elif answer.is_other and parsed.adds_answers != "DISABLED":
            # Each added answer changes what "other" means.
            skipped.append(Skip("market", market.id, "answers may still be taken out of it", parsed.id))
        else:
            markets[market.id] = market
    return _make_event(parsed, tuple(markets.values()), payload, quoted_at), tuple(skipped)


def skip_reason(payload: object) -> str | None:
    """Return why a market object, whole or from a list, is not played; None where it is."""
    stated = payload if isinstance(payload, Mapping) else {}
    kind = stated.get("outcomeType")
    if kind not in _PLAYED:
        return f"it is a market of kind {fields.short_repr(kind)}; played are {' and '.join(_PLAYED)}"
    if stated.get("deleted") is True:
        return "it was deleted"
    # Sweepstakes markets were paid in money, beside the same question in mana.
    if (token := stated.get("token") or "MANA") != "MANA":
        return f"it is paid in {fields.short_repr(token)}, not in mana"
    return None


def _make_event(parsed: _ContractWire, markets: tuple[Market, ...], payload: object, quoted_at: datetime) -> Event:
    return Event(
        id=parsed.id,
        title=parsed.question,
        markets=markets,
        slug=parsed.slug,
        description=parsed.words,
        tags=tuple(
            Tag(slug.replace("-", " "), slug)
            for each in parsed.tags
            if isinstance(each, str) and (slug := fields.short_text(each))
        ),
        closes_at=fields.end_or_none(parsed.closes_at),
        closed=_is_closed(parsed, None, quoted_at),
        volume_24h_usd=parsed.volume_24h,
        payload=fields.dumps(fields.strip_fields(payload, RESULT_FIELDS)),
    )


def _is_closed(parsed: _ContractWire, answer: _AnswerWire | None, at: datetime) -> bool | None:
    if (answer is not None and answer.resolution) or (parsed.closes_at is not None and parsed.closes_at <= at):
        return True
    return parsed.is_resolved


def _make_market(parsed: _ContractWire, answer: _AnswerWire | None, quoted_at: datetime) -> Market:
    chance = parsed.probability if answer is None else answer.probability
    return Market(
        ref=market_ref(parsed.id, None if answer is None else answer.id),
        question=parsed.question if answer is None else fields.short_text(f"{parsed.question}: {answer.text}"),
        outcomes=SIDES,
        description=parsed.words,
        closes_at=fields.end_or_none(parsed.closes_at),
        closed=_is_closed(parsed, answer, quoted_at),
        volume_24h_usd=parsed.volume_24h if answer is None else None,
        volume_usd=parsed.volume if answer is None else answer.volume,
        quote=None if chance is None else Quote(at=quoted_at, displayed=chance),
        exclusive_group=parsed.id if answer is not None and parsed.sum_to_one else "",
        opened_at=parsed.opened_at,
    )


def parse_resolutions(
    payload: object, *, first_seen_at: datetime
) -> tuple[Mapping[str, Resolution], Mapping[str, str]]:
    """Return how a market object and its answers were settled, and which settlements cannot be read and why.

    YES pays 1 and NO pays 0, whatever `resolutionProbability` says: it is the payout of MKT alone. CANCEL voids without
    a payout. Exclusive answers are resolved to the id of the winner, or to shares of several; other answers each have a
    resolution, or are cancelled with the whole. Without a stated instant, `first_seen_at` counts. Both results are by
    the id of the market; `?` where no id can be read.
    """
    try:
        parsed = _ResolutionWire.model_validate(payload)
    except ValidationError as error:
        return {}, {payload_id(payload): fields.reason_of(error)}
    if parsed.kind == "BINARY":
        return _settle({parsed.id: (parsed, parsed)}, first_seen_at) if parsed.is_resolved else ({}, {})
    answers: dict[str, _EndWire] = {}
    unread: dict[str, str] = {}
    for entry in parsed.answers:
        try:
            answer = _EndWire.model_validate(entry)
        except ValidationError as error:
            unread[f"{parsed.id}-{payload_id(entry)}"] = fields.reason_of(error)
            continue
        answers.setdefault(answer.id, answer)
    names = {answer: market_ref(parsed.id, answer).id for answer in answers}
    if not parsed.sum_to_one:
        if parsed.is_resolved and parsed.resolution == "CANCEL":
            # Cancelling the whole voids the answers without a resolution.
            answers = {
                name: each if each.resolution else each.model_copy(update={"resolution": "CANCEL"})
                for name, each in answers.items()
            }
        ended = {names[each.id]: (each, parsed) for each in answers.values() if each.resolution or parsed.is_resolved}
        found, unsaid = _settle(ended, first_seen_at)
        return found, unread | unsaid
    if not parsed.is_resolved:
        return {}, unread
    won: Mapping[str, float | None]
    if parsed.resolution == "CANCEL":
        won = dict.fromkeys(answers)
    elif parsed.resolution in answers:
        won = {answer: float(answer == parsed.resolution) for answer in answers}
    elif parsed.resolution in _SHARED and (shares := _normalise_shares(parsed.shares or {}, answers)) is not None:
        won = {answer: shares.get(answer, 0.0) for answer in answers}
    else:
        said = f"it is resolved to {fields.short_repr(parsed.resolution)}, which says of no answer what it pays"
        return {}, unread | dict.fromkeys(names.values(), said)
    return {
        names[answer]: _make_resolution(paid, parsed.resolved_at, first_seen_at) for answer, paid in won.items()
    }, unread


def _settle(
    ended: Mapping[str, tuple[_EndWire, _EndWire]], first_seen_at: datetime
) -> tuple[dict[str, Resolution], dict[str, str]]:
    """Return the payouts of ended markets by their own words, and which words cannot be read."""
    found, unread = dict[str, Resolution](), dict[str, str]()
    for name, (each, whole) in ended.items():
        paid = {"YES": 1.0, "NO": 0.0, "MKT": each.share, "CANCEL": None}.get(each.resolution)
        if paid is None and each.resolution != "CANCEL":
            unread[name] = (
                "it is resolved to MKT without a resolutionProbability"
                if each.resolution == "MKT"
                else f"it is resolved to {fields.short_repr(each.resolution)}, which is none of YES, NO, MKT and CANCEL"
            )
            continue
        found[name] = _make_resolution(paid, each.resolved_at or whole.resolved_at, first_seen_at)
    return found, unread


def _normalise_shares(stated: Mapping[str, float | None], answers: Mapping[str, _EndWire]) -> dict[str, float] | None:
    """Return the part of one that each answer pays, or None where the shares do not fit the answers."""
    total = sum(share or 0.0 for share in stated.values())
    if total <= 0.0 or not stated.keys() <= answers.keys():
        return None
    return {answer: (share or 0.0) / total for answer, share in stated.items()}


def _make_resolution(paid: float | None, at: datetime | None, first_seen_at: datetime) -> Resolution:
    if at is None:
        return Resolution(paid, first_seen_at, "first_sight", first_seen_at)
    return Resolution(paid, at, "venue", at)


def payload_id(payload: object) -> str:
    """Return an object's id, or `UNKNOWN_ID` where it has none that can be read."""
    stated: Any = payload.get("id") if isinstance(payload, Mapping) else None
    try:
        return manifold_id(stated)
    except ValueError:
        return UNKNOWN_ID


PAYLOADS = PayloadReader(parse_event, payload_id, partial(fields.strip_stored_payload, names=RESULT_FIELDS))
