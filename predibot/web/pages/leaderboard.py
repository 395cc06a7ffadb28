"""The pages of the leaderboard, its tables, its curves, calibration, and of two bots question by question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

from predibot.domain.account import MODES
from predibot.errors import UsageError
from predibot.jobs.histories.ledger import EdgeHistory, edge_history, ledger_history
from predibot.jobs.histories.pair import shared_questions
from predibot.ledger.read.rows_for_python import LedgerRun
from predibot.reports import figures
from predibot.reports.pictures.series import Curves, effort_pictures, ledger_pictures
from predibot.reports.study import studies
from predibot.reports.terminal.boards.accounts import board_grid, cohort_grid
from predibot.reports.terminal.evaluation_grids import ACCOUNTS, COHORTS, TABLES, table_grids
from predibot.reports.views.accounts import cohort_conclusions
from predibot.reports.views.accounts import conclusions as conclusions_on_accounts
from predibot.reports.views.comparison import comparison_tables
from predibot.reports.views.evaluation import all_notes, evaluation_rows
from predibot.reports.views.leaderboard import LeaderboardRow, closest_to_proof, conclusions, leaderboard
from predibot.scoring.evaluation.comparison import compare
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.evaluation.horizon_series import RunningPoint
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.verdict import Finding
from predibot.scoring.inference.bootstrap import FEW_CLUSTERS
from predibot.scoring.records.part import Part
from predibot.scoring.standing import Standing
from predibot.web.cache import LedgerCache
from predibot.web.chart import Chart, ChartPoint, Line, Scale, chart_of
from predibot.web.drawing import Bars, curves_of, dots_of, reliability_of, whiskers_of
from predibot.web.pages.page import (
    PAGE,
    WebPage,
    alike,
    day_of,
    end_of_day,
    grids_page,
    message_page,
    paginate,
    records,
)
from predibot.web.rendering import line

TABLES_ASK = ("evidence", "curves", "intervals", "adjusted", "pairs", "consistency", "effort", "coherence")
"""Parts of an evaluation that the tables need."""


_CHIPS: Mapping[Finding, tuple[str, str]] = {
    Finding.BEATS_THE_PRICE: ("beats the price", "good"),
    Finding.WORSE_THAN_THE_PRICE: ("worse than the price", "bad"),
    Finding.CANNOT_BE_TOLD: ("not proven", ""),
    Finding.NEVER_DIFFERED: ("repeats the price", ""),
    Finding.TOO_FEW_EVENTS: ("too few events", ""),
    Finding.NOTHING_YET: ("nothing scored yet", ""),
}
"""The verdict in words, and the class of its chip."""
_GROUPS: Mapping[Standing, str] = {
    "better": "Better than the price",
    "not proven": "Not proven either way",
    "worse": "Worse than the price",
    "too few": "Too few events or answers",
    "baseline": "Baselines",
}


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A bot of the leaderboard, as it is shown."""

    row: LeaderboardRow
    verdict: str
    chip: str
    """Class of the chip that shows the verdict; empty for a grey one."""
    whisker: tuple[str, float] | None
    """The interval of the edge, on the scale of the whole table, see `whiskers_of`."""


@dataclass(frozen=True, slots=True)
class PartTexts:
    """The part of a ledger that an address names, as texts; an empty one takes all."""

    recipe: str = ""
    venue: str = ""
    since: str = ""
    until: str = ""
    category: str = ""
    mode: str = ""
    bots: str = ""

    def part(self) -> Part:
        """Return the part of the ledger; raise `UsageError` if a day is none."""
        since, until = day_of(self.since), end_of_day(self.until)
        bots = tuple(dict.fromkeys(each.strip() for each in self.bots.split(",") if each.strip()))
        return Part(
            since, until, self.category or None, self.mode or None, self.recipe or None, bots, self.venue or None
        )

    def evaluation(self, cache: LedgerCache, question: Question) -> Evaluation:
        """Return the evaluation of the part; raise `UsageError` as `part` and `LedgerCache.evaluation` do."""
        return cache.evaluation(question, self.part())

    def parameters(self) -> dict[str, str]:
        """Return the texts that are not empty."""
        return {name: value for name, value in asdict(self).items() if value}


_EVERYTHING = PartTexts()


def leaderboard_page(cache: LedgerCache, part: PartTexts = _EVERYTHING) -> WebPage:
    """Return the leaderboard with its verdicts, and the boards of accounts and cohorts."""
    runs = cache.runs()
    if not runs:
        return message_page(
            "Nothing is stored yet",
            "`predibot demo` plays a simulated month into a ledger of its own. `predibot init` writes a recipe with "
            "your bots, and `predibot decide` plays it; then the leaderboard is here.",
        )
    if of_studies := _study_links(runs):
        return message_page(
            "What bots make of texts",
            "Bots labelled texts here and bet on nothing: nobody is measured against a price. "
            "Each study has tables of its own.",
            of_studies,
        )
    found = part.evaluation(cache, Question(wanted=("evidence", "curves")))
    rows = [row for ranking in found.rankings.values() for row in leaderboard(ranking)]
    history = cache.compute_on_part(edge_history, part=part.part())
    shown_venue = part.venue or cache.venues(part.recipe)[0]
    choices = {
        "recipe": sorted({run.recipe for run in runs}),
        "venue": cache.venues(),
        "category": cache.categories(shown_venue),
        "mode": MODES,
    }
    boards = [
        *((board_grid(each), list(conclusions_on_accounts(each)), each.notes) for each in found.accounts),
        *((cohort_grid(each), list(cohort_conclusions(each)), each.notes) for each in found.cohorts),
    ]
    return WebPage(
        "leaderboard",
        {
            "part": part,
            "given": part.parameters(),
            "of_runs": PartTexts(part.recipe, part.venue).parameters(),
            "venue": shown_venue,
            "several_venues": len(cache.venues(part.recipe)) > 1,
            # A name that cannot be shown as it is cannot be chosen.
            "choices": {name: [each for each in values if each == line(each)] for name, values in choices.items()},
            "as_of": found.as_of,
            "facts": _facts(found, history),
            "bots": sum(not row.baseline for row in rows),
            "traders": len(_traders(found)),
            "has_costs": any(row.cost_usd != 0.0 for row in rows),
            "chart": _edge_chart(cache, found, history),
            "rankings": [
                (name, _group(lines_of(ranking)), conclusions(leaderboard(ranking), "Compare"))
                for name, ranking in found.rankings.items()
                if leaderboard(ranking)
            ],
            "boards": boards,
            "notes": all_notes(found),
            "tables": (*TABLES, ACCOUNTS, COHORTS),
        },
        # The file has every score, of which the page shows some.
        {"scores": lambda: evaluation_rows(part.evaluation(cache, Question(wanted=TABLES_ASK)))},
    )


def _study_links(runs: Sequence[LedgerRun]) -> list[tuple[str, str, str]]:
    """Return address, heading and size of each study that was played; none if anything else was played too."""
    by_data_set = {each.data_set: each for each in studies().values()}
    if not all(run.venue_name in by_data_set for run in runs):
        return []
    played = alike((run for run in runs if not run.void), lambda run: run.venue_name)
    return [
        (
            f"/{own[0].venue_name}",
            by_data_set[own[0].venue_name].heading,
            f"{figures.things(sum(run.recorded for run in own), 'answer')} in {figures.things(len(own), 'run')}.",
        )
        for own in played
    ]


def lines_of(ranking: Evaluation) -> list[BoardLine]:
    """Return the bots of a ranking as they are shown."""
    rows = leaderboard(ranking)
    ends: list[Any] = [(row.edge_low, row.edge, row.edge_high) for row in rows]
    whiskers = whiskers_of([None if None in each else each for each in ends])
    return [BoardLine(row, *_chip(row), whisker) for row, whisker in zip(rows, whiskers, strict=True)]


def _chip(row: LeaderboardRow) -> tuple[str, str]:
    if row.answered_share == 0.0:
        return "no answers", ""
    # A bot that stands below "too few" is said to have too few.
    is_price = row.repeats_price and row.standing != "too few"
    return _CHIPS[Finding.NEVER_DIFFERED if is_price else row.verdict.finding]


def _group(lines: Sequence[BoardLine]) -> list[tuple[str, list[BoardLine]]]:
    return [(_GROUPS[standing], list(own)) for standing, own in groupby(lines, key=lambda each: each.row.standing)]


def _facts(found: Evaluation, history: EdgeHistory) -> list[tuple[str, str]]:
    """Return who leads, on how many events, and on how many days: three values with their texts."""
    rows = [row for ranking in found.rankings.values() for row in leaderboard(ranking)]
    if not rows and _traders(found):
        return list(_facts_of_accounts(found))
    leader = next((row for row in rows if row.rank == 1), None)
    closest = closest_to_proof(rows)
    if leader is not None:
        first = (leader.bot, f"is better than the price, edge {figures.thousandths(leader.edge)}")
    elif closest is None:
        first = ("nobody yet", "is better than the price")
    else:
        evidence = figures.e_value(closest.verdict.e_value)
        first = ("nobody yet", f"is better than the price; {line(closest.bot)} comes closest, E {evidence}")
    if history.first_at is None or history.last_at is None:
        return [first]
    return [
        first,
        (figures.things(history.settled, "event"), f"settled, of {figures.count(history.events)} played"),
        (figures.things(history.days, "day"), f"{history.first_at:%Y-%m-%d} to {history.last_at:%Y-%m-%d}"),
    ]


def _traders(found: Evaluation) -> set[str]:
    """Return the bots that have accounts or play cohorts, without baselines."""
    return {each.bot for board in found.accounts for each in board.scores if not each.baseline} | {
        each.bot for board in found.cohorts for each in board.scores if not each.baseline
    }


def _facts_of_accounts(found: Evaluation) -> Iterator[tuple[str, str]]:
    """Yield who does better than all baselines, and on how many dates or cohorts that rests."""
    first = [bot for board in found.accounts for bot, rank in board.ranks.items() if rank == 1]
    first += [bot for board in found.cohorts for (bot, _), rank in board.ranks.items() if rank == 1]
    names = list(dict.fromkeys(first))
    yield (
        ", ".join(map(line, names)) or "nobody yet",
        f"{'do' if len(names) > 1 else 'does'} better than all baselines",
    )
    if returns := max((score.dates for board in found.accounts for score in board.scores), default=0):
        yield figures.things(returns, "return"), "of an account at most"
    if cohorts := sum(board.cohorts for board in found.cohorts):
        yield figures.things(cohorts, "cohort"), "of weekly games"


def _edge_chart(cache: LedgerCache, found: Evaluation, history: EdgeHistory) -> Chart | None:
    """Return the mean edge of each bot up to each slot; baselines are left out, unless there is nobody else."""
    rows = [(name, row) for name, ranking in found.rankings.items() for row in leaderboard(ranking)]
    lines = [
        Line(row.bot, [mean_point(each) for each in history.running[name].get(row.bot, ())], cache.colour(row.bot))
        for name, row in [each for each in rows if not each[1].baseline] or rows
        # A bot that never left the price is the line of zero.
        if row.edge
    ]
    scale = Scale(figures.thousandths)
    return chart_of(lines, "Edge over the price, up to each day", "Thousandths of Brier", scale)


def mean_point(point: RunningPoint) -> ChartPoint:
    """Return the mean edge up to a slot with its interval, from their sum."""
    low, high = (None if end is None else end / point.n for end in (point.low, point.high))
    return ChartPoint(point.slot_at, point.total / point.n, low, high)


def curves_page(cache: LedgerCache, recipe: str = "", venue: str = "") -> WebPage:
    """Return the curves of edges, gains, accounts and cohorts over time."""
    history = cache.compute_on_part(ledger_history, part=Part(venue=venue, recipe=recipe))
    # The leaderboard draws the edge, as a mean in thousandths.
    pictures = [picture for name, picture in ledger_pictures(history) if name != "edge"]
    charts = sum(isinstance(each, Curves) for each in pictures)
    drawn = [each for picture in pictures for each in curves_of(picture, cache.colour, charts=charts)]
    return WebPage(
        "curves",
        {
            "of_runs": PartTexts(recipe, venue).parameters(),
            "curves": [each for each in drawn if isinstance(each, Chart)],
            "bars": [each for each in drawn if isinstance(each, Bars)],
        },
    )


def side_by_side_page(cache: LedgerCache, recipe: str = "") -> WebPage:
    """Return the bots of every venue side by side, and how far the venues agree; nothing is added up."""
    wanted = Question(wanted=())
    # A venue's address may be a folder, which nobody else needs to know.
    names = {run.venue: run.venue_name for run in cache.runs()}
    boards = [(names[venue], PartTexts(recipe, venue).evaluation(cache, wanted)) for venue in cache.venues(recipe)]
    return grids_page("Venues side by side", list(comparison_tables(compare(boards))))


def table_page(cache: LedgerCache, name: str, part: PartTexts = _EVERYTHING) -> WebPage:
    """Return a table of `predibot report` by its name."""
    if name not in (*TABLES, ACCOUNTS, COHORTS):
        raise UsageError(f"no table {name[:40]!r}; there are: {', '.join((*TABLES, ACCOUNTS, COHORTS))}")
    found = part.evaluation(cache, Question(wanted=TABLES_ASK))
    pictures = [picture for _, picture in effort_pictures(found)] if name == "effort" else []
    dots = [dots_of(panel, picture.across) for picture in pictures for panel in picture.panels]
    page = grids_page(f"Table of {name}", list(table_grids(found, name)), dots=dots)
    # The file has numbers that are not rounded.
    return replace(page, tables={name: lambda: evaluation_rows(found, name)})


def calibration_page(cache: LedgerCache, part: PartTexts = _EVERYTHING) -> WebPage:
    """Return the reliability diagrams of all bots."""
    found = part.evaluation(cache, Question(wanted=("evidence", "curves", "intervals")))
    cards = [card for ranking in found.rankings.values() for card in ranking.cards]
    cards.sort(key=lambda card: card.baseline)
    return WebPage(
        "calibration",
        {
            "diagrams": [
                reliability_of(card.bot, card.forecast.calibration)
                for card in cards
                if card.forecast.n and card.forecast.calibration is not None
            ],
            "grids": [grid for grid in table_grids(found, "calibration") if grid.rows],
        },
    )


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
