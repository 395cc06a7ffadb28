"""The page that compares two bots, question by question."""

from dataclasses import dataclass

from predibot.errors import UsageError
from predibot.jobs.histories.pair import shared_questions
from predibot.reports.views.leaderboard import leaderboard
from predibot.scoring.evaluation.evaluation import Question
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.inference.bootstrap import FEW_CLUSTERS
from predibot.scoring.records.part import Part
from predibot.web.cache import LedgerCache
from predibot.web.pages.page import PAGE, WebPage, paginate, records
from predibot.web.rendering import line

_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Lead:
    """Which of two bots is ahead of the other, by edge."""

    ahead: str
    behind: str
    difference: float
    """At least 0, in squared error; the next two fields are the ends of its 95 % interval."""
    low: float | None
    high: float | None
    events: int
    why_not_proven: str
    """Empty if it is proven."""
    apart: bool
    """Whether the cutoff of a model is unknown."""


def compare_page(
    cache: LedgerCache, one: str = "", other: str = "", recipe: str = "", venue: str = "", page_: int = 1
) -> WebPage:
    """Return a form to choose two bots, and what they said where both answered."""
    bots = cache.bots("event")
    for name in (one, other):
        if name and name not in bots:
            raise UsageError(f"no bot {name[:60]!r} has decided on an event")
    asked = {"one": one, "other": other, "recipe": recipe, "venue": venue}
    # Names that cannot be shown as they are cannot be chosen in a form.
    shown: dict[str, object] = {
        **asked,
        "bots": [name for name in bots if name == line(name)],
        "leads": [],
        "pairs": [],
    }
    part = Part(recipe=recipe, venue=venue)
    if not one or not other or one == other:
        is_chosen = bool(one or other)
        pairs = [] if is_chosen or len(bots) < 2 else _leads(cache, part)
        pairs.sort(key=lambda each: (bool(each.why_not_proven), -each.difference))
        first = _leader_and_next(cache, part) if pairs else []
        leads = [each for each in pairs if {each.ahead, each.behind} == set(first)]
        if leads:
            shown |= {"one": first[0], "other": first[1], "leads": leads}
        shown |= {"is_chosen": is_chosen, "pairs": pairs[:PAGE]}
        return WebPage("compare", {**shown, **paginate(pairs, 1, "/compare")})
    leads = [each for each in _leads(cache, part) if {each.ahead, each.behind} == {one, other}]
    questions = cache.compute_on_part(shared_questions, one, other, part=part)
    return WebPage(
        "compare",
        {**shown, "is_chosen": True, "leads": leads, **paginate(questions, page_, "/compare", **asked)},
        {"questions": records(questions)},
    )


def _leader_and_next(cache: LedgerCache, part: Part) -> list[str]:
    """Return the first two bots of the leaderboard, baselines after all others."""
    found = cache.evaluation(Question(wanted=("evidence", "curves")), part)
    rows = [row for ranking in found.rankings.values() for row in leaderboard(ranking)]
    return [row.bot for row in sorted(rows, key=lambda row: row.baseline)][:2]


def pairs_of_the_first(cache: LedgerCache, recipe: str = "", venue: str = "") -> list[tuple[str, str]]:
    """Return the bot with the best edge beside each other bot that it is compared with, ten pairs at most."""
    found = cache.evaluation(Question(wanted=("pairs",)), Part(recipe=recipe, venue=venue))
    edges = {card.bot: card.edge.edge for ranking in found.rankings.values() for card in ranking.cards}
    known = {bot: edge for bot, edge in edges.items() if edge is not None}
    pairs = _leads(cache, Part(recipe=recipe, venue=venue))
    compared = {name for each in pairs for name in (each.ahead, each.behind)} & known.keys()
    first = max(compared, key=lambda bot: (known[bot], bot), default="")
    leads = (each for each in pairs if first in (each.ahead, each.behind))
    others = dict.fromkeys(each.behind if each.ahead == first else each.ahead for each in leads)
    return [(first, each) for each in others][:_PAIRS]


def _leads(cache: LedgerCache, part: Part) -> list[Lead]:
    """Return who is ahead in each pair of bots that answered and were asked the same."""
    found = cache.evaluation(Question(wanted=("pairs",)), part)
    return [
        _lead(pair, apart=name != "clean")
        for name, ranking in found.rankings.items()
        for pair in ranking.pairs
        if pair.metric == "edge" and pair.difference is not None
    ]


def _lead(pair: Pair, *, apart: bool) -> Lead:
    """Return who of a pair is ahead by edge, the one measure that counts every question, settled or open."""
    sign = 1.0 if (pair.difference or 0.0) >= 0.0 else -1.0
    ahead, behind = (pair.first, pair.second) if sign > 0.0 else (pair.second, pair.first)
    low, high = (None if end is None else sign * end for end in (pair.low, pair.high))
    ends = (low, high) if sign > 0.0 else (high, low)
    if pair.better is not None:
        why = ""
    elif pair.clusters < FEW_CLUSTERS:
        why = f"on fewer than {FEW_CLUSTERS} events nothing is claimed"
    elif ends[0] is not None and ends[0] > 0.0:
        why = "among so many pairs of bots one is this far apart by luck"
    else:
        why = "luck alone may have brought this"
    return Lead(ahead, behind, abs(pair.difference or 0.0), *ends, pair.clusters, why, apart)
