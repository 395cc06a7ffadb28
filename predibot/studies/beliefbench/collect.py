"""Making a data set of pairs: markets are filtered, compared two by two and labelled; a part of the pairs is kept."""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from predibot.contracts import Progress, ProgressListener
from predibot.domain.clock import EPOCH, format_instant
from predibot.domain.event import Event
from predibot.errors import UsageError, VenueChanged
from predibot.jobs.caller import Caller
from predibot.jobs.open_venue import locate, open_past
from predibot.jobs.relatedness.beliefs import LabelledBeliefs, beliefs_of_events, beliefs_of_ledger
from predibot.jobs.relatedness.embeddings import open_embedding
from predibot.ledger.read.event_facts import latest_events
from predibot.ledger.store import Store
from predibot.related.beliefs import Beliefs
from predibot.related.features import FEATURES, PAPER, TUNED, Features, FeatureWeights, ScoreForm
from predibot.related.filters import Filters, apply_filters, open_days, overlap_days
from predibot.related.weights import fit_weights
from predibot.scoring.records.part import EVERYTHING
from predibot.scoring.relatedness.relevance import relevance_class
from predibot.studies.beliefbench.pairs import ACROSS, LABELS, About, LabelledPair, PairedMarket
from predibot.studies.beliefbench.sheets import read_ratings
from predibot.venues.archive.reader import Archive
from predibot.whole_file import blame_path, whole_file


@dataclass(frozen=True, slots=True)
class PairMarkets:
    """The markets that can be compared, sorted by event and market, and counts of others."""

    known: LabelledBeliefs
    descriptions: Mapping[str, str]
    """By market: its own description, or that of its event."""
    funnel: Counter[str]


def read_archive_markets(archive: Archive, as_of: datetime, listener: ProgressListener) -> PairMarkets:
    """Return all markets that an archive listed by an instant, each in its last listing.

    Raises `VenueError` if a snapshot or the resolutions cannot be read.
    """
    listed: dict[str, Event] = {}
    instants = [instant for instant in archive.instants if instant <= as_of]
    for number, instant in enumerate(instants, start=1):
        # The latest listing comes first, as the first event of a market counts.
        latest = {event.id: event for event in archive.events(instant).events}
        listed = latest | {name: event for name, event in listed.items() if name not in latest}
        listener(Progress("snapshots", number, len(instants)))
    events, unreadable = [], 0
    for event in listed.values():
        markets = []
        for market in event.markets:
            try:
                archive.price_path(market.ref.instrument(archive.name, "YES"), start=EPOCH, until=as_of)
                markets.append(market)
            except VenueChanged:
                unreadable += 1
        events.append(replace(event, markets=tuple(markets)))
    known = beliefs_of_events(archive, events, as_of)
    return _known_markets(known, events, Counter({"- prices unreadable": unreadable}))


def read_ledger_markets(store: Store, venue: str, as_of: datetime) -> PairMarkets:
    """Return all markets that runs of a ledger played by an instant, with their observations by then."""
    with store.read() as connection, store.blame_rows():
        known = beliefs_of_ledger(connection, venue, as_of)
        events = latest_events(connection, venue, as_of)
    return _known_markets(known, events, Counter())


def _known_markets(known: LabelledBeliefs, events: Sequence[Event], left_out: Counter[str]) -> PairMarkets:
    # The first event of a market counts, as for its title.
    listed = {
        market.id: market.description or event.description for event in reversed(events) for market in event.markets
    }
    funnel = Counter({"markets listed": len(listed) + left_out.total()})
    funnel["- not of two outcomes"] = len(listed) - known.beliefs.n
    descriptions = {name: listed[name] for name in known.questions}
    known = replace(known, beliefs=known.beliefs.in_order())
    return PairMarkets(known, descriptions, funnel + left_out)


MOST_PAIRS = 1_000
SCORES: Mapping[str, ScoreForm] = {"tuned": TUNED, "paper": PAPER}
"""The forms of S by their names on the command line."""
_DECIMALS = 9


def collect_pairs(
    source: str,
    folder: Path,
    caller: Caller,
    *,
    as_of: datetime | None,
    seed: int = 42,
    most: int = MOST_PAIRS,
    score: str = "tuned",
    weights: str | None = None,
    people: Path | None = None,
    model: str | None = None,
) -> About:
    """Make a data set of labelled pairs of markets of an archive or a ledger, and describe it.

    Equal sources give equal files.

    Args:
        source: As `archive:FOLDER`, or the address of a ledger.
        as_of: Nothing later is read; left out, the last snapshot of an archive, or now for a ledger.
        seed: For the draw of the kept pairs.
        most: The number kept of each domain and label.
        score: The form of S, one of `SCORES`.
        weights: Of the features in the order of `FEATURES`, with commas between; left out, those of the form.
        people: Ratings of pairs of these markets, as `read_ratings` takes them; the weights are fitted to their means.
        model: The sentence-transformer that compares texts; None for TF-IDF.

    Raises:
        UsageError: If an argument is bad, the model is not on this machine, or no two markets can be compared.
        VenueError: If the archive cannot be read.
    """
    if score not in SCORES:
        raise UsageError(f"--score {score[:40]!r}: it is {' or '.join(SCORES)}")
    form, text = SCORES[score], weights or ""
    try:
        if text:
            form = replace(form, weights=FeatureWeights(*map(float, text.split(","))))
    except (TypeError, ValueError) as error:
        raise UsageError(f"--weights {text[:60]!r}: {error}; write four of them, such as 0.4,0.1,0.1,0.4") from None
    with ExitStack() as closing:
        listener = closing.enter_context(caller.progress())
        if "://" in source:
            store = closing.enter_context(Store.open_to_read(source))
            venue = locate(store, EVERYTHING, caller.clock).venue_name
            known = read_ledger_markets(store, venue, as_of or caller.clock())
        else:
            past = open_past(source, caller.settings(), caller.clock)
            opened = closing.enter_context(past.open_at(as_of or past.last_at))
            if not isinstance(opened.venue, Archive):
                raise UsageError(
                    f"pairs are made of an archive or a ledger, and {source[:80]!r} is neither; record it with "
                    "`predibot record FOLDER`, or name a ledger by its address"
                )
            past.check(opened.now)
            known = read_archive_markets(opened.venue, opened.now, listener)
        if people is not None:
            form = replace(form, weights=_fitted_weights(people, known.known.beliefs, form, model))
        return write_pairs(known, folder, listener=listener, seed=seed, most=most, form=form, model=model)


def _fitted_weights(people: Path, beliefs: Beliefs, form: ScoreForm, model: str | None) -> FeatureWeights:
    """Return the weights by which S comes nearest to the mean of people's ratings."""
    row = {name: number for number, name in enumerate(beliefs.market_ids)}
    ratings = defaultdict[str, list[float]](list)

    def is_pair(text: str) -> bool:
        names = text.split("~")
        return len(names) == len(set(names)) == 2 and all(name in row for name in names)

    for rated in read_ratings(people, is_pair).values():
        for pair, rating in rated.items():
            ratings[pair].append(rating)
    features = Features(beliefs, None if model is None else open_embedding(model)(beliefs.texts), form)
    values = []
    for pair in ratings:
        one, other = (row[name] for name in pair.split("~"))
        block = features.block(slice(one, one + 1), slice(other, other + 1))
        values.append([each.item() for each in block.each])
    return fit_weights(values, [fmean(each) for each in ratings.values()]).weights


def write_pairs(
    found: PairMarkets,
    folder: Path,
    *,
    listener: ProgressListener,
    seed: int,
    most: int,
    filters: Filters | None = None,
    form: ScoreForm = TUNED,
    model: str | None = None,
) -> About:
    """Compare markets, and write `about.jsonl`, `markets.jsonl` and `pairs.jsonl`.

    Raises `UsageError` if no two markets can be compared, or the folder cannot be written.
    """
    filters, funnel = filters or Filters(), Counter(found.funnel)
    passed = apply_filters(found.known.beliefs, filters)
    funnel["- little traded"], funnel["- flat"] = passed.little_traded, passed.flat
    funnel["volume not stated"] = passed.volume_unknown
    beliefs = found.known.beliefs.only(passed.kept)
    funnel["markets compared"] = beliefs.n
    kept, counts, without_score = _compare(beliefs, form, model, seed=seed, most=most, listener=listener)
    if not kept:
        stages = ", ".join(f"{stage.removeprefix('- ')} {n:,}" for stage, n in funnel.items())
        raise UsageError(
            f"no two markets can be compared ({stages}); record more, or for longer, or weigh features that they have"
        )
    pairs = sum(sum(each.values()) for each in counts.values())
    funnel["pairs of markets"] = beliefs.n * (beliefs.n - 1) // 2
    funnel["- without a score"] = without_score
    funnel["- never open together"] = funnel["pairs of markets"] - pairs - without_score
    funnel["pairs labelled"], funnel["pairs kept"] = pairs, len(kept)
    used = {name for pair in kept for name in (pair.first, pair.second)}
    about = About(
        as_of=format_instant(found.known.as_of),
        venue=found.known.venue_name,
        seed=seed,
        settings={
            **asdict(filters),
            **{f"weight_{name}": weight for name, weight in zip(FEATURES, form.weights.each, strict=True)},
            "jumps": "by subject" if form.by_subject else "all",
            "text_by": model or ("subject words" if form.by_subject else "tfidf"),
        },
        funnel={stage: n for stage, n in funnel.items() if n or stage[0] != "-"},
        pairs=counts,
    )
    markets = [market for market in _markets(found, beliefs) if market.id in used]
    with blame_path(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Written last, as it proves that the other files belong together.
        (folder / "about.jsonl").unlink(missing_ok=True)
        files: dict[str, Sequence[About | PairedMarket | LabelledPair]]
        files = {"markets": markets, "pairs": kept, "about": [about]}
        for name, rows in files.items():
            with whole_file(folder / f"{name}.jsonl") as file:
                for row in rows:
                    file.write(json.dumps(asdict(row), ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    return about


def _markets(found: PairMarkets, beliefs: Beliefs) -> list[PairedMarket]:
    first, last = (days.tolist() for days in open_days(beliefs))
    return [
        PairedMarket(
            id=name,
            event=beliefs.event_ids[row],
            title=found.known.questions[name],
            description=found.descriptions[name],
            tags=tuple(sorted(beliefs.tags[row])),
            domain=beliefs.domains[row],
            volume_usd=None if np.isnan(beliefs.volume_usd[row]) else float(beliefs.volume_usd[row]),
            first_on=_date(first[row]),
            last_on=_date(last[row]),
        )
        for row, name in enumerate(beliefs.market_ids)
    ]


def _date(day: int) -> str:
    return (EPOCH + timedelta(days=day)).date().isoformat()


def _compare(
    beliefs: Beliefs, form: ScoreForm, model: str | None, *, seed: int, most: int, listener: ProgressListener
) -> tuple[list[LabelledPair], Mapping[str, Mapping[str, int]], int]:
    """Return the kept pairs, those of the lowest rank, by seed and ids, in each domain and label; how many there are of
    each; and how many more were open together, but have no feature with a weight.
    """
    names = sorted(set(beliefs.domains))
    domain = np.array([names.index(each) for each in beliefs.domains], dtype=np.int64)
    keys = np.array([_key(seed, name) for name in beliefs.market_ids], dtype=np.uint64)
    first, last = open_days(beliefs)
    counts = np.zeros((len(names) + 1) * len(LABELS), dtype=np.int64)
    kept: dict[int, NDArray[np.float64]] = {}
    ranks: dict[int, NDArray[np.uint64]] = {}
    # The highest kept rank of each full cell, which rules out most pairs at once.
    highest = np.full(counts.size, np.iinfo(np.uint64).max, dtype=np.uint64)
    vectors = None if model is None else open_embedding(model)(beliefs.texts)
    features, without_score = Features(beliefs, vectors, form), 0
    for rows, columns, block in features.blocks():
        ours, theirs = (np.arange(each.start, each.stop) for each in (rows, columns))
        scores = block.scores(form.weights)
        together = overlap_days(first, last, ours[:, np.newaxis], theirs) > 0
        together &= ours[:, np.newaxis] < theirs
        without_score += int((together & np.isnan(scores)).sum())
        one, other = np.nonzero(together & ~np.isnan(scores))
        a, b = ours[one], theirs[other]
        of_both = np.where(domain[a] == domain[b], domain[a], len(names))
        cell = of_both * len(LABELS) + relevance_class(scores[one, other])
        counts += np.bincount(cell, minlength=counts.size)
        rank = _ranks(keys[a], keys[b])
        new = rank <= highest[cell]
        a, b, one, other, cell, rank = a[new], b[new], one[new], other[new], cell[new], rank[new]
        values = np.stack([a, b, *(each[one, other] for each in block.each), scores[one, other]], axis=1)
        for number in np.unique(cell).tolist():
            inside = cell == number
            found, order = values[inside], rank[inside]
            if number in kept:
                found, order = np.concatenate([kept[number], found]), np.concatenate([ranks[number], order])
            if order.size > most:
                least = np.argpartition(order, most - 1)[:most]
                found, order = found[least], order[least]
                highest[number] = order.max()
            kept[number], ranks[number] = found, order
        listener(Progress("markets compared", rows.stop, beliefs.n))
    pairs = []
    for number in sorted(kept):
        name, label = [*names, ACROSS][number // len(LABELS)], LABELS[number % len(LABELS)]
        rows_of = kept[number][np.lexsort((kept[number][:, 1], kept[number][:, 0]))]
        pairs += [_pair(row, beliefs, name, label) for row in rows_of.tolist()]
    table = counts.reshape(-1, len(LABELS)).tolist()
    counts_by_domain = {
        name: dict(zip(LABELS, row, strict=True)) for name, row in zip([*names, ACROSS], table, strict=True) if any(row)
    }
    return pairs, counts_by_domain, without_score


def _pair(row: list[float], beliefs: Beliefs, domain: str, label: str) -> LabelledPair:
    first, second, *features, score = row
    synchrony, tags, nearness, text = (round(each, _DECIMALS) for each in features)
    return LabelledPair(
        first=beliefs.market_ids[int(first)],
        second=beliefs.market_ids[int(second)],
        domain=domain,
        synchrony=synchrony,
        tags=None if math.isnan(tags) else tags,
        nearness=nearness,
        text=None if math.isnan(text) else text,
        score=score,
        label=label,
    )


def _key(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}|{name}".encode()).digest()[:8], "big")


def _ranks(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a rank of each pair, from the keys of both alone: splitmix64 of their sum."""
    mixed = first + second
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return found
