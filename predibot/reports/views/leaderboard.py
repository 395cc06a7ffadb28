"""The leaderboard as data: one row for each bot, in order, with verdicts, conclusions in words, and its effort."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from predibot.domain.decision import WITHOUT_SEARCH, WITHOUT_TOOLS
from predibot.domain.spelling import first_of
from predibot.reports import figures
from predibot.reports.table import Document, document, value_of, values_of
from predibot.scoring.evaluation.e_values import BEATS_FROM
from predibot.scoring.evaluation.effort import SUCCESSES, EffortAndSuccess, EffortCorrelation, effort_correlations
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.references import MARKET
from predibot.scoring.evaluation.scorecard import Scorecard
from predibot.scoring.evaluation.verdict import Finding, Verdict
from predibot.scoring.inference.bootstrap import FEW_CLUSTERS
from predibot.scoring.records.horizon_returns import NOW, SETTLED
from predibot.scoring.records.replicates import ReplicateScores
from predibot.scoring.standing import Standing

HEADLINE_DAYS = 7
"""Horizon of the return on the leaderboard; the longest requested one if this one was not requested."""
_MOST_NAMED = 3
_NO_EVIDENCE = figures.e_value(1.0)


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """The figures of one bot; None without a value."""

    rank: int | None
    """From 1 among bots that beat the price, equal for ties; None for all others."""
    bot: str
    baseline: bool
    standing: Standing
    """Its group: rows come in the order of `STANDINGS`."""
    e_now: float
    """Today's e-value, which orders the bots without a proof; 1 is no evidence."""
    repeats_price: bool
    """Whether it is no baseline, and its forecasts lie within .005 of the price on average."""
    edge: float | None
    """Over the price, in [-1, 1], like the ends of its interval."""
    edge_low: float | None
    """Ranks the bots that beat the price."""
    edge_high: float | None
    edge_by_event: float | None
    """Edge with each event counted once; None unless it differs by more than half the interval's width."""
    events: int
    """Number of events behind the edge."""
    slots: int
    """Number of event-slots behind the edge."""
    board_slots: int
    """Number of event-slots of the whole board; figures on different ones cannot be compared."""
    verdict: Verdict
    brier: float | None
    market_brier: float | None
    """The Brier score of the price on the same forecasts."""
    horizon: str | None
    """The horizon of `quote_return`, as a label of days."""
    quote_return: float | None
    """Mean at that horizon, of decisions carried out against the book, with fees."""
    quote_return_now: float | None
    answered_share: float | None
    """The share of the markets it was asked about that it answered, in [0, 1]."""
    cost_usd: float | None
    """None if a part is unknown."""
    cost_known_usd: float
    curve: tuple[float, ...]
    """Running sum of the edge, slot by slot."""
    replicates: ReplicateScores | None = None
    """The spread of its replicates, which are this one row; None for a bot without."""

    @property
    def evidence(self) -> float | None:
        """Return the e-value of an edge above zero; None for a worse bot, whose verdict rests on another."""
        return None if self.standing == "worse" else self.verdict.e_value


def leaderboard(evaluation: Evaluation) -> tuple[LeaderboardRow, ...]:
    """Return a row for each bot in the order of its place; bots ranked apart have a leaderboard of their own.

    Forecasts that come from no ledger have no edge, and no row.
    """
    if evaluation.as_of is None:
        return ()
    curves, rows = {each.bot: each.cumulative for each in evaluation.curves}, []
    for place in evaluation.places:
        edge, interval = place.card.edge, place.card.edge.interval
        is_far = interval is not None and far_apart(edge.edge, edge.by_event, interval.interval)
        horizon = headline_horizon(tuple(place.card.horizons))
        row = LeaderboardRow(
            **values_of(place, _OF_PLACE),
            edge_by_event=edge.by_event if is_far else None,
            horizon=horizon,
            quote_return=_quote_return(place.card, horizon),
            quote_return_now=_quote_return(place.card, NOW),
            curve=curves.get(place.card.bot, ()),
        )
        rows.append(row)
    return tuple(rows)


def headline_horizon(labels: Sequence[str]) -> str | None:
    """Return the horizon that is shown beside `now`; None if none in days was asked for.

    Examples:
        >>> headline_horizon(["1", "7", "30", "now"]), headline_horizon(["1", "2.5", "now"]), headline_horizon(["now"])
        ('7', '2.5', None)
    """
    days = [label for label in labels if label not in (NOW, SETTLED)]
    return str(HEADLINE_DAYS) if str(HEADLINE_DAYS) in days else max(days, key=float, default=None)


_OF_PLACE = (
    "rank bot=card.bot baseline=card.baseline standing e_now repeats_price edge=card.edge.edge "
    "edge_low=card.edge.interval.low edge_high=card.edge.interval.high events=card.edge.clusters slots=card.edge.n "
    "board_slots=card.edge.board_n verdict brier=card.brier market_brier=card.forecast.market_brier "
    "answered_share=card.edge.answered_share cost_usd=card.cost_usd cost_known_usd=card.cost_known_usd "
    "replicates=card.replicates"
)
"""The figures of a row that stand as they are in a place and its scorecard, as `values_of` takes them."""


def _quote_return(card: Scorecard, label: str | None) -> float | None:
    score = None if label is None else card.horizons.get(label)
    return None if score is None else score.quote_mean_return


def far_apart(mean: float | None, by_event: float | None, ends: tuple[float, float] | None) -> bool:
    """Return whether two means differ by more than half the width of the interval of the first.

    Examples:
        >>> far_apart(0.1, 0.3, (0.0, 0.2)), far_apart(0.1, 0.15, (0.0, 0.2)), far_apart(0.1, None, None)
        (True, False, False)
    """
    if mean is None or by_event is None or ends is None:
        return False
    return abs(mean - by_event) > (ends[1] - ends[0]) / 2.0


VERDICTS: Mapping[Finding, str] = {
    Finding.BEATS_THE_PRICE: "beats price",
    Finding.WORSE_THAN_THE_PRICE: "trails price",
    Finding.CANNOT_BE_TOLD: "not proven",
    Finding.NEVER_DIFFERED: "equals price",
    Finding.TOO_FEW_EVENTS: "too few events",
    Finding.NOTHING_YET: "nothing yet",
}
"""The verdict on a bot beside the price, in a word or two."""
PAIRS_AT = "--table pairs"
"""Where a terminal compares bots on the questions that both were given."""
PAIR_VERDICTS: Mapping[Finding, str] = {
    Finding.FIRST_IS_BETTER: "the first",
    Finding.SECOND_IS_BETTER: "the second",
    Finding.CANNOT_BE_TOLD: "can't tell",
    Finding.NEVER_DIFFERED: "no difference",
    Finding.TOO_FEW_EVENTS: "too few events",
    Finding.NOTHING_YET: "nothing yet",
}
"""Which of two is better."""


def verdict_text(row: LeaderboardRow) -> str:
    """Return the verdict on a bot in a word or two."""
    return VERDICTS[row.verdict.finding]


def _only_by_interval(row: LeaderboardRow) -> bool:
    if row.verdict.finding != Finding.CANNOT_BE_TOLD or row.edge_low is None or row.edge_high is None:
        return False
    return row.edge_low > 0.0 or row.edge_high < 0.0


def conclusions(rows: Sequence[LeaderboardRow], pairs_at: str = PAIRS_AT) -> tuple[str, ...]:
    """Return all that may be said of the rows: the verdicts, then the caveats."""
    return (*verdict_sentences(rows), *caveats(rows, pairs_at))


def verdict_sentences(rows: Sequence[LeaderboardRow]) -> tuple[str, ...]:
    """Return who beats the price, who does not, and how many more events would decide; () of rows without any."""
    found = _by_finding(rows)
    ahead, worse = found[Finding.BEATS_THE_PRICE], [row.bot for row in found[Finding.WORSE_THAN_THE_PRICE]]
    undecided = _bots((*found[Finding.CANNOT_BE_TOLD], *found[Finding.TOO_FEW_EVENTS]), rows)
    closest = _closest_to_proof(undecided)
    hopeful = max((row for row in undecided if (row.edge or 0.0) > 0.0), key=_evidence_of, default=None)
    is_known = hopeful is not None and more_events(hopeful.verdict) != figures.MISSING
    outlook = _outlook(hopeful, closest=None if ahead else closest) if is_known or not ahead else ""
    worse_than_price = f"{_list(worse)} {_be(worse)} worse than the price." if worse else ""
    behind = [row.bot for row in undecided if hopeful is None or (row is closest and not (row.edge or 0.0) > 0.0)]
    not_ahead = f"{_list(behind)} {_be(behind)} not ahead of the price so far"
    if ahead:
        unproven = f"Nothing is proven of {_list([row.bot for row in undecided])}{outlook}." if hopeful else ""
        texts = [_ahead_sentence(ahead), worse_than_price, unproven]
    elif closest is not None:
        evidence = f"E = {_evidence_text(closest)}, and proof takes {BEATS_FROM:.0f}"
        texts = [f"Nobody beats the price yet. {closest.bot} comes closest: {evidence}{outlook}.", worse_than_price]
    elif undecided or worse or found[Finding.NEVER_DIFFERED]:
        texts = [f"Nobody beats the price{outlook}.", worse_than_price]
    else:
        return ()
    return tuple(text for text in (*texts, f"{not_ahead}." if behind else "") if text)


def closest_to_proof(rows: Sequence[LeaderboardRow]) -> LeaderboardRow | None:
    """Return the bot whose evidence is nearest to a proof that it beats the price, if any has some."""
    found = _by_finding(rows)
    return _closest_to_proof(_bots((*found[Finding.CANNOT_BE_TOLD], *found[Finding.TOO_FEW_EVENTS]), rows))


def _closest_to_proof(undecided: Sequence[LeaderboardRow]) -> LeaderboardRow | None:
    # Everybody begins at 1, which is no evidence.
    return max((row for row in undecided if _evidence_text(row) != _NO_EVIDENCE), key=_evidence_of, default=None)


def caveats(rows: Sequence[LeaderboardRow], pairs_at: str = PAIRS_AT) -> Iterator[str]:
    """Yield what limits the verdicts, a short sentence each; `pairs_at` is where bots are compared on the same."""
    found = _by_finding(rows)
    unproven, few = found[Finding.CANNOT_BE_TOLD], found[Finding.TOO_FEW_EVENTS]
    if apart := [row.bot for row in unproven if _only_by_interval(row)]:
        have = "The interval of {} leaves" if len(apart) == 1 else "The intervals of {} leave"
        yield f"{have.format(_list(apart))} out 0 today; proof on any day takes E = {BEATS_FROM:.0f}, for or against."
    like = {row.bot: max(round(row.verdict.moved_like), 1) for row in unproven if row.verdict.moved_like is not None}
    if like:
        least, most = min(like.values()), max(like.values())
        like_many = f"{least if least == most else f'{least} to {most}'} independent one{'' if most == 1 else 's'}"
        yield f"Events of {_list([*like])} moved like {like_many}."
    if any(0 < row.slots < row.board_slots for row in rows):
        of = figures.things(max(row.board_slots for row in rows), "question")
        yield f"Not all were asked all {of}: see {pairs_at}."
    judged = [row for each in _JUDGED for row in found[each]]
    if few := _bots(few, [*few, *judged]):
        whom = f" of {_list([row.bot for row in few])}" if judged else ""
        yield f"On fewer than {FEW_CLUSTERS} events nothing is proven{whom}."


def _by_finding(rows: Sequence[LeaderboardRow]) -> Mapping[Finding, Sequence[LeaderboardRow]]:
    return {finding: [row for row in rows if row.verdict.finding == finding] for finding in Finding}


_JUDGED = (Finding.BEATS_THE_PRICE, Finding.WORSE_THAN_THE_PRICE, Finding.CANNOT_BE_TOLD)


def _bots(some: Sequence[LeaderboardRow], among: Sequence[LeaderboardRow]) -> Sequence[LeaderboardRow]:
    """Return some rows without baselines, unless there are only baselines among all."""
    return some if all(row.baseline for row in among) else [row for row in some if not row.baseline]


def _outlook(hopeful: LeaderboardRow | None, closest: LeaderboardRow | None) -> str:
    """Return what it takes to tell the most hopeful bot from the price; `closest` was named just before."""
    needed = "" if hopeful is None else _needed_text(hopeful)
    return f"; {'it' if hopeful is closest else hopeful.bot} {needed}" if hopeful is not None and needed else ""


def _ahead_sentence(ahead: Sequence[LeaderboardRow]) -> str:
    is_open = any(row.edge_low is not None and row.edge_low <= 0.0 for row in ahead)
    rule = f"{BEATS_FROM:.0f} is proof, even where the interval of the edge holds 0" if is_open else ""
    if len(ahead) == 1:
        return f"{ahead[0].bot} beats the price: E = {_evidence_text(ahead[0])}{', and ' * is_open}{rule}."
    listed = _list([f"{row.bot} (E = {_evidence_text(row)})" for row in ahead])
    return f"{listed} beat the price{': ' * is_open}{rule}."


def _evidence_of(row: LeaderboardRow) -> float:
    return row.verdict.e_value or 1.0


def _evidence_text(row: LeaderboardRow) -> str:
    return figures.e_value(row.verdict.e_value)


def more_events(found: Verdict) -> str:
    """Return how many more events a claim takes, such as `about 900`; a dash if nobody can say.

    Nobody can where the edge is within one standard error of zero: the least number, which is of an edge as large as
    that, would read like an estimate. Below 30 events it is at least what is missing to 30.
    """
    if found.needed is None or found.needed.more_than or not found.events_needed:
        return figures.MISSING
    return f"about {figures.about(found.events_needed)}"


def more_events_text(found: Verdict) -> str:
    """Return the same with its noun, such as `about 900 more events`; empty if nobody can say."""
    needed = more_events(found)
    return "" if needed == figures.MISSING else f"{needed} more event{'' if needed.endswith(' 1') else 's'}"


def _needed_text(row: LeaderboardRow) -> str:
    if row.verdict.needed is None or row.verdict.needed.more_than:
        return "would need more events, and nobody can say how many"
    # With enough events only the evidence is too small.
    return f"would need {text}" if (text := more_events_text(row.verdict)) else ""


def _list(names: Sequence[str]) -> str:
    """Return names as a sentence lists them, the first of many.

    Examples:
        >>> _list(["a"]), _list(["a", "b", "c"]), _list(["a", "b", "c", "d", "e"])
        ('a', 'a, b and c', 'a, b, c and 2 others')
    """
    if len(names) > _MOST_NAMED + 1:
        return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} others"
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def market_conclusions(evaluation: Evaluation) -> tuple[str, ...]:
    """Return which forecasters of a file are better or worse than the market by Brier score; () without prices."""
    pairs = [pair for pair in evaluation.pairs if pair.metric == "brier" and MARKET in (pair.first, pair.second)]
    found: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for pair in pairs:
        other = pair.first if pair.second == MARKET else pair.second
        found[None if pair.better is None else pair.better == other].append(other)
    texts = []
    if found[True]:
        texts.append(f"{_list(found[True])} {_be(found[True])} better than the market.")
    if found[False]:
        texts.append(f"{_list(found[False])} {_be(found[False])} worse than the market.")
    if found[None]:
        few = max(pair.clusters for pair in pairs) < FEW_CLUSTERS
        why = f": fewer than {FEW_CLUSTERS} events" if few else ""
        texts.append(f"{_list(found[None])} cannot be told from the market{why}.")
    if (found[True] or found[False]) and all(pair.clusters == pair.n for pair in pairs):
        texts.append("That takes each row for independent: what one thing decides belongs into one `cluster`.")
    return tuple(texts)


def _be(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def lacks_prices(evaluation: Evaluation) -> bool:
    """Return whether no price was tracked since the decisions, so that nothing could be scored."""
    edges = [card.edge for ranking in evaluation.rankings.values() for card in ranking.leaderboard]
    return any(edge.unpriced for edge in edges) and not any(edge.counted for edge in edges)


def missing(evaluation: Evaluation) -> tuple[str, ...]:
    """Return what is missing from an evaluation, in a few words each, the gravest first."""
    cards = [card for each in evaluation.rankings.values() for card in each.cards]
    late = f"{evaluation.late:,} decided too late" if evaluation.late else ""
    without = (
        f"{sum(bots.values()):,} decided {note} ({_list(list(bots))})" if bots else ""
        for note, bots in ((WITHOUT_TOOLS, evaluation.without_tools), (WITHOUT_SEARCH, evaluation.without_search))
    )
    unknown = [card.bot for card in cards if card.cost_usd is None]
    counts = [_count_text(what, sum(map(of, cards))) for what, of in _MISSING]
    rest = [_count_text(what, sum(map(of, cards))) for what, of in _MISSED_LEAST]
    texts = (late, *without, _failed_text(cards), *counts, f"cost of {first_of(unknown, 1)}" if unknown else "", *rest)
    return tuple(text for text in texts if text)


def _count_text(what: str, total: int) -> str:
    """Return a count with its noun, empty for 0; `(s)` becomes `s` unless it is 1."""
    return f"{total:,} {what.replace('(s)', '' if total == 1 else 's')}" if total else ""


def _failed_text(cards: Sequence[Scorecard]) -> str:
    of: Counter[str] = Counter()
    for card in cards:
        of[card.bot] += card.failed
    text = _count_text("decision(s) failed", of.total())
    (bot, most), *_ = of.most_common(1) or [("", 0)]
    share = "all" if most == of.total() else f"{most:,}"
    return f"{text} ({share} of {bot})" if 2 * most > of.total() else text


_MISSING: Sequence[tuple[str, Callable[[Scorecard], int]]] = (
    ("not clean", lambda card: card.ahead + card.contaminated),
    ("answer(s) refused", lambda card: card.refused),
    ("return(s) without a quote", lambda card: value_of(card.horizons.get(NOW), "n_unquoted") or 0),
    ("market(s) unpriced", lambda card: card.edge.unpriced),
    ("not settled", lambda card: value_of(card.horizons.get(SETTLED), "n_unpriced") or 0),
)
_MISSED_LEAST: Sequence[tuple[str, Callable[[Scorecard], int]]] = (
    ("abstained", lambda card: card.abstained),
    ("forecast(s) on cancelled markets", lambda card: card.void),
)


EFFORT_WORDS = {"cost_usd": "dollars", "brier": "Brier", "mean_return": "return"}
"""Names of efforts and successes that differ from their fields."""


@dataclass(frozen=True, slots=True)
class EffortBoard:
    """The bots of a ranking whose effort is known, in the order of the leaderboard."""

    rows: tuple[EffortAndSuccess, ...]
    returns: str
    """Which mean return is meant, in words."""
    correlations: tuple[EffortCorrelation, ...]


def effort_board(ranking: Evaluation) -> EffortBoard:
    """Return effort and success of one ranking, without rows where no effort is known.

    Returns are those of the leaderboard's horizon, or until now where none has one;
    at the quote, or at the mid where no bot has a quote.
    """
    known = {each.bot: each for each in ranking.effort}
    cards = [card for card in ranking.leaderboard if card.bot in known]
    if not cards:
        return EffortBoard((), "", ())
    labels = (headline_horizon(tuple(cards[0].horizons)), NOW)
    ways = [(label, name) for label in labels if label is not None for name in ("quote_mean_return", "mean_return")]
    label, name = next(
        (way for way in ways if any(getattr(card.horizons.get(way[0]), way[1], None) is not None for card in cards)),
        ways[-1],
    )
    rows = tuple(
        EffortAndSuccess(known[card.bot], card.edge.edge, card.brier, getattr(card.horizons.get(label), name, None))
        for card in cards
    )
    at = "quote" if name == "quote_mean_return" else "mid"
    return EffortBoard(
        rows,
        f"return at the {at}, {figures.horizon(label)}",
        effort_correlations(rows, confidence=ranking.question.uncertainty.confidence),
    )


def effort_documents(ranking: Evaluation) -> list[Document]:
    """Return a row for each bot, as JSON and CSV have it."""
    return [{**document(row.effort), **document(row, " ".join(SUCCESSES))} for row in effort_board(ranking).rows]


def correlation_documents(ranking: Evaluation) -> list[Document]:
    """Return a row for each effort and success, as JSON has it."""
    names = "effort success n=found.n spearman=found.spearman.value low=found.spearman.low high=found.spearman.high"
    return [document(each, names) for each in effort_board(ranking).correlations]
