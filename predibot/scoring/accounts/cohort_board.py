"""The board of cohorts: what the bots of weekly cohorts made beside each other, and whether anybody may be ranked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from predibot.scoring.accounts.cohort_scores import (
    Brier,
    CohortResult,
    CohortScore,
    cohort_score,
    implied_confidence_brier,
    stated_brier,
)
from predibot.scoring.accounts.resolved_bet import ResolvedBet
from predibot.scoring.baselines import BASELINES
from predibot.scoring.records.knowledge import Knowledge

Verdict = Literal["gains", "unclear", "loses", "too few"]
_VERDICTS: tuple[Verdict, ...] = ("gains", "unclear", "loses", "too few")


@dataclass(frozen=True, slots=True)
class CohortBot:
    """What one bot did in its cohorts, those apart whose models can have known something else."""

    bot: str
    """Its stable id."""
    display_name: str
    """As its latest cohort has it."""
    strategy: str
    results: tuple[CohortResult, ...]
    """One a cohort; archived ones only where they are asked for."""
    forecasts: tuple[tuple[float, float | None], ...] = ()
    """The stated probability of YES, and what a share of it paid; of markets that are resolved."""
    bets: tuple[ResolvedBet, ...] = ()
    cannot_bet: int = 0
    """In how many cohorts its cash is below what the least bet takes, and something is left."""
    bankrupt: int = 0
    """In how many it has neither cash nor positions."""
    owing: int = 0
    """In how many a reversed payout left it in debt."""
    decisions: Mapping[str, int] = field(default_factory=dict)
    """How many ended with each status."""
    cost_usd: float | None = 0.0
    """Of all its decisions; None where a part is unknown."""
    cost_known_usd: float = 0.0
    knowledge: Knowledge = "clean"
    """What the models behind its decisions can have known."""
    implied: float = 0.0
    """How far its mean return may come out otherwise by the prices of what it held."""


@dataclass(frozen=True, slots=True)
class CohortsRecord:
    """The cohorts of a recipe and a game, of one mode and one methodology: what may be compared."""

    recipe: str
    game: str
    mode: str
    methodology: str
    bots: tuple[CohortBot, ...]
    cohorts: int
    """How many there are, with those that nobody has a value in."""
    complete: int
    """In how many of them nothing can happen any more."""
    archived: int = 0
    """How many are left out, because they are archived."""
    remarks: tuple[str, ...] = ()
    """What is missing, and why."""


@dataclass(frozen=True, slots=True)
class CohortBotScore:
    """How one bot did over its cohorts."""

    bot: str
    display_name: str
    strategy: str
    score: CohortScore
    stated: Brier | None
    """Of the probabilities that it stated."""
    implied: Brier | None
    """Of the confidence that the size of its bets implies: another score, by its own name."""
    cannot_bet: int
    bankrupt: int
    owing: int
    decisions: Mapping[str, int]
    cost_usd: float | None
    cost_known_usd: float
    knowledge: Knowledge = "clean"
    """With `unknown` it stands apart."""

    @property
    def baseline(self) -> bool:
        """Return whether it knows nothing."""
        return self.strategy in BASELINES

    @property
    def failed_share(self) -> float | None:
        """Return the share of its decisions that were refused or failed; None of none."""
        total = sum(self.decisions.values())
        return (self.decisions.get("failed", 0) + self.decisions.get("refused", 0)) / total if total else None

    @property
    def verdict(self) -> Verdict:
        """Return what may be said of its return: `gains`, `loses`, or nothing yet."""
        found = self.score.returns
        if not found.may_rank or found.low is None or found.high is None:
            return "too few"
        return "gains" if found.low > 0.0 else "loses" if found.high < 0.0 else "unclear"


@dataclass(frozen=True, slots=True)
class CohortBoard:
    """The bots of a recipe's cohorts, of one mode and one methodology."""

    recipe: str
    game: str
    mode: str
    methodology: str
    scores: tuple[CohortBotScore, ...]
    """Those that gain first, by the lower end of the return's interval; those that may gain or lose, and those that
    lose, by how far their return is from nothing; those on too few cohorts by their mean return; baselines. Those whose
    models' cutoff is unknown come last."""
    cohorts: int
    complete: int
    archived: int = 0
    """How many are left out."""
    notes: tuple[str, ...] = ()

    @property
    def ranks(self) -> Mapping[tuple[str, Knowledge], int]:
        """Return the place of each bot that gains, and whose interval lies above that of every baseline.

        By the lower end, equals alike; nobody has one on fewer than 30 effective cohorts.
        """
        of_baselines = [each.score.returns for each in self.scores if each.baseline]
        highest = max((each.mean if each.high is None else each.high for each in of_baselines), default=0.0)
        ends = {
            (each.bot, each.knowledge): each.score.returns.low
            for each in self.scores
            if each.verdict == "gains" and not each.baseline
            if each.score.returns.low is not None and each.score.returns.low > highest
        }
        return {
            key: 1 + sum(other[1] == key[1] and end > low for other, end in ends.items()) for key, low in ends.items()
        }


def cohort_board(record: CohortsRecord) -> CohortBoard:
    """Return how good the bots of a record are.

    Bots whose models may have read how it went are in no score, and named.

    Args:
        record: Of one methodology and one mode; archived cohorts are in it where they are asked for.
    """
    told = sorted({each.bot for each in record.bots if each.knowledge in ("ahead", "contaminated")})
    found = [
        CohortBotScore(
            bot=each.bot,
            display_name=each.display_name,
            strategy=each.strategy,
            score=score,
            stated=stated_brier(each.forecasts),
            implied=implied_confidence_brier(each.bets),
            cannot_bet=each.cannot_bet,
            bankrupt=each.bankrupt,
            owing=each.owing,
            decisions=each.decisions,
            cost_usd=each.cost_usd,
            cost_known_usd=each.cost_known_usd,
            knowledge=each.knowledge,
        )
        for each in record.bots
        if each.knowledge in ("clean", "unknown")
        and (score := cohort_score(each.results, archived=True, implied=each.implied)) is not None
    ]
    return CohortBoard(
        recipe=record.recipe,
        game=record.game,
        mode=record.mode,
        methodology=record.methodology,
        scores=tuple(sorted(found, key=_place)),
        cohorts=record.cohorts,
        complete=record.complete,
        archived=record.archived,
        notes=tuple(_notes(record, told)),
    )


def _place(each: CohortBotScore) -> tuple[bool, bool, int, float, str]:
    returns = each.score.returns
    far = returns.mean
    if each.verdict == "gains":
        far = returns.low or 0.0
    elif each.verdict != "too few" and returns.high is not None:
        # A low end would put a loser that scatters less first.
        far = returns.mean / (returns.high - returns.mean)
    return each.knowledge != "clean", each.baseline, _VERDICTS.index(each.verdict), -far, each.bot


def _notes(record: CohortsRecord, told: Sequence[str]) -> Iterator[str]:
    if told:
        yield f"left out, because their models were trained on what came after their decisions: {', '.join(told)}"
    if record.archived:
        were = "1 archived cohort is" if record.archived == 1 else f"{record.archived} archived cohorts are"
        yield f"{were} left out; --archived counts them too"
    yield from record.remarks
